import { access, constants, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Api } from '../../../api/client.ts'
import { Forbidden, Unauthorized } from '../../../api/errors.ts'
import type { RequestEvent } from '../../../api/http/transport.ts'
import type { ApiResponse } from '../../../api/response.ts'
import type { App } from '../../../app/app.ts'
import { chooseCredential } from '../../../app/stored-credential.ts'
import type { Config } from '../../../base/config.ts'
import { codeOf, messageOf, RetryableError } from '../../../base/errors.ts'
import { databaseSize } from '../../../db/catalog.ts'
import type { Database } from '../../../db/database.ts'
import { readReplication, type Slot } from '../../../db/server/replication.ts'
import { loadDuckDb } from '../../../lake/duckdb.ts'
import { lakeState } from '../../../lake/index-file.ts'
import { storeSettings } from '../../../lake/lake-store.ts'
import { readDatingRemarks, readUnsent } from '../../../sync/overview/overview.ts'
import { dateByClocks } from '../../../sync/respond/clocks.ts'
import { periodSeconds } from '../../../sync/schedule/ticker.ts'
import { foundText, lastVerification } from '../../../sync/verify/verification.ts'
import { bytesText, durationText } from '../../output/units.ts'

export interface Finding {
  readonly check: string
  /** `unknown`: it could not be checked. */
  readonly verdict: 'fine' | 'warning' | 'problem' | 'unknown'
  readonly seen: string
  readonly todo?: string
  /** A problem that may end by itself. */
  readonly temporary?: boolean
}

/** More than this and a clock is wrong rather than imprecise, in seconds; a budget window is a minute. */
const CLOCK_SKEW_SECONDS = 10
/** Less free room than this, in bytes, is soon none. */
const LITTLE_ROOM_BYTES = 1e9

/** Which proxy requests to the API take; nothing where there is none. */
export async function checkProxy({ baseUrl, proxy }: Config): Promise<Finding[]> {
  if (!proxy.http && !proxy.https) return []
  const check = 'proxy'
  const { host } = new URL(baseUrl)
  try {
    const { proxyFor } = await import('../../../base/http-proxy.ts')
    const chosen = proxyFor(baseUrl, proxy)
    if (!chosen)
      return [{ check, verdict: 'fine', seen: `HTTP_PROXY is not set: requests to ${host} go there directly` }]
    const { proxy: name, isExcluded } = chosen
    const seen = isExcluded
      ? `NO_PROXY excludes ${host}: requests to it go there directly, not through ${name}`
      : `requests to ${host} go through ${name}`
    return [{ check, verdict: 'fine', seen }]
  } catch (error) {
    const todo = 'correct it, or unset it; until then nothing is requested from the API'
    return [{ check, verdict: 'problem', seen: messageOf(error), todo }]
  }
}

/** Sends the API one cheap request and checks the response: reachable, right clock, all headers. */
export async function checkResponse(
  api: Api,
  { config }: App,
  { signal, requests }: { readonly signal: AbortSignal; readonly requests: readonly RequestEvent[] },
): Promise<Finding[]> {
  try {
    const response = await api.guilds.seasons({ signal })
    const seen = `${config.baseUrl} responded ${timing(requests)}`
    return [{ check: 'api', verdict: 'fine', seen }, checkClock(response, config), checkHeaders(response)]
  } catch (error) {
    return [
      {
        check: 'api',
        verdict: 'problem',
        seen: messageOf(error),
        todo: `is ${config.baseUrl} right, and reachable from here? curl -I ${config.baseUrl}/guild/seasons`,
        temporary: error instanceof RetryableError,
      },
    ]
  }
}

/** How long the last request took, and how long it waited for the budget. */
function timing(requests: readonly RequestEvent[]): string {
  const took = requests.at(-1)?.durationMs ?? 0
  const waited = requests.reduce((sum, { waitMs }) => sum + waitMs, 0)
  const tries = requests.length > 1 ? `, at attempt ${requests.length}` : ''
  const slot =
    waited >= 1000 ? `, after ${Math.round(waited / 1000)} s of waiting for a free request of the budget` : ''
  return `in ${took} ms${tries}${slot}`
}

