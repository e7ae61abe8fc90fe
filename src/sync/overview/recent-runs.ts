import type { Sql } from '../../db/database.ts'
import { type BudgetOverview, readBudgets } from './overview.ts'

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
