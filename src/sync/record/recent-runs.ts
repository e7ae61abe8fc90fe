import type { Sql } from '../../db/database.ts'

/** Where a resource stands, from the ledger. */
export interface ResourceState {
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
                           order by run.started_at desc nulls last limit 1) latest on true
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

/** The keys of a worklist. */
export interface KeyCounts {
  /** Known from other responses; some may never be requested. */
  readonly listed: number
  /** With a current version. */
  readonly observed: number
}

/** How many keys each worklist has. */
export async function readKeyCounts(sql: Sql): Promise<Map<string, KeyCounts>> {
  const rows = await sql.query<KeyCounts & { resource: string }>(
    `select resource, count(*)::int as listed, count(content_hash)::int as observed from sync.work_item group by resource`,
  )
  return new Map(rows.map(({ resource, ...counts }) => [resource, counts]))
}

/** A row of the view `freshness`. */
export interface Freshness {
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
