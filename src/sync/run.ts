import { randomUUID } from 'node:crypto'
import type { Api } from '../api/client.ts'
import type { Clock } from '../clock.ts'
import type { Database } from '../db/database.ts'
import { RetryableError } from '../errors.ts'
import { type Absorbed, absorb } from './absorb.ts'
import { uncountFrom } from './coverage/count.ts'
import { noteGap } from './coverage/coverage.ts'
import { reshaped } from './drift/changes.ts'
import { appendGuardActions, type GuardAction, movedActions } from './guard/actions.ts'
import type { Guards } from './guard/guard.ts'
import { appendDrift, appendRun, lastAccepted, type RunRow, type RunStatus } from './ledger.ts'
import { announce } from './notices.ts'
import { prepare } from './prepare.ts'
import type { PrivacyPolicy } from './privacy/privacy.ts'
import { announceRaw, answersIn, keepRaw, listen } from './raw/raw.ts'
import type { Extraction, ExtractOptions, Resource } from './resource.ts'
import { logOfRun, type RunLog } from './run-log.ts'

export type { RunLog } from './run-log.ts'

/** What a run needs from outside: everything that can be slow, fail, or differ from day to day. */
export interface Engine {
  readonly db: Database
  readonly api: Api
  readonly clock: Clock
  /** Version of this program, for the ledger. */
  readonly program: string
  readonly guards: Guards
  /** What is removed when a player restricts something; default: what is restricted. */
  readonly privacy?: PrivacyPolicy | undefined
  readonly log: RunLog
  /** Whether what the API sends is kept as it came, for `replay`. Default: no. */
  readonly raw?: boolean
  /** Whether whoever listens on the channel `wynnsync` of the database is told what happens. Default: no. */
  readonly announces?: boolean
  /** The id of a run that is repeated; default: each run has a new one. */
  readonly runId?: string
}

/** What one run came to; the fields of `sync --json`. */
export interface RunResult {
  readonly resource: string
  readonly status: RunStatus
  /** ISO 8601, UTC: the instant the answer speaks for. Null when there was no answer. */
  readonly observedAt: string | null
  readonly requests: number
  readonly pages: number
  readonly records: number
  readonly inserted: number
  readonly changed: number
  readonly closed: number
  readonly unchanged: number
  readonly events: number
  readonly rejected: number
  readonly quarantined: number
  readonly durationMs: number
  /** What went wrong, or why the answer was not simply loaded. */
  readonly error?: string
  /** A failure that may pass: trying later is worth it. Not part of the JSON. */
  readonly temporary?: boolean
  /** Its id in the ledger; absent when it did not begin. Not part of the JSON. */
  readonly runId?: string
  /** What guards did. Not part of the JSON. */
  readonly guarded?: readonly GuardAction[]
  /** When asking again may bring something new, ms since the epoch; absent when not told. Not part of the JSON. */
  readonly renewAt?: number
}

/**
 * Runs one resource once: lock, extract, prepare, absorb. Never throws for what the API or a record does wrong: that is
 * in the result and in the ledger.
 * @throws whatever the database throws before anything was asked of the API
 */
export async function runResource(
  resource: Resource,
  engine: Engine,
  options: ExtractOptions = {},
): Promise<RunResult> {
  const { db, clock } = engine
  const runId = engine.runId ?? randomUUID()
  const log = logOfRun(engine.log, { resource: resource.name, runId })
  const started = clock.now()
  const lock = await db.tryLock(`wynnsync ${resource.name}`)
  if (!lock) {
    log.info({}, 'skipped: another process is syncing it')
    return skippedResult(resource.name)
  }
  const ear = listen(engine)
  const heading = () => ({
    runId,
    resource: resource.name,
    startedAt: new Date(started),
    requests: ear.api.requestsSent(),
    program: engine.program,
  })
  try {
    const extraction = await resource.extract(ear.api, options)
    const preparation = prepare(resource, extraction.records)
    for (const bad of preparation.quarantined.slice(0, 5)) {
      log.warn({ key: bad.key, path: bad.path }, `record set aside: ${bad.reason}`)
    }
    const { guards, privacy } = engine
    const answer = { extraction, preparation, guards, privacy, runId, receivedAt: clock.now() }
    const { row, drift, guarded } = await db.transaction(async (sql) => {
      await announceRaw(sql, ear.heard)
      const last = await lastAccepted(sql, resource.name)
      const { drift: novel, guarded: acted, ...absorbed } = await absorb(sql, resource, { ...answer, last })
      const written = {
        ...heading(),
        ...absorbed,
        ...instantsOf(extraction),
        finishedAt: new Date(clock.now()),
      }
      const { observedAt, startedAt, finishedAt } = written
      const { cacheSeconds } = resource
      await uncountFrom(sql, resource.name, written.living === null ? startedAt : observedAt)
      // Before the row itself: the gap reaches back to the one before.
      if (written.living !== null)
        await noteGap(sql, { resource: resource.name, cacheSeconds, observedAt, receivedAt: finishedAt })
      await appendRun(sql, written)
      await appendGuardActions(sql, { ...written, at: written.finishedAt }, acted)
      await keepRaw(sql, ear.heard, { ...written, takenAt: finishedAt, accepted: engine.guards.accept })
      if (engine.announces)
        await announce(sql, { ...written, at: finishedAt, counts: written, guarded: acted, drift: novel })
      return { row: written, drift: novel, guarded: acted }
    })
    reportDrift(log, drift)
    reportRun(log, row)
    reportGuards(log, row, guarded)
    const { renewAt } = extraction
    return { ...resultOf(row, row.status, row.reason), guarded, ...(renewAt ? { renewAt } : {}) }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    log.error({ err: error }, `failed: ${message}`)
    const row: RunRow = {
      ...heading(),
      status: 'failed',
      error: message,
      finishedAt: new Date(clock.now()),
    }
    const guarded = movedActions(error)
    const written = db.transaction(async (sql) => {
      await announceRaw(sql, ear.heard)
      await appendRun(sql, row)
      const novel = await appendDrift(sql, { ...row, at: row.finishedAt }, reshaped(error))
      await appendGuardActions(sql, { ...row, at: row.finishedAt }, guarded)
      await keepRaw(sql, answersIn(ear), { ...row, takenAt: row.finishedAt, observedAt: null })
      if (engine.announces) await announce(sql, { ...row, at: row.finishedAt, guarded, drift: novel })
      reportDrift(log, novel)
    })
    // The database may be what failed; then the gap itself is all the ledger can show.
    await written.catch((cause: unknown) => log.warn({ err: cause }, 'the failure could not be written down'))
    return { ...resultOf(row, 'failed', message), guarded, temporary: error instanceof RetryableError }
  } finally {
    // When the database is gone the lock is gone with it, and the result is told above already.
    await lock.release().catch((cause: unknown) => log.warn({ err: cause }, 'the lock could not be given back'))
  }
}

