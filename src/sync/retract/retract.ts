import { UsageError } from '../../base/errors.ts'
import { FOREVER, NEVER } from '../../db/bulk/values.ts'
import type { Sql, SqlValue } from '../../db/database.ts'
import { lockForTransaction } from '../../db/locks/held-locks.ts'
import { isWorklist, type RebuiltRows, type Resource, type ResourceBase, type Worklist } from '../declare/resource.ts'
import { type RowsTable, type VersionsTable, type WrittenTable, writtenTables } from '../declare/written-tables.ts'
import { forgetOrphanClaims } from '../evidence/orphan-claims.ts'
import { invalidateCoverage, recordGapBetween } from '../ledger/gaps.ts'
import { privacyLock } from '../privacy/privacy.ts'
import { averageTablesAgain } from '../respond/load-response.ts'
import { countCurrent } from '../respond/missing-keys.ts'
import { accepted } from '../sql/history-sql.ts'
import { retractVersions } from './retract-versions.ts'

/** What is retracted: an import, or the responses of a period. */
export type Retracted =
  | { readonly sourceId: string; readonly isLake: boolean }
  /** Responses that speak for instants from `from` until before `to`. */
  | { readonly from: Date; readonly to: Date }

/** What retracting came to, of one resource. */
export interface Retraction {
  readonly resource: string
  /** Accepted responses that count no more; of a lake, those that were imported. */
  readonly responses: number
  readonly first: Date
  readonly last: Date
  /** Rows that were removed and rows that were changed, by table. */
  readonly tables: readonly RebuiltRows[]
}

/** Where a response that is retracted stays in the ledger. */
const reason = 'retracted'

/**
 * Takes back what responses said, as if they had never been loaded: the history of each resource is rebuilt from the responses that are
 * left. Each of these shows what the tables say of its instant; between the two around a retracted one nothing was observed. The ledger
 * keeps responses that this database loaded, as rejected; those of a lake go. To be called in a transaction, while no sync of the resource runs.
 * @returns undefined when there is no such response
 * @throws UsageError where responses or samples of that time were compacted, so that single ones are not known, or where a period is of a lake
 */
export async function retractResource(
  sql: Sql,
  resource: Resource | Worklist,
  retracted: Retracted,
): Promise<Retraction | undefined> {
  await lockForTransaction(sql, privacyLock, 'shared')
  const extent = await createSpans(sql, resource, retracted)
  if (!extent) return undefined
  await refuseCompacted(sql, resource, extent.first)
  await refuseImported(sql, resource, retracted)
  const written = writtenTables(resource)
  const tables: RebuiltRows[] = []
  for (const one of written) if (one.kind === 'versions') tables.push(...(await retractVersions(sql, resource, one)))
  for (const one of written) if (one.kind === 'rows') tables.push(await retractRows(sql, one, written))
  const rebuilt = await resource.afterRetraction?.(sql)
  if (rebuilt) tables.push(rebuilt)
  await forgetOrphanClaims(sql, resource)
  await retractFromLedger(sql, resource, retracted)
  await sql.query('drop table retract_span, retract_response')
  return { resource: resource.name, ...extent, tables: tables.filter(({ removed, changed }) => removed + changed > 0) }
}

/**
 * Writes the retracted responses into a temporary table `retract_response` (scope, at), and into `retract_span` (scope, began, ended) the
 * intervals around them, between two responses that are left, without their ends. Scope: the key where each has responses of its own, else NULL.
 */
