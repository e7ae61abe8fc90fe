import { and, eq, sql as fragment } from 'drizzle-orm'
import type { Sql } from '../../db/database.ts'
import { anyOf, typed } from '../../db/typed.ts'
import type { Json } from '../normalize/hash.ts'
import type { Prepared } from '../normalize/prepare.ts'
import { absence } from '../record/tables.ts'
import type { History } from '../resource.ts'
import type { DocumentChange } from './field-changes.ts'
import { historySql } from './history-sql.ts'

/** A key that complete responses lack, and since when. */
export interface Absence {
  readonly key: string
  readonly firstMissedAt: Date
  /** By the clock of this machine; null: not known. */
  readonly firstReceivedAt?: Date | null
  readonly times: number
}

/** The instant that a response speaks for, and when it came by the clock of this machine. */
export interface Seen {
  readonly at: Date
  readonly receivedAt?: Date
}

/** Keys of a resource that the last complete responses lacked. */
export async function pendingAbsences(sql: Sql, resource: string, scope?: string): Promise<Absence[]> {
  const { key, firstMissedAt, times } = absence
  const isInScope = scope === undefined ? undefined : fragment`starts_with(${key}, ${`${scope}/`})`
  return await typed(sql)
    .select({ key, firstMissedAt, times })
    .from(absence)
    .where(and(eq(absence.resource, resource), isInScope))
}

export async function forgetAbsences(sql: Sql, resource: string, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return
  await typed(sql)
    .delete(absence)
    .where(and(eq(absence.resource, resource), anyOf(absence.key, keys)))
}

/** Current keys that a complete response does not have; with a scope, only among those whose first part it is. */
export async function findAbsent(
  sql: Sql,
  history: History,
  seen: ReadonlySet<string>,
  scope?: string,
): Promise<string[]> {
  const { table, keyText, firstKey } = historySql(history)
  const scoped = scope === undefined ? '' : `and current.${firstKey.name} = $2::${firstKey.type}`
  const rows = await sql.query<{ key: string }>(
    `select ${keyText('current')} as key from ${table.name} current
       left join unnest($1::text[]) as seen(key) on seen.key = ${keyText('current')}
      where current.valid_until = 'infinity' and seen.key is null ${scoped}`,
    scope === undefined ? [[...seen]] : [[...seen], scope],
  )
  return rows.map(({ key }) => key)
}

/**
 * Counts that a complete response lacked these keys; returns how often each has now been missed in a row.
 * @param apart ms; responses that are closer than that to the last counted one do not count; by this machine's clock half of it
 * is enough, since polls do not come to the second
 */
export async function countAbsences(
  sql: Sql,
  resource: string,
  keys: readonly string[],
  { at, receivedAt, apart = 0 }: Seen & { readonly apart?: number | undefined },
): Promise<Absence[]> {
  const counts = 'missed.last_missed_at <= $4 and coalesce(missed.last_received_at <= $6, true)'
  const before = (instant: Date, ms: number) => new Date(instant.getTime() - ms)
  return await sql.query<Absence>(
    `insert into sync.absence as missed
       (resource, key, first_missed_at, last_missed_at, times, first_received_at, last_received_at)
     select $1, key, $3, $3, 1, $5::timestamptz, $5::timestamptz from unnest($2::text[]) as absent(key)
     on conflict (resource, key) do update
       set times = missed.times + (${counts})::int,
           last_missed_at = case when ${counts} then $3 else missed.last_missed_at end,
           last_received_at = case when ${counts} then $5 else missed.last_received_at end
     returning key, first_missed_at as "firstMissedAt", first_received_at as "firstReceivedAt", times`,
    [resource, keys, at, before(at, apart), receivedAt ?? null, receivedAt ? before(receivedAt, apart / 2) : null],
  )
}

/** Counts what a response lacked, forgets what is back, and returns what enough responses in a row have lacked by now. */
export async function confirmMissing(
  sql: Sql,
  resource: string,
  missing: readonly string[],
  {
    scope,
    responses,
    apart,
    ...seen
  }: Seen & { readonly scope?: string; readonly responses: number; readonly apart?: number },
): Promise<Absence[]> {
  const isMissing = new Set(missing)
  const back = (await pendingAbsences(sql, resource, scope)).filter(({ key }) => !isMissing.has(key))
  const counted = missing.length === 0 ? [] : await countAbsences(sql, resource, missing, { ...seen, apart })
  const gone = counted.filter(({ times }) => times >= responses)
  const over = [...back, ...gone].map(({ key }) => key)
  await forgetAbsences(sql, resource, over)
  return gone
}

/**
 * Ends the versions of keys that are gone. A version ends when it was first missed, not when that was confirmed:
 * the responses in between did not have it either. One that began since then, which only an import can bring, ends with the
 * response that confirms, and one that begins later stays: no version ends before it began.
 * @param at the instant of the response that confirms
 */
export async function closeAbsent(
  sql: Sql,
  history: History,
  gone: readonly Absence[],
  at: Date,
): Promise<DocumentChange[]> {
  const { table, keyText, hasDocument } = historySql(history)
  const rows = await sql.query<{ key: string; at: Date; before: Json }>(
    `update ${table.name} current set valid_until = case when current.valid_from < gone.missed_at then gone.missed_at else $3 end
       from unnest($1::text[], $2::timestamptz[]) as gone(key, missed_at)
      where ${keyText('current')} = gone.key and current.valid_until = 'infinity'
        and current.valid_from < greatest(gone.missed_at, $3)
      returning gone.key, current.valid_until as at, ${hasDocument ? 'current.document' : 'null'} as before`,
    [gone.map(({ key }) => key), gone.map(({ firstMissedAt }) => firstMissedAt), at],
  )
  return rows.map((row) => ({ ...row, after: undefined }))
}

/**
 * Entities that are older than the current version of their key. Either the response is wrong or what is stored: what
 * enough consecutive responses repeat is accepted, so that one wrong response does not block the right ones.
 *
 * @param counted name under which `sync.absence` counts the responses: `resource/history`
 * @param older each with the hash that the responses must agree in
 * @param responses how many are enough
 * @returns those that are confirmed, with the instant of the first of these responses
 */
export async function confirmOlder(
  sql: Sql,
  counted: string,
  older: readonly Prepared[],
  { responses, at }: { readonly responses: number; readonly at: Date },
): Promise<ReadonlyMap<Prepared, Date>> {
  const byName = new Map(older.map((entity) => [`${entity.key} ${entity.hash.toString('hex').slice(0, 16)}`, entity]))
  const enough = await confirmMissing(sql, counted, [...byName.keys()], { responses, at })
  return new Map(
    enough.flatMap(({ key, firstMissedAt }) => {
      const entity = byName.get(key)
      return entity ? [[entity, firstMissedAt] as const] : []
    }),
  )
}
