import type { Database, Sql } from '../../db/database.ts'
import { lockForTransaction } from '../../db/locks/transaction-locks.ts'

/** How much of the ledger is counted in one transaction, ms, and in how many of them at most: a year the first time. */
const chunk = 7 * 86_400_000
const chunks = 60

/** What came so shortly ago may not all be written down yet, ms. What takes longer is counted again. */
const settling = 15 * 60_000

/**
 * Counts hours that are over into `sync.coverage_hour`, while the ledger stays whole: for questions about weeks. Several
 * may be at it at once.
 * @returns hours that are counted now
 */
export async function materializeCoverage(
  db: Database,
  { now, resources }: { now: Date; resources: readonly { readonly name: string }[] },
): Promise<number> {
  let hours = 0
  for (const { name } of resources) hours += await countHours(db, name, new Date(now.getTime() - settling))
  return hours
}

/**
 * Counts the hours of a resource before an instant. Hours after the latest observation wait, because what was missed in
 * them is known only when the next one comes; and so does a resource of which nobody told how often.
 * @param before the hour that it lies in, and all after it, are left to the ledger
 * @returns hours that are counted now
 */
export async function countHours(db: Database, resource: string, before: Date): Promise<number> {
  let hours = 0
  for (let nth = 0; nth < chunks; nth++) {
    // Most of the time there is nothing, and nobody needs to wait for that.
    if (!(await uncounted(db, resource, before))) break
    hours += await db.transaction((sql) => countOnce(sql, resource, before))
  }
  return hours
}

async function countOnce(sql: Sql, resource: string, before: Date): Promise<number> {
  await lockForTransaction(sql, counting(resource), 'exclusive')
  const span = await uncounted(sql, resource, before)
  if (!span) return 0
  const until = new Date(Math.min(span.until.getTime(), span.from.getTime() + chunk))
  const counted = await sql.query(
    `insert into sync.coverage_hour (resource, hour, expected, observed, unchanged, partial, stale, rejected, missed)
     select $1, hour, expected, observed, unchanged, partial, stale, rejected, missed from analytics.coverage($1, $2, $3)
     returning 1`,
    [resource, span.from, until],
  )
  await sql.query(
    `insert into sync.coverage_reach (resource, counted_until) values ($1, $2)
     on conflict (resource) do update set counted_until = excluded.counted_until`,
    [resource, until],
  )
  return counted.length
}

/** What of the time before an instant is not counted and will not change any more; full hours. */
async function uncounted(sql: Sql, resource: string, before: Date): Promise<{ from: Date; until: Date } | undefined> {
  const [span] = await sql.query<{ from: Date; until: Date }>(
    `select span.from, span.until
       from analytics.watch($1) watch
       left join sync.coverage_reach reach on reach.resource = $1
      cross join lateral (
             select greatest(date_trunc('hour', watch.first_at, 'UTC'), reach.counted_until) as from,
                    -- The next answer is no older than the last one, but it may lie before an identical copy of it.
                    date_trunc('hour', least($2, case when watch.is_worklist then watch.last_at else (
                      select max(run.observed_at) from sync.run
                       where run.resource = $1 and run.status in ('ok', 'unchanged', 'partial')) end), 'UTC') as until) span
      where watch.is_told and watch.first_at is not null and span.from < span.until`,
    [resource, before],
  )
  return span
}

/**
 * Takes back what is counted of a resource from an instant on: something is about to be written that changes it. Nobody
 * counts until the transaction ends. Where the ledger is thinned out, what is counted stays.
 * @param at null: since ever
 */
export async function invalidateCoverage(sql: Sql, resource: string, at: Date | null): Promise<void> {
  await lockForTransaction(sql, counting(resource), 'shared')
  const hour = `date_trunc('hour', coalesce($2::timestamptz, '-infinity'), 'UTC')`
  await sql.query(
    `with back as (
       update sync.coverage_reach reach set counted_until = greatest(reach.thinned_until, ${hour})
        where reach.resource = $1 and reach.counted_until > greatest(reach.thinned_until, ${hour})
       returning reach.counted_until
     )
     delete from sync.coverage_hour counted using back where counted.resource = $1 and counted.hour >= back.counted_until`,
    [resource, at],
  )
}

/** Who counts waits for those who write down what is counted, and lets nobody write until it is done. */
function counting(resource: string): string {
  return `coverage ${resource}`
}
