import { and, eq, lt } from 'drizzle-orm'
import type { Sql, SqlValue } from '../../db/database.ts'
import { anyOf, typed } from '../../db/typed.ts'
import type { Prepared } from '../normalize/prepare.ts'
import { unconfirmedVersion } from '../record/watch-tables.ts'
import type { History, ResourceBase } from '../resource.ts'
import { confirmOlder } from './absent.ts'
import { historySql } from './history-sql.ts'
import { type JudgedOlder, type Loaded, loadVersions, type Withdrawn } from './load.ts'

/** Where versions wait for a second response that shows them. */
export interface Unconfirmed {
  /** The resource, or `resource/history`, as in `sync.unconfirmed_version`. */
  readonly counted: string
  readonly history: History
}

/** Whether a single response is not enough for some versions of a history. */
const waits = ({ compare, reopens = false }: History) => compare !== undefined || reopens

/** The histories of a resource for whose versions a single response is not enough. */
export function unconfirmedOf({ name, history, relatedHistories = {} }: ResourceBase): Unconfirmed[] {
  const related = Object.entries(relatedHistories).map(([other, one]) => ({
    counted: `${name}/${other}`,
    history: one,
  }))
  return [{ counted: name, history }, ...related].filter((one) => waits(one.history))
}

/**
 * Loads entities, and remembers which versions this response alone shows so far.
 * @param lastSeen the instant that the last accepted response speaks for
 * @param responses how many in a row must agree in an older version before it replaces the current one
 */
export async function loadUnconfirmed(
  sql: Sql,
  of: Unconfirmed,
  entities: readonly Prepared[],
  { at, lastSeen, responses }: { readonly at: Date; readonly lastSeen: Date | null; readonly responses: number },
): Promise<Loaded> {
  const { counted, history } = of
  if (!waits(history)) return await loadVersions(sql, history, entities, at)
  let other: readonly Prepared[] = []
  const judgeOlder = async (older: readonly Prepared[]) => {
    other = older
    return await withdrawShownOnce(sql, of, await confirmOlder(sql, counted, older, { responses, at }))
  }
  const beforeReopening = (back: readonly Prepared[]) => rememberEnds(sql, of, back, at)
  const loaded = await loadVersions(sql, history, entities, at, { lastSeen, judgeOlder, beforeReopening })
  const isOther = new Set(other)
  const shown = entities.flatMap((entity) => (isOther.has(entity) ? [] : [entity.key]))
  await confirmVersions(sql, [of], { shown, at })
  // The first response is where history begins.
  if (history.compare && lastSeen !== null) {
    const changed = loaded.changed.flatMap(({ entity }) => (isOther.has(entity) ? [] : [entity.key]))
    await rememberNew(sql, of, [...loaded.inserted.map(({ key }) => key), ...changed], at)
  }
  return loaded
}

/**
 * Versions that earlier responses showed first are confirmed.
 * @param shown the keys that this response shows; absent: it shows the same as the last one
 */
export async function confirmVersions(
  sql: Sql,
  of: readonly Unconfirmed[],
  { shown, at }: { readonly shown?: readonly string[]; readonly at: Date },
): Promise<void> {
  const { resource, key, observedAt } = unconfirmedVersion
  const isEarlier = and(
    anyOf(
      resource,
      of.map(({ counted }) => counted),
    ),
    lt(observedAt, at),
  )
  const waiting = await typed(sql).selectDistinct({ key }).from(unconfirmedVersion).where(isEarlier)
  const isShown = shown && new Set(shown)
  const confirmed = waiting.flatMap((one) => (!isShown || isShown.has(one.key) ? [one.key] : []))
  if (confirmed.length > 0)
    await typed(sql)
      .delete(unconfirmedVersion)
      .where(and(isEarlier, anyOf(key, confirmed)))
}

/** Remembers the current versions of these keys: they began with this response. */
async function rememberNew(sql: Sql, { counted, history }: Unconfirmed, keys: readonly string[], at: Date) {
  if (keys.length === 0) return
  const { table, keyText } = historySql(history)
  await sql.query(
    `insert into sync.unconfirmed_version (resource, key, valid_from, observed_at)
     select $1, began.key, current.valid_from, $3 from unnest($2::text[]) as began(key)
       join ${table.name} current on ${keyText('current')} = began.key and current.valid_until = 'infinity'
     on conflict do nothing`,
    [counted, keys, at],
  )
}

/** Remembers where the latest versions of these entities ended, before they are opened again. */
async function rememberEnds(sql: Sql, { counted, history }: Unconfirmed, back: readonly Prepared[], at: Date) {
  const { table, keyText } = historySql(history)
  await sql.query(
    `insert into sync.unconfirmed_version (resource, key, valid_from, observed_at, ended)
     select $1, back.key, latest.valid_from, $3, latest.valid_until from unnest($2::text[]) as back(key)
      cross join lateral (select * from ${table.name} version where ${keyText('version')} = back.key
                           order by version.valid_from desc limit 1) latest
     on conflict (resource, key, valid_from) do update set observed_at = excluded.observed_at, ended = excluded.ended`,
    [counted, back.map(({ key }) => key), at],
  )
}

