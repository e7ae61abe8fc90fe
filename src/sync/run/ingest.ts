import { randomUUID } from 'node:crypto'
import { datesOf } from '../../api/http/response-headers.ts'
import { messageOf, RetryableError } from '../../base/errors.ts'
import type { Sql } from '../../db/database.ts'
import { sqlState } from '../../db/sql-errors.ts'
import { type RecordingClient, recordResponses, successfulExchanges, watchBodies } from '../archive/archive.ts'
import type { Extraction, ExtractOptions, ResourceBase } from '../declare/resource.ts'
import { isAccepted, type LastRun, noCounts, statusOfError } from '../ledger/ledger.ts'
import { namesInResponses } from '../outbox/outbox.ts'
import { dateAfter, dateByClocks } from '../respond/clocks.ts'
import { type GuardAction, type LastReasons, missingAction, newActions } from '../respond/guard-actions.ts'
import { type Opened, openResponse, readLast } from '../respond/known-before.ts'
import { type LoadResult, loadResponse } from '../respond/load-response.ts'
import { loadWithoutRefused } from '../respond/load-without-refused.ts'
import { type Outcome, recordOutcome } from '../respond/record-outcome.ts'
import { reshaped } from '../respond/shape-changes.ts'
import { type IncomingResponse, type ReceivedResponse, staleness } from '../respond/validate-response.ts'
import { noteRefusal, type Refusal, type RefusalState } from '../worklist/refusals.ts'
import { endsWork } from './admission.ts'
import type { Engine } from './engine.ts'
import { type Extracted, extract, type RefusedTarget, type Target } from './extract.ts'
import { faultOf, logFailure, logOfRun, logOutcome, logQuarantined } from './run-log.ts'

export type IngestContext = Target & {
  readonly engine: Engine
  readonly runId: string
  readonly startedAt: Date
  /** What guards reported in this run, where it may request a key more than once. */
  readonly lastReasons?: LastReasons
}

/** The context of a run that begins now. */
export function startRun<T extends { readonly resource: ResourceBase }>(target: T, engine: Engine) {
  return { ...target, engine, runId: engine.runId ?? randomUUID(), startedAt: new Date(engine.clock.now()) }
}

export interface IngestResult extends Outcome {
  /** Of a refused key: how far its refusals have come. What follows from them, the run decides. */
  readonly refusal?: Refusal & RefusalState
  /** Fields that the record of a key had before and has not any more. */
  readonly lost?: readonly string[]
  /** It hides for the first time something that is kept. */
  readonly hidesKept?: boolean
  readonly error?: unknown
  /** When another request may bring something new, ms since the epoch. */
  readonly renewAt?: number
}

/** A response; without its records where its body is that of the last accepted one. */
type Received = Pick<IncomingResponse, 'extraction' | 'receivedAt'> & Partial<Pick<IncomingResponse, 'preparation'>>

/**
 * Validates and loads a response; describes what became of it.
 * @throws MustParse when it comes without records and needs them
 */
async function responseOutcome(
  sql: Sql,
  context: IngestContext,
  client: RecordingClient,
  response: Received,
  opened: Opened,
): Promise<IngestResult> {
  const { resource, key, lastReasons, engine } = context
  const { clock, guards } = engine
  const { received, loaded } = await load(sql, context, client, response, opened)
  const { status, hidden, observedAt, contentHash, reload, records, lost, hidesKept, ...rest } = loaded
  const guarded = await withoutRepeated(sql, resource.name, loaded.guarded, clock.now())
  const archive = { exchanges: client.exchanges, status, hidden, accepted: guards.accept, personal: resource.personal }
  const outcome = { ...headingOf(context), ...rest, guarded, status, observedAt, records, archive }
  if (key === undefined) {
    const at = new Date(clock.now())
    const { observedFrom, complete, pages, renewAt } = received.extraction
    const extent = { observedFrom: observedAt && new Date(observedFrom), complete, pages }
    const bodyHash = isReusable(received, loaded) ? client.bodies?.hashWith(contentHash) : undefined
    const run = { ...runRow(context, client, at), ...loaded, living: loaded.currentKeys, ...extent, bodyHash }
    return { ...outcome, at, run, cacheSeconds: resource.cacheSeconds, ...(renewAt ? { renewAt } : {}) }
  }
  const now = received.receivedAt
  return {
    ...outcome,
    at: new Date(now),
    guarded: newActions(lastReasons, key, guarded),
    isObservation: true,
    workItem: {
      now,
      isShown: status !== 'stale' && response.preparation?.seen.has(key) === true,
      ...(isAccepted(status) && observedAt
        ? { accepted: { observedAt, contentHash, reload, records, credential: client.credential() } }
        : {}),
    },
    ...(lost ? { lost } : {}),
    ...(hidesKept ? { hidesKept } : {}),
  }
}

