import { eq, min } from 'drizzle-orm'
import type { Sql } from '../../db/database.ts'
import { typed } from '../../db/typed.ts'
import { isWorklist, type Resource, type Worklist } from '../declare/resource.ts'
import { accepted } from '../sql/accepted.ts'
import { rawAnswer } from '../tables/archive.ts'
import { tablesOf } from './replayed-tables.ts'

/** How far back the archived responses of a resource go, and whether they are complete. */
export interface Reach {
  readonly resource: string
  /** When the oldest archived response was loaded; null when there is none. */
  readonly from: Date | null
  /**
   * The latest accepted response that is in the tables and not in the archive; or, where retention has compacted the tables,
   * the instant since when it has not. Null when nothing is missing.
   */
  readonly missing: Date | null
}

/** Accepted responses in the ledger that are not archived; and, where the ledger is compacted, the hour in which it begins. */
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

/** What a replay would restore of a compacted table, and of a response that the ledger does not have any more. */
const thinned = `
  select max(fine_since) as at from sync.tier where sample_table = 'raw/' || $1 or sample_table = any($2::text[])`

/** What was purged is in no table, so that no archived response is missing for it. */
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

/** Whether everything in the tables of a resource could be rebuilt from its archived responses. */
export async function reachOf(sql: Sql, resource: Resource | Worklist): Promise<Reach> {
  const { name } = resource
  const [oldest] = await typed(sql)
    .select({ at: min(rawAnswer.takenAt) })
    .from(rawAnswer)
    .where(eq(rawAnswer.resource, name))
  const [missing] = await sql.query<{ at: Date | null }>(isWorklist(resource) ? missingKeys : missingWhole, [name])
  const [gone] = await sql.query<{ at: Date | null }>(thinned, [name, tablesOf(resource)])
  const since = [missing, gone].flatMap((one) => one?.at?.getTime() ?? [])
  return { resource: name, from: oldest?.at ?? null, missing: since.length > 0 ? new Date(Math.max(...since)) : null }
}
