import type { Sql } from '../../db/database.ts'
import { accepted } from '../../sync/sql/history-sql.ts'
import type { LakeCoverage } from '../index-file.ts'

/** A resource of the lake, and what it says of when it was observed. */
interface Observed {
  readonly resource: string
  readonly isKeyed: boolean
}

/** What of a lake counts in which time. */
interface BlindOptions {
  /** SQL: the keys that are meant, where the resource has a response per key. It may read `lake_span`. */
  readonly keys?: string | undefined
  /** The lake whose word is taken anew: what was imported from it before does not count as observed. */
  readonly sourceId?: string | undefined
}

/**
 * Writes the intervals in which this database observed nothing into a temporary table `lake_blind` (resource, scope, began,
 * ended), without their ends: there it did. Of a resource with one response these are the time before its first and after
 * its last accepted response, and its gaps; where no interval was ever expected, all time between two responses. Of one
 * with a response per key, the time before the first and after the last response of each key that is meant, and its
 * gaps, each as far as the key's own responses around it, as long as the ledger has these. What was imported from the same lake before is in `lake_span`
 * (resource, began, ended), and in `lake_blind` as far as the responses around it that come from elsewhere.
 */
export async function createBlind(
  sql: Sql,
  of: readonly Observed[],
  { keys, sourceId }: BlindOptions = {},
): Promise<void> {
  await sql.query('drop table if exists pg_temp.lake_blind, pg_temp.lake_span')
  await sql.query(
    'create temp table lake_blind (resource text, scope text, began timestamptz, ended timestamptz) on commit drop',
  )
  const plain = of.filter(({ isKeyed }) => !isKeyed).map(({ resource }) => resource)
  const keyed = of.filter(({ isKeyed }) => isKeyed).map(({ resource }) => resource)
  // Where the ledger is compacted, it does not say any more when the responses of a key were. A lake may say that it observed
  // longer than it did, so that this database did in that time, too.
  await sql.query(
    `create temp table lake_span on commit drop as
     with span as (
       select span.resource, span.began_at as began, span.ended_at as ended, coalesce(reach.thinned_until, '-infinity') as thinned
         from sync.source_span span left join sync.coverage_reach reach using (resource)
        where span.source_id = $1 and (span.resource = any($2::text[])
           or span.resource = any($3::text[]) and span.began_at >= coalesce(reach.thinned_until, '-infinity'))
     ), cut as (
       select span.*, began as at from span
        union
       select span.*, own.observed_at from span join sync.run own using (resource)
        where own.observed_at > began and own.observed_at < ended and own.${accepted} and not ${isOfLake('own')}
     )
     select resource, at as began, lead(at, 1, ended) over (partition by resource, began order by at) as ended, thinned from cut`,
    [sourceId ?? null, plain, keyed],
  )
  await sql.query('create index on lake_span (resource, began)')
  await addOfOneResponse(sql, plain)
  if (keyed.length > 0 && keys !== undefined) await addByKey(sql, keyed, keys)
}

/** SQL: whether a row of `sync.run` was imported from a lake. */
export const isOfLake = (run: string): string =>
  `exists (select from sync.source lake where lake.source_id = ${run}.source_id and lake.kind = 'lake')`

/** Whether this database received a response that speaks for an instant itself. */
const isOwnRun = (resource: string, at: string) =>
  `exists (select from sync.run own where own.resource = ${resource} and own.${accepted} and own.observed_at = ${at}
              and not ${isOfLake('own')})`

async function addOfOneResponse(sql: Sql, resources: readonly string[]): Promise<void> {
  const runsWhere = (bound: string, condition: string) =>
    `(select ${bound}(run.observed_at) from sync.run where run.resource = span.resource and run.${accepted} and ${condition})`
  await sql.query(
    `insert into lake_blind
     with life as (
       select of.resource,
              coalesce(min(run.observed_at), (select min(received_at) from sync.observation one where one.resource = of.resource)) as first_at,
              coalesce(max(run.observed_at), (select max(received_at) from sync.observation one where one.resource = of.resource)) as last_at,
              exists (select from sync.expectation told where told.resource = of.resource) as is_told
         from unnest($1::text[]) of(resource)
         left join sync.run on run.resource = of.resource and run.${accepted}
        group by of.resource
     ), span as (
       select lake_span.*, lag(ended) over ordered as previous, lead(began) over ordered as next
         from lake_span where resource = any($1::text[]) window ordered as (partition by resource order by began)
     ), piece(resource, began, ended) as (
       select resource, '-infinity', coalesce(first_at, 'infinity') from life
        union all select resource, last_at, 'infinity' from life where last_at is not null
        union all select gap.resource, gap.began_at, gap.ended_at from sync.gap join life using (resource) where is_told
        union all
       select * from (
         select run.resource, run.observed_at, lead(run.observed_at) over (partition by run.resource order by run.observed_at) as next
           from sync.run join life using (resource) where not is_told and run.${accepted}) each where next > observed_at
        union all
       select resource,
              case when ${isOwnRun('span.resource', 'span.began')} then began
                   else greatest(coalesce(${runsWhere('max', `run.observed_at > coalesce(span.previous, '-infinity') and run.observed_at < span.began`)}, previous, '-infinity'), least(began, thinned)) end,
              case when ended < thinned or ${isOwnRun('span.resource', 'span.ended')} then ended
                   else coalesce(${runsWhere('min', `run.observed_at > span.ended and run.observed_at < coalesce(span.next, 'infinity')`)}, next, 'infinity') end
         from span
     ), reaching as (
       select piece.*, max(ended) over (partition by resource order by began, ended rows between unbounded preceding and 1 preceding) as reach
         from piece
     ), numbered as (
       -- Two that touch are one where the response between them comes from the lake.
       select reaching.*, count(*) filter (
                where reach is null or began > reach
                   or began = reach and (${isOwnRun('reaching.resource', 'reaching.began')}
                                         or not exists (select from lake_span span where span.resource = reaching.resource
                                                           and reaching.began between span.began and span.ended)))
              over (partition by resource order by began, ended rows unbounded preceding) as nth
         from reaching
     )
     select resource, null, min(began), max(ended) from numbered group by resource, nth`,
    [resources],
  )
}

