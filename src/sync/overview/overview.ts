import { and, desc, gt, isNotNull, notLike, or } from 'drizzle-orm'
import { remaining } from '../../api/rate-limit/budget.ts'
import { readBudgetState } from '../../api/rate-limit/budget-state.ts'
import { databaseSize } from '../../db/catalog.ts'
import type { Sql } from '../../db/database.ts'
import { typed } from '../../db/typed.ts'
import { tier } from '../tables/retention.ts'
import { budget, gap } from '../tables/state.ts'

/** What one rate-limit bucket allows, by the state that all processes share. */
export interface BudgetOverview {
  readonly account: string
  readonly bucket: string
  readonly limit: number | null
  /** Refreshes that the running window still allows; null without a header. */
  readonly remaining: number | null
  /** Requests that may be on their way, by lane. */
  readonly live: number
  readonly refresh: number
  readonly backfill: number
  /** When the running window ends, at the latest; null when none runs. */
  readonly endsAt: Date | null
}

/** @param now ms since the epoch */
export async function readBudgets(sql: Sql, now: number): Promise<BudgetOverview[]> {
  const rows = await typed(sql).select().from(budget).orderBy(budget.account, budget.bucket)
  return rows.flatMap(({ account, bucket, state: stored }) => {
    const state = readBudgetState(stored)
    // A route has a bucket of its own only until a response names the real one.
    if (state === null || bucket.startsWith('route ')) return []
    const window = state.window && now < state.window.latest ? state.window : null
    const alive = state.reservations.filter(({ until }) => until > now)
    const inLane = (wanted: string) => alive.filter(({ lane }) => lane === wanted).length
    return [
      {
        account,
        bucket,
        limit: window?.limit ?? state.lastLimit,
        remaining: remaining(state, now),
        live: inLane('live'),
        refresh: inLane('refresh'),
        backfill: inLane('backfill'),
        endsAt: window && new Date(window.latest),
      },
    ]
  })
}

/** A stretch of time in which expected observations are missing. */
type GapOverview = typeof gap.$inferSelect

/** The gaps that ended after an instant, the newest first. */
export async function readGaps(sql: Sql, since: Date, limit: number): Promise<GapOverview[]> {
  return await typed(sql).select().from(gap).where(gt(gap.endedAt, since)).orderBy(desc(gap.endedAt)).limit(limit)
}

/** What is odd about the clocks and headers of a resource's responses. */
export interface DatingRemark {
  readonly resource: string
  readonly guard: string
  readonly action: string
  readonly at: Date
  readonly reason: string
}

/** The last remark of each kind in so many hours before `now`, ms since the epoch. */
export async function readDatingRemarks(sql: Sql, now: number, hours: number): Promise<DatingRemark[]> {
  return await sql.query<DatingRemark>(
    `select distinct on (resource, guard, action) resource, guard, action, at, reason from sync.guard_action
      where at > $1 and (guard = 'header' or guard = 'clock' and action in ('accepted', 'rejected'))
      order by resource, guard, action, at desc`,
    [new Date(now - hours * 3_600_000)],
  )
}

/** A field that the API does not send, although most records had it. */
export interface UnsentOverview {
  readonly resource: string
  readonly field: string
  /** The last response that had it, and the first that lacked it. */
  readonly lastSentAt: Date
  readonly fromAt: Date
  /** Null while it is not sent. */
  readonly untilAt: Date | null
}

/** Fields that are not sent, and those that were not after an instant; the newest first. */
export async function readUnsent(sql: Sql, since: Date): Promise<UnsentOverview[]> {
  return await sql.query<UnsentOverview>(
    `select resource, field, last_sent_at as "lastSentAt", from_at as "fromAt", until_at as "untilAt" from sync.unsent
      where until_at is null or until_at > $1 order by from_at desc, resource, field`,
    [since],
  )
}

/** How much room a table takes, with its indexes. */
export interface TableSize {
  readonly table: string
  readonly bytes: number
  /** As the planner last estimated them. */
  readonly rows: number
}

/** The size of the database, and of its largest tables; a partitioned one counts as one. */
export async function readSizes(sql: Sql, limit: number): Promise<{ bytes: number; tables: TableSize[] }> {
  const tables = await sql.query<TableSize>(
    `select owner.relnamespace::regnamespace || '.' || owner.relname as "table",
            sum(pg_total_relation_size(part.oid)) as bytes, sum(greatest(part.reltuples, 0)) as rows
       from pg_class part
       left join pg_inherits on pg_inherits.inhrelid = part.oid
       join pg_class owner on owner.oid = coalesce(pg_inherits.inhparent, part.oid)
      where part.relkind = 'r' and owner.relnamespace::regnamespace::text in ('game', 'sync')
      group by owner.relnamespace, owner.relname order by bytes desc, owner.relname collate "C" limit $1`,
    [limit],
  )
  return { bytes: (await databaseSize(sql)) ?? 0, tables }
}

/** Since when a table, or the ledger of a resource, has everything; and since when anything. Null: from the beginning. */
export interface TierOverview {
  /** Such as `game.world_sample`, or `ledger/` and a resource. */
  readonly table: string
  readonly fineSince: Date | null
  readonly coarseSince: Date | null
}

/** What retention has thinned out or removed. */
export async function readTiers(sql: Sql): Promise<TierOverview[]> {
  return await typed(sql)
    .select({ table: tier.sampleTable, fineSince: tier.fineSince, coarseSince: tier.coarseSince })
    .from(tier)
    .where(and(or(isNotNull(tier.fineSince), isNotNull(tier.coarseSince)), notLike(tier.sampleTable, 'raw/%')))
    .orderBy(tier.sampleTable)
}

export interface FailureOverview {
  readonly resource: string
  readonly at: Date
  readonly error: string
  /** Runs that failed like this since. */
  readonly times: number
}

/** What failed after an instant, each different failure of a resource once, the newest first. */
export async function readFailures(sql: Sql, since: Date, limit: number): Promise<FailureOverview[]> {
  return await sql.query<FailureOverview>(
    `select resource, max(finished_at) as at, error, count(*)::int as times
       from sync.run where status = 'failed' and error is not null and started_at > $1
      group by resource, error order by at desc limit $2`,
    [since, limit],
  )
}
