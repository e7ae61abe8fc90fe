import { type Api, type ClientOptions, createClient } from '../api/client.ts'
import type { RequestEvent } from '../api/http/transport.ts'
import { messageOf } from '../base/errors.ts'
import type { Database } from '../db/database.ts'
import { type Admission, type AdmissionOptions, openAdmission } from '../sync/run/admission.ts'
import { accountOf, databaseBudget } from '../sync/run/database-budget-store.ts'
import type { Engine } from '../sync/run/engine.ts'
import { type App, lastMigration, version } from './app.ts'
import { type Credential, chooseCredential, NOTE_EVERY_MS, normalBaseUrl, noteUse } from './stored-credential.ts'

type OnRequest = (event: RequestEvent) => void

/**
 * A client of the configured API. It logs every request, and stores when a stored credential was last used.
 * @param credential sent with every request; by default the configured or stored one, null for none
 * @param onRequest called for every request, besides the log
 */
export function openApi(app: App, credential: Credential | null = credentialOf(app), onRequest?: OnRequest): Api {
  return createClient(clientOptions(app, credential, onRequest))
}

/**
 * The same client, with a budget that all processes with the same database and credential share.
 * @param onRequest called for every request, besides the log
 */
export function openSharedApi(app: App, db: Database, onRequest?: OnRequest): Api {
  const { clock } = app
  const { baseUrl } = app.config
  const credential = credentialOf(app)
  const budget = databaseBudget(db, { account: accountOf(baseUrl, credential?.token()), clock })
  const guestBudget = databaseBudget(db, { account: accountOf(baseUrl, null), clock })
  return createClient({ ...clientOptions(app, credential, onRequest), budget, guestBudget })
}

function clientOptions(app: App, credential: Credential | null, onRequest?: OnRequest): ClientOptions {
  const { config, clock, random, log } = app
  const usage = trackUse(app, credential)
  return {
    baseUrl: config.baseUrl,
    token: credential?.token(),
    userAgent: config.userAgent,
    proxy: config.proxy,
    concurrency: config.concurrency,
    clock,
    random,
    onRequest: (event) => {
      log.debug(event, 'request')
      usage.ended(event.status)
      onRequest?.(event)
    },
    onCredentialRefused: (refusal) => {
      usage.refused()
      log.warn({ status: refusal.status, kind: refusal.kind }, refusal.message)
    },
  }
}

/** An unusable stored credential does not stop a sync, which goes on as a guest: what is not observed is lost. */
function credentialOf({ config, log }: App): Credential | null {
  try {
    return chooseCredential(config)
  } catch (error) {
    log.warn(`continuing as a guest: ${messageOf(error)}`)
    return null
  }
}

/** Stores once an hour when the credential last succeeded. A file that cannot be written is only a warning. */
function trackUse({ config, clock, log }: App, credential: Credential | null) {
  let stored = credential?.stored ?? null
  let notedAt = Number.NEGATIVE_INFINITY
  return {
    ended(status: number | null): void {
      const now = clock.now()
      if (stored === null || status === null || status >= 300) return
      // Either way: a clock that was set back must not silence it.
      if (Math.abs(now - notedAt) < NOTE_EVERY_MS) return
      notedAt = now
      try {
        noteUse(config.credentialsFile, stored, now)
      } catch (error) {
        log.warn(`the last use of the credential was not stored: ${messageOf(error)}`)
      }
    },
    /** Later requests go without the credential. */
    refused(): void {
      stored = null
    },
  }
}

/**
 * What keeps responses of another API, and of a sandbox, out of a history.
 * @param from the configured API, or responses that were recorded elsewhere
 * @throws WrongOrigin when the history is of another base URL
 */
export async function admissionOf(
  { config, clock }: Pick<App, 'config' | 'clock'>,
  db: Database,
  { from = 'api', ...options }: { readonly from?: 'api' | 'recordings' } & Pick<AdmissionOptions, 'acceptBaseUrl'> = {},
): Promise<Admission> {
  const baseUrl = from === 'api' ? normalBaseUrl(config.baseUrl) : undefined
  return await openAdmission(db, { ...options, clock, baseUrl, schema: await lastMigration() })
}

/** What the engine needs, from an opened app. */
export function engineOf(
  app: App,
  db: Database,
  api: Api,
  { accept = false, admission }: { readonly accept?: boolean; readonly admission?: Admission } = {},
): Engine {
  const { plausibleShare, plausibleShares, absences, shrunkenHours, zeroShare } = app.config
  const guards = {
    plausibleShare,
    plausibleShares,
    absences,
    shrunkenHours,
    zeroShare,
    clock: app.config.trustedClock,
    accept,
  }
  return {
    db,
    // Lists of keys, too, come from responses.
    api: admission ? api.withRecorder(admission.check) : api,
    admission,
    clock: app.clock,
    program: version,
    log: app.log,
    guards,
    levels: app.config.levels,
    raw: app.config.raw,
    notifies: true,
    privacy: app.config.privacy,
  }
}
