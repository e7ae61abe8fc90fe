import { fillEmpty } from '../../db/bulk/fill-empty.ts'
import { countOf } from '../../db/count-of.ts'
import type { Sql } from '../../db/database.ts'
import { invalidateCoverage } from '../../sync/ledger/gaps.ts'
import type { LakeCoverage } from '../index-file.ts'
import { createBlind, createSeen } from './blind.ts'
import { fitting } from './in-place.ts'
import { mergeUnread } from './merge-unread.ts'

/** Tables of the ledger that are imported, all in one transaction, because they say which time is known. */
export const LEDGER = 'run observation expectation gap answer_span tier unsent unread claim'
  .split(' ')
  .map((name) => `sync.${name}`)

interface Interval {
  readonly resource: string
  readonly began: Date
  readonly ended: Date
}

interface LedgerOptions {
  readonly coverage: readonly LakeCoverage[]
  readonly sourceId: string
  /** Resources of which this database has no responses, and their tables: they get what a compacted ledger needs. */
  readonly fresh: readonly string[]
  readonly freshTables: readonly string[]
  /** Resources whose sessions are imported. */
  readonly withSessions: readonly string[]
  /** Whether indexes of the ledger are made when its rows are in, where it is empty. */
  readonly mayPlace: boolean
}

/**
 * Merges the staged ledger of a lake: its runs and observations where this database was blind, and what is left of the gaps.
 * The time that both do not know stays a gap. What names players stays out: reasons and errors.
 */
