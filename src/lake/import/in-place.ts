import { fillEmpty } from '../../db/bulk/fill-empty.ts'
import type { Sql } from '../../db/database.ts'
import { lockForTransaction } from '../../db/locks/held-locks.ts'
import { sqlState } from '../../db/sql-errors.ts'
import { growingTables } from '../../resources/index.ts'
import type { ResourceBase } from '../../sync/declare/resource.ts'
import type { VersionsTable, WrittenTable } from '../../sync/declare/written-tables.ts'
import { privacyLock } from '../../sync/privacy/privacy.ts'
import { rebuildFollowing } from '../../sync/refold/following.ts'
import { namesOf } from '../../sync/refold/refold.ts'
import { averageTablesAgain } from '../../sync/respond/load-response.ts'
import { awaitMonth, monthOf, namesOf as namesOfGrowing } from '../../sync/retention/partitions.ts'
import { accepted, bulkTable } from '../../sync/sql/history-sql.ts'
import type { LakeTable } from '../tables.ts'

/*
 * Where nothing is known of a resource, its rows meet nothing: merging would find each of them to be as it is. So they are copied into
 * their tables. What the tables' constraints refuse is merged after all, in another transaction.
 */

/** Rows of a lake that do not go into their table as they are. */
export class DoesNotFit extends Error {}

export const isOfConstraint = (error: unknown): boolean => /^23/.test(sqlState(error) ?? '')

/** @throws DoesNotFit where a constraint refuses rows */
export async function fitting<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (isOfConstraint(error)) throw new DoesNotFit('the rows do not fit', { cause: error })
    throw error
  }
}

/** Whether this database has nothing that the rows of a step could meet, and no person of whom they may not speak. */
export async function meetsNothing(
  sql: Sql,
  of: WrittenTable,
  { tables, month }: { readonly tables: readonly (LakeTable | undefined)[]; readonly month: string | null },
): Promise<boolean> {
  await lockForTransaction(sql, privacyLock, 'shared')
  const [known] = await sql.query<{ nothing: boolean }>(
    `select not exists (select from sync.run where resource = $1 and ${accepted})
        and not exists (select from sync.observation where resource = $1)
        and not exists (select from sync.work_item where resource = $1 and (first_observed_at is not null or observed_at is not null))
        and not exists (select from sync.source_span where resource = $1)
        and not exists (select from sync.privacy_restriction where not is_pending)
        and not exists (select from sync.privacy_action) as nothing`,
    [of.resource],
  )
  if (!known?.nothing) return false
  for (const table of tables) if (!table || !(await isCopiedWhole(sql, table))) return false
  const time = tables[0]?.time
  const within = of.kind === 'rows' && month !== null && time ? `where ${time} >= $1 and ${time} < $2` : ''
  for (const name of of.kind === 'rows' ? [of.table] : [of.table, ...of.parts]) {
    const [row] = await sql.query<{ empty: boolean }>(
      `select not exists (select from ${name} ${within}) as empty`,
      within === '' ? [] : [firstOf(month), monthOf(firstOf(month), 1)],
    )
    if (!row?.empty) return false
  }
  return true
}

const firstOf = (month: string | null) => new Date(`${month ?? '1970-01'}-01T00:00:00Z`)

/** Whether all columns of a table come from the lake, or are made of those that do, and none is made by Postgres. */
async function isCopiedWhole(sql: Sql, table: LakeTable): Promise<boolean> {
  const columns = await sql.query<{ name: string; made: boolean }>(
    `select attname::text as name, attidentity <> '' or attgenerated <> '' as made
       from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped`,
    [table.name],
  )
  return columns.every(({ name, made }) => name in table.types && !made)
}

/** Copies rows into a table by `copy`. Returns what that returns. */
export async function placeRows<T>(sql: Sql, table: string, month: string | null, copy: () => Promise<T>): Promise<T> {
  const growing = growingTables.find((one) => namesOfGrowing(one).table === table)
  if (growing && month !== null) await awaitMonth(sql, growing, firstOf(month))
  const result = await fillEmpty(sql, [table], copy)
  await averageTablesAgain(sql, [table], firstOf(month))
  return result
}

/** Copies versions with their parts by `copy`, and makes what follows from them. */
export async function placeVersions(
  sql: Sql,
  resource: ResourceBase,
  of: VersionsTable,
  { sourceId, copy }: { readonly sourceId: string; readonly copy: () => Promise<void> },
): Promise<void> {
  const { key, keyText } = namesOf(of)
  await fillEmpty(sql, [of.table, ...of.parts], copy)
  await sql.query(`analyze ${of.table}`)
  await sql.query(
    `insert into sync.source_version (source_id, table_name, key, valid_from)
     select $1, $2, ${keyText('own')}, own.valid_from from ${of.table} own order by 3, 4 on conflict do nothing`,
    [sourceId, of.table],
  )
  await sql.query(
    `create temp table refold_touched on commit drop as select ${key}, valid_from, valid_until, true as is_new from ${of.table}`,
  )
  const histories = [resource.history, ...Object.values(resource.relatedHistories ?? {})]
  const { following } = histories.find(({ root }) => bulkTable(root).name === of.table) ?? {}
  await fillEmpty(sql, following ? [bulkTable(following.table).name] : [], () => rebuildFollowing(sql, resource, of))
}
