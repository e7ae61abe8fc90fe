import type { Clock } from '../../base/clock.ts'
import { FatalError } from '../../base/errors.ts'
import { cannotMigrate, readOnlyReason, withGrants } from '../access.ts'
import type { Database, Sql } from '../database.ts'
import { LockTimeout, withLockTimeout } from '../locks/lock-timeout.ts'
import { MOVE_PROGRESS } from '../move/copied-table.ts'
import { sqlState } from '../sql-errors.ts'
import {
  hashOfAll,
  lockMigrations,
  type Migration,
  namesOf,
  PRESENT,
  type RepeatableSql,
  readJournal,
  readScript,
  type Script,
  withMissing,
} from './scripts.ts'

/** The repeatable SQL of one program, as the database remembers it. */
interface InstalledProgram {
  readonly version: string
  /** SHA-256 over all of its repeatable SQL. */
  readonly sqlHash: string
  readonly installedAt: Date
}

const INSTALLED_PROGRAMS = `
  (select json_agg(json_build_object('version', version, 'sqlHash', sql_hash, 'installedAt', installed_at) order by number)
     from sync.installed_program)`

/**
 * The program whose SQL is installed, when it is newer than this one: two that replaced each other's views at every start
 * would leave neither with its own. Undefined: this one may install its own.
 * @param installed all that ever were, in order
 */
function newerProgram<Program extends Omit<InstalledProgram, 'installedAt'>>(
  installed: readonly Program[],
  own: Omit<InstalledProgram, 'installedAt'>,
): Program | undefined {
  const latest = installed.at(-1)
  if (!latest || latest.sqlHash === own.sqlHash) return undefined
  const order = compareVersions(latest.version, own.version)
  if (order !== 0) return order > 0 ? latest : undefined
  // Two checkouts of one version: SQL that was here before was replaced by later one.
  return installed.some(({ sqlHash }) => sqlHash === own.sqlHash) ? latest : undefined
}

/** Semantic versions in their order; what follows a hyphen comes before the same without. */
function compareVersions(one: string, other: string): number {
  const [a = '', aPre] = one.split('-')
  const [b = '', bPre] = other.split('-')
  const left = a.split('.').map(Number)
  const right = b.split('.').map(Number)
  for (let part = 0; part < 3; part++) {
    const difference = (left[part] ?? 0) - (right[part] ?? 0)
    if (difference !== 0) return difference
  }
  if (aPre === bPre) return 0
  if (aPre === undefined || bPre === undefined) return aPre === undefined ? 1 : -1
  return aPre < bPre ? -1 : 1
}

export interface MigrateOptions {
  /** drizzle's migrations folder, with `meta/_journal.json`. */
  readonly folder: string
  /** Run in this order; a file may rely on the ones before it. */
  readonly repeatable: readonly RepeatableSql[]
  readonly clock: Clock
  /** Version of the program; the SQL of a newer one is not replaced. */
  readonly version?: string
  /** Also replace SQL of the same version that was installed later. */
  readonly again?: boolean
  /** Accept a database into which a move is unfinished. */
  readonly duringMove?: boolean
  /** Called with how many files of SQL are installed, of how many. */
  readonly onProgress?: ((done: number, of: number) => void) | undefined
}

export interface Migrated {
  /** Migrations as `0001_name.sql`, then repeatable SQL by name; empty when there was nothing to do. */
  readonly applied: readonly string[]
  /** The program whose views stay, because it is newer. */
  readonly newer?: Omit<InstalledProgram, 'installedAt'>
  /** Why views could not be replaced now, although the tables are up to date. */
  readonly postponed?: string
}

/** What a database has of what the program installs. */
export type Installed = 'nothing' | 'earlier tables' | 'other views' | 'all'

/**
 * Looks, and changes nothing.
 * @throws FatalError when the database was migrated by a newer program; when a move into it is unfinished
 */
export async function readInstalled(sql: Sql, options: MigrateOptions): Promise<Installed> {
  const wanted = await wantedOf(options)
  const { done, isThere, tablesAreUpToDate, isTemplate } = await readState(sql, wanted)
  if (!isThere) return 'nothing'
  if (!tablesAreUpToDate) return 'earlier tables'
  return (done && !done.newer) || isTemplate ? 'all' : 'other views'
}

/** How often it is tried while another session's query is in the way, and the first wait between two tries, ms. */
const TRIES = 4
const FIRST_WAIT_MS = 1000

/**
 * Brings the database to the state that the program expects: new migrations first, then, from the first repeatable file
 * that changed, or of which something is missing, on, all of them (see `runScripts`). Everything happens in
 * one transaction under a lock, so any number of processes may migrate at once, and a failure changes nothing.
 * When there is nothing to do it costs two small queries. While a long query is in the way it is tried again some times;
 * if only views are to be replaced, they wait for the next call. They also wait while a view of the user's own needs what
 * would have to be dropped.
 *
 * @throws LockTimeout when a query that does not end keeps tables from being migrated
 * @throws FatalError naming the file that failed; when the journal's times do not rise (drizzle would skip a migration
 * without a word); when the database was migrated by a newer program; when a move into it is unfinished; when it is read-only and has other tables than
 * the program expects; when the user lacks a right, with what to grant
 */
export async function migrate(db: Database, options: MigrateOptions): Promise<Migrated> {
  const wanted = await wantedOf(options)
  try {
    return await migrateUntilDone(db, wanted)
  } catch (error) {
    throw await withGrants(db, error)
  }
}

async function wantedOf(options: MigrateOptions): Promise<Wanted> {
  const migrations = await readJournal(options.folder)
  const scripts = await Promise.all(options.repeatable.map(readScript))
  return { ...options, migrations, scripts, sqlHash: hashOfAll(scripts) }
}

