import type { Database, SqlValue } from '../../db/database.ts'
import type { ExpiringTable, ResourceBase } from '../declare/resource.ts'
import { accepted, bulkTable } from '../sql/history-sql.ts'
import { unnamed } from './compaction.ts'
import { deleteRows } from './tiers.ts'

/** Rows removed in one transaction. */
const batch = 10_000

/** The name of a table without schema, as a retention names it. */
export function expiringName({ table }: ExpiringTable): string {
  return bulkTable(table).name.replace(/^.*\./, '')
}

/** Removes rows that were over before an instant, and records in `sync.tier` from when on they are complete. Returns how many rows it removed. */
export async function expireTable(db: Database, { table, over }: ExpiringTable, before: Date, now: Date) {
  const { name, columns } = bulkTable(table)
  const column = columns.get(over)?.name
  // First, so that no query takes what was removed for never observed.
  await db.query(
    `insert into sync.tier (sample_table, fine_since, checked_at)
     select $1, $2, $3 where exists (select from ${name} where ${column} < $2)
     on conflict (sample_table) do update set fine_since = greatest(tier.fine_since, excluded.fine_since), checked_at = excluded.checked_at`,
    [name, before, now],
  )
  return await removeOld(db, name, `${column} < $1`, [before])
}

/**
 * The tables of the ledger of a resource, with the condition for what is older than the instant `$2`.
 * @param kept SQL of the responses that stay
 */
const ledger = (kept: string): readonly (readonly [table: string, old: string])[] => [
  ['sync.coverage_hour', 'hour < $2'],
  ['sync.gap', 'ended_at < $2'],
  ['sync.answer_span', 'ended_at < $2'],
  ['sync.guard_action', 'at < $2'],
  ['sync.quarantine', 'first_seen_at < $2'],
  [
    'sync.observation',
    // That there is one says that the resource is a worklist; the latest says how fresh it is.
    `received_at < least($2, (select max(received_at) from sync.observation where resource = $1 and status = 'ok'),
                             (select max(received_at) from sync.observation where resource = $1 and ${accepted}))
       and received_at > (select min(received_at) from sync.observation
                           where resource = $1 and status not in ('rejected', 'stale'))
       and not exists (select from (${kept}) kept where kept.key = observation.key and kept.observed_at = observation.observed_at)
     order by received_at`,
  ],
  [
    'sync.run',
    `started_at < $2
       and started_at < (select max(latest.started_at) from sync.run latest
                          where latest.resource = $1 and latest.status = run.status)
       and run_id not in (select run_id from (
         (select run_id from sync.run where resource = $1 and ${accepted} order by observed_at limit 1) union all
         (select run_id from sync.run where resource = $1 and ${accepted} order by observed_at desc nulls last limit 1) union all
         (select run_id from sync.run where resource = $1 and ${accepted} and complete order by observed_at desc nulls last limit 1)) kept)
       and ${unnamed}`,
  ],
]

type ExpiringLedger = Pick<ResourceBase, 'name' | 'keptObservations'>

/**
 * Removes from the ledger of a resource what is older than an instant: counted hours, gaps, spans, guard actions, quarantine, and when keys could not be read.
 * From then on the time before counts as not observed. Returns how many rows it removed.
 */
export async function expireLedger(
  db: Database,
  {
    name: resource,
    keptObservations = 'select null as key, null::timestamptz as observed_at where false',
  }: ExpiringLedger,
  before: Date,
): Promise<number> {
  // First, so that no query takes what was removed for never observed.
  await db.query(
    `insert into sync.tier (sample_table, coarse_since, checked_at)
     select 'ledger/' || $1, $2, $2 from analytics.watch($1) watch where watch.first_at < $2
     on conflict (sample_table) do update set coarse_since = greatest(tier.coarse_since, excluded.coarse_since)`,
    [resource, before],
  )
  let removed = 0
  for (const [table, old] of ledger(keptObservations))
    removed += await removeOld(db, table, `resource = $1 and ${old}`, [resource, before])
  // It names histories of the resource, too.
  const ofHistories = `split_part(resource, '/', 1) = $1 and until_at < $2`
  return removed + (await removeOld(db, 'sync.unread', ofHistories, [resource, before]))
}

async function removeOld(db: Database, table: string, old: string, params: readonly SqlValue[]): Promise<number> {
  let removed = 0
  for (let last = batch; last === batch; removed += last) {
    const some = `select ctid from ${table} where ${old} limit ${batch}`
    last = await deleteRows(db, `delete from ${table} where ctid = any(array(${some}))`, params)
  }
  return removed
}