/** The same remark about clocks and headers is made once in so long, ms: the next poll would repeat it. */
const REMARK_REPEATED_AFTER_MS = 3_600_000

/** What guards did, without remarks about clocks and headers that were made of the same resource a moment ago. */
async function withoutRepeated(
  sql: Sql,
  resource: string,
  guarded: readonly GuardAction[],
  now: number,
): Promise<readonly GuardAction[]> {
  const isRemark = ({ guard, action }: GuardAction) =>
    guard === 'header' || (guard === 'clock' && action === 'accepted')
  const remarks = guarded.filter(isRemark).map(({ reason }) => reason)
  if (remarks.length === 0) return guarded
  const made = await sql.query<{ reason: string }>(
    `select reason from sync.guard_action where resource = $1 and at > $2 and at <= $3 and reason = any($4::text[])`,
    [resource, new Date(now - REMARK_REPEATED_AFTER_MS), new Date(now), remarks],
  )
  const known = new Set(made.map(({ reason }) => reason))
  return guarded.filter((action) => !isRemark(action) || !known.has(action.reason))
}

async function load(
  sql: Sql,
  { resource, key, runId, engine }: IngestContext,
  client: RecordingClient,
  response: Received,
  { lastRun, observed: _, migration: __, ...known }: Opened,
): Promise<{ readonly received: Received; readonly loaded: LoadResult }> {
  const { guards, privacy, isLate = false } = engine
  const isReplay = engine.runId !== undefined
  // What was recorded brings its instant: where that is older than what is known, it is old.
  const { extraction, receivedAt } = response
  const dated = isLate || isReplay ? extraction : dateAfter(extraction, known.last?.observedAt, receivedAt)
  const received = { ...response, extraction: dated }
  const { preparation, ...rest } = received
  const credential = client.credential()
  const incoming = {
    ...rest,
    credential,
    isReplay,
    ...known,
    guards,
    privacy,
    runId,
    ...(key === undefined ? {} : { scope: key }),
  }
  const loaded = preparation
    ? await loadResponse(sql, resource, { ...incoming, preparation })
    : loadKnown(incoming, client.bodies?.isBodyOf(lastRun) ? lastRun : undefined)
  return { received, loaded }
}

/** What becomes of a response depends on its records. */
class MustParse extends Error {}

/**
 * What became of a response whose body is that of the last accepted one, byte for byte: the same that parsing it would come to.
 * @param last undefined when the last accepted response has another body by now
 * @throws MustParse when it is not simply unchanged
 */
function loadKnown(received: ReceivedResponse, last: LastRun | undefined): LoadResult {
  const { observedAt, clockError, dating = [] } = received.extraction
  if (!last || observedAt < last.observedAt || clockError !== undefined) throw new MustParse()
  if (received.claims.size > 0) throw new MustParse()
  const { came: records, normalized, currentKeys } = last
  return {
    ...noCounts,
    status: 'unchanged',
    reason: null,
    observedAt: new Date(observedAt),
    records,
    normalized,
    unchanged: normalized,
    currentKeys,
    contentHash: Buffer.from(last.contentHash),
    reload: false,
    drift: [],
    hidden: [],
    guarded: [...dating],
  }
}

/** Whether the same body, at a later instant, gives the same: nothing of it was doubtful, or depended on when it came. */
function isReusable({ extraction, preparation }: Received, { status, reason }: LoadResult): boolean {
  const { clockError, validationError } = extraction
  const isWhole = isAccepted(status) && status !== 'partial' && reason === null
  return isWhole && !clockError && !validationError && !preparation?.ignored.length
}

type Refused = RefusedTarget &
  Pick<Refusal, 'at' | 'receivedAt' | 'isUndated'> & {
    /** Its instants, as those of any response. */
    readonly dated: Pick<Extraction, 'observedFrom' | 'observedAt'>
  }

