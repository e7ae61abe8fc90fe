import type { Sql } from '../../../db/database.ts'
import type { Period } from '../period.ts'

/** Players online in one step; NULL without an observation, or where the API sent no count. */
export interface OnlineStep {
  readonly at: Date
  readonly total: number | null
  readonly peak: number | null
  readonly hidden: number | null
  readonly coverage: number | null
}

/** Totals in every step of the period; `step` in seconds. */
export async function readOnline(sql: Sql, { from, to }: Period, step: number): Promise<OnlineStep[]> {
  return await sql.query<OnlineStep>(
    `select at, total_avg as total, total_max as peak, hidden_avg as hidden, coverage
       from analytics.online_total($1, $2, make_interval(secs => $3))`,
    [from, to, step],
  )
}
