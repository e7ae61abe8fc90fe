import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Api, createClient } from './api/client.ts'
import { type Clock, type Random, systemClock } from './clock.ts'
import type { Config } from './config.ts'
import { connect } from './db/connect.ts'
import type { Database } from './db/database.ts'
import { type Migrated, migrate } from './db/migrate.ts'
import { createLog, type Log } from './log.ts'
import type { Engine } from './sync/run.ts'

/** The folder that holds package.json, migrations and the SQL of the views, in a checkout and in an installed package. */
const packageRoot = new URL('../', import.meta.url)

/** Version of this program. */
export const version = (JSON.parse(readFileSync(new URL('package.json', packageRoot), 'utf8')) as { version: string })
  .version

/** What every command is built from. */
export interface App {
  readonly config: Config
  readonly log: Log
  readonly clock: Clock
  readonly random: Random
}

/** Time and chance enter the program here and nowhere else. */
export function createApp(
  config: Config,
  { clock = systemClock, random = Math.random, logLevel = config.logLevel } = {},
): App {
  return { config, clock, random, log: createLog(logLevel, clock) }
}

/**
 * Opens the configured database.
 * @param holds what this process is about to do, told to others who find the embedded database in use
 * @param options.frugal let the embedded database rather be small than fast
 * @throws RetryableError when it cannot be reached or another process has it, FatalError when it never will be
 */
export function openDatabase(
  { config, clock }: App,
  holds: readonly string[],
  { frugal = false, waitMs = 30_000 } = {},
): Promise<Database> {
  return connect({ databaseUrl: config.databaseUrl, dataDir: config.dataDir, clock, holds, waitMs, frugal })
}

/** A client of the configured API that tells the log about every request. */
export function openApi({ config, clock, random, log }: App): Api {
  return createClient({
    baseUrl: config.baseUrl,
    token: config.token,
    userAgent: config.userAgent,
    concurrency: config.concurrency,
    clock,
    random,
    onRequest: (event) => log.debug(event, 'request'),
  })
}

/** Brings the database up to date: tables by migration, then comments, views and functions where their SQL changed. */
export function migrateDatabase(db: Database, { clock }: Pick<App, 'clock'>): Promise<Migrated> {
  return migrate(db, { folder: fileURLToPath(new URL('migrations', packageRoot)), repeatable: repeatableSql(), clock })
}

/** SQL that may run again at any time: the comments on the tables, then the public views in the order of their names. */
function repeatableSql() {
  return ['migrations/comments', 'src/analytics'].flatMap((folder) => {
    const path = fileURLToPath(new URL(`${folder}/`, packageRoot))
    const names = readdirSync(path).flatMap((file) => (file.endsWith('.sql') ? file.slice(0, -'.sql'.length) : []))
    return names.sort().map((name) => ({ name: `${folder}/${name}`, path: `${path}${name}.sql` }))
  })
}

/** What the engine needs, from an opened app. */
export function engineOf(app: App, db: Database, api: Api, { accept = false } = {}): Engine {
  const { plausibleShare, absences } = app.config
  return { db, api, clock: app.clock, program: version, log: app.log, guards: { plausibleShare, absences, accept } }
}