/** Notes a refusal. A single one changes no history: hidden is not gone, and either may be wrong. */
async function refusalOutcome(
  sql: Sql,
  context: IngestContext,
  client: RecordingClient,
  { kind, reason, at, dated, receivedAt, isUndated = false }: Refused,
  { last }: Pick<Opened, 'last'>,
): Promise<IngestResult> {
  const { resource, key, engine, lastReasons } = context
  if (key === undefined) throw new Error(`${resource.name} has no keys`)
  const { absences, accept } = engine.guards
  const credential = client.credential()
  const refusal = { key, kind, at, receivedAt, isUndated, credential }
  const isRecorded = engine.isLate || engine.runId !== undefined
  const { observedAt } = isRecorded ? dated : dateAfter(dated, last?.observedAt, receivedAt)
  const result = {
    ...headingOf(context),
    at: new Date(receivedAt),
    observedAt: null,
    isObservation: true,
    workItem: { now: receivedAt },
  }
  const archive = { exchanges: client.exchanges, accepted: accept, personal: resource.personal }
  // The key was there since, or is known to be gone.
  if (last && observedAt < last.observedAt) {
    const stale = staleness(observedAt, last.observedAt)
    const guarded = newActions(lastReasons, key, stale.guarded)
    const old = { status: stale.status, reason: stale.reason, observedAt: new Date(observedAt), guarded }
    const nothing = { state: 'concluded', wasShown: true } as const
    return { ...result, ...old, archive: { ...archive, status: stale.status }, refusal: { ...refusal, ...nothing } }
  }
  const noted = await noteRefusal(sql, resource, refusal, { runId: context.runId, guards: engine.guards })
  const isMissing = kind === 'gone' && noted.state === 'pending'
  return {
    ...result,
    status: kind,
    reason,
    guarded: newActions(lastReasons, key, isMissing ? [missingAction(absences)] : []),
    archive: { ...archive, status: noted.state === 'concluded' ? kind : 'unconfirmed' },
    refusal: { ...refusal, ...noted },
  }
}

/** Describes a request, or a load, that failed. */
function failureOutcome(context: IngestContext, client: RecordingClient, error: unknown): IngestResult {
  const at = new Date(context.engine.clock.now())
  const message = messageOf(error)
  const status = statusOfError(error)
  return {
    ...headingOf(context),
    status,
    reason: message,
    at,
    observedAt: null,
    guarded: [],
    novelties: reshaped(error, context.key),
    archive: { exchanges: successfulExchanges(client), status: 'failed', personal: context.resource.personal },
    ...(context.key === undefined ? { run: { ...runRow(context, client, at), status, error: message } } : {}),
    error,
  }
}

function headingOf({ resource, key, runId, engine }: IngestContext) {
  const { name } = resource
  const news = { people: namesInResponses(resource), isLate: engine.isLate }
  return { ...noCounts, ...news, resource: name, ...(key === undefined ? {} : { key }), runId, drift: [] }
}

function runRow({ resource, runId, startedAt, engine }: IngestContext, { api }: RecordingClient, finishedAt: Date) {
  const { program, sourceId = null } = engine
  return { runId, resource: resource.name, startedAt, finishedAt, requests: api.requestsSent(), program, sourceId }
}

/**
 * Takes a whole resource, or one key of a worklist, through the pipeline: extract and normalize without a database, then
 * validate, load and record in one transaction. A request that failed is an outcome, too.
 * @throws what the database throws about a key; about a whole resource that is a failed outcome; what ends all work
 */
export async function ingest(context: IngestContext, options: ExtractOptions = {}): Promise<IngestResult> {
  const { engine, key, resource, startedAt } = context
  const levels = resource.byLevel ? (options.levels ?? engine.levels ?? []) : []
  // The rules about people are judged by every response; several levels are several bodies.
  const mayBeKnown = key === undefined && !resource.personal && levels.length === 0
  // What was recorded is parsed whatever was before it.
  const before = key === undefined && !engine.isLate ? await readLast(engine.db, resource.name) : undefined
  if (before) await engine.admission?.checkSchema(engine.db, before.migration)
  const bodies = mayBeKnown ? watchBodies(engine.program, startedAt, before?.lastRun) : undefined
  const client = recordResponses(engine, bodies)
  const extracted = await extract(context, client.api, { ...options, levels })
  if (extracted.kind === 'failed') return await recordFailure(context, client, extracted.error)
  try {
    if (extracted.kind !== 'known') return await loadAndRecord(context, client, extracted)
    return await loadKnownOrParse(context, client, extracted, options)
  } catch (error) {
    if (key !== undefined || endsWork(error)) throw error
    return await recordFailure(context, client, error)
  }
}

