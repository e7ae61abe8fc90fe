import type { Sql } from '../../db/database.ts'
import { isWorklist, type Resource, type Worklist } from '../resource.ts'
import { tablesOf } from './replayed-tables.ts'

/** How far back the raw answers of a resource go, and whether they are all there. */
export interface Reach {
  readonly resource: string
  /** When the oldest raw answer was taken in; null when there is none. */
  readonly from: Date | null
  /**
   * The latest accepted answer that is in the tables and of which no raw one is left; or, where retention has thinned out
   * what they told, the instant since when it has not. Null when nothing is missing.
   */
  readonly missing: Date | null
}

const accepted = `status in ('ok', 'unchanged', 'partial')`

/** Accepted answers in the ledger without a raw one; and, where the ledger was thinned out, the hour in which it begins. */
const missingWhole = `
  select max(at) as at from (
    select observed_at as at from sync.run answer
     where resource = $1 and ${accepted} and observed_at is not null
       and not exists (select from sync.raw_answer raw where raw.resource = $1 and raw.observed_at = answer.observed_at)
    union all
    select min(hour) from sync.coverage_hour
     where resource = $1 and observed > 0
       and hour < (select thinned_until from sync.coverage_reach where resource = $1)
    having min(hour) + interval '1 hour' < (select min(taken_at) from sync.raw_answer where resource = $1)
  ) missing`

/** What a replay would make anew of a table that is thinned out, and of an answer that the ledger does not know any more. */
const thinned = `
  select max(fine_since) as at from sync.tier where sample_table = 'raw/' || $1 or sample_table = any($2::text[])`

/** What was purged is in no table, so that no raw answer is missing for it. */
const isNamed = `answer.key <> 'removed'`

const missingKeys = `
  select max(at) as at from (
    select received_at as at from sync.observation answer
     where resource = $1 and ${accepted} and ${isNamed}
       and not exists (select from sync.raw_answer raw
                        where raw.resource = $1 and raw.key = answer.key and raw.observed_at = answer.observed_at)
    union all
    select received_at from sync.observation answer
     where resource = $1 and status = 'gone' and ${isNamed}
       and not exists (select from sync.raw_answer raw
                        where raw.resource = $1 and raw.key = answer.key and raw.run_id = answer.run_id)
    union all
    select first_observed_at from sync.work_item item
     where resource = $1 and first_observed_at is not null
       and not exists (select from sync.raw_answer raw
                        where raw.resource = $1 and raw.key = item.key and raw.observed_at = item.first_observed_at)
  ) missing`

/** Looks whether everything that the tables of a resource hold could be made again from its raw answers. */
export async function reachOf(sql: Sql, resource: Resource | Worklist): Promise<Reach> {
  const { name } = resource
  const [oldest] = await sql.query<{ at: Date | null }>(
    'select min(taken_at) as at from sync.raw_answer where resource = $1',
    [name],
  )
  const [missing] = await sql.query<{ at: Date | null }>(isWorklist(resource) ? missingKeys : missingWhole, [name])
  const [gone] = await sql.query<{ at: Date | null }>(thinned, [name, tablesOf(resource)])
  const since = [missing, gone].flatMap((one) => one?.at?.getTime() ?? [])
  return { resource: name, from: oldest?.at ?? null, missing: since.length > 0 ? new Date(Math.max(...since)) : null }
}
