import { and, eq, gt, inArray } from 'drizzle-orm'
import type { Sql } from '../../db/database.ts'
import { typed } from '../../db/typed.ts'
import type { History, ResourceBase } from '../declare/resource.ts'
import { invalidateCoverage } from '../ledger/gaps.ts'
import { accepted, acceptedStatuses } from '../sql/accepted.ts'
import { bulkTable } from '../sql/bulk-table.ts'
import { historySql } from '../sql/history-sql.ts'
import { observation, run } from '../tables/ledger.ts'
import { gap } from '../tables/state.ts'
import { averageAgain } from './averages.ts'
import { compareNextWithTables } from './missing-keys.ts'
import { historiesOf } from './pending-versions.ts'

/** Which instants of a resource are given up. */
export interface GivenUp {
  /** Everything that speaks for a later instant. */
  readonly after: Date
  /** Only this key of a worklist. */
  readonly scope: string | undefined
  /** By the clock of this machine. */
  readonly now: Date
  readonly reason: string
}

/**
 * Removes what only responses of instants after `after` showed, and makes current again what they ended: the tables are as
 * if those responses had never come. The ledger keeps them as rejected.
 */
export async function giveUp(sql: Sql, resource: ResourceBase, given: GivenUp): Promise<void> {
  const { after, scope } = given
  for (const { counted, history } of historiesOf(resource))
    if (history.reopens) await restoreEnds(sql, counted, history, given)
  await removeVersions(sql, resource.history, given, resource.name)
  for (const [name, history] of Object.entries(resource.relatedHistories ?? {})) {
    const counted = history.absence === 'with-root' ? resource.name : `${resource.name}/${name}`
    await removeVersions(sql, history, given, counted)
  }
  for (const { table, key } of Object.values(resource.samples ?? {})) {
    const { name, columns } = bulkTable(table)
    const first = columns.get(key[0] ?? '')
    const scoped = scope === undefined || !first ? '' : `and ${first.name} = $2::${first.getSQLType()}`
    const params = scoped === '' ? [after] : [after, scope ?? null]
    await sql.query(`delete from ${name} where observed_at > $1 ${scoped}`, params)
  }
  await resource.giveUp?.(sql, after)
  // In the order in which the load of a key takes these locks.
  await averageAgain(sql, resource, after)
  await correctLedger(sql, resource, given)
}

/** Ends versions again that only responses of later instants opened. */
async function restoreEnds(sql: Sql, counted: string, history: History, { after, scope }: GivenUp): Promise<void> {
  const { table, keyText } = historySql(history)
  await sql.query(
    `update ${table.name} version set valid_until = claim.value::timestamptz from sync.claim
      where claim.resource = $1 and claim.kind = 'returned' and claim.first_at > $2
        and ${scope === undefined ? '$3::text is null' : `split_part(claim.subject, '/', 1) = $3`}
        and ${keyText('version')} = claim.subject and version.valid_from < claim.value::timestamptz
        and version.valid_until > claim.value::timestamptz`,
    [counted, after, scope ?? null],
  )
}

/**
 * Removes the versions of a history that were first shown after an instant, and reopens those that ended there, or that only
 * a later response ended, when they were first missed.
 */
async function removeVersions(sql: Sql, history: History, { after, scope }: GivenUp, counted: string): Promise<void> {
  const { table, keyText, keyJoin, firstKey } = historySql(history)
  // A version may begin before it was seen.
  const seen = table.columns.has('observedAt') ? 'observed_at' : 'valid_from'
  const scoped = (row: string) => (scope === undefined ? '' : `and ${row}.${firstKey.name} = $2::${firstKey.type}`)
  const params = scope === undefined ? [after] : [after, scope]
  for (const part of Object.values(history.parts)) {
    await sql.query(
      `delete from ${bulkTable(part).name} part using ${table.name} late
        where ${keyJoin('part', 'late')} and part.valid_from = late.valid_from and late.${seen} > $1 ${scoped('late')}`,
      params,
    )
  }
  const removed = await sql.query<{ key: string; began: string }>(
    `delete from ${table.name} late where late.${seen} > $1 ${scoped('late')}
      returning ${keyText('late')} as key, late.valid_from::text as began`,
    params,
  )
  const began = [...params, removed.map((one) => one.key), removed.map((one) => one.began), counted]
  const [keys, starts, resource] = [1, 2, 3].map((nth) => `$${params.length + nth}`)
  await sql.query(
    `update ${table.name} last set valid_until = 'infinity'
      where last.valid_until < 'infinity' ${scoped('last')}
        and (last.valid_until > $1 or (${keyText('last')}, last.valid_until) in
              (select key, began::timestamptz from unnest(${keys}::text[], ${starts}::text[]) as gone(key, began)
               union all select key, valid_until from sync.tombstone where resource = ${resource} and confirmed_at > $1))
        and not exists (select from ${table.name} later where ${keyJoin('later', 'last')} and later.valid_from > last.valid_from)`,
    began,
  )
}

