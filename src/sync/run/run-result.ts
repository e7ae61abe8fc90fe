import { messageOf, RetryableError } from '../../base/errors.ts'
import { type Counts, noCounts, type RunRow, type RunStatus, statusOfError } from '../ledger/ledger.ts'
import type { GuardAction } from '../respond/guard-actions.ts'

/** What one run came to; the fields of `sync --json`. */
export interface RunResult extends Counts {
  readonly resource: string
  readonly status: RunStatus
  /** ISO 8601, UTC: the instant the response speaks for. Null without a response. */
  readonly observedAt: string | null
  readonly requests: number
  readonly pages: number
  readonly durationMs: number
  /** What went wrong, or why the response was not simply loaded. */
  readonly error?: string
  /** A failure that may pass: trying later is worth it. Not part of the JSON. */
  readonly temporary?: boolean
  /** Its id in the ledger; absent when it did not begin. Not part of the JSON. */
  readonly runId?: string
  /** What guards did. Not part of the JSON. */
  readonly guarded?: readonly GuardAction[]
  /** When another request may bring something new, ms since the epoch; absent when unknown. Not part of the JSON. */
  readonly renewAt?: number
}

function emptyResult(resource: string, status: RunStatus): RunResult {
  // In the order in which the JSON has them.
  return { resource, status, observedAt: null, requests: 0, pages: 0, ...noCounts, durationMs: 0 }
}

/** The result of a run that another process makes needless. @param reason which process that is */
export function skippedResult(resource: string, reason?: string): RunResult {
  return { ...emptyResult(resource, 'skipped'), ...(reason ? { error: reason } : {}) }
}

/** The result of a run that could not even start, such as without a database. */
export function failedResult(resource: string, error: unknown): RunResult {
  const message = messageOf(error)
  return { ...emptyResult(resource, statusOfError(error)), error: message, temporary: error instanceof RetryableError }
}

/** The result of a run from its ledger row. @param failure what ended it */
export function resultOf(row: RunRow, guarded: readonly GuardAction[], failure?: unknown): RunResult {
  const { observedAt, startedAt, finishedAt, runId } = row
  const result = emptyResult(row.resource, row.status as RunStatus)
  const counts = Object.keys(noCounts).map((count) => [count, row[count as keyof Counts] ?? 0])
  const reason = row.error ?? row.reason
  return {
    ...result,
    ...Object.fromEntries(counts),
    observedAt: observedAt?.toISOString() ?? null,
    requests: row.requests ?? 0,
    pages: row.pages ?? 0,
    durationMs: finishedAt.getTime() - startedAt.getTime(),
    runId,
    ...(reason ? { error: reason } : {}),
    guarded,
    temporary: failure instanceof RetryableError,
  }
}
