import type { Sql } from '../../db/database.ts'
import { typed } from '../../db/typed.ts'
import { free, isKey } from '../respond/checked-keys.ts'
import { workItem } from '../tables/ledger.ts'

/** Responses are cached this long (API reference 2.3): an earlier request brings the same copy. Milliseconds. */
const shortestInterval = 120_000
/** A claimed key without an outcome is free again after this time, in ms: its holder died. */
export const lease = 300_000
/** What the API no longer has is requested again after this time, in ms: within a day, for it may be back. */
export const goneInterval = 20 * 3_600_000

/** Adds keys that are not on the worklist yet. */
export async function addKeys(sql: Sql, resource: string, keys: readonly string[]): Promise<void> {
  // In one order, so that two processes that list at once do not wait for each other.
  await sql.query(
    `insert into sync.work_item (resource, key)
     select $1, key from (select distinct key from unnest($2::text[]) as listed(key)) listed order by key
     on conflict (resource, key) do nothing`,
    [resource, keys],
  )
}

/** A lease that ends later than this, ms from now, was given by a clock that was ahead. */
export const longestLease = 2 * lease

/** What may be requested now, also what was checked or claimed by a clock that was ahead. Its parameters are those of `dueOf`. */
const isDue = `resource = $1 and (leased_until is null or leased_until < $2 or leased_until > $6)
          and (checked_at is null or checked_at <= $3 or checked_at > $5)
          and (gone_at is null or checked_at <= $4 or checked_at > $5)`

function dueOf(resource: string, now: number): (string | Date)[] {
  const instants = [0, -shortestInterval, -goneInterval, shortestInterval, longestLease]
  return [resource, ...instants.map((from) => new Date(now + from))]
}

/** How many keys could be claimed now. */
export async function countDue(sql: Sql, resource: string, now: number): Promise<number> {
  const [row] = await sql.query<{ keys: number }>(
    `select count(*)::int as keys from sync.work_item where ${isDue}`,
    dueOf(resource, now),
  )
  return row?.keys ?? 0
}

/**
 * When a key was last requested, by SQL: that of a request that failed is the end of its pause. A key that always fails has its turn like
 * all others; at the head, a few would end each run before another one is requested.
 */
const lastTried = `greatest(case when checked_at <= $2 then checked_at end, case when leased_by is null and leased_until <= $2 then leased_until end)`

/**
 * Claims the most urgent key of a worklist: staleness times weight, a day for one that was never requested.
 * @param holder whose lease it is: the id of a run
 */
export async function claimKey(sql: Sql, resource: string, now: number, holder: string): Promise<string | undefined> {
  const [row] = await sql.query<{ key: string }>(
    // Materialized: as a plain subquery the planner may run it several times and lock more keys each time.
    `with urgent as materialized (
       select resource, key from sync.work_item
        where ${isDue}
        order by extract(epoch from $2 - coalesce(${lastTried}, $2 - interval '1 day')) * weight desc, key
        limit 1 for update skip locked)
     update sync.work_item item
        set leased_until = $7, leased_by = $8, checked_at = case when checked_at > $3 then $3 else checked_at end
       from urgent
      where item.resource = urgent.resource and item.key = urgent.key
      returning item.key`,
    [...dueOf(resource, now), new Date(now + lease), holder],
  )
  return row?.key
}

/** Claims a key whatever its turn; adds it to the worklist when it is not there yet. */
export async function claimNamed(
  sql: Sql,
  resource: string,
  key: string,
  now: number,
  holder: string,
): Promise<string> {
  const lent = { leasedUntil: new Date(now + lease), leasedBy: holder }
  await typed(sql)
    .insert(workItem)
    .values({ resource, key, ...lent })
    .onConflictDoUpdate({ target: [workItem.resource, workItem.key], set: lent })
  return key
}

/**
 * Releases a claimed key without a response: it keeps its turn.
 * @param failedAt of a request that failed: the key waits a while, and then for its next turn
 */
export async function releaseKey(sql: Sql, resource: string, key: string, failedAt?: number): Promise<void> {
  const leasedUntil = failedAt === undefined ? null : new Date(failedAt + shortestInterval)
  await typed(sql)
    .update(workItem)
    .set({ ...free, leasedUntil })
    .where(isKey(resource, key))
}

/** Marks a key as gone. Whatever the API shows again is loaded, also the same as before. */
export async function markGone(sql: Sql, resource: string, key: string, goneAt: Date): Promise<void> {
  await typed(sql).update(workItem).set({ goneAt, reload: true }).where(isKey(resource, key))
}
