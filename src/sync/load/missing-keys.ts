import { FatalError } from '../../app/errors.ts'
import type { Sql } from '../../db/database.ts'
import { accepted } from '../record/accepted.ts'
import { rememberTombstones } from '../record/tombstones.ts'
import type { History, ResourceBase, Row } from '../resource.ts'
import {
  type Absence,
  closeAbsent,
  countAbsences,
  findAbsent,
  forgetAbsences,
  pendingAbsences,
  type Seen,
} from './absent.ts'
import type { DocumentChange } from './field-changes.ts'
import { historySql } from './history-sql.ts'

/** Where absences are looked for. */
export interface Among {
  /** Name under which absences are counted: the resource, or `resource/history` for a further history. */
  readonly counted: string
  readonly history: History
  readonly seen: ReadonlySet<string>
  /** Only keys that begin with this one. */
  readonly scope?: string | undefined
  /** Only keys that the response would have. */
  readonly covers?: ((key: string) => boolean) | undefined
}

export interface MissingKeys {
  /** What ended, and when. */
  readonly closed: readonly DocumentChange[]
  /** Keys that were missing, but not often enough yet. */
  readonly waiting: readonly string[]
}

/** When what responses lack is gone. */
export interface AbsenceRule {
  /** How many responses in a row must lack it. */
  readonly absences: number
  /** How far they must be apart to count, and how long the first one must be ago, by both clocks; ms. */
  readonly apart?: number
  readonly span?: number
}

/**
 * Counts what a complete response lacks, forgets what is back, and tombstones the keys that enough consecutive complete
 * responses have lacked.
 *
 * @param complete nothing is absent from a response that is not complete
 */
export async function reconcileMissingKeys(
  sql: Sql,
  among: Among,
  { complete, absences, apart = 0, span = 0, at, receivedAt }: AbsenceRule & Seen & { complete: boolean },
): Promise<MissingKeys> {
  const { counted, history, seen, scope, covers = () => true } = among
  const pending = await pendingAbsences(sql, counted, scope)
  const back = pending.filter(({ key }) => seen.has(key)).map(({ key }) => key)
  await forgetAbsences(sql, counted, back)
  const missing = complete ? (await findAbsent(sql, history, seen, scope)).filter(covers) : []
  if (missing.length === 0) return { closed: [], waiting: [] }
  const missed = await countAbsences(sql, counted, missing, { at, apart, ...(receivedAt && { receivedAt }) })
  const isLongAgo = (first: Date | null | undefined, now: Date | undefined) =>
    !first || !now || now.getTime() - first.getTime() >= span
  const isGone = ({ times, firstMissedAt, firstReceivedAt }: Absence) =>
    times >= absences && isLongAgo(firstMissedAt, at) && isLongAgo(firstReceivedAt, receivedAt)
  const gone = missed.filter(isGone)
  const waiting = missed.filter((one) => !isGone(one)).map(({ key }) => key)
  if (gone.length === 0) return { closed: [], waiting }
  const closed = await closeAbsent(sql, history, gone, at)
  const keys = gone.map(({ key }) => key)
  await forgetAbsences(sql, counted, keys)
  await rememberTombstones(sql, counted, closed, at)
  const ended = new Set(closed.map(({ key }) => key))
  const stay = keys.filter((key) => !ended.has(key))
  if (stay.length > 0) await countAbsences(sql, counted, stay, { at, apart, ...(receivedAt && { receivedAt }) })
  return { closed, waiting: [...waiting, ...stay] }
}

/**
 * Ends the versions of keys that the last responses lacked and that are back with another spell: they had gone in between.
 * Before the new versions are loaded. Returns how many ended.
 */
export async function closePreviousSpells(
  sql: Sql,
  { counted, history, scope }: Omit<Among, 'seen'>,
  spellColumn: string,
  returned: readonly { readonly key: string; readonly root: Row }[],
  at: Date,
): Promise<number> {
  const pending = await pendingAbsences(sql, counted, scope)
  const missed = new Map(pending.map((absence) => [absence.key, absence]))
  const back = returned.flatMap(({ key, root }) => {
    const absence = missed.get(key)
    return absence ? [{ ...absence, spell: root[spellColumn] ?? null }] : []
  })
  if (back.length === 0) return 0
  const { keyText, table } = historySql(history)
  const column = table.columns.get(spellColumn)
  if (!column) throw new FatalError(`table ${table.name} has no column ${spellColumn}`)
  const rows = await sql.query<{ key: string }>(
    `select back.key from ${table.name} current
       join unnest($1::text[], $2::${column.getSQLType()}[]) as back(key, spell) on ${keyText('current')} = back.key
      where current.valid_until = 'infinity' and current.${column.name} <> back.spell`,
    [back.map(({ key }) => key), back.map(({ spell }) => (spell === null ? null : String(spell)))],
  )
  const other = new Set(rows.map(({ key }) => key))
  const gone = back.filter(({ key }) => other.has(key))
  if (gone.length === 0) return 0
  const closed = await closeAbsent(sql, history, gone, at)
  await rememberTombstones(sql, counted, closed, at)
  return closed.length
}

/** Ends the versions of a key and of everything that hangs on it. Returns how many ended. */
export async function tombstoneKey(sql: Sql, resource: ResourceBase, key: string, at: Date): Promise<number> {
  const ending = (keys: readonly string[]) => keys.map((key) => ({ key, firstMissedAt: at, times: 0 }))
  let closed = (await closeAbsent(sql, resource.history, ending([key]), at)).length
  for (const history of Object.values(resource.relatedHistories ?? {})) {
    const rest = await findAbsent(sql, history, new Set(), key)
    if (rest.length > 0) closed += (await closeAbsent(sql, history, ending(rest), at)).length
  }
  return closed
}

export async function countCurrent(sql: Sql, history: History): Promise<number> {
  const { table } = historySql(history)
  const [row] = await sql.query<{ n: number }>(
    `select count(*)::int as n from ${table.name} where valid_until = 'infinity'`,
  )
  return row?.n ?? 0
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
    `update sync.run set content_hash = '\\x00', living = case when living is not null then $2::int end
      where run_id = (select run_id from sync.run where resource = $1 and ${accepted}
                       order by observed_at desc nulls last, started_at desc limit 1)`,
    [name, await countCurrent(sql, history)],
  )
}
