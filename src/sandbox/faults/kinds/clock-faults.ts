import type { Random } from '../../../base/clock.ts'
import { type Fault, movedDates, type Outgoing, withHeaders } from '../fault.ts'
import { isGuild, jsonFault, membersIn, recordsIn, someOf } from './json.ts'

const day = 86_400_000

/** Responses that are right but for when they say that it is. */
export const clocks = {
  'dated-ahead': {
    about: 'one response is dated days ahead, in half of them also by its Date header',
    spoil: (answer, { random }) => redated(answer, random, (instant) => instant + (2 + 28 * random()) * day),
  },
  'dated-1970': {
    about: 'one response is dated 1970, in half of them also by its Date header',
    spoil: (answer, { random }) => redated(answer, random, (instant) => instant % day),
  },
  'future-acquired': jsonFault({
    about: 'territories are acquired in the future, in one response',
    on: (path) => path === '/guild/list/territory',
    edit: (body, { path, random }) => {
      const records = recordsIn(path, body).filter(({ acquired }) => typeof acquired === 'string')
      for (const record of someOf(records, 0.3, random))
        record.acquired = new Date(Date.parse(String(record.acquired)) + 400 * day).toISOString()
      return records.length > 0
    },
  }),
  'swapped-territories': jsonFault({
    about: 'two territories have the holder and `acquired` of each other, in one response',
    on: (path) => path === '/guild/list/territory',
    edit: (body, { path, random }) => {
      const records = recordsIn(path, body)
      const first = records[Math.floor(random() * records.length)]
      const others = records.filter((record) => record.acquired !== first?.acquired)
      const second = others[Math.floor(random() * others.length)]
      if (!first || !second) return false
      const { guild, acquired } = first
      Object.assign(first, { guild: second.guild, acquired: second.acquired })
      Object.assign(second, { guild, acquired })
      return true
    },
  }),
  'no-joined': jsonFault({
    about: 'a guild does not tell when its members joined, in one response',
    on: isGuild,
    edit: (body) => {
      const members = membersIn(body)
      for (const { record } of members) record.joined = null
      return members.length > 0
    },
  }),
} as const satisfies Record<string, Fault>

/** The same response with the instants of its headers moved; the `Date` that it was sent at is moved or stays. */
function redated(answer: Outgoing, random: Random, move: (instant: number) => number): Outgoing | undefined {
  const expires = Date.parse(answer.headers.get('expires') ?? '')
  if (answer.status !== 200 || Number.isNaN(expires)) return undefined
  const by = move(expires) - expires
  const changed = movedDates(answer.headers, random() < 0.5 ? ['expires', 'date'] : ['expires'], by)
  const tick = Date.parse((answer.headers.get('territorylasttick') ?? '').replace(' ', 'T'))
  if (!Number.isNaN(tick)) changed.territorylasttick = new Date(tick + by).toISOString()
  return withHeaders(answer, changed)
}
