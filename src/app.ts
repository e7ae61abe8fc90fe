import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Api, type ClientOptions, createClient } from './api/client.ts'
import type { RequestEvent } from './api/request-event.ts'
import { type Clock, type Random, systemClock } from './clock.ts'
import { type Config, secretsIn } from './config.ts'
import { type Credential, chooseCredential, NOTE_EVERY_MS, noteUse, readCredential } from './credential.ts'
import { connect } from './db/connect.ts'
import type { Database } from './db/database.ts'
import type { EmbeddedDatabase } from './db/embedded.ts'
import { type Migrated, migrate } from './db/migrate.ts'
import { admitReader, hasReader, NO_READER } from './db/reader.ts'
import { createLog, type Log } from './log.ts'
import { accountOf, databaseBudget } from './sync/budget-store.ts'
import type { Engine } from './sync/engine.ts'

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
  const secrets = [...secretsIn(config), ...storedSecrets(config)]
  return { config, clock, random, log: createLog(logLevel, clock, { format: config.logFormat, secrets }) }
}

/** Why a credential cannot be read is told where it is wanted. */
function storedSecrets({ credentialsFile }: Config): string[] {
  try {
    return [readCredential(credentialsFile)?.token() ?? []].flat()
  } catch {
    return []
  }
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

/** Opens the embedded database as `openDatabase` does, with the protocol that others can ask it in. */
export async function openEmbeddedDatabase(
  { config, clock }: App,
  holds: readonly string[],
  waitMs = 30_000,
): Promise<EmbeddedDatabase> {
  const { openEmbedded } = await import('./db/embedded.ts')
  return openEmbedded(config.dataDir, { clock, holds, waitMs })
}

/**
 * A client of the configured API that tells the log about every request. It writes down that a stored credential is
 * used.
 * @param credential sent with every request; by default the configured or stored one, null for none
 */
export function openApi(app: App, credential: Credential | null = credentialOf(app)): Api {
  return createClient(clientOptions(app, credential))
}

/**
 * The same client, with budgets that it shares with every process that has the same database and credential.
 * @param onRequest told about every request, besides the log
 */
export function openSharedApi(app: App, db: Database, onRequest: (event: RequestEvent) => void = () => {}): Api {
  const { clock } = app
  const { baseUrl } = app.config
  const credential = credentialOf(app)
  const budget = databaseBudget(db, { account: accountOf(baseUrl, credential?.token()), clock })
  const guestBudget = databaseBudget(db, { account: accountOf(baseUrl, null), clock })
  const options = clientOptions(app, credential)
  const told = (event: RequestEvent) => {
    options.onRequest?.(event)
    onRequest(event)
  }
  return createClient({ ...options, onRequest: told, budget, guestBudget })
}

function clientOptions(app: App, credential: Credential | null): ClientOptions {
  const { config, clock, random, log } = app
  const usage = watchUse(app, credential)
  return {
    baseUrl: config.baseUrl,
    token: credential?.token(),
    userAgent: config.userAgent,
    concurrency: config.concurrency,
    clock,
    random,
    onRequest: (event) => {
      log.debug(event, 'request')
      usage.answered(event.status)
    },
    onCredentialRefused: (refusal) => {
      usage.refused()
      log.warn({ status: refusal.status, kind: refusal.kind }, refusal.message)
    },
  }
}

/** A sync goes on as a guest when the stored credential is no use: what nobody recorded meanwhile would be gone. */
function credentialOf({ config, log }: App): Credential | null {
  try {
    return chooseCredential(config)
  } catch (error) {
    log.warn(`going on as a guest: ${messageOf(error)}`)
    return null
  }
}

/** A success is a use, and one an hour is written down. Nothing fails because it cannot be. */
function watchUse({ config, clock, log }: App, credential: Credential | null) {
  let stored = credential?.stored ?? null
  let notedAt = Number.NEGATIVE_INFINITY
  return {
    answered(status: number | null): void {
      const now = clock.now()
      if (stored === null || status === null || status >= 300 || now < notedAt + NOTE_EVERY_MS) return
      notedAt = now
      try {
        noteUse(config.credentialsFile, stored, now)
      } catch (error) {
        log.warn(`the last use of the credential was not written down: ${messageOf(error)}`)
      }
    },
    /** What succeeds from now on succeeds without it. */
    refused(): void {
      stored = null
    },
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/**
 * Brings the database up to date: tables by migration, then comments, views and functions where their SQL changed, and
 * the role that may ask them.
 * @param app its log is told, once, when there is no such role
 */
export async function migrateDatabase(db: Database, app: Pick<App, 'clock'> & Partial<App>): Promise<Migrated> {
  const folder = fileURLToPath(new URL('migrations', packageRoot))
  const migrated = await migrate(db, { folder, repeatable: repeatableSql(), clock: app.clock })
  if (app.log && migrated.applied.length > 0 && !(await hasReader(db))) app.log.info(NO_READER)
  return migrated
}

/** Gives the role that may ask its rights again: somebody may have made it since they were given. */
export function admitReaders(db: Database): Promise<void> {
  return admitReader(db, fileURLToPath(new URL('src/analytics/99-reader.sql', packageRoot)))
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
  const { plausibleShare, plausibleShares, absences, zeroShare } = app.config
  const guards = { plausibleShare, plausibleShares, absences, zeroShare, accept }
  return {
    db,
    api,
    clock: app.clock,
    program: version,
    log: app.log,
    guards,
    raw: app.config.raw,
    announces: true,
    privacy: app.config.privacy,
  }
}
