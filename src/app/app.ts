import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Clock, type Random, systemClock } from '../base/clock.ts'
import { type Config, secretsIn } from '../base/config.ts'
import { UsageError } from '../base/errors.ts'
import { NO_HOME } from '../base/home-folder.ts'
import { createLog, type Log } from '../base/log.ts'
import { cannotMigrate, readOnlyReason, withGrants } from '../db/access.ts'
import { type ConnectOptions, connect, NothingThere } from '../db/connect.ts'
import type { Database } from '../db/database.ts'
import type { EmbeddedDatabase } from '../db/embedded/embedded.ts'
import {
  type Installed,
  lastMigrationIn,
  type Migrated,
  type MigrateOptions,
  migrate,
  objectsOn,
  readInstalled,
} from '../db/migrations/migrate.ts'
import { admitReader, hasReader, NO_READER } from '../db/reader.ts'
import { readCredential } from './stored-credential.ts'

/** The folder that holds package.json, migrations and the SQL of the views, in a checkout and in an installed package. */
const packageRoot = new URL('../../', import.meta.url)

const manifest = JSON.parse(readFileSync(new URL('package.json', packageRoot), 'utf8')) as {
  readonly version: string
  /** The commit that a published package was made from, which the release writes. */
  readonly gitHead?: string
}

export const { version } = manifest

/** Version and commit, such as `1.0.0 (1a2b3c4d)`; without the commit where neither a release nor a checkout says it. */
export function versionWithCommit(): string {
  const commit = manifest.gitHead ?? checkedOut(new URL('.git/', packageRoot))
  return commit === undefined ? version : `${version} (${commit.slice(0, 8)})`
}

/** The commit of a checkout, read as git keeps it: HEAD is a commit or names a branch, whose commit is in a file or in the packed ones. */
function checkedOut(git: URL): string | undefined {
  const read = (name: string) => {
    try {
      return readFileSync(new URL(name, git), 'utf8').trim()
    } catch {
      return ''
    }
  }
  const head = read('HEAD')
  const branch = /^ref: (refs\/[\w./-]+)$/.exec(head)?.[1]
  const packed = (name: string) =>
    read('packed-refs')
      .split('\n')
      .find((line) => line.endsWith(` ${name}`))
  const commit = branch === undefined ? head : read(branch) || packed(branch)
  return /^[0-9a-f]{40}/.exec(commit ?? '')?.[0]
}

/** The program of the thread that the embedded database runs in: a bundle of its own. */
const engineThread = new URL('dist/program/engine-worker.mjs', packageRoot)

/** What every command is built from. */
export interface App {
  readonly config: Config
  readonly log: Log
  readonly clock: Clock
  readonly random: Random
}

/** The only place where the system's clock and randomness enter the program. */
export function createApp(
  config: Config,
  { clock = systemClock, random = Math.random, logLevel = config.logLevel } = {},
): App {
  const secrets = [...secretsIn(config), ...storedSecrets(config)]
  return { config, clock, random, log: createLog(logLevel, clock, { format: config.logFormat, secrets }) }
}

/** None when the file cannot be read; that is reported where the credential is needed. */
function storedSecrets({ credentialsFile }: Config): string[] {
  try {
    return [readCredential(credentialsFile)?.token() ?? []].flat()
  } catch {
    return []
  }
}

/**
 * Opens the configured database.
 * @param holds what this process does, shown to a process that finds the embedded database in use
 * @param options.thread whether the embedded database runs in a thread of its own: this one goes on during a statement, and shows that
 * @throws RetryableError when it cannot be reached or another process has it, FatalError when it never will be, UsageError when it
 * is not there and `options.creates` is false
 */
export function openDatabase(
  { config, clock, random, log }: App,
  holds: readonly string[],
  {
    thread = false,
    ...options
  }: Pick<
    ConnectOptions,
    | 'lowMemory'
    | 'isBrief'
    | 'waitMs'
    | 'durable'
    | 'shares'
    | 'mayCopy'
    | 'signal'
    | 'connectMs'
    | 'creates'
    | 'stopWaiting'
    | 'ending'
  > & {
    readonly thread?: boolean
  } = {},
): Promise<Database> {
  const { databaseUrl, dataDir, libpq } = config
  if (databaseUrl === undefined) refuseHomeless(config)
  const report = (message: string) => log.error(message)
  const onWait = (message: string) => log.warn({}, message)
  const given = { databaseUrl, libpq, dataDir, clock, random, holds, report, template, onWait }
  return connect({ waitMs: 30_000, ...options, ...given, thread: thread ? engineThread : undefined })
}

/** @throws UsageError when the embedded database would lie in the home folder of a user who has none */
function refuseHomeless({ dataDir }: Config): void {
  if (dataDir.startsWith(`${NO_HOME}/`))
    throw new UsageError(
      'this user has no home folder: say where the data lives with WYNNSYNC_DATA_DIR or DATABASE_URL',
    )
}

