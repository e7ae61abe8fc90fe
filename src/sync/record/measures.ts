import type { Sql } from '../../db/database.ts'
import { type BudgetOverview, readBudgets } from './overview.ts'

/** Numbers of one resource, for monitoring. */
export interface ResourceMeasure {
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
