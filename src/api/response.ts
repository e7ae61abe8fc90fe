import type { Outcome } from './http/outcome.ts'
import {
  type Dates,
  datesOf,
  describeRateLimit,
  expiresAt,
  type Headers,
  maxAge,
  type RateLimit,
} from './http/response-headers.ts'

/** One accepted response of the API: its body, the instant it speaks for, and what it cost. */
export interface ApiResponse<T> extends Dates {
  readonly body: T
  readonly status: number
  readonly headers: Headers
  /** When the headers arrived, by the injected clock; ms since the epoch. */
  readonly receivedAt: number
  /** Until when another request brings the same copy, in the server's time; ms since the epoch. Null when not known. */
  readonly expiresAt: number | null
  /** For how long the service keeps one copy of this route, in seconds. Null when not known. */
  readonly maxAge: number | null
  /** The rate-limit headers, or null when there were none. */
  readonly rateLimit: RateLimit | null
  /** Size of the body as it travelled, before decompression. */
  readonly bytes: number
  /** How many requests it took, repeats included; 1 when the first one succeeded. */
  readonly attempts: number
}

/** An outcome without fault as its caller gets it. */
export function toApiResponse(outcome: Outcome, attempts: number): ApiResponse<unknown> {
  const { status, headers, body, bytes, receivedAt } = outcome
  return {
    body,
    status: status ?? 0,
    headers,
    receivedAt,
    ...datesOf(headers, receivedAt),
    expiresAt: expiresAt(headers),
    maxAge: maxAge(headers),
    rateLimit: describeRateLimit(headers, receivedAt),
    bytes,
    attempts,
  }
}