async function migrateUntilDone(db: Database, wanted: Wanted): Promise<Migrated> {
  for (let tried = 1; ; tried++) {
    const state = await readState(db, wanted)
    if (state.done) return state.done
    if (state.isTemplate) return adoptTemplate(db, wanted)
    const readOnly = await readOnlyReason(db)
    // Views of another version still work; tables of another version may lack columns.
    if (readOnly !== null && state.tablesAreUpToDate)
      return { applied: [], postponed: `the database is read-only (${readOnly})` }
    if (readOnly !== null) throw cannotMigrate(db, readOnly)
    try {
      return await withLockTimeout(db, 'the migration', (sql) => migrateOnce(sql, wanted), lockMigrations)
    } catch (error) {
      if (isSimultaneous(error)) continue
      if (!(error instanceof LockTimeout)) throw error
      if (tried === TRIES && state.tablesAreUpToDate) return { applied: [], postponed: error.message }
      if (tried === TRIES) throw error
    }
    await wanted.clock.sleep(FIRST_WAIT_MS * 2 ** (tried - 1))
  }
}

/** What this program installs. */
interface Wanted extends MigrateOptions {
  readonly migrations: readonly Migration[]
  readonly scripts: readonly Script[]
  readonly sqlHash: string
}

async function migrateOnce(sql: Sql, wanted: Wanted): Promise<Migrated> {
  // Another process may have done it, or more, while this one waited.
  const { done } = await readState(sql, wanted)
  if (done) return done
  // Most processes find nothing to install.
  const { install } = await import('./run-migrations.ts')
  return await install(sql, wanted)
}

/** What may be in the way of another edition of the repeatable SQL: `view mine depends on view analytics.item`. */
export async function objectsOn(sql: Sql, repeatable: readonly RepeatableSql[]): Promise<string[]> {
  const { ownObjects } = await import('./run-migrations.ts')
  return await ownObjects(sql, await Promise.all(repeatable.map(readScript)))
}

/** The time of the last migration in a folder. */
export async function lastMigrationIn(folder: string): Promise<number> {
  return (await readJournal(folder)).at(-1)?.when ?? 0
}

/** What a cluster of `makeTemplate` has, this program installed only now. */
async function adoptTemplate(sql: Sql, { migrations, scripts, clock }: Wanted): Promise<Migrated> {
  await sql.query(
    `with program as (update sync.installed_program set installed_at = $1 where installed_at = '-infinity')
     update sync.installed_sql set installed_at = $1 where installed_at = '-infinity'`,
    [new Date(clock.now())],
  )
  return { applied: [...migrations.map(({ tag }) => `${tag}.sql`), ...scripts.map(({ name }) => name)] }
}

/** Another process made the first table of an empty database at the same moment. */
function isSimultaneous(error: unknown): boolean {
  return (
    ['23505', '42P06', '42P07'].includes(sqlState(error) ?? '') && !(error instanceof FatalError && error.context.file)
  )
}

/** The state of the database; `done` when there is nothing to do for this program. */
interface State {
  readonly done?: Migrated
  readonly tablesAreUpToDate: boolean
  /** Whether any program has installed something. */
  readonly isThere: boolean
  /** Whether nothing is missing but the instant of the installation. */
  readonly isTemplate?: boolean
}

async function readState(
  sql: Sql,
  { migrations, scripts, version = '0.0.0', sqlHash, again, duringMove = false }: Wanted,
): Promise<State> {
  const [tables] = await sql.query<{ exist: boolean; half: boolean; run: boolean }>(
    `select to_regclass('drizzle.__drizzle_migrations') is not null and to_regclass('sync.installed_sql') is not null
        and to_regclass('sync.installed_program') is not null as exist, to_regclass($1) is not null as half,
        to_regclass('sync.run') is not null as run`,
    [MOVE_PROGRESS],
  )
  if (tables?.half && !duringMove)
    throw new FatalError(
      'a move or a restore into this database is unfinished: run the same `wynnsync move` again, or the same `wynnsync restore`',
    )
  const isThere = tables?.run === true
  if (!tables?.exist) return { isThere, tablesAreUpToDate: false }
  const [state] = await sql.query<{
    newest: number | null
    installed: Record<string, string> | null
    programs: InstalledProgram[] | null
    is_template: boolean
    present: string[]
  }>(
    `select (select max(created_at) from drizzle.__drizzle_migrations) as newest,
            (select json_object_agg(name, sha256) from sync.installed_sql) as installed,
            ${INSTALLED_PROGRAMS} as programs,
            exists (select from sync.installed_program where installed_at = '-infinity') as is_template,
            ${PRESENT} as present`,
    [namesOf(scripts)],
  )
  const newest = state?.newest ?? 0
  const last = migrations.at(-1)?.when ?? 0
  if (newest > last)
    throw new FatalError(
      'the database was migrated by a newer version of wynnsync; update this one (going on could damage its tables)',
      { context: { databaseMigration: newest, ownMigration: last } },
    )
  if (newest < last) return { isThere, tablesAreUpToDate: false }
  const isUpToDate = scripts.every(({ name, sha256 }) => state?.installed?.[name] === sha256)
  if (isUpToDate && withMissing(scripts, state?.present ?? []).size === 0) {
    if (state?.is_template) return { isThere, tablesAreUpToDate: true, isTemplate: true }
    return { isThere, tablesAreUpToDate: true, done: { applied: [] } }
  }
  const newer = isUpToDate ? undefined : newerProgram(state?.programs ?? [], { version, sqlHash })
  if (newer && !(again && newer.version === version))
    return { isThere, tablesAreUpToDate: true, done: { applied: [], newer } }
  return { isThere, tablesAreUpToDate: true }
}
