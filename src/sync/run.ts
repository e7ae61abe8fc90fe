import { randomUUID } from 'node:crypto'
import type { Api } from '../api/client.ts'
import type { Clock } from '../clock.ts'
import type { Database } from '../db/database.ts'
import { RetryableError } from '../errors.ts'
import { type Absorbed, absorb, type Guards } from './absorb.ts'
import { appendRun, lastAccepted, type RunRow, type RunStatus } from './ledger.ts'
import { prepare } from './prepare.ts'
import type { Extraction, ExtractOptions, Resource } from './resource.ts'

/** What a run needs from outside: everything that can be slow, fail, or differ from day to day. */
export interface Engine {
  readonly db: Database
  readonly api: Api
  readonly clock: Clock
  /** Version of this program, for the ledger. */
  readonly program: string
  readonly guards: Guards
  readonly log: RunLog
}

/** The part of a logger that the engine uses (pino has it). */
export interface RunLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
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
  const { db, api, clock, log } = engine
  const started = clock.now()
  const lock = await db.tryLock(`wynnsync ${resource.name}`)
  if (!lock) {
    log.info({ resource: resource.name }, 'skipped: another process is syncing it')
    return skippedResult(resource.name)
  }
  const sentBefore = api.requestsSent()
  const heading = () => ({
    runId: randomUUID(),
    resource: resource.name,
    startedAt: new Date(started),
    requests: api.requestsSent() - sentBefore,
    program: engine.program,
  })
  try {
    const extraction = await resource.extract(api, options)
    const preparation = prepare(resource, extraction.records)
    for (const bad of preparation.quarantined.slice(0, 5)) {
      log.warn({ resource: resource.name, key: bad.key, path: bad.path }, `record set aside: ${bad.reason}`)
    }
    const answer = { extraction, preparation, guards: engine.guards, runId: randomUUID() }
    const { row, drift } = await db.transaction(async (sql) => {
      const last = await lastAccepted(sql, resource.name)
      const { drift: novel, ...absorbed } = await absorb(sql, resource, { ...answer, last })
      const written = {
        ...heading(),
        ...absorbed,
        ...instantsOf(extraction),
        runId: answer.runId,
        finishedAt: new Date(clock.now()),
      }
      await appendRun(sql, written)
      return { row: written, drift: novel }
    })
    reportDrift(log, resource.name, drift)
    reportRun(log, row)
    return resultOf(row, row.status, row.reason)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    log.error({ resource: resource.name, err: error }, `failed: ${message}`)
    const row: RunRow = {
      ...heading(),
      status: 'failed',
      error: message,
      finishedAt: new Date(clock.now()),
    }
    // The database may be what failed; then the gap itself is all the ledger can show.
    await appendRun(db, row).catch((cause: unknown) =>
      log.warn({ err: cause }, 'the failure could not be written down'),
    )
    return { ...resultOf(row, 'failed', message), temporary: error instanceof RetryableError }
  } finally {
    // When the database is gone the lock is gone with it, and the result is told above already.
    await lock.release().catch((cause: unknown) => log.warn({ err: cause }, 'the lock could not be given back'))
  }
}

/** What the ledger says about an answer's time and extent. */
export function instantsOf({ observedFrom, observedAt, complete, pages }: Extraction) {
  return { observedFrom: new Date(observedFrom), observedAt: new Date(observedAt), complete, pages }
}

export function reportDrift(log: RunLog, resource: string, drift: Absorbed['drift']): void {
  for (const { kind, path, member } of drift) {
    log.warn({ resource, kind, path, member }, 'the API sent something this program does not know yet; it is kept')
  }
}

function reportRun(
  log: RunLog,
  { resource, status, reason, inserted, changed, closed, unchanged, events, runId }: RunRow,
) {
  const message = reason ? `${status}: ${reason}` : status
  const level = status === 'rejected' || status === 'partial' ? 'warn' : 'info'
  log[level]({ resource, run: runId, inserted, changed, closed, unchanged, events }, message)
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
    ...(reason ? { error: reason } : {}),
  }
}