/**
 * Takes back what a single response showed of keys that are gone: a version that it opened again ends where it had ended, and
 * one that is the first of its key never was.
 */
export async function takeBackOfGone(sql: Sql, of: Unconfirmed, gone: readonly string[]): Promise<void> {
  if (gone.length === 0 || !waits(of.history)) return
  const { counted, history } = of
  const { table, keyText } = historySql(history)
  await restoreEnds(sql, of, { which: 'once.key = any($2::text[])', params: [gone] })
  await sql.query(
    `delete from ${table.name} version using sync.unconfirmed_version once
      where once.resource = $1 and once.key = any($2::text[]) and once.ended is null
        and ${keyText('version')} = once.key and version.valid_from = once.valid_from and version.previous_until is null`,
    [counted, gone],
  )
  const { resource, key } = unconfirmedVersion
  await typed(sql)
    .delete(unconfirmedVersion)
    .where(and(eq(resource, counted), anyOf(key, gone)))
}

/** Ends versions again that only responses of instants after `after` opened, of all keys or of those that begin with `scope`. */
export async function restoreEndsAfter(
  sql: Sql,
  of: Unconfirmed,
  after: Date,
  scope: string | undefined,
): Promise<void> {
  const ofKey = scope === undefined ? '' : `and split_part(once.key, '/', 1) = $3`
  const params = scope === undefined ? [after] : [after, scope]
  await restoreEnds(sql, of, { which: `once.observed_at > $2 ${ofKey}`, params })
}

async function restoreEnds(
  sql: Sql,
  { counted, history }: Unconfirmed,
  { which, params }: { readonly which: string; readonly params: readonly SqlValue[] },
): Promise<void> {
  const { table, keyText, keyJoin } = historySql(history)
  await sql.query(
    `update ${table.name} version set valid_until = once.ended from sync.unconfirmed_version once
      where once.resource = $1 and once.ended is not null and ${which}
        and ${keyText('version')} = once.key and version.valid_from = once.valid_from
        and not exists (select from ${table.name} later where ${keyJoin('later', 'version')} and later.valid_from > version.valid_from)`,
    [counted, ...params],
  )
}

/**
 * Deletes a current version that a single response showed, where enough later responses in a row contradict it: they show
 * the version before it, which did not end, or another one that began before it. What two responses showed stays as a version,
 * and so does what two responses in a row contradicted one after the other. For histories without parts.
 *
 * @param confirmed entities that enough responses in a row agree in
 * @returns which of them become new versions, after which one, and what was withdrawn
 */
async function withdrawShownOnce(
  sql: Sql,
  { counted, history }: Unconfirmed,
  confirmed: ReadonlyMap<Prepared, Date>,
): Promise<JudgedOlder> {
  if (confirmed.size === 0) return { replacing: [], withdrawn: [], confirmed: 0 }
  const { table, keyText, keyJoin, hasDocument } = historySql(history)
  const entities = [...confirmed.keys()]
  const withdrawn = await sql.query<Withdrawn & { readonly goesOn: boolean; readonly began: Date }>(
    `delete from ${table.name} wrong
      using unnest($2::text[], $3::bytea[], $4::timestamptz[]) as again(key, hash, since), ${table.name} before
      where ${keyText('wrong')} = again.key and wrong.valid_until = 'infinity'
        and exists (select from sync.unconfirmed_version once where once.resource = $1 and once.key = again.key
                       and once.valid_from = wrong.valid_from and once.ended is null)
        and ${keyJoin('before', 'wrong')} and before.valid_until = wrong.valid_from
        and (before.hash = again.hash or before.valid_from < again.since and again.since <= wrong.valid_from)
      returning again.key, wrong.valid_from::text as "validFrom", before.hash = again.hash as "goesOn",
                before.valid_from as began, ${hasDocument ? 'wrong.document, before.document' : 'null as document, null'} as before`,
    [
      counted,
      entities.map(({ key }) => key),
      entities.map(({ hash }) => hash),
      entities.map(({ since }) => since ?? null),
    ],
  )
  if (withdrawn.length > 0)
    await sql.query(
      `update ${table.name} before set valid_until = 'infinity'
         from unnest($1::text[], $2::timestamptz[]) as gone(key, at)
        where ${keyText('before')} = gone.key and before.valid_until = gone.at`,
      [withdrawn.map(({ key }) => key), withdrawn.map(({ validFrom }) => validFrom)],
    )
  const byKey = new Map(withdrawn.map((one) => [one.key, one]))
  const replacing = [...confirmed].flatMap(([entity, seen]) => {
    const gone = byKey.get(entity.key)
    return gone?.goesOn ? [] : [{ entity, seen, after: gone?.began }]
  })
  return { replacing, withdrawn, confirmed: confirmed.size }
}
