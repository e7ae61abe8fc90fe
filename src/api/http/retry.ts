import type { Random } from '../../app/clock.ts'
import { LONGEST_WAIT, readRateLimit } from '../rate-limit/rate-limit.ts'
import { readHttpDate } from './http-date.ts'
import type { Headers } from './response-headers.ts'

/** What was wrong with an exchange that brought no usable answer, status aside. */
export type FailureKind =
  | 'refused'
  | 'no such host'
  | 'unreachable'
  | 'reset'
  | 'timeout'
  | 'ended early'
  | 'html'
  | 'not json'
  | 'empty'
  | 'error body'
  | 'gateway'
  | 'encoding'
  | 'not utf-8'
  | 'too large'

/** One exchange that brought nothing usable. */
export interface Attempt {
  /** Null when no headers came. */
  readonly status: number | null
  /** Null when the status alone says it. */
  readonly failure: FailureKind | null
  /** How many exchanges of this call have ended this way (429, or any other way), this one included. */
  readonly count: number
  readonly headers: Headers
}

/** Wait so many ms and ask again, or give up. */
export type Verdict = { readonly wait: number } | 'give up'

/** How often a 429 is waited out. */
export const MAX_WINDOWS = 10
/** How often anything else is repeated. */
export const MAX_REPEATS = 4

const FIRST_BACKOFF = 500
const LONGEST_BACKOFF = 15_000
const MINUTE = 60_000
// A Retry-After of 0 would burn all attempts within one window.
const SHORTEST_WAIT = 1000

/**
 * Decides about an exchange that brought no usable answer.
 * - 429: waits what `Retry-After` says, else until the window's reset, else until the next minute; at most 10 times.
 * - 408, 5xx, HTML, broken bodies, lost connections: `Retry-After`, else exponential backoff with full jitter; at most 4 times.
 * - everything else would bring the same answer again.
 * @param now when the headers arrived, or the exchange failed; ms since the epoch
 */
export function decideRetry(attempt: Attempt, now: number, random: Random): Verdict {
  const { status, failure, count, headers } = attempt
  if (status === 429) return count > MAX_WINDOWS ? 'give up' : { wait: tooManyWait(headers, now) }
  if (!isRetryable(status, failure) || count > MAX_REPEATS) return 'give up'
  return { wait: readRetryAfter(headers, now) ?? backoff(count, random) }
}

/** True when the request certainly did not reach the server: there was nobody to send it to. */
export function isConnectFailure(failure: FailureKind | null): boolean {
  return failure === 'refused' || failure === 'no such host'
}

/** True when the same request may well succeed in a moment. */
export function isRetryable(status: number | null, failure: FailureKind | null): boolean {
  if (failure === 'too large') return false
  // The matches are in the body; without them a 300 is useless.
  if (status === 300) return failure !== null
  if (status !== null && status > 300) return status === 408 || status === 429 || status >= 500
  return failure !== null
}

/** `Retry-After` as ms, from seconds or an HTTP date, between 1 s and 120 s; null when absent or malformed. */
export function readRetryAfter(headers: Headers, now: number): number | null {
  const value = headers.get('retry-after')?.trim()
  if (value === undefined) return null
  if (/^\d{1,9}(\.\d+)?$/.test(value)) return clampWait(Number(value) * 1000)
  const date = readHttpDate(value)
  return date === null ? null : clampWait(date - (readHttpDate(headers.get('date')) ?? now))
}

function tooManyWait(headers: Headers, now: number): number {
  const told = readRetryAfter(headers, now)
  if (told !== null) return told
  const reading = readRateLimit(headers, now)
  if (reading !== null && reading.resetAt !== null) return clampWait(reading.resetAt + reading.resetSlack - now)
  return clampWait(MINUTE - (now % MINUTE))
}

function clampWait(wait: number): number {
  return Math.min(Math.max(wait, SHORTEST_WAIT), LONGEST_WAIT)
}

function backoff(count: number, random: Random): number {
  return Math.round(random() * Math.min(LONGEST_BACKOFF, FIRST_BACKOFF * 2 ** (count - 1)))
}
