import type { Headers } from './http/response-headers.ts'
import type { RateLimit } from './rate-limit/rate-limit.ts'

/** One accepted answer of the API: what it said, when it was true, and what it cost. */
export interface Answer<T> {
  readonly body: T
  readonly status: number
  readonly headers: Headers
  /** When the headers arrived, by the injected clock; ms since the epoch. */
  readonly receivedAt: number
  /** The instant the answer speaks for, in the server's time; ms since the epoch. See `observedAt`. */
  readonly observedAt: number
  /** Until when asking again brings the same copy, in the server's time; ms since the epoch. Null when not told. */
  readonly expiresAt: number | null
  /** For how long the service keeps one copy of this route, in seconds. Null when not told. */
  readonly maxAge: number | null
  /** What the rate-limit headers said, or null when there were none. */
  readonly rateLimit: RateLimit | null
  /** Size of the body as it travelled, before decompression. */
  readonly bytes: number
  /** How many requests it took, repeats included; 1 when the first one succeeded. */
  readonly attempts: number
}

/** The parts of an answer that a reader of its body keeps: everything but the body. */
export function withBody<T>(answer: Answer<unknown>, body: T): Answer<T> {
  return { ...answer, body }
}
