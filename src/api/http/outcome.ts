import type { Headers } from './response-headers.ts'

/** What was wrong with an exchange that brought no usable response, status aside. */
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
  | 'redirect'
  | 'certificate'
  | 'proxy refused'
  | 'proxy away'

/** A body as it travelled. */
export interface WireBody {
  readonly bytes: Uint8Array
  readonly isGzip: boolean
}

/** The outcome of a request that has brought nothing so far. */
export function emptyOutcome(receivedAt: number): Outcome {
  return { status: null, headers: new Map(), body: null, failure: null, reason: '', bytes: 0, receivedAt }
}

/** What came back, good or bad. Never thrown for what a server or a network may do. */
export interface Outcome {
  /** Null when no headers came. */
  readonly status: number | null
  readonly headers: Headers
  /** The parsed body; null when there was none, or it could not be parsed, or need not be. */
  readonly body: unknown
  /** A recorder knows this body: it was not parsed. */
  readonly isKnown?: boolean
  /** What was wrong, besides the status; null when nothing was. */
  readonly failure: FailureKind | null
  /** The failure in words, for a message. */
  readonly reason: string
  readonly cause?: unknown
  readonly bytes: number
  /** The body as it travelled; absent when it could not be read. */
  readonly wire?: WireBody
  /** When the headers came, or the exchange failed; ms since the epoch. */
  readonly receivedAt: number
}
