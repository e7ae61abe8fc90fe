import type { Database, Sql } from '../../db/database.ts'
import type { Averages, ResourceBase, RetainedObservations } from '../declare/resource.ts'
import { accepted } from '../sql/history-sql.ts'
import { keepAverages } from './rollup.ts'
import { deleteRows, setTier } from './tiers.ts'

/** How much time is compacted in one transaction, ms: that much of the ledger is read at once. */
const chunk = 7 * 86_400_000

/** SQL condition: no other table names the run, which stays as long as one does. */
export const unnamed = ['drift', 'quarantine', 'guard_action']
  .map((table) => `not exists (select from sync.${table} named where named.run_id = run.run_id)`)
  .join(' and ')

/**
 * Replaces the instants of accepted responses of whole days (UTC) before an instant by what the resource declares to
 * retain of them. Only hours go whose coverage is final. May be interrupted at any time and called again.
 * @returns rows of the ledger that were removed
 */
export async function compactObservations(
  db: Database,
  { name, evidence }: Pick<ResourceBase, 'name' | 'evidence'>,
  before: Date,
): Promise<number> {
  let removed = 0
  for (let last = false; evidence && !last; ) {
    const done = await db.transaction((sql) => compactOnce(sql, name, evidence, before))
    removed += done.removed
    last = done.last
  }
  return removed
}

async function compactOnce(sql: Sql, name: string, evidence: RetainedObservations, before: Date) {
  const isSpans = 'spans' in evidence
  const first = isSpans
    ? `select observed_at from sync.run where resource = $1 and ${accepted} order by observed_at limit 1`
    : 'select received_at from sync.observation where resource = $1 order by received_at limit 1'
  const [row] = await sql.query<{ from: Date | null; until: Date | null }>(
    `select coalesce((select fine_since from sync.tier where sample_table = 'ledger/' || $1), date_trunc('day', (${first}), 'UTC')) as from,
            (select date_trunc('day', least($2, thinned_until), 'UTC') from sync.coverage_reach
              where resource = $1 and thinned_until is not null) as until`,
    [name, before],
  )
  if (!row?.from || !row.until || row.from >= row.until) return { removed: 0, last: true }
  const span = { from: row.from, until: new Date(Math.min(row.until.getTime(), row.from.getTime() + chunk)) }
  await recordUnarchived(sql, name, span.until)
  const removed = isSpans
    ? await mergeRuns(sql, name, evidence.spans, span.until)
    : await compactKeys(sql, name, evidence.days, span)
  await setTier(sql, { sampleTable: `ledger/${name}`, fineSince: span.until, checkedAt: before })
  return { removed, last: span.until >= row.until }
}

/** The last response of the last span stays as a run: the next span continues from it. */
async function mergeRuns(sql: Sql, name: string, seconds: number, until: Date): Promise<number> {
  await sql.query(
    `with last as (
       select began_at, ended_at from sync.answer_span where resource = $1 order by began_at desc limit 1
     ), answer as (
       select distinct observed_at from sync.run
        where resource = $1 and ${accepted} and observed_at < $2
          and observed_at >= coalesce((select ended_at from last), '-infinity')
        union select ended_at from last
     ), marked as (
       select observed_at, observed_at - lag(observed_at) over (order by observed_at) > make_interval(secs => $3) as begins
         from answer
     ), numbered as (
       select observed_at, count(*) filter (where begins) over (order by observed_at) as number from marked
     ), span as (
       select min(observed_at) as first_at, max(observed_at) as last_at from numbered group by number
     )
     insert into sync.answer_span (resource, began_at, ended_at)
     select $1, case when span.first_at = last.ended_at then last.began_at else span.first_at end, span.last_at
       from span left join last on true
     on conflict (resource, began_at) do update set ended_at = excluded.ended_at`,
    [name, until, seconds],
  )
  return await deleteRows(
    sql,
    `delete from sync.run using
         (select (select min(observed_at) from sync.run where resource = $1 and ${accepted}) as first_at,
                 (select max(observed_at) from sync.run where resource = $1 and ${accepted}) as last_at,
                 (select observed_at from sync.run where resource = $1 and ${accepted} and complete
                   order by observed_at desc nulls last limit 1) as complete_at) kept
      where run.resource = $1 and run.${accepted} and run.observed_at > kept.first_at
        and run.observed_at < (select max(ended_at) from sync.answer_span where resource = $1)
        and run.observed_at < kept.last_at and run.observed_at is distinct from kept.complete_at
        and run.started_at < (select max(latest.started_at) from sync.run latest
                               where latest.resource = $1 and latest.status = run.status)
        and ${unnamed}`,
    [name],
  )
}

/** Of each key the first and the last response of a day stay; and the first of all, and the latest that changed anything. */
async function compactKeys(
  sql: Sql,
  name: string,
  averages: Averages,
  { from, until }: { from: Date; until: Date },
): Promise<number> {
  const [hours] = await sql.query<{ from: Date | null; until: Date | null }>(
    `select date_trunc('hour', min(observed_at), 'UTC') as from, max(observed_at) + interval '1 hour' as until from sync.observation
      where resource = $1 and ${accepted} and received_at >= $2 and received_at < $3`,
    [name, from, until],
  )
  if (hours?.from && hours.until) await keepAverages(sql, averages, hours.from, hours.until)
  return await deleteRows(
    sql,
    `delete from sync.observation one using
         (select ctid as place, received_at,
                 row_number() over (partition by key, date_trunc('day', observed_at, 'UTC') order by observed_at, received_at) as nth,
                 row_number() over (partition by key, date_trunc('day', observed_at, 'UTC') order by observed_at desc, received_at desc) as nth_back
            from sync.observation where resource = $1 and ${accepted} and received_at >= $2 and received_at < $3) ranked
      where one.ctid = ranked.place and ranked.nth > 1 and ranked.nth_back > 1
        and ranked.received_at is distinct from (select min(received_at) from sync.observation
                                                where resource = $1 and status not in ('rejected', 'stale'))
        and ranked.received_at is distinct from (select received_at from sync.observation where resource = $1 and status = 'ok'
                                                order by received_at desc limit 1)`,
    [name, from, until],
  )
}

/**
 * Records, before accepted responses from before an instant leave the ledger, which is the latest of them without an archived
 * response: a replay cannot rebuild the tables from there back.
 */
export async function recordUnarchived(sql: Sql, name: string, until: Date): Promise<void> {
  await sql.query(
    `insert into sync.tier (sample_table, fine_since, checked_at)
     select 'raw/' || $1, max(gone.at), $2
       from (select coalesce(max(fine_since), '-infinity') as at from sync.tier where sample_table = 'raw/' || $1) noted
      cross join lateral (
             select max(answer.observed_at) as at from sync.run answer
              where answer.resource = $1 and answer.${accepted} and answer.observed_at > noted.at and answer.observed_at < $2
                and not exists (select from sync.work_item item where item.resource = $1)
                and not exists (select from sync.raw_answer raw where raw.resource = $1 and raw.key is null
                                                                  and raw.observed_at = answer.observed_at)
              union all
             select max(answer.received_at) from sync.observation answer
              where answer.resource = $1 and answer.${accepted} and answer.received_at > noted.at and answer.received_at < $2
                and not exists (select from sync.raw_answer raw where raw.resource = $1 and raw.key = answer.key
                                                                  and raw.observed_at = answer.observed_at)) gone
     having max(gone.at) is not null
     on conflict (sample_table) do update set fine_since = greatest(tier.fine_since, excluded.fine_since), checked_at = excluded.checked_at`,
    [name, until],
  )
}