/** Tells the log what guards did, except what it knows as the reason of the run. */
export function reportGuards(log: RunLog, run: RunRow, guarded: readonly GuardAction[]): void {
  for (const { guard, key, reason } of guarded) {
    if (reason !== run.reason) log.info({ guard, key }, `${guard}: ${reason}`)
  }
}

/** What the ledger says about an answer's time and extent. */
export function instantsOf({ observedFrom, observedAt, complete, pages }: Extraction) {
  return { observedFrom: new Date(observedFrom), observedAt: new Date(observedAt), complete, pages }
}

const driftWords: Readonly<Record<string, string>> = {
  missing_field: 'the API does not send any more what it used to',
  retyped_field: 'the API sent another type than this program knows; the record is set aside or kept raw',
  returned_field: 'the API sends again what was missing or of another type',
}

/** Tells a run's log what the program did not know; once. */
export function reportDrift(log: RunLog, drift: Absorbed['drift']): void {
  for (const { kind, path, member } of drift) {
    log.warn(
      { kind, path, member },
      driftWords[kind] ?? 'the API sent something this program does not know yet; it is kept',
    )
  }
}

function reportRun(log: RunLog, { status, reason, inserted, changed, closed, unchanged, events }: RunRow) {
  const message = reason ? `${status}: ${reason}` : status
  const level = status === 'rejected' || status === 'partial' ? 'warn' : status === 'unchanged' ? 'debug' : 'info'
  log[level]({ inserted, changed, closed, unchanged, events }, message)
}

function nothing(resource: string): RunResult {
  const none = { requests: 0, pages: 0, records: 0, inserted: 0, changed: 0, closed: 0, unchanged: 0 }
  return {
    resource,
    status: 'failed',
    observedAt: null,
    ...none,
    events: 0,
    rejected: 0,
    quarantined: 0,
    durationMs: 0,
  }
}

/** The result of a run that another process makes needless. */
export function skippedResult(resource: string): RunResult {
  return { ...nothing(resource), status: 'skipped' }
}

/** The result of a run that could not even start, such as when the database does not answer. */
export function failedResult(resource: string, error: unknown): RunResult {
  const message = error instanceof Error ? error.message : String(error)
  return { ...nothing(resource), error: message, temporary: error instanceof RetryableError }
}

/** The result of a run from its ledger row. */
export function resultOf(row: RunRow, status: RunStatus, reason: string | null): RunResult {
  const empty = nothing(row.resource)
  return {
    resource: row.resource,
    status,
    observedAt: row.observedAt?.toISOString() ?? null,
    requests: row.requests ?? 0,
    pages: row.pages ?? empty.pages,
    records: row.records ?? empty.records,
    inserted: row.inserted ?? 0,
    changed: row.changed ?? 0,
    closed: row.closed ?? 0,
    unchanged: row.unchanged ?? 0,
    events: row.events ?? 0,
    rejected: row.rejected ?? 0,
    quarantined: row.quarantined ?? 0,
    durationMs: row.finishedAt.getTime() - row.startedAt.getTime(),
    runId: row.runId,
    ...(reason ? { error: reason } : {}),
  }
}