/** Opens the embedded database read-only, as a session of the Postgres protocol. @throws as `openDatabase` and `checkReadable` */
export async function openForReaders(app: App, holds: readonly string[]): Promise<EmbeddedDatabase> {
  const owned = await openDatabase(app, holds, { creates: false, isBrief: true })
  await checkReadable(owned, app).finally(() => owned.close())
  const { openEmbedded } = await import('../db/embedded/embedded.ts')
  const report = (message: string) => app.log.error(message)
  return openEmbedded(app.config.dataDir, {
    clock: app.clock,
    holds,
    waitMs: 30_000,
    report,
    readOnly: true,
    thread: engineThread,
  })
}

/**
 * Whether this program can read what is there, which a reader leaves as it is: another program may be writing it. Views of another
 * version are asked as they are, and the log says so.
 * @throws UsageError where there is nothing, or are tables of an earlier version; FatalError where they are of a later one
 */
export async function checkReadable(db: Database, app: Pick<App, 'clock'> & Partial<App>): Promise<Installed> {
  const installed = await readInstalled(db, { ...installedSql(), clock: app.clock }).catch(async (error: unknown) => {
    throw await withGrants(db, error)
  })
  if (installed === 'nothing' || installed === 'earlier tables') {
    const readOnly = await readOnlyReason(db)
    if (readOnly !== null) throw cannotMigrate(db, readOnly)
    if (installed === 'nothing') throw new NothingThere(db.place)
    throw new UsageError(
      `the tables in ${db.place} are those of an earlier version of wynnsync, which may be writing into them: stop its \`wynnsync start\`, then run \`wynnsync migrate\` of this version`,
      { context: { place: db.place } },
    )
  }
  if (installed === 'other views')
    app.log?.warn({}, `the views in ${db.place} are not those of this version: \`wynnsync migrate\` installs them`)
  return installed
}

/**
 * Brings the database up to date: tables by migration, then comments, views and functions where their SQL changed, and
 * the rights of the reader role. Logs when there is no such role, and when the views of another version stay.
 * @param again replace views of the same version that were installed later
 * @param duringMove accept a database into which a move is unfinished
 * @param onProgress called with how many files of SQL are installed, of how many
 */
export async function migrateDatabase(
  db: Database,
  app: Pick<App, 'clock'> & Partial<App>,
  { again = false, duringMove = false, onProgress }: Pick<MigrateOptions, 'again' | 'duringMove' | 'onProgress'> = {},
): Promise<Migrated> {
  const migrated = await migrate(db, { ...installedSql(), clock: app.clock, again, duringMove, onProgress })
  const { applied, newer, postponed } = migrated
  if (newer) app.log?.warn({}, `${olderText(newer.version)}; this one works with them`)
  if (postponed) app.log?.warn({}, `the views could not be replaced for now: ${postponed}`)
  if (app.log && applied.length > 0 && !(await hasReader(db))) app.log.info(NO_READER)
  return migrated
}

/** @param newer version of the program whose views are installed */
export function olderText(newer: string): string {
  return newer === version
    ? `the views of another wynnsync ${version} were installed after those of this one, and stay`
    : `the views of wynnsync ${newer} are installed, which is newer than this one (${version}), and stay`
}

/** What may be in the way of the views of this version: `view mine depends on view analytics.item`. */
export function objectsOfUsers(db: Database): Promise<string[]> {
  return objectsOn(db, repeatableSql())
}

/** Grants the reader role its rights again: it may have been created since. */
export function admitReaders(db: Database): Promise<void> {
  return admitReader(db, fileURLToPath(new URL('src/questions/sql/99-reader.sql', packageRoot)))
}

/** All that a database is migrated with. */
function installedSql() {
  return { folder: fileURLToPath(new URL('migrations', packageRoot)), repeatable: repeatableSql(), version }
}

/** The last migration of this program, as the time of its journal. */
export function lastMigration(): Promise<number> {
  return lastMigrationIn(installedSql().folder)
}

/** What a new embedded database is made from; undefined when the build of this program did not make it. */
export async function template(
  folder = fileURLToPath(new URL('dist/cluster', packageRoot)),
): Promise<Uint8Array | undefined> {
  const { readTemplate } = await import('../db/migrations/cluster-template.ts')
  return readTemplate(folder, installedSql())
}

/** Makes it in `folder`, unless it is there. The last step of the build. */
export async function makeTemplate(folder: string): Promise<void> {
  const templates = await import('../db/migrations/cluster-template.ts')
  await templates.makeTemplate(folder, installedSql(), systemClock)
}

/** SQL that may run again at any time: the comments on the tables, then the public views in the order of their names. */
function repeatableSql() {
  return ['migrations/comments', 'src/questions/sql'].flatMap((folder) => {
    const path = fileURLToPath(new URL(`${folder}/`, packageRoot))
    const names = readdirSync(path).flatMap((file) => (file.endsWith('.sql') ? file.slice(0, -'.sql'.length) : []))
    return names.sort().map((name) => ({ name: `${folder}/${name}`, path: `${path}${name}.sql` }))
  })
}
