import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf, FatalError, messageOf } from '../../base/errors.ts'
import { tableExists } from '../catalog.ts'
import type { Sql } from '../database.ts'

/** SQL that may run again whenever it changes: views, functions, comments. Its name is what the database remembers. */
export interface RepeatableSql {
  readonly name: string
  readonly path: string
}

export interface Migration {
  readonly tag: string
  /** Milliseconds since the epoch; drizzle runs what is later than the newest one applied. */
  readonly when: number
}

/** A repeatable file with its text. */
export interface Script extends RepeatableSql {
  readonly text: string
  readonly sha256: string
  /** The views and functions that it makes, `view analytics.item`; of a function that takes several lists of arguments, each. */
  readonly makes: readonly string[]
  /** Also those that it drops: an earlier edition made them. */
  readonly names: readonly string[]
}

/** The migrations in the order of the journal. @throws FatalError when its times do not rise */
export async function readJournal(folder: string): Promise<Migration[]> {
  const path = join(folder, 'meta', '_journal.json')
  const journal: unknown = JSON.parse(await readText(path))
  const entries = isJournal(journal) ? journal.entries : []
  entries.forEach((entry, index) => {
    const before = entries[index - 1]
    if (before && entry.when <= before.when)
      throw new FatalError(
        `${path}: the time of ${entry.tag} (${entry.when}) is not after that of ${before.tag} (${before.when}), so it would be skipped; raise its "when"`,
        { context: { path, migration: entry.tag } },
      )
  })
  return entries
}

function isJournal(value: unknown): value is { entries: Migration[] } {
  return typeof value === 'object' && value !== null && 'entries' in value && Array.isArray(value.entries)
}

/** @throws FatalError as `readText` */
export async function readScript(file: RepeatableSql): Promise<Script> {
  const text = await readText(file.path)
  const code = text.replace(/--.*/g, '')
  const made = [...code.matchAll(/\bcreate\s+(?:or\s+replace\s+)?(view|function)\s+([a-z_]\w*\.\w+)/gi)]
  const dropped = [...code.matchAll(/\bdrop\s+(view|function)\s+(?:if\s+exists\s+)?([a-z_]\w*\.\w+)/gi)]
  const inWords = ([, kind = '', name = '']: RegExpExecArray) => `${kind} ${name}`.toLowerCase()
  const makes = made.map(inWords)
  return { ...file, text, sha256: hash('sha256', text), makes, names: [...makes, ...dropped.map(inWords)] }
}

/** SHA-256 over all of them, in hexadecimal. */
export function hashOfAll(scripts: readonly Script[]): string {
  return hash('sha256', scripts.map(({ name, sha256 }) => `${name} ${sha256}\n`).join(''))
}

/** @throws FatalError when the file cannot be read */
export async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    const why = codeOf(cause) === 'ENOENT' ? 'the installation is incomplete' : messageOf(cause)
    throw new FatalError(`${path} cannot be read; ${why}`, { cause, context: { path } })
  }
}

/** Which of the views and functions in `$1`, such as `view analytics.item`, are there; a function as often as it has lists of arguments. */
export const PRESENT = `
  (select coalesce(json_agg(kind || ' ' || name), '[]') from (${objectsIn('relname as name', 'proname as name')}) each
    where kind || ' ' || name = any($1::text[]))`

/** Views and functions with their schemas. @param ofView, ofFunction what else is selected of each */
export function objectsIn(ofView: string, ofFunction: string): string {
  const named = (column: string) => column.replace(/^(\w+) as name/, `nspname || '.' || $1 as name`)
  return `
    select 'view' as kind, ${named(ofView)} from pg_class join pg_namespace on pg_namespace.oid = relnamespace where relkind = 'v'
     union all
    select 'function', ${named(ofFunction)} from pg_proc join pg_namespace on pg_namespace.oid = pronamespace where prokind = 'f'`
}

export const namesOf = (scripts: readonly Script[]): string[] => [...new Set(scripts.flatMap(({ names }) => names))]

/** The scripts of which something is not there. */
export function withMissing(scripts: readonly Script[], present: readonly string[]): Set<Script> {
  const count = (names: readonly string[]) => {
    const counts = new Map<string, number>()
    for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
    return counts
  }
  const there = count(present)
  const made = count(scripts.flatMap(({ makes }) => makes))
  const isMissing = (name: string) => (there.get(name) ?? 0) < (made.get(name) ?? 0)
  return new Set(scripts.filter(({ makes }) => makes.some(isMissing)))
}

/**
 * Lets one process at a time change what is installed, until the end of its transaction. The lock is that of drizzle's own
 * table, which a read-only role cannot take; in an empty database, making the table is.
 * @throws the error of Postgres to the second of two processes that make it at once (23505, 42P06, 42P07)
 */
export async function lockMigrations(sql: Sql): Promise<void> {
  if (!(await tableExists(sql, 'drizzle.__drizzle_migrations'))) {
    await sql.query('create schema if not exists drizzle')
    // As drizzle would make it.
    await sql.query(
      'create table drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint)',
    )
  }
  await sql.query('lock table drizzle.__drizzle_migrations in share row exclusive mode')
}