/** What history takes its times from, as far as the two clocks agree. */
function checkClock({ clockSkew, observedFrom, observedAt }: ApiResponse<unknown>, { trustedClock }: Config): Finding {
  const check = 'clock'
  if (trustedClock !== 'both')
    return { check, verdict: 'fine', seen: `not compared: WYNNSYNC_CLOCK=${trustedClock} decides` }
  if (clockSkew === null) return { check, verdict: 'warning', seen: 'the response has no Date header' }
  const seconds = Math.round(Math.abs(clockSkew) / 1000)
  if (seconds <= CLOCK_SKEW_SECONDS)
    return { check, verdict: 'fine', seen: 'agrees with the API to within some seconds' }
  const seen = `this machine's clock is ${seconds} s ${clockSkew < 0 ? 'ahead of' : 'behind'} the API's`
  const todo = 'synchronize it (timedatectl set-ntp true)'
  const { clockError, dating } = dateByClocks({ observedFrom, observedAt, clockSkew, oddHeaders: [] })
  if (clockError !== undefined) {
    const loaded = `${todo}; until they agree within an hour nothing is loaded. If you know which one is right, WYNNSYNC_CLOCK`
    return { check, verdict: 'problem', seen, todo: `${loaded}=machine or =api says so` }
  }
  const from = dating.length > 0 ? 'this clock' : "the API's"
  return {
    check,
    verdict: 'warning',
    seen,
    todo: `${todo}; history takes its times from ${from}, the schedule from this clock`,
  }
}

/** What the clocks and headers of the last day's responses came to; nothing where all agreed. */
export async function checkDating(db: Database, now: number): Promise<Finding[]> {
  const remarks = await readDatingRemarks(db, now, 24)
  const [first] = remarks
  if (!first) return []
  const more = remarks.length > 1 ? ` (and ${remarks.length - 1} more; see wynnsync status)` : ''
  const todo = 'see docs/explanation/clocks.md'
  return [{ check: 'dating', verdict: 'warning', seen: `${first.resource}: ${first.reason}${more}`, todo }]
}

/** Fields that the API sends no more; nothing where it sends all. */
export async function checkFields(db: Database, now: number): Promise<Finding[]> {
  const fields = (await readUnsent(db, new Date(now))).filter(({ untilAt }) => untilAt === null)
  const [first] = fields
  if (!first) return []
  const more = fields.length > 1 ? ` (and ${fields.length - 1} more; see wynnsync status)` : ''
  const todo = 'what it says is unknown since then; a newer version of this program may know another name of it'
  const seen = `${first.resource}: ${first.field} is not sent since ${first.fromAt.toISOString()}${more}`
  return [{ check: 'fields', verdict: 'warning', seen, todo }]
}

function checkHeaders({ rateLimit, expiresAt }: ApiResponse<unknown>): Finding {
  const check = 'headers'
  const missing = [
    ...(rateLimit?.remaining == null ? ['the rate limit'] : []),
    ...(rateLimit?.bucket == null ? ['its bucket'] : []),
    ...(expiresAt === null ? ['when the copy expires'] : []),
  ]
  if (missing.length === 0)
    return {
      check,
      verdict: 'fine',
      seen: `${rateLimit?.remaining} of ${rateLimit?.limit ?? 'an unknown number'} left in ${rateLimit?.bucket}`,
    }
  return {
    check,
    verdict: 'warning',
    seen: `the response lacks ${missing.join(', ')}`,
    todo: 'a proxy may remove headers; until they come, the budget is a cautious estimate',
  }
}

/** Whether the API accepts the credential. */
export async function checkCredential(api: Api, { config }: App, signal: AbortSignal): Promise<Finding> {
  const check = 'credential'
  try {
    if (chooseCredential(config) === null) {
      const todo = 'an API token from the website (WYNNSYNC_TOKEN), or `wynnsync auth login`, allows 120'
      return { check, verdict: 'fine', seen: 'none: a guest has 50 requests a minute and bucket', todo }
    }
    const { body } = await api.players.whoami({ signal })
    return { check, verdict: 'fine', seen: `accepted, ${Object.keys(body).length} profile` }
  } catch (error) {
    const refused = error instanceof Unauthorized || error instanceof Forbidden
    const todo = refused ? 'take a new one from the website, or `wynnsync auth login`' : 'see above, or try later'
    return { check, verdict: 'problem', seen: messageOf(error), todo, temporary: error instanceof RetryableError }
  }
}

/** The size of the database, and the free room for an embedded one. */
export async function checkDisk({ databaseUrl, dataDir }: Config, db: Database | undefined): Promise<Finding> {
  const check = 'disk'
  const bytes = db && (await databaseSize(db).catch(() => undefined))
  const size = bytes === undefined ? 'the size of the database is not known' : `the database takes ${bytesText(bytes)}`
  if (databaseUrl) return { check, verdict: 'unknown', seen: `${size}; the room left on the server is not known here` }
  const room = await roomAt(dataDir).catch(() => undefined)
  if (!room) return { check, verdict: 'unknown', seen: `${size}; the room left in ${dataDir} cannot be read` }
  const { bavail, bsize } = room
  const seen = `${size}, ${bytesText(bavail * bsize)} are free in ${dataDir}`
  if (bavail * bsize >= LITTLE_ROOM_BYTES) return { check, verdict: 'fine', seen }
  return { check, verdict: 'warning', seen, todo: 'make room, or move the folder and set WYNNSYNC_DATA_DIR' }
}

