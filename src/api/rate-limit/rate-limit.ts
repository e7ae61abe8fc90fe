import { readHttpDate } from '../http/http-date.ts'
import type { Headers } from '../http/response-headers.ts'

/** No wait is longer than this, whatever a header says; ms. */
export const LONGEST_WAIT = 120_000

/** Requests per minute and bucket when no header says so (API reference 2.2). */
export const ASSUMED_LIMIT = { guest: 50, token: 120 } as const

/** What the rate-limit headers of one answer say; a part that is absent or malformed is null. */
export interface RateLimitReading {
  readonly bucket: string | null
  readonly limit: number | null
  readonly remaining: number | null
  /** When the window ends, by the caller's clock; ms since the epoch. */
  readonly resetAt: number | null
  /** How much later than `resetAt` the window may end, because the header counts whole seconds; ms. */
  readonly resetSlack: number
}

/**
 * Reads the rate-limit headers. `RateLimit-Reset` comes as seconds left, as Unix seconds or as Unix ms (API reference
 * 2.2 and dialects): told apart by size. An epoch is moved by the difference between `Date` and our clock.
 * @param now when the headers arrived; ms since the epoch
 * @returns null when none of the headers can be read
 */
export function readRateLimit(headers: Headers, now: number): RateLimitReading | null {
  const bucket = headers.get('ratelimit-bucket')?.trim() || null
  const limit = readCount(headers.get('ratelimit-limit'))
  const remaining = readCount(headers.get('ratelimit-remaining'))
  const reset = readCount(headers.get('ratelimit-reset'))
  if (bucket === null && limit === null && remaining === null && reset === null) return null
  if (reset === null) return { bucket, limit, remaining, resetAt: null, resetSlack: 0 }
  const isEpoch = reset >= 1e9
  const serverNow = readHttpDate(headers.get('date')) ?? now
  const wait = isEpoch ? (reset >= 1e12 ? reset : reset * 1000) - serverNow : reset * 1000
  const resetAt = now + Math.min(Math.max(wait, 0), LONGEST_WAIT)
  return { bucket, limit, remaining, resetAt, resetSlack: isEpoch ? 0 : 1000 }
}

/** What an answer tells its caller about its bucket. */
export interface RateLimit extends RateLimitReading {
  /** Seconds until the window ends, whichever way the header was written; null when it did not say. */
  readonly reset: number | null
}

/** `readRateLimit`, with the wait in seconds, rounded up. */
export function describeRateLimit(headers: Headers, now: number): RateLimit | null {
  const reading = readRateLimit(headers, now)
  if (reading === null) return null
  const reset = reading.resetAt === null ? null : Math.ceil((reading.resetAt - now) / 1000)
  return { ...reading, reset }
}

function readCount(value: string | undefined): number | null {
  return value !== undefined && /^\s*\d{1,15}(\.\d+)?\s*$/.test(value) ? Math.floor(Number(value)) : null
}
