import { FatalError } from '../../base/errors.ts'
import type { Sql } from '../../db/database.ts'
import type { History, ResourceBase, Row } from '../declare/resource.ts'
import { corroborate, forgetClaims, forgetClaimsAbout, pendingClaims, type Witness } from '../evidence/claims.ts'
import type { Json } from '../normalize/hash.ts'
import { bulkTable, historySql } from '../sql/history-sql.ts'
import type { DocumentChange } from './field-changes.ts'

/** Where absences are looked for. */
interface Among {
  readonly history: History
  readonly seen: ReadonlySet<string>
  /** Only keys that begin with this one. */
  readonly scope?: string | undefined
  /** Only keys that the response would have. */
  readonly covers?: ((key: string) => boolean) | undefined
  /** Nothing is absent from a response that is not complete. */
  readonly isComplete: boolean
  /** What a shrunken list lacks is gone only after hours. */
  readonly isShrunken?: boolean | undefined
}

interface MissingKeys {
  /** Keys that enough responses lacked: their versions are to end when they were first missed. */
  readonly gone: readonly Absence[]
  /** Keys that were missing, but not often enough yet. */
  readonly waiting: readonly string[]
}

/** Counts what a complete response lacks, forgets what is back, and says which keys enough responses in a row have lacked. */
export async function findMissingKeys(
  sql: Sql,
  witness: Witness,
  { history, seen, scope, covers = () => true, isComplete, isShrunken = false }: Among,
): Promise<MissingKeys> {
  const pending = await pendingClaims(sql, witness, 'missing', scope)
  const absent = isComplete ? await findAbsent(sql, history, { seen, at: witness.at, scope }) : []
  const isAbsent = new Set(absent.map(({ key }) => key))
  // What is back, and what ended otherwise meanwhile.
  const over = pending.filter(({ subject }) => seen.has(subject) || (isComplete && !isAbsent.has(subject)))
  await forgetClaims(sql, witness.resource, 'missing', over)
  const missing = absent.filter(({ key, isLater }) => !isLater && covers(key))
  const claims = missing.map(({ key }) => ({ subject: key }))
  const policy = isShrunken ? 'missing from shrunken' : 'missing'
  const { confirmed, pending: waiting } = await corroborate(sql, witness, 'missing', claims, policy)
  return {
    gone: confirmed.map(({ subject, firstAt }) => ({ key: subject, firstMissedAt: firstAt })),
    waiting: waiting.map(({ subject }) => subject),
  }
}

/**
 * Ends the versions of keys that the last responses lacked and that are back with another spell: they had gone in between.
 * Before the new versions are loaded. Returns how many ended.
 */
