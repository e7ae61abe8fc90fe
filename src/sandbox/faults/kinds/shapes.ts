import type { Random } from '../../../app/clock.ts'
import { type Fault, oneOf } from '../fault.ts'
import { type Fields, fieldsIn, isGuild, membersIn, recordsIn, rewritten } from './json.ts'

/** What tells one record from another never vanishes. */
const identity = new Set(['uuid', 'internalName', 'username'])

/** Responses in a form that is new. */
export const shapes = {
  vanishing: {
    about: 'a field is missing from most records for a while',
    run: 3,
    spoil: (answer, { path, random }) =>
      rewritten(answer, (body) => {
        const records = recordsIn(path, body)
        const names = [...new Set(records.slice(0, 50).flatMap(Object.keys))].filter((name) => !identity.has(name))
        const [first, ...others] = names.sort()
        if (first === undefined) return false
        const name = oneOf([first, ...others], random)
        let found = false
        for (const record of records) {
          if (!(name in record) || random() > 0.8) continue
          delete record[name]
          found = true
        }
        return found
      }),
  },
  'unknown-fields': {
    about: 'records have an unknown field for a while',
    run: 3,
    spoil: (answer, { path }) =>
      rewritten(answer, (body) => {
        const records = [...recordsIn(path, body), ...(isGuild(path) ? membersIn(body).map((one) => one.record) : [])]
        // The enumerations are lists of texts; anywhere else a field may be anything.
        const novelty = path === '/item/metadata' ? ['unknown'] : { unknown: 'yes', times: 3 }
        for (const record of records) record.sandboxNovelty = novelty
        return records.length > 0
      }),
  },
  'unknown-members': {
    about: 'texts that should be of a known few are of none, for a while',
    run: 3,
    spoil: (answer, { path, random }) =>
      rewritten(answer, (body) => {
        if (isGuild(path)) return promoteBeyondKnown(body)
        const field = vocabulary[path] ?? (path.startsWith('/player/') ? 'supportRank' : undefined)
        const records = recordsIn(path, body).filter((record) => field !== undefined && field in record)
        const chosen = records.filter((_, nth) => nth === 0 || random() < 0.3)
        for (const record of chosen) record[field ?? ''] = 'sandbox_unheard_of'
        return chosen.length > 0
      }),
  },
  'odd-records': {
    about: 'records that cannot be read, beside the good ones',
    spoil: (answer, { path }) =>
      rewritten(answer, (body) => {
        const odd = oddRecords[path]
        const key = 'sandbox_odd'
        if (!odd || 'controller' in body) return false
        if (Array.isArray(body)) body.push({ ...odd, internalName: key, displayName: key })
        else Object.assign(body, { [key]: { ...odd, internalName: key } })
        return true
      }),
  },
  'twin-names': {
    about: 'items, sets and guilds that bear the display name of another, for a while',
    run: 3,
    spoil: (answer, { path, random }) =>
      rewritten(answer, (body) => {
        const field = path === '/guild/list/guild' ? 'name' : 'displayName'
        const records = path === '/guild/list/guild' || path === '/item/database' ? recordsIn(path, body) : []
        return twin(records, field, random)
      }),
  },
} as const satisfies Record<string, Fault>

const vocabulary: Readonly<Record<string, string>> = {
  '/item/database': 'tier',
  '/item/recipe/database': 'skill',
  '/guild/list/territory': 'treasury',
}

/** What cannot be read as a record of a route, whatever its key is. */
const oddRecords: Readonly<Record<string, object>> = {
  '/guild/list/territory': { guild: 7 },
  '/guild/seasons': {},
  '/item/database': { type: 7 },
}

/** The last members get an unknown rank. */
function promoteBeyondKnown(body: object): boolean {
  const last = membersIn(body).at(-1)
  const members = fieldsIn(fieldsIn(body)?.members)
  if (!last || !members) return false
  delete last.rank[last.key]
  members.sandbox_unheard_of = { [last.key]: last.record }
  return true
}

function twin(records: readonly Fields[], field: string, random: Random): boolean {
  const named = records.filter((record) => typeof record[field] === 'string')
  const name = named[0]?.[field]
  const twins = named.slice(1).filter((_, nth) => nth === 0 || random() < 0.05)
  for (const record of twins) record[field] = name
  return twins.length > 0
}