/** Of the folder, or of the nearest one above it that exists. */
async function roomAt(folder: string): Promise<{ bavail: number; bsize: number }> {
  try {
    return await statfs(folder)
  } catch (error) {
    if (dirname(folder) === folder) throw error
    return await roomAt(dirname(folder))
  }
}

/** What `start` found when it verified the database last; nothing before that. */
export async function checkVerified(db: Database | undefined, { clock }: App): Promise<Finding[]> {
  const last = await (db && lastVerification(db))?.catch(() => undefined)
  if (!last) return []
  const check = 'verify'
  const ago = durationText(Math.max(0, clock.now() - last.at.getTime()) / 1000)
  if (last.wrong === 0)
    return [{ check, verdict: 'fine', seen: `${last.checks} checks found nothing wrong, ${ago} ago` }]
  const todo = '`wynnsync verify` shows the rows; restore a backup, or see docs/explanation/verification.md'
  return [{ check, verdict: 'problem', seen: `${foundText(last)}, ${ago} ago`, todo }]
}

/** Whether the lake that `start` keeps can be written, and is up to date; nothing where none is configured. */
export async function checkLake(app: App): Promise<Finding[]> {
  const { config, clock } = app
  const { lake: place, lakeSchedule } = config
  if (place === undefined) return []
  const check = 'lake'
  try {
    await loadDuckDb()
    if (!place.startsWith('s3://')) await access(await nearestFolder(place), constants.W_OK)
    const state = await lakeState(place, storeSettings(app), AbortSignal.timeout(10_000))
    if (!state) return [{ check, verdict: 'fine', seen: `nothing was exported into ${place} yet` }]
    const age = (clock.now() - Date.parse(state.at)) / 1000
    // One export may take long.
    const isLate = age > 2.5 * periodSeconds(lakeSchedule, clock.now())
    const seen = `${place} was exported ${durationText(age)} ago`
    if (!isLate) return [{ check, verdict: 'fine', seen }]
    const todo = 'is `wynnsync start` running? its log says why an export fails; try one: wynnsync lake export PLACE'
    return [{ check, verdict: 'warning', seen, todo }]
  } catch (error) {
    const todo = 'correct WYNNSYNC_LAKE, or do what is said; syncs go on without a lake'
    return [{ check, verdict: 'problem', seen: `${place}: ${messageOf(error)}`, todo }]
  }
}

/** The folder, or the nearest one above it that exists: the others are created. */
async function nearestFolder(place: string): Promise<string> {
  const isThere = await access(place).then(
    () => true,
    (error: unknown) => codeOf(error) !== 'ENOENT',
  )
  return isThere || dirname(place) === place ? place : nearestFolder(dirname(place))
}

/** More log than this, in bytes, is kept for a reader that does not keep up. */
const MUCH_LOG_BYTES = 1e9

/** Whether changes can be followed, and whether a slot fills the disk. The embedded database has no replication. */
export async function checkReplication(db: Database): Promise<Finding[]> {
  if (db.kind === 'embedded') return []
  const check = 'replication'
  const { walLevel, slots, unnamed } = await readReplication(db)
  const late = slots.filter(({ bytes, state }) => bytes >= MUCH_LOG_BYTES || state === 'lost' || state === 'unreserved')
  const level = `wal_level is ${walLevel}${walLevel === 'logical' ? '' : '; change data capture needs logical'}`
  const seen = `${level}; ${slots.length === 0 ? 'no slots' : slots.map(slotText).join(', ')}`
  if (unnamed.length > 0)
    return [
      {
        check,
        verdict: 'warning',
        seen: `${level}; without primary key or replica identity: ${unnamed.join(', ')}`,
        todo: '`wynnsync migrate`; updates and deletes of these tables fail when a publication has them. For your own tables: alter table ... replica identity full',
      },
    ]
  if (late.length === 0) return [{ check, verdict: 'fine', seen }]
  return [
    {
      check,
      verdict: 'warning',
      seen,
      todo: `the log is kept for ${late.map(({ name }) => name).join(', ')}, until the disk is full: let its reader read, or select pg_drop_replication_slot('name'); max_slot_wal_keep_size limits it`,
    },
  ]
}

function slotText({ name, active, bytes, state }: Slot): string {
  if (state === 'lost') return `slot ${name} has lost what it needs`
  return `slot ${name} ${active ? 'keeps' : 'is inactive and keeps'} ${bytesText(Math.max(0, bytes))}`
}
