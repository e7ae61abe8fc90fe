import { countOf } from '../../db/count-of.ts'
import type { Sql } from '../../db/database.ts'
import type { VersionsTable } from '../../sync/declare/written-tables.ts'
import { copyClaims } from '../../sync/evidence/orphan-claims.ts'
import { namesOf } from '../../sync/refold/refold.ts'
import { accepted } from '../../sync/sql/history-sql.ts'
import { isOfLake } from './blind.ts'
import { takenTables } from './taken-tables.ts'

interface UnreadOptions {
  /** Resources of which all that the lake has is imported. */
  readonly resources: readonly string[]
  readonly sourceId: string
  /** SQL: whether an instant of a row of the lake lies where this database was blind. */
  readonly blindAt: (row: string, at: string) => string
}

/** SQL: the resource of a row about a key. */
const resourceOf = (row: string) => `split_part(${row}.resource, '/', 1)`

/** SQL: whether an instant of a row lies in the time that is known from the lake `$2` alone. */
const isInSpan = (row: string, at: string) =>
  `exists (select from sync.source_span span where span.source_id = $2 and span.resource = ${resourceOf(row)}
              and ${at} between span.began_at and span.ended_at)`

/** SQL: the first response after an instant that is not of the lake `$2`, of a resource with a response per key about the same. */
const nextOfOthers = (row: string, key: string, at: string) =>
  `select least(
       (select run.observed_at from sync.run
         where run.resource = ${resourceOf(row)} and run.${accepted} and run.observed_at > ${at} and run.source_id is distinct from $2
         order by run.observed_at limit 1),
       (select each.observed_at from sync.observation each
         where each.resource = ${resourceOf(row)} and each.key = split_part(${key}, '/', 1) and each.${accepted} and each.observed_at > ${at}
           and (not exists (select from sync.source_span span where span.source_id = $2 and span.resource = each.resource
                               and each.received_at between span.began_at and span.ended_at)
                or exists (select from sync.run where run.run_id = each.run_id and not ${isOfLake('run')}))
         order by each.observed_at limit 1)) as at`

/**
 * Merges what the lake says of keys that its responses lacked or that could not be read, after its responses: what they confirm here is
 * what they confirmed there. Where no other response follows, the next one of this database decides, as it would have done there: one
 * response has said so, however many were counted there. Where others follow, they say what is so then, and it is unknown until the first of them.
 * The lake's latest word counts: what it could not read when it was imported before has ended where it could read it since.
 * @returns how many rows of each table came in
 */
export async function mergeUnread(
  sql: Sql,
  { resources, sourceId, blindAt }: UnreadOptions,
): Promise<readonly (readonly [table: string, rows: number])[]> {
  const histories = takenTables.flatMap((one) =>
    one.kind === 'versions' && resources.includes(one.resource) ? [one] : [],
  )
  const parameters = [histories.map(({ history }) => history), sourceId]
  await sql.query(
    `update sync.unread own set until_at = ended.at
       from (select own.resource, own.key, own.from_at, min(lake.until_at) as at
               from sync.unread own join lake_unread lake on lake.resource = own.resource and lake.key = own.key
              where own.resource = any($1::text[]) and lake.until_at >= own.from_at
                and (own.until_at is null or own.from_at = lake.from_at and lake.until_at < own.until_at)
                and ${isInSpan('own', 'lake.until_at')}
              group by 1, 2, 3) ended
      where own.resource = ended.resource and own.key = ended.key and own.from_at = ended.from_at`,
    parameters,
  )
  const unread = await countOf(
    sql,
    `insert into sync.unread (resource, key, from_at, until_at, run_id)
     select distinct on (lake.resource, lake.key, lake.from_at) lake.resource, lake.key, lake.from_at,
            least(case when ${isInSpan('lake', 'lake.until_at')} then lake.until_at end, next.at), lake.run_id
       from lake_unread lake cross join lateral (${nextOfOthers('lake', 'lake.key', 'lake.from_at')}) next
      where lake.resource = any($1::text[]) and ${isInSpan('lake', 'lake.from_at')}
     on conflict do nothing returning 1`,
    parameters,
  )
  for (const history of histories) await endShown(sql, history, sourceId)
  const pairs = histories.flatMap(({ resource, history, key }) =>
    histories
      .filter((one) => one.history === history || (history === resource && one.resource === resource))
      .filter((one) => String(one.key) === String(key))
      .map((one) => [history, one.history] as const),
  )
  const about = [pairs.map(([claimed]) => claimed), sourceId, pairs.map(([, history]) => history)]
  await endInterrupted(sql, about, { resources, blindAt })
  const claims = await takeClaims(sql, about)
  return [
    ['sync.unread', unread],
    ['sync.claim', claims],
  ]
}

