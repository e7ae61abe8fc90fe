import { and, desc, gt, isNotNull, notLike, or } from 'drizzle-orm'
import { remaining } from '../../api/rate-limit/budget.ts'
import { readBudgetState } from '../../api/rate-limit/budget-state.ts'
import { databaseSize } from '../../db/catalog.ts'
import type { Sql } from '../../db/database.ts'
import { typed } from '../../db/typed.ts'
import { tier } from '../tables/retention.ts'
import { budget, gap } from '../tables/state.ts'

/** What one rate-limit bucket allows, by the state that all processes share. */
interface BudgetOverview {
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

/** Where a resource stands, from the ledger. */
interface ResourceState {
  readonly resource: string
  /** Status of the latest run, or null when it never ran. */
  readonly status: string | null
  readonly finishedAt: Date | null
  /** The instant the last accepted response speaks for. */
  readonly observedAt: Date | null
  /** When a run last found something different. */
  readonly changedAt: Date | null
  /** Keys that are current. */
  readonly currentKeys: number | null
  readonly quarantined: number
  readonly error: string | null
}

/** The state of each named resource, in the given order. */
export async function readStates(sql: Sql, resources: readonly string[]): Promise<ResourceState[]> {
  return await sql.query<ResourceState>(
    `select wanted.name as resource, latest.status, latest.finished_at as "finishedAt",
            accepted.observed_at as "observedAt", changed.observed_at as "changedAt", accepted.living as "currentKeys",
            coalesce(latest.quarantined, 0) as quarantined, coalesce(latest.error, latest.reason) as error
       from unnest($1::text[]) with ordinality as wanted(name, position)
       left join lateral (select * from sync.run where run.resource = wanted.name
                           order by run.started_at desc nulls last, run.status = 'rejected' limit 1) latest on true
       left join lateral (select * from sync.run where run.resource = wanted.name
                             and run.status in ('ok', 'unchanged', 'partial')
                           order by run.observed_at desc nulls last limit 1) accepted on true
       left join lateral (select * from sync.run where run.resource = wanted.name
                             and run.status in ('ok', 'partial') and run.inserted + run.changed + run.closed > 0
                           order by run.observed_at desc nulls last limit 1) changed on true
      order by wanted.position`,
    [resources],
  )
}

export interface KeyCounts {
  /** Known from other responses; some may never be requested. */
  readonly listed: number
  /** With a current version. */
  readonly observed: number
}

export async function readKeyCounts(sql: Sql): Promise<Map<string, KeyCounts>> {
  const rows = await sql.query<KeyCounts & { resource: string }>(
    `select resource, count(*)::int as listed, count(content_hash)::int as observed from sync.work_item group by resource`,
  )
  return new Map(rows.map(({ resource, ...counts }) => [resource, counts]))
}

interface Freshness {
  readonly lastObservedAt: Date | null
  /** Seconds from one observation to the next; null when none is expected. */
  readonly everySeconds: number | null
  readonly isLate: boolean
}

/** How fresh each resource is that ever ran or is expected to. */
export async function readFreshness(sql: Sql): Promise<Map<string, Freshness>> {
  const rows = await sql.query<Freshness & { resource: string }>(
    `select resource, last_observed_at as "lastObservedAt", is_late as "isLate",
            extract(epoch from expected_every)::double precision as "everySeconds"
       from analytics.freshness`,
  )
  return new Map(rows.map(({ resource, ...fresh }) => [resource, fresh]))
}

/** Numbers of one resource, for monitoring. */
interface ResourceMeasure {
  readonly resource: string
  /** The instant that the latest accepted response speaks for. */
  readonly observedAt: Date | null
  /** Seconds of all gaps in which something was missed, since ever. */
  readonly gapSeconds: number
  /** Records in quarantine, each distinct one once. */
  readonly quarantined: number
  /** Things the API sent that the program does not know. */
  readonly drift: number
}

export interface Measures {
  readonly resources: readonly ResourceMeasure[]
  readonly budgets: readonly BudgetOverview[]
}

/** Reads what monitoring shows beside what the process itself counts. @param now ms since the epoch */
export async function readMeasures(sql: Sql, names: readonly string[], now: number): Promise<Measures> {
  const resources = await sql.query<ResourceMeasure>(
    `select wanted.name as resource, fresh.last_observed_at as "observedAt",
            coalesce((select sum(extract(epoch from gap.ended_at - gap.began_at)) from sync.gap
                       where gap.resource = wanted.name and gap.missed > 0), 0)::double precision as "gapSeconds",
            (select count(*)::int from sync.quarantine bad where bad.resource = wanted.name) as quarantined,
            (select count(*)::int from sync.drift novel where novel.resource = wanted.name) as drift
       from unnest($1::text[]) with ordinality as wanted(name, position)
       left join analytics.freshness fresh on fresh.resource = wanted.name
      order by wanted.position`,
    [names],
  )
  return { resources, budgets: await readBudgets(sql, now) }
}

/** When the last run ended that accepted a response, of whichever process. */
export async function lastAcceptedRuns(sql: Sql, names: readonly string[]): Promise<ReadonlyMap<string, Date>> {
  const rows = await sql.query<{ resource: string; at: Date | null }>(
    `select wanted.name as resource,
            (select max(finished_at) from sync.run where run.resource = wanted.name
                and run.status in ('ok', 'unchanged', 'partial')) as at
       from unnest($1::text[]) as wanted(name)`,
    [names],
  )
  return new Map(rows.flatMap(({ resource, at }) => (at ? [[resource, at] as const] : [])))
}
