import type { AnyPgTable } from 'drizzle-orm/pg-core'
import type { Sql } from '../../db/database.ts'
import { anyOf, typed } from '../../db/typed.ts'
import { isWorklist, type Resource, type ResourceBase, type Worklist } from '../declare/resource.ts'
import { invalidateCoverage } from '../ledger/gaps.ts'
import { noCounts } from '../ledger/ledger.ts'
import { bulkTable } from '../sql/history-sql.ts'
import { tier } from '../tables/retention.ts'
import { shadowName } from './shadow.ts'

/** How the rows of a table differ from those that a replay made. */
export interface TableDifference {
  readonly table: string
  /** Rows that are there now and would not be. */
  readonly onlyBefore: number
  readonly onlyAfter: number
  readonly equal: number
}

/** A table that a replay rebuilds, or the part of it that is about the resources. */
interface Rebuilt {
  readonly name: string
  /** SQL condition for tables that all resources share, with the names of resources as $1. */
  readonly where?: string
}

const ofResource = `split_part(resource, '/', 1) = any($1::text[])`

/** Tables that several resources share. Their running numbers and runs are no difference. */
const shared: readonly Rebuilt[] = [
  'game.field_change',
  'sync.claim',
  'sync.drift',
  'sync.presence',
  'sync.quarantine',
  'sync.unread',
  'sync.unsent',
].map((name) => ({
  name,
  where: ofResource,
}))

/** Tables of schema `game` that hold nothing but what follows from the responses of a resource. */
export function tablesOf(resource: ResourceBase): string[] {
  const { history, relatedHistories: others = {}, samples = {}, derived = [] } = resource
  const histories = [history, ...Object.values(others)].flatMap(({ root, parts }) => [root, ...Object.values(parts)])
  const tables: AnyPgTable[] = [...histories, ...Object.values(samples).map(({ table }) => table), ...derived]
  return tables.map((table) => bulkTable(table).name)
}

/** The tables that a replay of these resources writes. */
export function rebuiltBy(resources: readonly ResourceBase[]): Rebuilt[] {
  return [...resources.flatMap(tablesOf).map((name): Rebuilt => ({ name })), ...shared]
}

/** Compares the tables of these resources with those that a replay made. */
export async function differences(sql: Sql, resources: readonly ResourceBase[]): Promise<TableDifference[]> {
  const found: TableDifference[] = []
  for (const rebuilt of rebuiltBy(resources)) found.push(await difference(sql, rebuilt, resources))
  return found
}

async function difference(
  sql: Sql,
  { name, where }: Rebuilt,
  resources: readonly ResourceBase[],
): Promise<TableDifference> {
  const columns = await columnsOf(sql, name)
  const meant = columns.filter((column) => column !== 'run_id').join(', ')
  const counted = (table: string) =>
    `select md5(row(${meant})::text) as row, count(*) as n from ${table} ${where ? `where ${where}` : ''} group by 1`
  const [row] = await sql.query<Omit<TableDifference, 'table'>>(
    `select coalesce(sum(greatest(coalesce(before.n, 0) - coalesce(after.n, 0), 0)), 0)::int8 as "onlyBefore",
            coalesce(sum(greatest(coalesce(after.n, 0) - coalesce(before.n, 0), 0)), 0)::int8 as "onlyAfter",
            coalesce(sum(least(before.n, after.n)) filter (where before.n is not null and after.n is not null), 0)::int8 as equal
       from (${counted(name)}) before full join (${counted(shadowName(name))}) after using (row)`,
    where ? [resources.map((one) => one.name)] : [],
  )
  return { table: name, ...(row ?? { onlyBefore: 0, onlyAfter: 0, equal: 0 }) }
}

/**
 * Copies into the shadow what is known of drift and cannot be found again: what went missing from responses about many keys,
 * what failed responses showed that cannot be read now either, and that it came back.
 */
