import type { Sql } from '../../db/database.ts'
import type { History } from '../declare/resource.ts'
import type { Json } from '../normalize/hash.ts'
import { historySql } from '../sql/history-sql.ts'
import type { DocumentChange } from './field-changes.ts'

/** A key that complete responses lack, and since when. */
export interface Absence {
  readonly key: string
  readonly firstMissedAt: Date
}

/**
 * Current keys that a complete response does not have; with a scope, only among those whose first part it is. Of versions that begin
 * later (`isLater`), which only an import can bring, it says nothing yet.
 * @param at the instant that the response speaks for
 */
export async function findAbsent(
  sql: Sql,
  history: History,
  { seen, at, scope }: { readonly seen: ReadonlySet<string>; readonly at: Date; readonly scope?: string | undefined },
): Promise<{ readonly key: string; readonly isLater: boolean }[]> {
  const { table, keyText, firstKey } = historySql(history)
  const scoped = scope === undefined ? '' : `and current.${firstKey.name} = $3::${firstKey.type}`
  return await sql.query<{ key: string; isLater: boolean }>(
    `select ${keyText('current')} as key, current.valid_from >= $2 as "isLater" from ${table.name} current
       left join unnest($1::text[]) as seen(key) on seen.key = ${keyText('current')}
      where current.valid_until = 'infinity' and seen.key is null ${scoped}`,
    scope === undefined ? [[...seen], at] : [[...seen], at, scope],
  )
}

/**
 * Ends the versions of keys that are gone. A version ends when it was first missed, not when that was confirmed: the responses in between
 * did not have it either. One that began since then, which only an import can bring, ends with the response that confirms.
 * @param at the instant of the response that confirms
 */
export async function closeAbsent(
  sql: Sql,
  history: History,
  gone: readonly Absence[],
  at: Date,
): Promise<DocumentChange[]> {
  if (gone.length === 0) return []
  const { table, keyText, hasDocument } = historySql(history)
  const rows = await sql.query<{ key: string; at: Date; before: Json }>(
    `update ${table.name} current set valid_until = case when current.valid_from < gone.missed_at then gone.missed_at else $3 end
       from unnest($1::text[], $2::timestamptz[]) as gone(key, missed_at)
      where ${keyText('current')} = gone.key and current.valid_until = 'infinity'
        and current.valid_from < greatest(gone.missed_at, $3)
      returning gone.key, current.valid_until as at, ${hasDocument ? 'current.document' : 'null'} as before`,
    [gone.map(({ key }) => key), gone.map(({ firstMissedAt }) => firstMissedAt), at],
  )
  return rows.map((row) => ({ ...row, after: undefined }))
}
