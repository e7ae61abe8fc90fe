import type { Sql } from '../db/database.ts'
import type { LakeCoverage } from './index-file.ts'

interface Gap {
  readonly resource: string
  readonly began: Date
  readonly ended: Date
}

/** Of each resource between which accepted responses it was observed, and when it was not. */
export async function coverageOf(sql: Sql): Promise<LakeCoverage[]> {
  const seen = await sql.query<{ resource: string; since: Date | null; until: Date | null }>(
    `select resource, min(observed_at) as since, max(observed_at) as until from sync.run
      where status in ('ok', 'unchanged', 'partial') group by resource order by resource collate "C"`,
  )
  const gaps = await sql.query<Gap>('select resource, began_at as began, ended_at as ended from sync.gap order by 1, 2')
  return seen.map(({ resource, since, until }) => ({
    resource,
    since: since?.toISOString() ?? null,
    until: until?.toISOString() ?? null,
    gaps: gaps
      .filter((gap) => gap.resource === resource)
      .map(({ began, ended }) => [began.toISOString(), ended.toISOString()] as const),
  }))
}
