import type { Sql } from '../../db/database.ts'
import type { LakeCoverage } from '../index-file.ts'

/** A resource of the lake, and what it says of when it was observed. */
export interface Observed {
  readonly resource: string
  readonly isKeyed: boolean
}

/**
 * Writes the intervals in which this database observed nothing into a temporary table `lake_blind` (resource, scope, began,
 * ended), without their ends: there it did. Of a resource with one response these are the time before its first and after
 * its last accepted response, and its gaps; where no interval was ever expected, all time between two responses. Of one
 * with a response per key, the time before the first and after the last response of each key that is staged, and its
 * gaps, each as far as the key's own responses around it.
 * @param keys SQL: the keys that are staged, where the resource has a response per key
 */
export async function createBlind(sql: Sql, of: readonly Observed[], keys?: string): Promise<void> {
  await sql.query('drop table if exists pg_temp.lake_blind')
  await sql.query(
    'create temp table lake_blind (resource text, scope text, began timestamptz, ended timestamptz) on commit drop',
  )
  const plain = of.filter(({ isKeyed }) => !isKeyed).map(({ resource }) => resource)
  const keyed = of.filter(({ isKeyed }) => isKeyed).map(({ resource }) => resource)
  await sql.query(
    `insert into lake_blind
     with life as (
       select of.resource,
              coalesce(min(run.observed_at), (select min(received_at) from sync.observation one where one.resource = of.resource)) as first_at,
              coalesce(max(run.observed_at), (select max(received_at) from sync.observation one where one.resource = of.resource)) as last_at,
              exists (select from sync.expectation told where told.resource = of.resource) as is_told
         from unnest($1::text[]) of(resource)
         left join sync.run on run.resource = of.resource and run.status in ('ok', 'unchanged', 'partial')
        group by of.resource)
     select resource, null, '-infinity', coalesce(first_at, 'infinity') from life
      union all select resource, null, last_at, 'infinity' from life where last_at is not null
      union all select gap.resource, null, gap.began_at, gap.ended_at from sync.gap join life using (resource) where is_told
      union all
     select * from (
       select run.resource, null, run.observed_at, lead(run.observed_at) over (partition by run.resource order by run.observed_at) as next
         from sync.run join life using (resource)
        where not is_told and run.status in ('ok', 'unchanged', 'partial')) each where next > observed_at`,
    [plain],
  )
  if (keyed.length === 0 || keys === undefined) return
  await sql.query(
    `insert into lake_blind
     with life as (
       select of.resource, each.key, item.first_observed_at as first_at, item.observed_at as last_at
         from unnest($1::text[]) of(resource) cross join (${keys}) each(key)
         left join sync.work_item item on item.resource = of.resource and item.key = each.key)
     select resource, key, '-infinity'::timestamptz, coalesce(first_at, 'infinity') from life
      union all select resource, key, last_at, 'infinity' from life where last_at is not null
      union all
     select life.resource, life.key, around.before, around.after
       from life join sync.gap on gap.resource = life.resource and gap.began_at < life.last_at and gap.ended_at > life.first_at
      cross join lateral (
        select (select max(one.observed_at) from sync.observation one where one.resource = life.resource and one.key = life.key
                   and one.status in ('ok', 'unchanged', 'partial') and one.observed_at <= gap.began_at) as before,
               (select min(one.observed_at) from sync.observation one where one.resource = life.resource and one.key = life.key
                   and one.status in ('ok', 'unchanged', 'partial') and one.observed_at >= gap.ended_at) as after) around
      where around.before < around.after`,
    [keyed],
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
export function stretches(
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