async function createSpans(sql: Sql, resource: Resource | Worklist, retracted: Retracted) {
  const isKeyed = isWorklist(resource)
  const is = conditionOf(retracted, isKeyed ? 'one' : 'run')
  const from = isKeyed
    ? `sync.observation one join sync.run run on run.run_id = one.run_id
        where one.resource = $1 and one.${accepted} and one.observed_at is not null`
    : `sync.run run where run.resource = $1 and run.${accepted} and run.observed_at is not null`
  await sql.query('drop table if exists pg_temp.retract_span, pg_temp.retract_response')
  await sql.query(
    `create temp table retract_response on commit drop as
     select ${isKeyed ? 'one.key' : 'null::text'} as scope, ${isKeyed ? 'one' : 'run'}.observed_at as at, bool_and(${is.text}) as is_retracted
       from ${from} group by 1, 2`,
    [resource.name, ...is.values],
  )
  await sql.query(
    `create temp table retract_span on commit drop as
     with around as (
       select scope, is_retracted,
              max(at) filter (where not is_retracted) over (partition by scope order by at) as began,
              min(at) filter (where not is_retracted) over (partition by scope order by at desc) as ended
         from retract_response
     )
     select distinct scope, coalesce(began, reach.thinned_until, '-infinity') as began, coalesce(ended, 'infinity') as ended
       from around left join sync.coverage_reach reach on reach.resource = $1 where is_retracted`,
    [resource.name],
  )
  await sql.query('create index on retract_span (scope, began)')
  const [extent] = await sql.query<{ responses: number; first: Date | null; last: Date | null }>(
    `select count(*)::int as responses, min(at) as first, max(at) as last from retract_response where is_retracted`,
  )
  if (!extent?.first || !extent.last) return undefined
  return { responses: extent.responses, first: extent.first, last: extent.last }
}

/** SQL condition on a row of the ledger: it is of a response that is retracted; parameters from $2 on. */
function conditionOf(
  retracted: Retracted,
  row: string,
): { readonly text: string; readonly values: readonly SqlValue[] } {
  if ('sourceId' in retracted) return { text: 'coalesce(run.source_id = $2, false)', values: [retracted.sourceId] }
  return { text: `${row}.observed_at >= $2 and ${row}.observed_at < $3`, values: [retracted.from, retracted.to] }
}

/** @throws UsageError where the ledger or samples of the resource are thinned after an instant */
async function refuseCompacted(sql: Sql, resource: Resource | Worklist, first: Date): Promise<void> {
  const tables = writtenTables(resource).map(({ table }) => table)
  const [row] = await sql.query<{ until: Date | null }>(
    `select greatest((select thinned_until from sync.coverage_reach where resource = $1),
                     (select max(fine_since) from sync.tier where sample_table = any($2::text[]) or sample_table = 'ledger/' || $1)) as until`,
    [resource.name, tables],
  )
  if (row?.until && first < row.until)
    throw new UsageError(
      `${resource.name} of before ${row.until.toISOString()} was compacted, so what came from ${first.toISOString()} on is not known by response; a period after that can be retracted`,
    )
}

/** @throws UsageError for a period of which a lake says what was observed: the ledger would go on saying so */
async function refuseImported(sql: Sql, resource: Resource | Worklist, retracted: Retracted): Promise<void> {
  if ('sourceId' in retracted) return
  const [row] = await sql.query<{ place: string }>(
    `select place from sync.source_span span join sync.source using (source_id)
      where span.resource = $1 and span.began_at < $3 and span.ended_at >= $2 limit 1`,
    [resource.name, retracted.from, retracted.to],
  )
  if (row)
    throw new UsageError(
      `a part of that time was imported from ${row.place}: retract that, or leave it out of the period`,
    )
}

async function retractFromLedger(sql: Sql, resource: Resource | Worklist, retracted: Retracted): Promise<void> {
  const { name } = resource
  const spans = await sql.query<{ began: Date; ended: Date }>(
    isWorklist(resource)
      ? `select coalesce(began, '-infinity') as began, coalesce(ended, 'infinity') as ended from (
           select max(received_at) filter (where not is_retracted) over (order by received_at) as began, is_retracted,
                  min(received_at) filter (where not is_retracted) over (order by received_at desc) as ended
             from (select one.received_at, answer.is_retracted from sync.observation one
                     join retract_response answer on answer.scope = one.key and answer.at = one.observed_at
                    where one.resource = $1 and one.${accepted}) each) around
          where is_retracted group by 1, 2 order by 1`
      : `select distinct began, ended from retract_span where $1::text is not null order by 1`,
    [name],
  )
  const [from] = await sql.query<{ at: Date | null }>(`select nullif(min(began), '-infinity') as at from retract_span`)
  await invalidateCoverage(sql, name, from?.at ?? null)
  await rejectResponses(sql, resource, retracted)
  await sql.query(
    `delete from sync.claim where split_part(resource, '/', 1) = $1
        and exists (select from retract_span span where coalesce(span.scope = split_part(claim.subject, '/', 1), true)
                       and claim.last_at > span.began and claim.first_at < span.ended)`,
    [name],
  )
  await retractUnknown(sql, name)
  await sql.query(
    `delete from sync.gap where resource = $1
        and exists (select from unnest($2::timestamptz[], $3::timestamptz[]) span(began, ended)
                     where gap.began_at >= span.began and gap.ended_at <= span.ended)`,
    [name, spans.map(({ began }) => began), spans.map(({ ended }) => ended)],
  )
  // Before the first response and after the last one that is left there is no gap.
  const isBetween = ({ began, ended }: (typeof spans)[number]) =>
    began.getTime() !== NEVER.getTime() && ended.getTime() !== FOREVER.getTime()
  for (const span of spans.filter(isBetween)) await recordGapBetween(sql, name, span, reason)
  if (!isWorklist(resource)) await compareNextWithTables(sql, resource)
}

