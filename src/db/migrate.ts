import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Clock } from '../clock.ts'
import { FatalError, RetryableError } from '../errors.ts'
import type { Database, Sql } from './database.ts'
import { sqlState } from './sql-errors.ts'

/** SQL that may run again whenever it changes: views, functions, comments. Its name is what the database remembers. */
export interface RepeatableSql {
  readonly name: string
  readonly path: string
}

export interface MigrateOptions {
  /** drizzle's migrations folder, with `meta/_journal.json`. */
  readonly folder: string
  /** Run in this order; a file may rely on the ones before it. */
  readonly repeatable: readonly RepeatableSql[]
  readonly clock: Clock
}

/** What a migration did. */
export interface Migrated {
  /** Migrations as `0001_name.sql`, then repeatable SQL by name; empty when there was nothing to do. */
  readonly applied: readonly string[]
}

interface Migration {
  readonly tag: string
  /** Milliseconds since the epoch; drizzle runs what is later than the newest one applied. */
  readonly when: number
}

interface Script extends RepeatableSql {
  readonly text: string
  readonly sha256: string
}

/** Whoever changes what is installed holds this until the end of the transaction. */
export const MIGRATE_LOCK = `select pg_advisory_xact_lock(hashtextextended('wynnsync migrate', 0))`

const INSTALLED_SQL = `
create schema if not exists sync;
create table if not exists sync.installed_sql (
  name text primary key,
  sha256 text not null,
  installed_at timestamptz not null
);
comment on table sync.installed_sql is 'Which version of each repeatable SQL file (views, functions, comments) this database has.';
comment on column sync.installed_sql.name is 'The file, as the program names it.';
comment on column sync.installed_sql.sha256 is 'SHA-256 of its text, in hexadecimal. Another text is installed anew.';
comment on column sync.installed_sql.installed_at is 'When it was installed.';
`

/**
 * Brings the database to the state that the program expects: new migrations first, then, from the first repeatable file
 * that changed on, all of them (the later ones may have been dropped with what they stood on). Everything happens in
 * one transaction under a lock, so any number of processes may migrate at once, and a failure changes nothing.
 * When there is nothing to do it costs two small queries.
 *
 * @throws FatalError naming the file that failed; when the journal's times do not rise (drizzle would skip a migration
 * without a word); when the database was migrated by a newer program
 */
export async function migrate(db: Database, options: MigrateOptions): Promise<Migrated> {
  const migrations = await readJournal(options.folder)
  const scripts = await Promise.all(options.repeatable.map(readScript))
  if (await isUpToDate(db, migrations, scripts)) return { applied: [] }
  return db.transaction(async (sql) => {
    await sql.query(MIGRATE_LOCK)
    const replaced = await replaceEarlierEdition(sql, options.folder, migrations)
    const applied = await runMigrations(sql, options.folder, migrations)
    await sql.query(INSTALLED_SQL)
    return { applied: [...replaced, ...applied, ...(await runScripts(sql, scripts, options.clock))] }
  })
}

async function readJournal(folder: string): Promise<Migration[]> {
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

async function readScript(file: RepeatableSql): Promise<Script> {
  const text = await readText(file.path)
  return { ...file, text, sha256: createHash('sha256').update(text).digest('hex') }
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw new FatalError(`${path} cannot be read; the installation is incomplete`, { cause, context: { path } })
  }
}

async function isUpToDate(sql: Sql, migrations: readonly Migration[], scripts: readonly Script[]): Promise<boolean> {
  const [tables] = await sql.query<{ exist: boolean }>(
    `select to_regclass('drizzle.__drizzle_migrations') is not null
        and to_regclass('sync.installed_sql') is not null as exist`,
  )
  if (!tables?.exist) return false
  const [state] = await sql.query<{ newest: number | null; installed: Record<string, string> | null }>(
    `select (select max(created_at) from drizzle.__drizzle_migrations) as newest,
            (select json_object_agg(name, sha256) from sync.installed_sql) as installed`,
  )
  const newest = state?.newest ?? 0
  const last = migrations.at(-1)?.when ?? 0
  if (newest > last)
    throw new FatalError(
      'the database was migrated by a newer version of wynnsync; update this one (going on could damage its tables)',
      { context: { databaseMigration: newest, ownMigration: last } },
    )
  return newest === last && scripts.every(({ name, sha256 }) => state?.installed?.[name] === sha256)
}