export async function closePreviousSpells(
  sql: Sql,
  witness: Witness,
  { history, scope }: Pick<Among, 'history' | 'scope'>,
  spellColumn: string,
  returned: readonly { readonly key: string; readonly root: Row }[],
): Promise<number> {
  const pending = await pendingClaims(sql, witness, 'missing', scope)
  const missed = new Map(pending.map(({ subject, firstAt }) => [subject, firstAt]))
  const back = returned.flatMap(({ key, root }) => {
    const firstMissedAt = missed.get(key)
    return firstMissedAt ? [{ key, firstMissedAt, spell: root[spellColumn] ?? null }] : []
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
  return (await closeAbsent(sql, history, gone, witness.at)).length
}

/** What became of a key that is gone. */
interface Tombstoned {
  /** How many versions ended, and how many of those that one response alone had shown were taken back. */
  readonly closed: number
  readonly withdrawn: number
  /** Since when it is gone. */
  readonly goneAt: Date
}

/**
 * Ends the versions of a key and of everything that hangs on it. Where it had a tombstone before, and one response alone showed it since,
 * that was an old copy: its versions are taken back, and the tombstone stays where it was.
 */
export async function tombstoneKey(sql: Sql, resource: ResourceBase, key: string, at: Date): Promise<Tombstoned> {
  const withdrawn = await withdrawReturn(sql, resource, key)
  let closed = (await closeAbsent(sql, resource.history, [{ key, firstMissedAt: at }], at)).length
  for (const [name, history] of Object.entries(resource.relatedHistories ?? {})) {
    const absent = await findAbsent(sql, history, { seen: new Set(), at, scope: key })
    // What the last responses lacked had gone before.
    const pending = await pendingClaims(sql, { resource: `${resource.name}/${name}` }, 'missing', key)
    const missed = new Map(pending.map(({ subject, firstAt }) => [subject, firstAt]))
    const gone = absent.flatMap((one) =>
      one.isLater ? [] : [{ key: one.key, firstMissedAt: missed.get(one.key) ?? at }],
    )
    closed += (await closeAbsent(sql, history, gone, at)).length
  }
  await forgetClaimsAbout(sql, resource.name, key)
  // No further response is about it.
  await sql.query(
    `update sync.unread set until_at = greatest($3, from_at)
      where split_part(resource, '/', 1) = $1 and until_at is null and (key = $2 or starts_with(key, $2 || '/'))`,
    [resource.name, key, at],
  )
  const isAsBefore = closed === 0 && withdrawn.count > 0
  return { closed, withdrawn: withdrawn.count, goneAt: isAsBefore ? new Date(withdrawn.goneAt) : at }
}

/** Deletes the versions of a key that the responses of one cache window alone showed after its tombstone. */
async function withdrawReturn(sql: Sql, { name, history, relatedHistories = {} }: ResourceBase, key: string) {
  let count = 0
  const [returned] = await pendingClaims(sql, { resource: name }, 'returned', key)
  if (!returned) return { count, goneAt: '' }
  for (const one of [...Object.values(relatedHistories), history]) {
    const { firstKey } = historySql(one)
    for (const table of [...Object.values(one.parts), one.root]) {
      const deleted = await sql.query(
        `delete from ${bulkTable(table).name} own where own.${firstKey.name} = $1::${firstKey.type} and own.valid_from >= $2 returning 1`,
        [key, returned.firstAt],
      )
      if (table === one.root) count += deleted.length
    }
  }
  return { count, goneAt: returned.value }
}

export async function countCurrent(sql: Sql, history: History): Promise<number> {
  const { table } = historySql(history)
  const [row] = await sql.query<{ n: number }>(
    `select count(*)::int as n from ${table.name} where valid_until = 'infinity'`,
  )
  return row?.n ?? 0
}

/** A key that complete responses lack, and since when. */
export interface Absence {
  readonly key: string
  readonly firstMissedAt: Date
}

/**
 * Current keys that a complete response does not have; with a scope, only among those whose first part it is. Of versions that begin
 * later (`isLater`), which only an import can bring, it says nothing yet.
 * @param at the instant that the response speaks for
 */
export async function findAbsent(
  sql: Sql,
  history: History,
  { seen, at, scope }: { readonly seen: ReadonlySet<string>; readonly at: Date; readonly scope?: string | undefined },
): Promise<{ readonly key: string; readonly isLater: boolean }[]> {
  const { table, keyText, firstKey } = historySql(history)
  const scoped = scope === undefined ? '' : `and current.${firstKey.name} = $3::${firstKey.type}`
  return await sql.query<{ key: string; isLater: boolean }>(
    `select ${keyText('current')} as key, current.valid_from >= $2 as "isLater" from ${table.name} current
       left join unnest($1::text[]) as seen(key) on seen.key = ${keyText('current')}
      where current.valid_until = 'infinity' and seen.key is null ${scoped}`,
    scope === undefined ? [[...seen], at] : [[...seen], at, scope],
  )
}

/**
 * Ends the versions of keys that are gone. A version ends when it was first missed, not when that was confirmed: the responses in between
 * did not have it either. One that began since then, which only an import can bring, ends with the response that confirms.
 * @param at the instant of the response that confirms
 */
export async function closeAbsent(
  sql: Sql,
  history: History,
  gone: readonly Absence[],
  at: Date,
): Promise<DocumentChange[]> {
  if (gone.length === 0) return []
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
