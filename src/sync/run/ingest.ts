import { datesOf } from '../../api/http/response-headers.ts'
import { messageOf, RetryableError } from '../../base/errors.ts'
import type { Sql } from '../../db/database.ts'
import { sqlState } from '../../db/sql-errors.ts'
import { type RecordingClient, recordResponses } from '../archive/archive.ts'
import { watchBodies } from '../archive/seen-bodies.ts'
import type { ExtractOptions } from '../declare/resource.ts'
import { isAccepted } from '../ledger/ledger.ts'
import { dateByClocks } from '../respond/clocks.ts'
import { type Opened, openResponse, readLast } from '../respond/known-before.ts'
import { loadWithoutRefused } from '../respond/load-without-refused.ts'
import { recordOutcome } from '../respond/record-outcome.ts'
import { endsWork } from './admission.ts'
import { type Extracted, extract } from './extract.ts'
import {
  failureOutcome,
  type IngestContext,
  type IngestResult,
  MustParse,
  refusalOutcome,
  responseOutcome,
} from './outcomes.ts'
import { faultOf, logFailure, logOfRun, logOutcome, logQuarantined } from './run-log.ts'

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
    const { clockError, observedAt } = dateByClocks(dates, engine.guards.clock)
    if (clockError !== undefined) return await recordFailure(context, client, new RetryableError(clockError))
    // By the clock of the service, however far it is off: by that of this machine an old copy would be another response each time.
    const at = engine.guards.clock === 'machine' ? observedAt : dates.observedAt
    const isUndated = dates.isUndated || dates.clockSkew === null
    const refused = { ...extracted, at, isUndated, receivedAt }
    return await commit(context, client, (sql) => refusalOutcome(sql, context, client, refused))
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