export async function keepDrift(sql: Sql, resources: readonly (Resource | Worklist)[]): Promise<void> {
  const columns = (await columnsOf(sql, 'sync.drift')).join(', ')
  const named = resources.map((one) => one.name)
  const byKey = resources.filter(isWorklist).map((one) => one.name)
  for (const which of [
    `(kept.kind = 'missing_field' and split_part(resource, '/', 1) = any($2::text[])
      or kept.kind = 'retyped_field' and kept.path = ''
        and not exists (select from sync_replay.run again where again.run_id = kept.run_id)
        and not exists (select from sync_replay.observation again where again.run_id = kept.run_id and again.key = kept.key))`,
    `kept.kind = 'returned_field'
       and exists (select from sync_replay.drift gone where gone.resource = kept.resource and gone.path = kept.path
                                                        and gone.kind in ('missing_field', 'retyped_field'))`,
  ])
    await sql.query(
      `insert into sync_replay.drift (${columns}) select ${columns} from sync.drift kept where ${ofResource} and ${which}
         and cardinality($2::text[]) >= 0 on conflict do nothing`,
      [named, byKey],
    )
}

/** Columns that rows are written with: not those that Postgres numbers itself. */
async function columnsOf(sql: Sql, table: string): Promise<string[]> {
  const rows = await sql.query<{ name: string }>(
    `select quote_ident(attname) as name from pg_attribute
      where attrelid = $1::text::regclass and attnum > 0 and not attisdropped and attidentity = '' and attgenerated = ''
      order by attnum`,
    [table],
  )
  return rows.map(({ name }) => name)
}

/**
 * Replaces the rows of the tables by those of the replay, in the caller's transaction. The tables stay the same ones, because
 * views depend on them.
 */
export async function swapTables(sql: Sql, resources: readonly ResourceBase[]): Promise<void> {
  const names = resources.map((one) => one.name)
  const own = resources.flatMap(tablesOf)
  // Averages are made again. A transaction that averages waits for this row, and then sees the new samples.
  await typed(sql).update(tier).set({ averagedUntil: null }).where(anyOf(tier.sampleTable, own))
  for (const name of names) await invalidateCoverage(sql, name, null)
  await sql.query(`truncate ${own.join(', ')}`)
  for (const { name, where } of shared) await sql.query(`delete from ${name} where ${where}`, [names])
  for (const { name } of rebuiltBy(resources)) {
    const columns = (await columnsOf(sql, name)).join(', ')
    await sql.query(`insert into ${name} (${columns}) select ${columns} from ${shadowName(name)}`)
  }
  for (const statement of [ledgerOfRuns, ledgerOfCopies, ledgerOfKeys, keys]) await sql.query(statement, [names])
}

const counts = [...Object.keys(noCounts), 'normalized', 'living']
const said = [
  'status',
  'reason',
  'observed_from',
  'observed_at',
  'complete',
  'pages',
  ...counts,
  'content_hash',
  'reload',
]

/** The ledger keeps its runs and their times; the outcome of their responses is what the replay found. */
const ledgerOfRuns = `
  update sync.run live set ${said.map((column) => `${column} = again.${column}`).join(', ')}, error = again.error
    from sync_replay.run again
   where live.run_id = again.run_id and live.resource = any($1::text[])`

/** An identical copy of a response was not archived again, and the next response is compared with it all the same. */
const ledgerOfCopies = `
  update sync.run live set living = again.living, records = again.records, normalized = again.normalized,
         content_hash = again.content_hash, reload = again.reload
    from (select distinct on (resource, observed_at) * from sync_replay.run
           where status in ('ok', 'unchanged', 'partial') order by resource, observed_at, started_at desc) again
   where live.resource = any($1::text[]) and live.resource = again.resource and live.observed_at = again.observed_at
     and live.status in ('ok', 'unchanged', 'partial')
     and (live.content_hash, live.reload) is distinct from (again.content_hash, again.reload)`

const ledgerOfKeys = `
  update sync.observation live set status = again.status, reason = again.reason, observed_at = again.observed_at
    from sync_replay.observation again
   where live.resource = any($1::text[]) and live.resource = again.resource and live.key = again.key
     and live.run_id = again.run_id and live.received_at = again.received_at
     and (live.status, live.reason, live.observed_at) is distinct from (again.status, again.reason, again.observed_at)`

const keys = `
  update sync.work_item live set content_hash = again.content_hash, reload = again.reload, observed_at = again.observed_at, records = again.records,
         first_observed_at = least(live.first_observed_at, again.first_observed_at), gone_at = again.gone_at
    from sync_replay.work_item again
   where live.resource = any($1::text[]) and live.resource = again.resource and live.key = again.key`