/** No response after the instant counts as accepted any more, and what was counted and noted because of it is gone. */
async function correctLedger(sql: Sql, resource: ResourceBase, given: GivenUp): Promise<void> {
  const { name, changeLog } = resource
  const { after, scope, now } = given
  const ofKey = scope === undefined ? '' : `and split_part(key, '/', 1) = $3`
  const params = scope === undefined ? [name, after] : [name, after, scope]
  await invalidateCoverage(sql, name, after)
  const runs =
    scope === undefined ? await rejectRuns(sql, resource, given) : await rejectObservations(sql, name, scope, given)
  const absent = `split_part(resource, '/', 1) = $1`
  const undone = `from sync.tombstone where ${absent} and confirmed_at > $2 ${ofKey}`
  if (changeLog)
    await sql.query(
      `delete from game.field_change where resource = $1 ${ofKey} and (changed_at > $2
          or path = '' and (resource, key, changed_at) in (select resource, key, valid_until ${undone}))`,
      params,
    )
  const claimed = `${absent} ${scope === undefined ? '' : `and split_part(subject, '/', 1) = $3`}`
  await sql.query(`delete from sync.claim where ${claimed} and first_at > $2`, params)
  await sql.query(
    `update sync.claim set times = 1, last_at = first_at, last_received_at = first_received_at where ${claimed} and last_at > $2`,
    params,
  )
  // What was missing before is missing as often as then.
  await sql.query(
    `insert into sync.claim
       (resource, kind, subject, value, first_at, last_at, first_received_at, last_received_at, times, run_id)
     select resource, 'missing', key, '', valid_until, valid_until, valid_until, valid_until, 1, gen_random_uuid()
       ${undone} and valid_until <= $2 on conflict do nothing`,
    params,
  )
  await sql.query(`delete ${undone}`, params)
  // What stays was seen when the responses came.
  for (const [table, column] of dated)
    await sql.query(`update ${table} set ${column} = $2 where run_id = any($1::uuid[]) and ${column} > $2`, [runs, now])
  await sql.query(
    `update sync.privacy_restriction set since = least(since, $2), latest_at = least(latest_at, $2)
      where split_part(told_by, '/', 1) = $1 and (since > $2 or latest_at > $2)`,
    [name, now],
  )
}

/** What stays although the response that showed it is given up. */
const dated = [
  ['sync.drift', 'first_seen_at'],
  ['sync.quarantine', 'first_seen_at'],
  ['sync.privacy_action', 'at'],
] as const

/** Returns the ids of the runs. */
async function rejectRuns(sql: Sql, resource: ResourceBase, { after, reason }: GivenUp): Promise<string[]> {
  const { name } = resource
  const runs = await typed(sql)
    .update(run)
    .set({ status: 'rejected', reason, rejected: 1, living: null })
    .where(and(eq(run.resource, name), inArray(run.status, acceptedStatuses), gt(run.observedAt, after)))
    .returning({ id: run.runId })
  await typed(sql)
    .delete(gap)
    .where(and(eq(gap.resource, name), gt(gap.endedAt, after)))
  await compareNextWithTables(sql, resource)
  return runs.map(({ id }) => id)
}

/** The same for the responses about one key, and what the worklist knows of it. */
async function rejectObservations(
  sql: Sql,
  name: string,
  scope: string,
  { after, reason }: GivenUp,
): Promise<string[]> {
  const { resource, key, status, observedAt, runId } = observation
  const runs = await typed(sql)
    .update(observation)
    .set({ status: 'rejected', reason })
    .where(and(eq(resource, name), inArray(status, acceptedStatuses), gt(observedAt, after), eq(key, scope)))
    .returning({ id: runId })
  await sql.query(
    `update sync.work_item item
        set observed_at = before.at, content_hash = '\\x00', gone_at = null,
            first_observed_at = case when item.first_observed_at <= $2 then item.first_observed_at end
       from (select max(observed_at) as at from sync.observation
              where resource = $1 and ${accepted} and key = $3) before
      where item.resource = $1 and item.key = $3`,
    [name, after, scope],
  )
  return runs.map(({ id }) => id)
}
