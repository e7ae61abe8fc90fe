import type { Sql } from '../../db/database.ts'
import { type Change, changesBetween } from '../normalize/changed-fields.ts'
import { canonicalJson, indexable, type Json } from '../normalize/hash.ts'
import { documentOf } from '../normalize/novelties.ts'
import type { Prepared } from '../normalize/prepare.ts'
import { bulkTable, writeRows } from '../sql/history-sql.ts'
import { fieldChange } from '../tables/ledger.ts'
import type { Loaded } from './load.ts'
import { withVolatileOf } from './volatile-fields.ts'

/** An entity whose document changed, appeared (`before` undefined) or disappeared (`after` undefined) at an instant. */
export interface DocumentChange {
  readonly key: string
  readonly at: Date
  readonly before: Json | undefined
  readonly after: Json | undefined
}

/** Writes one row per changed path; a change that takes back the previous change of its path is marked as a revert. */
export async function appendFieldChanges(
  sql: Sql,
  resource: string,
  documents: readonly DocumentChange[],
): Promise<void> {
  if (documents.length === 0) return
  const keys = documents.map(({ key }) => key)
  const replaced = await lastReplacedValues(sql, resource, keys)
  const rows = function* () {
    for (const { key, at, before, after } of documents) {
      for (const change of changesBetween(before, after)) yield toRow(resource, key, at, change, replaced)
    }
  }
  await writeRows(sql, [{ table: bulkTable(fieldChange), rows: rows(), filled: {} }], documents.length)
}

/** What a response at an instant began and changed. What earlier responses showed began with the first of them. */
export function documentChanges({ inserted, starts, changed, volatile }: Loaded, at: Date): DocumentChange[] {
  const startOf = (entity: Prepared) => new Date(starts.get(entity) ?? at)
  const documents = changed.map(({ entity, before, extra }) => ({
    key: entity.key,
    at: startOf(entity),
    before: withVolatileOf(entity, before, extra, volatile.all),
    after: documentOf(entity),
  }))
  const begun = inserted.map((one) => ({ key: one.key, at: startOf(one), before: undefined, after: documentOf(one) }))
  return [...begun, ...documents]
}

function toRow(
  resource: string,
  key: string,
  changedAt: Date,
  change: Change,
  replaced: ReadonlyMap<string, string | null>,
) {
  const path = indexable(change.path)
  const oldValue = jsonText(change.before)
  const newValue = jsonText(change.after)
  return { resource, key, changedAt, path, oldValue, newValue, isRevert: replaced.get(placeOf(key, path)) === newValue }
}

/** JSON text, or null where there was nothing: in the table SQL NULL is absence and the jsonb value `null` is a null. */
function jsonText(value: Json | undefined): string | null {
  return value === undefined ? null : canonicalJson(value)
}

/** What the latest change of each path of these keys replaced, as canonical JSON text. */
async function lastReplacedValues(sql: Sql, resource: string, keys: readonly string[]) {
  const rows = await sql.query<{ key: string; path: string; was_absent: boolean; old_value: Json }>(
    `select distinct on (key, path) key, path, old_value is null as was_absent, old_value
       from game.field_change where resource = $1 and key = any($2::text[])
      order by key, path, changed_at desc`,
    [resource, keys],
  )
  return new Map(rows.map((row) => [placeOf(row.key, row.path), row.was_absent ? null : canonicalJson(row.old_value)]))
}

function placeOf(key: string, path: string): string {
  return JSON.stringify([key, path])
}