export async function mergeLedger(
  sql: Sql,
  resources: readonly string[],
  { coverage, sourceId, fresh, freshTables, withSessions, mayPlace }: LedgerOptions,
): Promise<ReadonlyMap<string, number>> {
  await createBlind(
    sql,
    resources.map((resource) => ({ resource, isKeyed: false })),
  )
  await createSeen(sql, coverage)
  await addSeenByKey(sql, resources)
  const taken = new Map<string, number>()
  const count = async (table: string, statement: string, parameters: readonly (string | readonly string[])[] = []) =>
    void taken.set(table, await countOf(sql, statement, parameters))
  const blindAt = (row: string, at: string) =>
    `exists (select from lake_blind blind where blind.resource = ${row}.resource and ${at} > blind.began and ${at} < blind.ended)`
  const spans = await sql.query<Interval>(
    `select seen.resource, greatest(blind.began, seen.began) as began, least(blind.ended, seen.ended) as ended
       from lake_seen seen join lake_blind blind using (resource)
      where greatest(blind.began, seen.began) < least(blind.ended, seen.ended)
         or seen.began = seen.ended and seen.began > blind.began and seen.began < blind.ended order by 1, 2`,
  )
  const blind = await sql.query<Interval>('select resource, began, ended from lake_blind')
  await sql.query(
    `insert into sync.source_span (source_id, resource, began_at, ended_at, has_sessions)
     select $1, span.*, span.resource = any($5::text[]) from unnest($2::text[], $3::timestamptz[], $4::timestamptz[]) span(resource, began, ended)
     on conflict (source_id, resource, began_at) do update
        set ended_at = greatest(source_span.ended_at, excluded.ended_at),
            has_sessions = source_span.has_sessions and excluded.has_sessions`,
    [
      sourceId,
      spans.map((one) => one.resource),
      spans.map((one) => one.began),
      spans.map((one) => one.ended),
      withSessions,
    ],
  )
  for (const resource of new Set(spans.map((span) => span.resource)))
    await invalidateCoverage(sql, resource, spans.find((span) => span.resource === resource)?.began ?? null)
  for (const [table, rows] of await mergeResponses(sql, { resources, sourceId, blindAt, mayPlace }))
    taken.set(table, rows)
  await count(
    'sync.expectation',
    `insert into sync.expectation (resource, valid_from, every_seconds, told_by)
     select resource, valid_from, every_seconds, case when told_by in ('start', 'backfill') then told_by else 'sync' end
       from lake_expectation lake where resource = any($1::text[]) and (every_seconds between 1 and 31622400 or every_seconds is null)
        and not exists (select from sync.expectation own where own.resource = lake.resource)
     on conflict do nothing returning 1`,
    [[...resources]],
  )
  await count(
    'sync.answer_span',
    `insert into sync.answer_span (resource, began_at, ended_at)
     select distinct on (resource, began_at) resource, began_at, ended_at from lake_answer_span lake
      where resource = any($1::text[]) and ended_at > began_at on conflict do nothing returning 1`,
    [[...fresh]],
  )
  await count(
    'sync.tier',
    `insert into sync.tier (sample_table, fine_since, coarse_since, checked_at)
     select distinct on (sample_table) sample_table, fine_since, coarse_since, checked_at from lake_tier
      where sample_table = any($1::text[]) or sample_table in (select 'ledger/' || resource from unnest($2::text[]) of(resource))
     on conflict do nothing returning 1`,
    [[...freshTables], [...fresh]],
  )
  await sql.query(
    `update sync.unsent own set until_at = lake.until_at, received_until = coalesce(lake.received_until, greatest(lake.until_at, own.received_from))
       from lake_unsent lake
      where lake.resource = any($1::text[]) and lake.resource = own.resource and lake.field = own.field and lake.from_at = own.from_at
        and own.until_at is null and lake.until_at >= own.from_at
        and exists (select from sync.source_span span where span.source_id = $2 and span.resource = own.resource
                       and lake.until_at between span.began_at and span.ended_at)`,
    [[...resources], sourceId],
  )
  // A field that the lake's responses lacked; where those of this database go on, they say whether it is sent.
  await count(
    'sync.unsent',
    `insert into sync.unsent (resource, field, last_sent_at, from_at, until_at, received_from, received_until, had, out_of, run_id, columns)
     select lake.resource, lake.field, lake.last_sent_at, lake.from_at, nullif(ended.at, 'infinity'), lake.received_from,
            case when ended.at < 'infinity' then coalesce(lake.received_until, greatest(ended.at, lake.received_from)) end,
            lake.had, lake.out_of, lake.run_id, lake.columns
       from lake_unsent lake
       join lake_blind blind
         on blind.resource = lake.resource and lake.from_at > blind.began and lake.from_at < blind.ended
      cross join lateral (select least(coalesce(lake.until_at, 'infinity'), blind.ended) as at) ended
      where lake.resource = any($1::text[]) and lake.last_sent_at <= lake.from_at and lake.from_at <= ended.at
     on conflict do nothing returning 1`,
    [[...resources]],
  )
  await mergeGaps(sql, spans, blind)
  for (const [table, rows] of await mergeUnread(sql, { resources, sourceId, blindAt })) taken.set(table, rows)
  return taken
}

/** The responses of the lake where this database was blind: how many of each table. */
async function mergeResponses(
  sql: Sql,
  {
    resources,
    sourceId,
    blindAt,
    mayPlace,
  }: Pick<LedgerOptions, 'sourceId' | 'mayPlace'> & {
    readonly resources: readonly string[]
    readonly blindAt: (row: string, at: string) => string
  },
): Promise<readonly (readonly [table: string, rows: number])[]> {
  const fill = (table: string, work: () => Promise<number>) =>
    mayPlace ? fitting(() => fillEmpty(sql, [table], work)) : work()
  const runs = await fill('sync.run', () =>
    countOf(
      sql,
      `insert into sync.run (run_id, resource, status, started_at, finished_at, observed_from, observed_at, complete, requests, pages,
                           records, inserted, changed, closed, unchanged, events, rejected, quarantined, living, program, source_id)
     select run_id, resource, status, started_at, finished_at, observed_from, observed_at, complete, requests, pages,
            records, inserted, changed, closed, unchanged, events, rejected, quarantined, living, left(program, 60), $2
       from lake_run run
      where resource = any($1::text[]) and status in ('ok', 'unchanged', 'partial', 'stale', 'rejected', 'interrupted', 'failed')
        and finished_at >= started_at
        and ${blindAt('run', 'coalesce(run.observed_at, run.started_at)')}
     on conflict do nothing returning 1`,
      [[...resources], sourceId],
    ),
  )
  const observations = await fill('sync.observation', () =>
    countOf(
      sql,
      `insert into sync.observation (resource, key, received_at, observed_at, status, run_id)
     select distinct resource, key, received_at, observed_at, status, run_id from lake_observation one
      where resource = any($1::text[]) and key is not null and ${blindAt('one', 'one.received_at')}
        and not exists (select from sync.observation own where own.resource = one.resource and own.key = one.key
                           and own.observed_at is not distinct from one.observed_at and own.received_at = one.received_at)
     returning 1`,
      [[...resources]],
    ),
  )
  return [
    ['sync.run', runs],
    ['sync.observation', observations],
  ]
}