/**
 * What responses lacked or had is judged anew, too. When something was unknown that began or ended with a retracted response begins or ends
 * with the next one that is left; where none is, it lasts.
 */
async function retractUnknown(sql: Sql, resource: string): Promise<void> {
  const isOwn = `split_part(own.resource, '/', 1) = $1 and coalesce(span.scope = split_part(own.key, '/', 1), true)`
  // Where the response that is left did not show it either, it goes on.
  await sql.query(
    `update sync.unread own set until_at = nullif(coalesce((
              select max(next.until_at)
                from (select resource, key, from_at, coalesce(until_at, 'infinity') as until_at from sync.unread
                       union all
                      select resource, subject, first_at, 'infinity' from sync.claim where kind in ('missing', 'unread')) next
               where next.resource = own.resource and next.key = own.key and next.from_at <= span.ended and next.until_at > span.ended
            ), span.ended), 'infinity')
       from retract_span span where ${isOwn} and own.until_at > span.began and own.until_at < span.ended`,
    [resource],
  )
  await sql.query(
    `insert into sync.unread (resource, key, from_at, until_at, run_id)
     select own.resource, own.key, span.ended, own.until_at, own.run_id from sync.unread own join retract_span span
         on ${isOwn} and own.from_at > span.began and own.from_at < span.ended and coalesce(own.until_at, 'infinity') > span.ended
     on conflict do nothing`,
    [resource],
  )
  await sql.query(
    `delete from sync.unread own using retract_span span where ${isOwn} and own.from_at > span.began and own.from_at < span.ended`,
    [resource],
  )
  for (const [table, at] of [
    ['sync.unsent', 'from_at'],
    ['sync.presence', 'observed_at'],
  ])
    await sql.query(
      `delete from ${table} where split_part(resource, '/', 1) = $1
          and exists (select from retract_span span where ${at} > span.began and ${at} < span.ended)`,
      [resource],
    )
  await sql.query(
    `update sync.unsent own set until_at = ended.next, received_until = case when ended.next is not null then own.received_until end
       from (select answer.at, (select min(later.at) from retract_response later where not later.is_retracted and later.at > answer.at) as next
               from retract_response answer group by answer.at having bool_and(answer.is_retracted)) ended
      where own.resource = $1 and own.until_at = ended.at`,
    [resource],
  )
}

