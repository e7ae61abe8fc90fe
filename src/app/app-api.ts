import { type Api, type ClientOptions, createClient } from '../api/client.ts'
import type { RequestEvent } from '../api/http/request-event.ts'
import type { Database } from '../db/database.ts'
import { accountOf, databaseBudget } from '../sync/budget/database-budget-store.ts'
import type { Engine } from '../sync/engine.ts'
import { type App, version } from './app.ts'
import { type Credential, chooseCredential, NOTE_EVERY_MS, noteUse } from './stored-credential.ts'

/**
 * A client of the configured API that tells the log about every request. It writes down that a stored credential is
 * used.
 * @param credential sent with every request; by default the configured or stored one, null for none
 * @param onRequest called for every request, besides the log
 */
export function openApi(
  app: App,
  credential: Credential | null = credentialOf(app),
  onRequest: (event: RequestEvent) => void = () => {},
): Api {
  const options = clientOptions(app, credential)
  return createClient({ ...options, onRequest: both(options.onRequest, onRequest) })
}

/**
 * The same client, with budgets that it shares with every process that has the same database and credential.
 * @param onRequest called for every request, besides the log
 */
export function openSharedApi(app: App, db: Database, onRequest: (event: RequestEvent) => void = () => {}): Api {
  const { clock } = app
  const { baseUrl } = app.config
  const credential = credentialOf(app)
  const budget = databaseBudget(db, { account: accountOf(baseUrl, credential?.token()), clock })
  const guestBudget = databaseBudget(db, { account: accountOf(baseUrl, null), clock })
  const options = clientOptions(app, credential)
  return createClient({ ...options, onRequest: both(options.onRequest, onRequest), budget, guestBudget })
}

function both<T>(first: ((event: T) => void) | undefined, second: (event: T) => void): (event: T) => void {
  return (event) => {
    first?.(event)
    second(event)
  }
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

/** A sync goes on as a guest when the stored credential is no use: what is not recorded meanwhile is lost. */
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
    notifies: true,
    privacy: app.config.privacy,
  }
}
