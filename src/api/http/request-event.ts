import { classifyResponse } from './classify-response.ts'
import type { Outcome } from './outcome.ts'
import type { ApiRequest } from './request.ts'
import { readRateLimit } from './response-headers.ts'

/** One request that was sent, for logs and metrics. */
export interface RequestEvent {
  readonly method: 'GET' | 'POST'
  readonly route: string
  /** Null when no headers came. */
  readonly status: number | null
  /** 1 for the first try. */
  readonly attempt: number
  readonly durationMs: number
  readonly bytes: number
  /** The bucket that the response names; null when it names none. */
  readonly bucket: string | null
  /** Time spent in the queue before this try. */
  readonly waitMs: number
  /** What was wrong, in a few words. */
  readonly error?: string
}

/** The event of a request that ended. */
export function requestEvent(
  { method, route }: ApiRequest,
  outcome: Outcome,
  attempt: number,
  waitMs: number,
  durationMs: number,
): RequestEvent {
  const { status, bytes, headers, receivedAt } = outcome
  const bucket = readRateLimit(headers, receivedAt)?.bucket ?? null
  const fault = classifyResponse(outcome)
  const event = { method, route, status, attempt, durationMs, bytes, bucket, waitMs }
  return fault === null ? event : { ...event, error: fault.reason }
}