/** Rejects the retracted responses in ledger, worklist and archive; those of a lake are deleted. */
async function rejectResponses(sql: Sql, resource: Resource | Worklist, retracted: Retracted): Promise<void> {
  const { name } = resource
  const isLake = 'sourceId' in retracted && retracted.isLake
  const ofSource = 'sourceId' in retracted ? 'run.source_id = $3' : '$3::text is null'
  const sourceId = 'sourceId' in retracted ? retracted.sourceId : null
  if (isWorklist(resource)) {
    const those = `answer.is_retracted and one.resource = $1 and one.key = answer.scope and one.observed_at = answer.at
                      and run.run_id = one.run_id and ${ofSource}`
    if (isLake)
      await sql.query(
        `delete from sync.observation one using retract_response answer, sync.run run where $2::text is not null and ${those}`,
        [name, reason, sourceId],
      )
    else
      await sql.query(
        `update sync.observation one set status = 'rejected', reason = $2 from retract_response answer, sync.run run where ${those}`,
        [name, reason, sourceId],
      )
    // The next response about the key is compared with the tables.
    await sql.query(
      `update sync.work_item item set content_hash = null, records = null, gone_at = case when gone_at < span.first then gone_at end,
              observed_at = (select max(answer.at) from retract_response answer where answer.scope = item.key and not answer.is_retracted),
              first_observed_at = (select min(answer.at) from retract_response answer where answer.scope = item.key and not answer.is_retracted)
         from (select scope, min(at) as first from retract_response where is_retracted group by scope) span
        where item.resource = $1 and item.key = span.scope`,
      [name],
    )
  }
  const runs = isWorklist(resource)
    ? `run.resource = $1 and ${sourceId === null ? 'false and $2::text is null' : 'run.source_id = $2'}`
    : `run.resource = $1 and exists (select from retract_response answer where answer.is_retracted and answer.at = run.observed_at)
        and ${sourceId === null ? '$2::text is null' : 'run.source_id = $2'} and run.${accepted}`
  if (!isLake)
    await sql.query(
      `update sync.raw_answer raw set status = 'retracted'
        where raw.resource = $1 and exists (select from retract_response answer
               where answer.is_retracted and answer.scope is not distinct from raw.key and answer.at = raw.observed_at)`,
      [name],
    )
  await sql.query(
    isLake
      ? `delete from sync.run where ${runs}`
      : `update sync.run set status = 'rejected', reason = '${reason}', living = null, content_hash = null, body_hash = null where ${runs}`,
    [name, sourceId],
  )
}

interface Column {
  readonly name: string
  readonly isKey: boolean
  readonly isInstant: boolean
  readonly isGenerated: boolean
}

/**
 * Removes the rows of samples and events that responses in `retract_span` wrote. What the next response that is left showed, too, is
 * dated by it. After the versions of the resource.
 */
async function retractRows(sql: Sql, of: RowsTable, written: readonly WrittenTable[]): Promise<RebuiltRows> {
  const { table, time, scope, series, isAverage, isFollowing, isSession } = of
  // Averages are made of samples that were compacted; of that time nothing is retracted. Sessions are the resource's to rebuild.
  if (isAverage || isFollowing || isSession) return { table, removed: 0, changed: 0 }
  const columns = await columnsOf(sql, table)
  const span = scope === undefined ? 'true' : `span.scope = own.${scope}::text`
  const within = `${span} and own.${time} > span.began and own.${time} < span.ended`
  const histories = written.filter((one): one is VersionsTable => one.kind === 'versions')
  const changed = series
    ? await holdAtEnds(sql, of, { columns, within, histories })
    : await dateAnew(sql, of, { columns, within, histories })
  const removed = await sql.query(`delete from ${table} own using retract_span span where ${within} returning 1`)
  if (series) {
    await removeRepeated(sql, of, columns)
    const [oldest] = await sql.query<{ at: Date | null }>(
      `select nullif(min(began), '-infinity') as at from retract_span`,
    )
    await averageTablesAgain(sql, [table], oldest?.at ?? new Date(0))
  }
  return { table, removed: removed.length, changed }
}

async function columnsOf(sql: Sql, table: string): Promise<readonly Column[]> {
  return await sql.query<Column>(
    `select quote_ident(attname) as name, coalesce(attnum = any(conkey), false) as "isKey",
            atttypid = 'timestamptz'::regtype as "isInstant", attidentity <> '' as "isGenerated"
       from pg_attribute left join pg_constraint on conrelid = attrelid and contype = 'p'
      where attrelid = $1::regclass and attnum > 0 and not attisdropped order by attnum`,
    [table],
  )
}

interface Parts {
  readonly columns: readonly Column[]
  readonly within: string
  readonly histories: readonly VersionsTable[]
}

