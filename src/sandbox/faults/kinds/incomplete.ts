import type { Fault } from '../fault.ts'
import { fieldsIn, isGuild, jsonFault, membersIn, someOf } from './json.ts'

const isOnlineList = (path: string) => path === '/player'

/** Responses that are not all there is. */
export const incomplete = {
  'partial-members': jsonFault({
    about: 'a guild without some of its members, or without a whole rank, while the total stays',
    on: isGuild,
    edit: (body, { random }) => {
      const members = membersIn(body)
      const lastRank = members.at(-1)?.rank
      if (!lastRank || members.length < 2) return false
      const byRank = random() < 0.3
      const gone = byRank ? members.filter(({ rank }) => rank === lastRank) : someOf(members.slice(1), 0.4, random)
      for (const { rank, key } of gone) delete rank[key]
      return true
    },
  }),
  'replaced-walk': jsonFault({
    about: 'later pages are of another listing than the first: its count stays, or moves',
    edit: (body, { random }) => {
      const { controller, results } = fieldsIn(body) ?? {}
      const place = fieldsIn(controller)
      if (!place || typeof place.prev !== 'number' || !Array.isArray(results) || results.length < 2) return false
      if (random() < 0.5) place.count = Number(place.count) + 3
      // All have moved up by one: the first of this page was on the page before, which has been read already.
      else results.splice(0, results.length, ...results.slice(1), results[1])
      return true
    },
  }),
  'null-worlds': jsonFault({
    about: 'the online list does not tell the worlds of some',
    on: isOnlineList,
    edit: (body, { random }) => {
      const players = fieldsIn(fieldsIn(body)?.players)
      const names = Object.keys(players ?? {}).filter(() => random() < 0.3)
      if (!players || names.length === 0) return false
      for (const name of names) players[name] = null
      return true
    },
  }),
  'nobody-online': jsonFault({
    about: 'an empty online list',
    on: isOnlineList,
    edit: (_, { random }) => ({ total: random() < 0.5 ? 0 : 100, players: {} }),
  }),
} as const satisfies Record<string, Fault>
