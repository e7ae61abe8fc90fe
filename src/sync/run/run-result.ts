import { RetryableError } from '../../app/errors.ts'
import { type Counts, noCounts } from '../load/load-counts.ts'
import type { RunRow, RunStatus } from '../record/ledger.ts'
import type { GuardAction } from '../validate/guard-actions.ts'

/** What one run came to; the fields of `sync --json`. */
export interface RunResult extends Counts {
  readonly resource: string
  readonly status: RunStatus
  /** ISO 8601, UTC: the instant the answer speaks for. Null when there was no answer. */
  readonly observedAt: string | null
  readonly requests: number
  readonly pages: number
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

function nothing(resource: string): RunResult {
  // In the order in which the JSON has them.
  return { resource, status: 'failed', observedAt: null, requests: 0, pages: 0, ...noCounts, durationMs: 0 }
}

/** Whether a run took in what the API sent. */
export function isAccepted(status: RunStatus): boolean {
  return status === 'ok' || status === 'unchanged' || status === 'partial'
}

/** The result of a run that another process makes needless. @param reason who that is */
export function skippedResult(resource: string, reason?: string): RunResult {
  return { ...nothing(resource), status: 'skipped', ...(reason ? { error: reason } : {}) }
}

/** The result of a run that could not even start, such as when the database does not answer. */
export function failedResult(resource: string, error: unknown): RunResult {
  const message = error instanceof Error ? error.message : String(error)
  return { ...nothing(resource), error: message, temporary: error instanceof RetryableError }
}

/** The result of a run from its ledger row. */
export function resultOf(row: RunRow, status: RunStatus, reason: string | null): RunResult {
  return {
    resource: row.resource,
    status,
    observedAt: row.observedAt?.toISOString() ?? null,
    requests: row.requests ?? 0,
    pages: row.pages ?? 0,
    records: row.records ?? 0,
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