/** A sample holds until the next one of its series: the last one of an interval holds where it ends, if its key is there then. */
async function holdAtEnds(
  sql: Sql,
  { table, time, series = [] }: RowsTable,
  { columns, within, histories }: Parts,
): Promise<number> {
  const names = columns.filter(({ isGenerated }) => !isGenerated).map(({ name }) => name)
  const { same, row } = comparing({ time, series }, columns)
  const [history] = histories
    .filter(({ key }) => key.every((name) => series.includes(name)))
    .sort((one, other) => other.key.length - one.key.length)
  const exists = history
    ? `exists (select from ${history.table} version where ${history.key.map((name) => `version.${name} = last.${name}`).join(' and ')}
                  and version.valid_from <= last.ended and version.valid_until > last.ended)`
    : 'true'
  const held = await sql.query(
    `insert into ${table} (${names.join(', ')})
     select ${names.map((name) => (name === time ? 'last.ended' : `last.${name}`)).join(', ')}
       from (select distinct on (${[...series.map((name) => `own.${name}`), 'span.ended'].join(', ')}) own.*, span.began, span.ended
               from ${table} own join retract_span span on ${within} and span.ended < 'infinity'
              order by ${[...series.map((name) => `own.${name}`), 'span.ended', `own.${time} desc`].join(', ')}) last
       left join lateral (select * from ${table} earlier where ${same('earlier', 'last')} and earlier.${time} <= last.began
                           order by earlier.${time} desc limit 1) before on true
      where ${exists} and (before.${time} is null or ${row('before')} is distinct from ${row('last')})
     on conflict do nothing returning 1`,
  )
  return held.length
}

/** A sample is written when a value changes: one where an interval ends says nothing if it repeats the last one before it. */
async function removeRepeated(sql: Sql, of: RowsTable, columns: readonly Column[]): Promise<void> {
  const { table, time, scope } = of
  const { same, row } = comparing(of, columns)
  await sql.query(
    `delete from ${table} own using retract_span span
      where ${scope === undefined ? 'true' : `span.scope = own.${scope}::text`} and own.${time} = span.ended
        and ${row('own')} is not distinct from (select ${row('earlier')} from ${table} earlier
              where ${same('earlier', 'own')} and earlier.${time} < own.${time} order by earlier.${time} desc limit 1)`,
  )
}

/** SQL of the series and the values of samples. */
function comparing({ time, series = [] }: Pick<RowsTable, 'time' | 'series'>, columns: readonly Column[]) {
  const values = columns.filter(({ name, isGenerated }) => !isGenerated && name !== time && !series.includes(name))
  return {
    same: (one: string, other: string) =>
      series.map((name) => `${one}.${name} = ${other}.${name}`).join(' and ') || 'true',
    row: (one: string) => `row(${values.map(({ name }) => `${one}.${name}`).join(', ')})`,
  }
}

/** An event that a response which is left shows, too: its version is there, or it is still to come. */
async function dateAnew(sql: Sql, { table, time }: RowsTable, { columns, within, histories }: Parts): Promise<number> {
  const instants = columns.filter(({ name, isKey, isInstant }) => isKey && isInstant && name !== time)
  if (instants.length === 0) return 0
  const isToCome = instants.map(({ name }) => `own.${name} > span.ended`)
  const isVersion = histories
    .filter(({ key }) => key.every((name) => columns.some((column) => column.name === name && column.isKey)))
    .map(
      (history) => `exists (select from ${history.table} version
         where ${history.key.map((name) => `version.${name} = own.${name}`).join(' and ')}
           and (${instants.map(({ name }) => `version.valid_from = own.${name}`).join(' or ')}))`,
    )
  const moved = await sql.query(
    `update ${table} own set ${time} = span.ended from retract_span span
      where ${within} and span.ended < 'infinity' and (${[...isToCome, ...isVersion].join(' or ')}) returning 1`,
  )
  return moved.length
}

/**
 * Versions came or went otherwise than by a response: the next one is compared with the tables themselves, and not with what the
 * last accepted one left in them. Its number of current keys is counted anew. Of a resource with one response.
 */
export async function compareNextWithTables(
  sql: Sql,
  { name, history }: Pick<ResourceBase, 'name' | 'history'>,
): Promise<void> {
  await sql.query(
    `update sync.run set reload = true, living = case when living is not null then $2::int end
      where run_id = (select run_id from sync.run where resource = $1 and ${accepted}
                       order by observed_at desc nulls last, started_at desc limit 1)`,
    [name, await countCurrent(sql, history)],
  )
}