/** The same of resources with a response per key, of which the index says nothing: from their observations and gaps. */
async function addSeenByKey(sql: Sql, resources: readonly string[]): Promise<void> {
  await sql.query(
    `insert into lake_seen
     with life as (
       select resource, min(received_at) as began, max(received_at) as ended from lake_observation
        where key is not null and resource = any($1::text[]) and resource not in (select resource from lake_seen) group by resource
     ), start as (
       select resource, began from life
        union select gap.resource, gap.ended_at from lake_gap gap join life using (resource)
               where gap.ended_at > life.began and gap.ended_at < life.ended
     )
     select resource, start.began,
            least(life.ended, (select min(gap.began_at) from lake_gap gap where gap.resource = start.resource and gap.began_at >= start.began))
       from start join life using (resource)`,
    [[...resources]],
  )
}

/** Of each interval in which this database was blind what the lake does not know either: with how many observations are missing. */
async function mergeGaps(sql: Sql, spans: readonly Interval[], blind: readonly Interval[]): Promise<void> {
  const time = ({ began, ended }: Interval) => [began.getTime(), ended.getTime()] as const
  const holes: Interval[] = []
  const replaced: Interval[] = []
  for (const interval of blind) {
    const [from, to] = time(interval)
    const known = spans.filter((span) => {
      const [began, ended] = time(span)
      return span.resource === interval.resource && began >= from && ended <= to
    })
    if (known.length === 0) continue
    replaced.push(interval)
    let at = interval.began
    for (const { began, ended } of [...known, { began: interval.ended, ended: interval.ended }]) {
      if (at < began && isInstant(at) && isInstant(began))
        holes.push({ resource: interval.resource, began: at, ended: began })
      at = ended
    }
  }
  await sql.query(
    `delete from sync.gap using unnest($1::text[], $2::timestamptz[]) as known(resource, began)
      where gap.resource = known.resource and gap.began_at = known.began`,
    [replaced.map((one) => one.resource), replaced.map((one) => one.began)],
  )
  await sql.query(
    `insert into sync.gap (resource, began_at, ended_at, missed, reason)
     select hole.resource, hole.began, hole.ended, number.missed, 'not observed by the database of the lake either'
       from unnest($1::text[], $2::timestamptz[], $3::timestamptz[]) as hole(resource, began, ended)
       left join lake_gap lake on lake.resource = hole.resource and lake.began_at = hole.began and lake.ended_at = hole.ended
       left join lateral (select every.every_seconds from analytics.expected_every(hole.resource) every
                           where every.begins <= hole.began and hole.began < every.ends) schedule on true
      cross join lateral (select coalesce(lake.missed, round(extract(epoch from hole.ended - hole.began) / schedule.every_seconds)::int - 1) as missed) number
      where number.missed > 0 or lake.missed = 0
     on conflict do nothing`,
    [holes.map((one) => one.resource), holes.map((one) => one.began), holes.map((one) => one.ended)],
  )
}

/** Whether an instant is one, and not infinity. */
function isInstant(at: Date): boolean {
  return Math.abs(at.getTime()) < 8_640_000_000_000_000
}