/** Loads a response whose body is that of the last accepted one; parses it where something depends on its records. */
async function loadKnownOrParse(
  context: IngestContext,
  client: RecordingClient,
  { extraction, parsed }: Extract<Extracted, { readonly kind: 'known' }>,
  options: ExtractOptions,
): Promise<IngestResult> {
  const receivedAt = context.engine.clock.now()
  try {
    return await commit(context, client, (sql, opened) =>
      responseOutcome(sql, context, client, { extraction, receivedAt }, opened),
    )
  } catch (error) {
    if (!(error instanceof MustParse)) throw error
    const extracted = await extract(context, parsed, options)
    if (extracted.kind === 'failed' || extracted.kind === 'known') throw error
    return await loadAndRecord(context, client, extracted)
  }
}

async function loadAndRecord(
  context: IngestContext,
  client: RecordingClient,
  extracted: Exclude<Extracted, { readonly kind: 'failed' | 'known' }>,
): Promise<IngestResult> {
  const { engine, resource } = context
  const receivedAt = engine.clock.now()
  if (extracted.kind !== 'response') {
    const dates = extracted.dates ?? datesOf(new Map(), receivedAt)
    const dated = { ...dates, ...dateByClocks(dates, engine.guards.clock) }
    const { clockError, observedAt } = dated
    if (clockError !== undefined) return await recordFailure(context, client, new RetryableError(clockError))
    // By the clock of the service, however far it is off: by that of this machine an old copy would be another response each time.
    const at = engine.guards.clock === 'machine' ? observedAt : dates.observedAt
    const isUndated = dates.isUndated || dates.clockSkew === null
    const refused = { ...extracted, at, dated, isUndated, receivedAt }
    return await commit(context, client, (sql, opened) => refusalOutcome(sql, context, client, refused, opened))
  }
  const { extraction, preparation } = extracted
  if (context.key === undefined) logQuarantined(logOfRun(context), preparation)
  const loading = { resource, preparation, at: new Date(extraction.observedAt) }
  return await loadWithoutRefused(engine.db, loading, (storable) =>
    commit(context, client, (sql, opened) =>
      responseOutcome(sql, context, client, { extraction, preparation: storable, receivedAt }, opened),
    ),
  )
}

/** Loads and records in one transaction. */
async function commit(
  context: IngestContext,
  client: RecordingClient,
  load: (sql: Sql, opened: Opened) => Promise<IngestResult>,
): Promise<IngestResult> {
  const { resource, key, engine } = context
  const { db, notifies, admission, clock } = engine
  const work = async (sql: Sql) => {
    const archives = client.exchanges.length > 0
    const opened = await openResponse(sql, resource, { key, now: clock.now(), archives })
    await admission?.checkSchema(sql, opened.migration)
    const outcome = await load(sql, opened)
    if (isAccepted(outcome.status)) await admission?.keep(sql)
    return { ...outcome, ...(await recordOutcome(sql, outcome, notifies, opened.observed)) }
  }
  const result = await db.transaction(work).catch(async (error: unknown) => {
    // Of tables that are others now, it may have read a column that is there no longer.
    if (sqlState(error)?.startsWith('42')) await admission?.checkSchema(db)
    throw error
  })
  logOutcome(logOfRun(context), result)
  return result
}

/** What cannot be understood today may be tomorrow, by a replay of the archive. */
async function recordFailure(context: IngestContext, client: RecordingClient, error: unknown): Promise<IngestResult> {
  if (endsWork(error)) throw error
  const { engine, resource, startedAt } = context
  const log = logOfRun(context)
  const outcome = failureOutcome(context, client, error)
  const { run, novelties = [], archive } = outcome
  if (run) logFailure(log, error)
  else if (novelties.length === 0 && archive?.exchanges.length === 0) return outcome
  try {
    await commit(context, client, async () => outcome)
  } catch (cause) {
    if (endsWork(cause)) throw cause
    // The database may be what failed; then the gap itself is all the ledger can show.
    if (run) engine.outages?.note(resource.name, startedAt.getTime(), messageOf(cause))
    // The same fault keeps it out of the ledger: one line says it.
    if (!run || faultOf(cause) !== faultOf(error)) log.warn({ err: cause }, 'the failure could not be recorded')
  }
  return outcome
}
