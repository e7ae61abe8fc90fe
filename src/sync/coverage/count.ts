import type { Database, Sql } from '../../db/database.ts'
import { lockForTransaction } from '../../db/locks/held-locks.ts'
import { typed } from '../../db/typed.ts'
import { countingLock } from '../ledger/gaps.ts'
import { accepted } from '../sql/history-sql.ts'
import { coverageReach } from '../tables/state.ts'

/** How much of the ledger is counted in one transaction, ms, and in how many of them at most: a year the first time. */
const chunk = 7 * 86_400_000
const chunks = 60

/** Responses of the last minutes may not be committed yet, ms. Those that take longer invalidate the count. */
const commitDelay = 15 * 60_000

/**
 * Counts hours that are over into `sync.coverage_hour`, while the ledger stays whole: for questions about weeks. Several
 * processes may do so at once.
 * @returns hours that are counted now
 */
export async function materializeCoverage(
  db: Database,
  { now, resources }: { now: Date; resources: readonly { readonly name: string }[] },
): Promise<number> {
  let hours = 0
  for (const { name } of resources) hours += await countHours(db, name, new Date(now.getTime() - commitDelay))
  return hours
}

/**
 * Counts the hours of a resource before an instant. Hours after the latest observation wait, because what was missed in
 * them is known only when the next one comes; and so does a resource without an expected interval.
 * @param before the hour that it lies in, and all after it, are left to the ledger
 * @returns hours that are counted now
 */
export async function countHours(db: Database, resource: string, before: Date): Promise<number> {
  let hours = 0
  for (let nth = 0; nth < chunks; nth++) {
    // Most of the time there is nothing to count, and no lock is needed to see that.
    if (!(await uncounted(db, resource, before))) break
    hours += await db.transaction((sql) => countOnce(sql, resource, before))
  }
  return hours
}

async function countOnce(sql: Sql, resource: string, before: Date): Promise<number> {
  await lockForTransaction(sql, countingLock(resource), 'exclusive')
  const span = await uncounted(sql, resource, before)
  if (!span) return 0
  const until = new Date(Math.min(span.until.getTime(), span.from.getTime() + chunk))
  const counted = await sql.query(
    `insert into sync.coverage_hour (resource, hour, expected, observed, unchanged, partial, stale, rejected, missed)
     select $1, hour, expected, observed, unchanged, partial, stale, rejected, missed from analytics.coverage($1, $2, $3)
     returning 1`,
    [resource, span.from, until],
  )
  const row = { resource, countedUntil: until }
  await typed(sql).insert(coverageReach).values(row).onConflictDoUpdate({ target: coverageReach.resource, set: row })
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
                    -- The next response is no older than the last one, but it may lie before an identical copy of it.
                    date_trunc('hour', least($2, case when watch.is_worklist then watch.last_at else (
                      select max(run.observed_at) from sync.run where run.resource = $1 and run.${accepted}) end), 'UTC') as until) span
      where watch.is_told and watch.first_at is not null and span.from < span.until`,
    [resource, before],
  )
  return span
}