/** SQL: whether a row of `sync.observation` does not come from the lake of `lake_span`. */
export const isOtherObservation = (one: string): string =>
  `(not exists (select from lake_span span where span.resource = ${one}.resource and ${one}.received_at between span.began and span.ended)
    or exists (select from sync.run where run.run_id = ${one}.run_id and not ${isOfLake('run')}))`

async function addByKey(sql: Sql, resources: readonly string[], keys: string): Promise<void> {
  const observed = (bound: string, condition: string) =>
    `(select ${bound}(one.observed_at) from sync.observation one
       where one.resource = life.resource and one.key = life.key and one.${accepted} and ${condition} and ${isOtherObservation('one')})`
  await sql.query(
    `insert into lake_blind
     with life as (
       select of.resource, each.key, item.first_observed_at as first_at, item.observed_at as last_at
         from unnest($1::text[]) of(resource) cross join (${keys}) each(key)
         left join sync.work_item item on item.resource = of.resource and item.key = each.key
     ), piece as (
       select gap.resource, began_at as began, ended_at as ended, coalesce(thinned_until, '-infinity') as thinned
         from sync.gap left join sync.coverage_reach using (resource)
        union all select resource, began, ended, thinned from lake_span)
     select resource, key, '-infinity'::timestamptz, coalesce(first_at, 'infinity') from life
      union select resource, key, last_at, 'infinity' from life where last_at is not null
      union
     select life.resource, life.key, around.before, around.after
       from life join piece on piece.resource = life.resource and piece.began < life.last_at and piece.began >= life.first_at
      cross join lateral (select greatest(${observed('max', 'one.observed_at <= piece.began')}, least(piece.began, thinned)) as before,
                                 case when piece.ended < thinned then piece.ended
                                      else ${observed('min', 'one.observed_at >= piece.ended')} end as after) around
      where around.before < around.after`,
    [resources],
  )
}

/** Writes the intervals in which the lake's database observed a resource into a temporary table `lake_seen`. */
export async function createSeen(sql: Sql, coverage: readonly LakeCoverage[]): Promise<void> {
  const rows = coverage.flatMap(({ resource, since, until, gaps }) =>
    since === null || until === null ? [] : stretches(resource, since, until, gaps),
  )
  await sql.query('drop table if exists pg_temp.lake_seen')
  await sql.query('create temp table lake_seen (resource text, began timestamptz, ended timestamptz) on commit drop')
  await sql.query(
    'insert into lake_seen select * from unnest($1::text[], $2::timestamptz[], $3::timestamptz[])',
    [0, 1, 2].map((column) => rows.map((row) => row[column] as string)),
  )
}

/** What lies between the gaps of a resource; gaps that overlap or are inverted change nothing of the rest. */
function stretches(
  resource: string,
  since: string,
  until: string,
  gaps: LakeCoverage['gaps'],
): (readonly [resource: string, began: string, ended: string])[] {
  const found: [string, string, string][] = []
  let began = Date.parse(since)
  const end = Date.parse(until)
  const text = (at: number) => new Date(at).toISOString()
  const sorted = gaps.map(([from, to]) => [Date.parse(from), Date.parse(to)] as const).sort(([a], [b]) => a - b)
  for (const [from, to] of sorted) {
    if (to <= from || to <= began) continue
    if (from >= end) break
    if (from >= began) found.push([resource, text(began), text(from)])
    began = to
  }
  if (began <= end) found.push([resource, text(began), text(end)])
  return found
}
