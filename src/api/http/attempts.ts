import type { Random } from '../../base/clock.ts'
import { reach } from '../../base/errors.ts'
import type { Ending } from '../rate-limit/rate-limiter.ts'
import { classifyResponse, faultError, isConnectFailure, isRetryable, type ResponseFault } from './classify-response.ts'
import type { FailureKind, Outcome } from './outcome.ts'
import type { ApiRequest } from './request.ts'
import { type Headers, readRateLimit, readRefusal429, readRetryAfter } from './response-headers.ts'

/** One call on its way to a response: which request is next, and how those before it ended. */
export interface Attempts {
  /** 1 for the first request. */
  readonly number: number
  readonly tooMany: number
  readonly failures: number
  /** The fault that blamed the credential; the request goes without it then. */
  readonly blamed: ResponseFault | null
}

export const firstAttempt: Attempts = { number: 1, tooMany: 0, failures: 0, blamed: null }

type NextStep =
  | { readonly kind: 'accept' }
  /** Send the request again after `waitMs`. */
  | { readonly kind: 'repeat'; readonly attempts: Attempts; readonly waitMs: number }
  | { readonly kind: 'fail'; readonly error: Error }

interface AttemptResult {
  readonly request: ApiRequest
  readonly outcome: Outcome
  readonly fault: ResponseFault | null
  /** True when the fault blames the credential, and the same request may be sent without it. */
  readonly blamesCredential: boolean
}

/** Decides what follows from an outcome: accept it, repeat the request, or fail. */
export function nextStep(attempts: Attempts, result: AttemptResult, random: Random): NextStep {
  const { request, outcome, fault, blamesCredential } = result
  if (fault === null) return { kind: 'accept' }
  const next = { ...attempts, number: attempts.number + 1 }
  if (blamesCredential) reach('request: again without the credential')
  if (blamesCredential) return { kind: 'repeat', attempts: { ...next, blamed: fault }, waitMs: 0 }
  const isTooMany = fault.status === 429
  const tooMany = attempts.tooMany + (isTooMany ? 1 : 0)
  const failures = attempts.failures + (isTooMany ? 0 : 1)
  const attempt = { ...fault, count: isTooMany ? tooMany : failures, headers: outcome.headers }
  const isOnce = request.repeatable === false && !isConnectFailure(fault.failure)
  const verdict = isOnce ? 'give up' : decideRetry(attempt, outcome.receivedAt, random)
  reach(`request ${fault.failure ?? fault.status}: ${verdict === 'give up' ? 'given up' : 'repeated'}`)
  if (verdict === 'give up') {
    return { kind: 'fail', error: faultError(fault, outcome, request.path, attempts.number) }
  }
  return { kind: 'repeat', attempts: { ...next, tooMany, failures }, waitMs: verdict.wait }
}

/** What the budget learns from a request. @param outcome null when the caller gave up on it */
export function endingOf(outcome: Outcome | null, now: number): Ending {
  if (outcome === null) return { reading: null, answered: false, receivedAt: now, refusal: null }
  const { headers, receivedAt } = outcome
  const status = classifyResponse(outcome)?.status ?? outcome.status
  return {
    reading: readRateLimit(headers, receivedAt),
    answered: status !== null && status < 500,
    receivedAt,
    refusal: status === 429 ? readRefusal429(headers, receivedAt) : null,
  }
}

/** One exchange that brought nothing usable. */
export interface Attempt {
  /** Null when no headers came. */
  readonly status: number | null
  /** Null when the status alone is the fault. */
  readonly failure: FailureKind | null
  /** How many exchanges of this call have ended this way (429, or any other way), this one included. */
  readonly count: number
  readonly headers: Headers
}

/** Wait so many ms and repeat the request, or give up. */
type Verdict = { readonly wait: number } | 'give up'

/** How often a 429 is waited out. */
const MAX_WINDOWS = 10
/** How often anything else is repeated. */
const MAX_REPEATS = 4

const FIRST_BACKOFF_MS = 500
const LONGEST_BACKOFF_MS = 15_000

/**
 * Decides about an exchange that brought no usable response.
 * - 429: at most 10 times, without a wait of its own: the whole bucket is closed until then, and waiting in its queue is the wait.
 * - 304, 408, 421, 425, 5xx, HTML, broken bodies, lost connections: `Retry-After`, else exponential backoff with full jitter; at most 4 times.
 * - everything else would bring the same response again.
 * @param now when the headers arrived, or the exchange failed; ms since the epoch
 */
export function decideRetry(attempt: Attempt, now: number, random: Random): Verdict {
  const { status, failure, count, headers } = attempt
  if (status === 429) return count > MAX_WINDOWS ? 'give up' : { wait: 0 }
  if (!isRetryable(status, failure) || count > MAX_REPEATS) return 'give up'
  return { wait: readRetryAfter(headers, now) ?? backoff(count, random) }
}

function backoff(count: number, random: Random): number {
  return Math.round(random() * Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (count - 1)))
}
