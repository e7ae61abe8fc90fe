import { and, eq } from 'drizzle-orm'
import type { Sql } from '../../db/database.ts'
import { anyOf, typed } from '../../db/typed.ts'
import type { Prepared } from '../normalize/prepare.ts'
import { unconfirmedVersion } from '../record/watch-tables.ts'
import type { History } from '../resource.ts'
import { confirmOlder } from './absent.ts'
import { historySql } from './history-sql.ts'
import { type JudgedOlder, type Loaded, loadVersions, type Withdrawn } from './load.ts'

/** Where versions wait for a second response that shows them. */
export interface Unconfirmed {
  /** `resource/history`, as in `sync.unconfirmed_version`. */
  readonly counted: string
  readonly history: History
}

/**
 * Loads entities whose history says which of two versions is newer (`compare`): a version that a single response showed is
 * remembered as unconfirmed until a second one shows it.
 * @param lastSeen the instant that the last accepted response speaks for
 * @param responses how many in a row must agree in an older version before it replaces the current one
 */
export async function loadOrdered(
  sql: Sql,
  of: Unconfirmed,
  entities: readonly Prepared[],
  { at, lastSeen, responses }: { readonly at: Date; readonly lastSeen: Date | null; readonly responses: number },
): Promise<Loaded> {
  let other: readonly Prepared[] = []
  const judgeOlder = async (older: readonly Prepared[]) => {
    other = older
    return await withdrawShownOnce(sql, of, await confirmOlder(sql, of.counted, older, { responses, at }))
  }
  const loaded = await loadVersions(sql, of.history, entities, at, { lastSeen, judgeOlder })
  const isOther = new Set(other)
  const began = loaded.changed.flatMap(({ entity }) => (isOther.has(entity) ? [] : [entity.key]))
  const hasBegun = new Set(began)
  const shown = entities.flatMap((entity) => (isOther.has(entity) || hasBegun.has(entity.key) ? [] : [entity.key]))
  await confirmVersions(sql, of.counted, shown)
  await rememberUnconfirmed(sql, of, began, at)
  return loaded
}

/** Versions of these keys, or of all, are confirmed: another response shows them. */
export async function confirmVersions(sql: Sql, counted: string, shown?: readonly string[]): Promise<void> {
  const { resource, key } = unconfirmedVersion
  const isShown = shown && anyOf(key, shown)
  await typed(sql)
    .delete(unconfirmedVersion)
    .where(and(eq(resource, counted), isShown))
}

/** Remembers versions that began with this response: the current ones of these keys. */
async function rememberUnconfirmed(sql: Sql, { counted, history }: Unconfirmed, began: readonly string[], at: Date) {
  if (began.length === 0) return
  const { table, keyText } = historySql(history)
  await sql.query(
    `insert into sync.unconfirmed_version (resource, key, valid_from, observed_at)
     select $1, began.key, current.valid_from, $3 from unnest($2::text[]) as began(key)
       join ${table.name} current on ${keyText('current')} = began.key and current.valid_until = 'infinity'
     on conflict (resource, key, valid_from) do update set observed_at = excluded.observed_at`,
    [counted, began, at],
  )
}

/**
 * Deletes the versions that a single response each showed, where enough later responses in a row show the version before
 * them again: it did not end, so it is current as if those responses had not come. What two responses showed stays as a
 * version, and so does all before it. For histories without parts.
 *
 * @param confirmed entities that enough responses in a row agree in
 * @returns the entities that become new versions, because something else was stored before, and what was withdrawn
 */
async function withdrawShownOnce(
  sql: Sql,
  { counted, history }: Unconfirmed,
  confirmed: ReadonlyMap<Prepared, Date>,
): Promise<JudgedOlder> {
  if (confirmed.size === 0) return { replacing: confirmed, withdrawn: [] }
  const { table, keyText, hasDocument } = historySql(history)
  const entities = [...confirmed.keys()]
  const withdrawn = await sql.query<Withdrawn & { readonly ended: string }>(
    `with kept as (
       select again.key, before.valid_until as ended from unnest($2::text[], $3::bytea[]) as again(key, hash)
        cross join lateral (select version.valid_until from ${table.name} version
                             where ${keyText('version')} = again.key and version.hash = again.hash
                               and version.valid_until < 'infinity'
                             order by version.valid_until desc limit 1) before
        where not exists (select from ${table.name} later
                            left join sync.unconfirmed_version once
                              on once.resource = $1 and once.key = again.key and once.valid_from = later.valid_from
                           where ${keyText('later')} = again.key and later.valid_from >= before.valid_until
                             and (once.key is null or later.previous_until < later.valid_from)))
     delete from ${table.name} wrong using kept
      where ${keyText('wrong')} = kept.key and wrong.valid_from >= kept.ended
      returning kept.key, kept.ended::text, wrong.valid_from::text as "validFrom",
                ${hasDocument ? 'wrong.document' : 'null'} as document`,
    [counted, entities.map(({ key }) => key), entities.map(({ hash }) => hash)],
  )
  const restored = new Map(withdrawn.map(({ key, ended }) => [key, ended]))
  if (restored.size === 0) return { replacing: confirmed, withdrawn }
  await sql.query(
    `update ${table.name} before set valid_until = 'infinity'
       from unnest($1::text[], $2::timestamptz[]) as kept(key, ended)
      where ${keyText('before')} = kept.key and before.valid_until = kept.ended`,
    [[...restored.keys()], [...restored.values()]],
  )
  return { replacing: new Map([...confirmed].filter(([{ key }]) => !restored.has(key))), withdrawn }
}
