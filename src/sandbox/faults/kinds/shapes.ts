import { pick } from '../../generator/draw.ts'
import type { Fault } from '../fault.ts'
import { fieldsIn, isGuild, jsonFault, membersIn, recordsIn, someOf, spoilable } from './json.ts'

/** What tells one record from another never vanishes. */
const identity = new Set(['uuid', 'internalName', 'username'])

/** Responses in a form that is new. */
export const shapes = {
  vanishing: jsonFault({
    about: 'a field is missing from most records for a while',
    run: 3,
    edit: (body, { path, random }) => {
      const records = recordsIn(path, body)
      const names = [...new Set(records.slice(0, 50).flatMap(Object.keys))].filter((name) => !identity.has(name))
      if (names.length === 0) return false
      const name = pick(random, names.sort())
      const chosen = records.filter((record) => name in record && random() <= 0.8)
      for (const record of chosen) delete record[name]
      return chosen.length > 0
    },
  }),
  'unknown-fields': jsonFault({
    about: 'records have an unknown field for a while',
    run: 3,
    edit: (body, { path }) => {
      const records = spoilable(path, body)
      // The enumerations are lists of texts; anywhere else a field may be anything.
      const novelty = path === '/item/metadata' ? ['unknown'] : { unknown: 'yes', times: 3 }
      for (const record of records) record.sandboxNovelty = novelty
      return records.length > 0
    },
  }),
  'unknown-members': jsonFault({
    about: 'texts that should be of a known few are of none, for a while',
    run: 3,
    edit: (body, { path, random }) => {
      if (isGuild(path)) return promoteBeyondKnown(body)
      const field = vocabulary[path] ?? (path.startsWith('/player/') ? 'supportRank' : undefined)
      const records = recordsIn(path, body).filter((record) => field !== undefined && field in record)
      for (const record of someOf(records, 0.3, random)) record[field ?? ''] = 'sandbox_unheard_of'
      return records.length > 0
    },
  }),
  'odd-records': jsonFault({
    about: 'records that cannot be read, beside the good ones',
    edit: (body, { path }) => {
      const odd = oddRecords[path]
      const key = 'sandbox_odd'
      if (!odd || 'controller' in body) return false
      if (Array.isArray(body)) body.push({ ...odd, internalName: key, displayName: key })
      else Object.assign(body, { [key]: { ...odd, internalName: key } })
      return true
    },
  }),
  'twin-names': jsonFault({
    about: 'items, sets and guilds that bear the display name of another, for a while',
    run: 3,
    on: (path) => path === '/guild/list/guild' || path === '/item/database',
    edit: (body, { path, random }) => {
      const field = path === '/guild/list/guild' ? 'name' : 'displayName'
      const [first, ...others] = recordsIn(path, body).filter((record) => typeof record[field] === 'string')
      for (const record of someOf(others, 0.05, random)) record[field] = first?.[field]
      return others.length > 0
    },
  }),
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
