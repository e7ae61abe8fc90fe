import { eq } from 'drizzle-orm'
import type { Database, Sql } from '../../db/database.ts'
import { lockForTransaction } from '../../db/locks/held-locks.ts'
import { typed } from '../../db/typed.ts'
import type { ResourceBase } from '../declare/resource.ts'
import { countingLock } from '../ledger/gaps.ts'
import { compactObservations, recordUnarchived, unnamed } from '../retention/compaction.ts'
import { deleteRows } from '../retention/tiers.ts'
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
async function countHours(db: Database, resource: string, before: Date): Promise<number> {
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

interface Compacted {
  /** Hours that are counted now. */
  readonly hours: number
  /** Rows of the ledger that were removed. */
  readonly runs: number
  readonly observations: number
}

/**
 * Counts the observations of the hours before an instant, and removes the rows of the ledger that nothing else needs. What
 * stays: the first and the latest response of each resource, the latest run of each status, what drift, quarantine or a guard
 * names; and of a resource of which questions depend on when its responses were, what it declares to retain. Hours after
 * the latest observation wait, because what was missed in them is known only when the next one comes. May be interrupted at
 * any time and called again.
 * @param before the hour that it lies in, and all after it, are left as they are
 */
export async function compactCoverage(
  db: Database,
  { before, resources }: { before: Date; resources: readonly Pick<ResourceBase, 'name' | 'evidence'>[] },
): Promise<Compacted> {
  const total = { hours: 0, runs: 0, observations: 0 }
  for (const resource of resources) {
    total.hours += await countHours(db, resource.name, before)
    for (let last = false; !last; ) {
      const done = await db.transaction((sql) => removeOnce(sql, resource, before))
      for (const count of ['runs', 'observations'] as const) total[count] += done[count]
      last = done.last
    }
    const removed = await compactObservations(db, resource, before)
    if (resource.evidence) total['spans' in resource.evidence ? 'runs' : 'observations'] += removed
  }
  return total
}

async function removeOnce(
  sql: Sql,
  { name, evidence }: Pick<ResourceBase, 'name' | 'evidence'>,
  before: Date,
): Promise<Omit<Compacted, 'hours'> & { last: boolean }> {
  // A late response waits, so that it invalidates nothing that cannot be counted again.
  const [span] = await sql.query<{ from: Date; until: Date }>(
    `select span.from, span.until
       from sync.coverage_reach reach
      cross join lateral analytics.watch($1) watch
      cross join lateral (select coalesce(reach.thinned_until, date_trunc('hour', watch.first_at, 'UTC')) as from,
                                 date_trunc('hour', least($2, reach.counted_until), 'UTC') as until) span
      where reach.resource = $1 and span.from < span.until
        for update of reach`,
    [name, before],
  )
  if (!span) return { runs: 0, observations: 0, last: true }
  const until = new Date(Math.min(span.until.getTime(), span.from.getTime() + chunk))
  await typed(sql).update(coverageReach).set({ thinnedUntil: until }).where(eq(coverageReach.resource, name))
  await recordUnarchived(sql, name, until)
  const runs = await removeRuns(sql, name, evidence !== undefined && 'spans' in evidence, until)
  const observations = await removeObservations(sql, name, evidence !== undefined && 'days' in evidence, until)
  return { runs, observations, last: until >= span.until }
}

/** @param isEvidence accepted responses stay for now */
async function removeRuns(sql: Sql, resource: string, isEvidence: boolean, until: Date): Promise<number> {
  const acceptedAt = (more: string, order: string) =>
    `(select observed_at from sync.run where resource = $1 and ${accepted} ${more}
       order by observed_at ${order} limit 1)`
  return await deleteRows(
    sql,
    `delete from sync.run using
         (select ${acceptedAt('', 'asc')} as first_at, ${acceptedAt('', 'desc')} as last_at,
                 -- What is counted from here on is reckoned from it.
                 ${acceptedAt("and observed_at < $2::timestamptz - interval '1 hour'", 'desc')} as before_at,
                 ${acceptedAt('and complete', 'desc')} as complete_at) kept
      where run.resource = $1 and run.started_at < $2 and run.finished_at < $2 and (run.observed_at < $2) is not false
        and (not run.${accepted}
             or not $3 and run.observed_at > kept.first_at and run.observed_at < kept.last_at
                and run.observed_at < kept.before_at and run.observed_at is distinct from kept.complete_at)
        and run.started_at < (select max(latest.started_at) from sync.run latest
                               where latest.resource = $1 and latest.status = run.status)
        and ${unnamed}`,
    [resource, until, isEvidence],
  )
}

async function removeObservations(sql: Sql, resource: string, isEvidence: boolean, until: Date): Promise<number> {
  const receivedAt = (which: string, order: string) =>
    `(select received_at from sync.observation where resource = $1 and ${which} order by received_at ${order} limit 1)`
  return await deleteRows(
    sql,
    `delete from sync.observation one using
         (select ${receivedAt("status not in ('rejected', 'stale')", 'asc')} as first_at,
                 ${receivedAt("status = 'ok'", 'desc')} as changed_at) kept
      where one.resource = $1 and one.received_at < $2
        and (not $3 or not one.${accepted})
        and one.received_at is distinct from kept.first_at and one.received_at is distinct from kept.changed_at`,
    [resource, until, isEvidence],
  )
}
