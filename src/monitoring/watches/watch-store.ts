import { accessSync, chmodSync, constants, existsSync, readFileSync, renameSync } from 'node:fs'
import { dirname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { messageOf, UsageError } from '../../base/errors.ts'
import { textOfFile } from '../../base/text/decode.ts'
import type { Sql } from '../../db/database.ts'
import { matchDeliveries } from './delivery-state.ts'
import { checkWatches, parseWatches, type Watch, type WatchFile } from './watch.ts'

/** What sync.watch has. */
export interface StoredWatches extends WatchFile {
  /** Of every row, also of those that this version cannot read. */
  readonly names: readonly string[]
  /** What this version cannot read, and why, without secrets. */
  readonly unreadable: readonly { readonly name: string; readonly problem: string }[]
}

/** The watches by name. A row that cannot be read, as of a later version, is named, and is left as it is. */
export async function readWatches(sql: Sql): Promise<StoredWatches> {
  const rows = await sql.query<{ name: string; site: string | null; watch: object }>(
    `select name, site, watch from sync.watch kept
      cross join lateral (select case jsonb_typeof(kept.rule) when 'object' then kept.rule else '{}' end
        || jsonb_strip_nulls(jsonb_build_object('name', name, 'player', player)) || jsonb_build_object('target', target) as watch) each
      order by name collate "C"`,
  )
  let site: string | undefined
  const watches: Watch[] = []
  const unreadable: { name: string; problem: string }[] = []
  for (const { name, site: given, watch } of rows) {
    const { file, problems } = checkWatches({ ...(given === null ? {} : { site: given }), watches: [watch] })
    site ??= file?.site
    if (file) watches.push(...file.watches)
    else unreadable.push({ name, problem: problems.map((one) => one.replace(/^watches\.0\.?/, '')).join('; ') })
  }
  return { site, watches, unreadable, names: rows.map(({ name }) => name) }
}

/** $1: watches as JSON. $2: the site. Parts: what decides whether, and what is done where there is one of that name. */
const insertion = (condition: string, conflict: string) => `
  insert into sync.watch (name, rule, player, target, site)
  select one->>'name', one - '{name,player,target}'::text[],
         case when one ? 'player' then array(select jsonb_array_elements_text(one->'player')) end, one->'target', $2::text
    from jsonb_array_elements($1::text::jsonb) one where ${condition}
  on conflict (name) do ${conflict}`

/**
 * Adds a watch, which begins with what comes next, or replaces the one of its name, which goes on; within a transaction.
 * @param site undefined: as of the others
 */
export async function saveWatch(sql: Sql, watch: Watch, site: string | undefined): Promise<void> {
  const [before] = await sql.query('select from sync.watch where name = $1', [watch.name])
  const replaced = 'update set rule = excluded.rule, player = excluded.player, target = excluded.target'
  await sql.query(insertion('true', replaced), [JSON.stringify([watch]), null])
  await sql.query('update sync.watch set site = coalesce($1::text, (select max(site) from sync.watch))', [site ?? null])
  if (!before) await sql.query('delete from sync.watch_delivery where watch = $1', [watch.name])
  await matchDeliveries(sql)
}

/** Within a transaction. */
export async function removeWatch(sql: Sql, name: string): Promise<void> {
  await sql.query('delete from sync.watch where name = $1', [name])
  await matchDeliveries(sql)
}

/**
 * Takes the watches of a file, where earlier versions kept them, into a database that has none, and renames the file.
 * @returns what is to be said; undefined where there is no file
 * @throws UsageError where the database has no watches, and the file cannot be used: it stays as it is
 */
export async function takeOverWatches(sql: Sql, file: string): Promise<string | undefined> {
  if (!existsSync(file)) return undefined
  const { names, watches } = await readWatches(sql)
  if (names.length > 0) {
    const isTaken = watchesIn(file)?.every((one) => watches.some((kept) => isDeepStrictEqual(kept, one)))
    if (isTaken) return renamed(file)
    return `${file} is not read, because the database has watches: add what is missing with wynnsync watch add, and remove the file`
  }
  const content = readWatchFile(file)
  mustBeWritable(file)
  const given = [JSON.stringify(content.watches), content.site ?? null]
  // Another process may do the same at this moment.
  await sql.query(insertion('not exists (select from sync.watch)', 'nothing'), given)
  return renamed(file)
}

function watchesIn(file: string): readonly Watch[] | undefined {
  try {
    return readWatchFile(file).watches
  } catch {
    return undefined
  }
}

/** @throws UsageError that lists everything that is wrong with the file, without its secrets */
export function readWatchFile(file: string): WatchFile {
  let content: string
  try {
    content = textOfFile(readFileSync(file), file)
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`${file} cannot be read: ${messageOf(error)}`)
  }
  return parseWatches(file, parsed(file, content))
}

// Without a cause: a parser's error quotes the text.
function parsed(file: string, content: string): unknown {
  try {
    return JSON.parse(content)
  } catch {
    throw new UsageError(`${file} is not JSON`)
  }
}

/** A file that stayed would be taken again once all watches are removed. @throws UsageError */
function mustBeWritable(file: string): void {
  try {
    accessSync(dirname(file), constants.W_OK)
  } catch (error) {
    throw new UsageError(
      `the watches in ${file} are not taken into the database, because the file cannot be renamed then: ${messageOf(error)}`,
    )
  }
}

/** Renames a file whose watches are in the database; where another process has done so, it is gone. */
function renamed(file: string): string | undefined {
  if (!existsSync(file)) return undefined
  let taken = `${file}.taken`
  for (let nth = 2; existsSync(taken); nth++) taken = `${file}.taken-${nth}`
  try {
    renameSync(file, taken)
  } catch (error) {
    return `the watches of ${file} are in the database now, but it cannot be renamed: remove it, or it is taken again once all are removed; ${messageOf(error)}`
  }
  try {
    // Its URLs are secrets.
    chmodSync(taken, 0o600)
  } catch {
    // It is another user's, and stays as readable as it was.
  }
  return `the watches of ${file} are in the database now; the file is ${taken}`
}
