import type { Database, SqlValue } from '../../db/database.ts'
import { bulkTable } from '../load/bulk-table.ts'
import type { ExpiringTable } from '../resource.ts'
import { unnamed } from './compaction.ts'

/** Rows removed in one transaction. */
const batch = 10_000

/** The name of a passing table without schema, as it stands in a retention. */
export function passingName({ table }: ExpiringTable): string {
  return bulkTable(table).name.replace(/^.*\./, '')
}

/** Removes what was over before an instant, and says in `sync.tier` since when all is there. Returns how many rows went. */
export async function expirePassing(db: Database, { table, over }: ExpiringTable, before: Date, now: Date) {
  const { name, columns } = bulkTable(table)
  const column = columns.get(over)?.name
  // Nobody is to take for unseen what is about to go.
  await db.query(
    `insert into sync.tier (sample_table, fine_since, checked_at)
     select $1, $2, $3 where exists (select from ${name} where ${column} < $2)
     on conflict (sample_table) do update set fine_since = greatest(tier.fine_since, excluded.fine_since), checked_at = excluded.checked_at`,
    [name, before, now],
  )
  return await removeOld(db, name, `${column} < $1`, [before])
}

const accepted = `status in ('ok', 'unchanged', 'partial')`

/** What the ledger of a resource holds, with what is older than the instant `$2`. */
const ledger: readonly (readonly [table: string, old: string])[] = [
  ['sync.coverage_hour', 'hour < $2'],
  ['sync.gap', 'ended_at < $2'],
  ['sync.answer_span', 'ended_at < $2'],
  ['sync.guard_action', 'at < $2'],
  ['sync.quarantine', 'first_seen_at < $2'],
  [
    'sync.observation',
    // Whether a resource is asked for key by key is seen from there being one; how fresh it is, from the latest.
    `received_at < least($2, (select max(received_at) from sync.observation where resource = $1 and status = 'ok'),
                             (select max(received_at) from sync.observation where resource = $1 and ${accepted}))
       and received_at > (select min(received_at) from sync.observation
                           where resource = $1 and status not in ('rejected', 'stale'))`,
  ],
  [
    'sync.run',
    `started_at < $2
       and started_at < (select max(latest.started_at) from sync.run latest
                          where latest.resource = $1 and latest.status = run.status)
       and run_id not in (select run_id from (
         (select run_id from sync.run where resource = $1 and ${accepted} order by observed_at limit 1) union all
         (select run_id from sync.run where resource = $1 and ${accepted} order by observed_at desc limit 1) union all
         (select run_id from sync.run where resource = $1 and ${accepted} and complete order by observed_at desc limit 1)) kept)
       and ${unnamed}`,
  ],
]

/**
 * Removes what the ledger of a resource tells of the time before an instant: counted hours, gaps, spans, what guards did,
 * records that could not be understood. From then on the time before counts as not observed. Returns how many rows went.
 */
export async function expireLedger(db: Database, resource: string, before: Date): Promise<number> {
  // Nobody is to take for unseen what is about to go.
  await db.query(
    `insert into sync.tier (sample_table, coarse_since, checked_at)
     select 'ledger/' || $1, $2, $2 from analytics.watch($1) watch where watch.first_at < $2
     on conflict (sample_table) do update set coarse_since = greatest(tier.coarse_since, excluded.coarse_since)`,
    [resource, before],
  )
  let removed = 0
  for (const [table, old] of ledger)
    removed += await removeOld(db, table, `resource = $1 and ${old}`, [resource, before])
  return removed
}

async function removeOld(db: Database, table: string, old: string, params: readonly SqlValue[]): Promise<number> {
  let removed = 0
  for (let last = batch; last === batch; removed += last) {
    const [row] = await db.query<{ rows: number }>(
      `with removed as (delete from ${table} where ctid = any(array(select ctid from ${table} where ${old} limit ${batch})) returning 1)
       select count(*)::int as rows from removed`,
      params,
    )
    last = row?.rows ?? 0
  }
  return removed
}