/**
 * Some migrations had other content before their present one, at another time of the journal; drizzle would run them a
 * second time, and fail. `earlier/<time>_<tag>.sql` adds what the edition of that time lacked, and the database then
 * counts as migrated by the present one.
 */
async function replaceEarlierEdition(sql: Sql, folder: string, migrations: readonly Migration[]): Promise<string[]> {
  const [table] = await sql.query<{ exists: boolean }>(
    `select to_regclass('drizzle.__drizzle_migrations') is not null as exists`,
  )
  if (!table?.exists) return []
  const [newest] = await sql.query<{ id: number; when: number }>(
    'select id, created_at as "when" from drizzle.__drizzle_migrations order by created_at desc limit 1',
  )
  if (!newest || migrations.some(({ when }) => when === newest.when)) return []
  const earlier = join(folder, 'earlier')
  const files = await readdir(earlier).catch(() => [])
  const file = files.find((name) => name.startsWith(`${newest.when}_`))
  const present = migrations.find(({ tag }) => file === `${newest.when}_${tag}.sql`)
  if (file === undefined || !present) return []
  const text = await readText(join(earlier, file))
  await naming(`migration earlier/${file}`, () => sql.query(text))
  const hash = createHash('sha256').update(await readText(join(folder, `${present.tag}.sql`)))
  await sql.query('update drizzle.__drizzle_migrations set created_at = $2, hash = $3 where id = $1', [
    newest.id,
    present.when,
    hash.digest('hex'),
  ])
  return [`earlier/${file}`]
}

async function runMigrations(sql: Sql, folder: string, migrations: readonly Migration[]): Promise<string[]> {
  // Most processes find nothing to migrate, and start sooner without these.
  const { migrate: runDrizzle } = await import('drizzle-orm/pg-proxy/migrator')
  const { typed } = await import('./typed.ts')
  const applied: string[] = []
  await runDrizzle(
    typed(sql),
    async (statements) => {
      // drizzle gives one flat list, in which the row that records a migration ends it; so the last ones are due.
      const ends = statements.filter(endsMigration).length
      const due = migrations.slice(migrations.length - ends).map(({ tag }) => `${tag}.sql`)
      for (const statement of statements) {
        const file = due[applied.length] ?? ''
        if (statement.trim() !== '') await naming(`migration ${file}`, () => sql.query(statement))
        if (endsMigration(statement)) applied.push(file)
      }
    },
    { migrationsFolder: folder },
  )
  return applied
}

function endsMigration(statement: string): boolean {
  return statement.startsWith('INSERT INTO "drizzle"."__drizzle_migrations"')
}

async function runScripts(sql: Sql, scripts: readonly Script[], clock: Clock): Promise<string[]> {
  const rows = await sql.query<{ name: string; sha256: string }>('select name, sha256 from sync.installed_sql')
  const installed = new Map(rows.map(({ name, sha256 }) => [name, sha256]))
  const first = scripts.findIndex(({ name, sha256 }) => installed.get(name) !== sha256)
  const due = first < 0 ? [] : scripts.slice(first)
  for (const { name, path, text, sha256 } of due) {
    await naming(basename(path), () => sql.query(text))
    await sql.query(
      `insert into sync.installed_sql (name, sha256, installed_at) values ($1, $2, $3)
       on conflict (name) do update set sha256 = excluded.sha256, installed_at = excluded.installed_at`,
      [name, sha256, new Date(clock.now())],
    )
  }
  return due.map(({ name }) => name)
}

/** Says which file failed. The transaction is rolled back by the error. */
async function naming<T>(file: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (cause) {
    if (cause instanceof RetryableError) throw cause
    const said = cause instanceof Error ? cause.message : String(cause)
    throw new FatalError(`${file} failed, and the database is unchanged: ${said}`, {
      cause,
      context: { file, sqlState: sqlState(cause) },
    })
  }
}
