import { sql as text } from 'drizzle-orm'
import type { Sql } from '../../db/database.ts'
import { typed } from '../../db/typed.ts'
import type { Json } from '../normalize/hash.ts'
import { drift } from '../tables/ledger.ts'

/** One thing about what the API sends that the program did not expect. */
export interface DriftOverview {
  readonly resource: string
  /** JSON pointer; empty: the response or the record as a whole. */
  readonly path: string
  /** The unknown member of an enumeration; null for a field. */
  readonly member: string | null
  /** What was found, in the order of time: `unknown`, `of type array`, `missing`, `back`. */
  readonly seen: readonly { readonly what: string; readonly at: Date; readonly key: string }[]
  /** What the first entity that has it holds there; null where that says nothing. */
  readonly example: Json
}

const words: Readonly<Record<string, string>> = {
  unknown_field: 'unknown',
  unknown_member: 'unknown',
  missing_field: 'missing',
  returned_field: 'back',
  volatile_field: 'volatile',
}

/** Every field and member of an enumeration that drifted, each once, by resource and in the order of their first time. */
export async function readDrift(sql: Sql): Promise<DriftOverview[]> {
  const { resource, kind, path, member, key, firstSeenAt: at, id } = drift
  // Unlike the column itself, the expression leaves a JSON string that looks like JSON a string.
  const example = text<Json>`${drift.example}`
  const rows = await typed(sql)
    .select({ resource, kind, path, member, key, example, at })
    .from(drift)
    .orderBy(resource, at, id)
  const things = new Map<string, DriftOverview & { readonly seen: { what: string; at: Date; key: string }[] }>()
  for (const { resource, kind, path, key, example, at, ...row } of rows) {
    const member = kind === 'unknown_member' ? row.member : null
    const name = JSON.stringify([resource, path, member])
    const thing = things.get(name) ?? { resource, path, member, seen: [], example }
    thing.seen.push({ what: words[kind] ?? `of type ${row.member}`, at, key })
    things.set(name, thing)
  }
  return [...things.values()]
}