/** What could not be read here, and that the lake shows otherwise since then, was read where that begins. */
async function endShown(sql: Sql, of: VersionsTable, sourceId: string): Promise<void> {
  const { keyText, seen } = namesOf(of)
  await sql.query(
    `update sync.unread own set until_at = shown.at
       from (select own.key, own.from_at, min(${seen('version')}) as at
               from sync.unread own join ${of.table} version on ${keyText('version')} = own.key and ${seen('version')} > own.from_at
              where own.resource = $1 and own.until_at is null and ${isInSpan('own', seen('version'))} group by 1, 2) shown
      where own.resource = $1 and own.key = shown.key and own.from_at = shown.from_at`,
    [of.history, sourceId],
  )
}

/** SQL: histories of which a claim speaks that is about one of them: with a record go those that have its keys. */
const ABOUT = 'about as (select * from unnest($1::text[], $3::text[]) pair(claimed, history))'
const isAbout = (claim: string) =>
  `about.claimed = ${claim}.resource and (about.history = ${claim}.resource or ${claim}.kind = 'missing')`

type About = readonly (string | readonly string[])[]

/**
 * What responses to this database claimed is claimed anew where the lake observed since then and does not claim it as well: what was gone
 * then has ended in its versions. Until the lake's first response it is unknown.
 */
async function endInterrupted(
  sql: Sql,
  about: About,
  { resources, blindAt }: Pick<UnreadOptions, 'resources' | 'blindAt'>,
): Promise<void> {
  if ((await sql.values('select from sync.claim limit 1')).length === 0) return
  await sql.query('create index on lake_run (resource, observed_at)')
  await sql.query('create index on lake_observation (resource, key, observed_at)')
  for (const staged of ['lake_run', 'lake_observation']) await sql.query(`analyze ${staged}`)
  const contradicts = (row: string) =>
    `${row}.${accepted} and ${row}.observed_at > missed.first_at and ${blindAt(row, `${row}.observed_at`)}
     and not exists (select from lake_claim said where said.resource = missed.resource and said.kind = missed.kind
                        and said.subject = missed.subject and said.value = missed.value and said.first_at <= ${row}.observed_at)`
  await sql.query(
    `with ${ABOUT}, interrupted as (
       select missed.resource, missed.kind, missed.subject, missed.value, next.at
         from sync.claim missed
        cross join lateral (select least(
                (select run.observed_at from lake_run run where run.resource = ${resourceOf('missed')} and ${contradicts('run')}
                  order by run.observed_at limit 1),
                (select each.observed_at from lake_observation each
                  where each.resource = ${resourceOf('missed')} and each.key = split_part(missed.subject, '/', 1) and ${contradicts('each')}
                  order by each.observed_at limit 1)) as at) next
        where missed.kind not in ('shown', 'returned') and ${resourceOf('missed')} = any($4::text[]) and $2::text is not null
          and next.at is not null
     ), over as (
       delete from sync.claim missed using interrupted
        where missed.resource = interrupted.resource and missed.kind = interrupted.kind
          and missed.subject = interrupted.subject and missed.value = interrupted.value
       returning missed.*, interrupted.at
     ), anew as (
       -- The same response as the last one here says something else than that did.
       update sync.work_item item set content_hash = null, records = null
         from over where item.resource = ${resourceOf('over')} and item.key = split_part(over.subject, '/', 1)
     )
     insert into sync.unread (resource, key, from_at, until_at, run_id)
     select distinct on (about.history, over.subject, over.first_at) about.history, over.subject, over.first_at, over.at, over.run_id
       from over join about on ${isAbout('over')} where over.kind in ('missing', 'unread')
     on conflict do nothing`,
    [...about, resources],
  )
}

/** What a response of the lake lacked, or could not be read in, and no further one confirmed. Where others follow, it is a span until then. */
async function takeClaims(sql: Sql, about: About): Promise<number> {
  const said = `lake_claim lake join about on ${isAbout('lake')}
      cross join lateral (${nextOfOthers('lake', 'lake.subject', 'lake.first_at')}) next
      where lake.kind in ('missing', 'unread') and lake.value = ''`
  await sql.query(
    `with ${ABOUT}
     insert into sync.unread (resource, key, from_at, until_at, run_id)
     select distinct on (about.history, lake.subject, lake.first_at) about.history, lake.subject, lake.first_at, next.at, lake.run_id
       from ${said} and next.at is not null and ${isInSpan('lake', 'lake.first_at')}
     on conflict do nothing`,
    about,
  )
  return await copyClaims(
    sql,
    `with ${ABOUT} select distinct lake.* from ${said} and about.history = lake.resource and next.at is null`,
    about,
  )
}
