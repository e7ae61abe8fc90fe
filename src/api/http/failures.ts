import type { FailureKind } from './retry.ts'

/** A network failure in our words. */
export interface ConnectionFailure {
  readonly kind: FailureKind
  readonly seen: string
  /** The original error, where it holds nothing the server sent. */
  readonly cause?: unknown
}

const byCode: Record<string, readonly [FailureKind, string]> = {
  ECONNREFUSED: ['refused', 'connection refused'],
  ENOTFOUND: ['no such host', 'host name not found'],
  EAI_AGAIN: ['no such host', 'host name could not be looked up'],
  EHOSTUNREACH: ['unreachable', 'host unreachable'],
  ENETUNREACH: ['unreachable', 'network unreachable'],
  ETIMEDOUT: ['timeout', 'connection timed out'],
  UND_ERR_CONNECT_TIMEOUT: ['timeout', 'no connection in time'],
  UND_ERR_HEADERS_TIMEOUT: ['timeout', 'no headers in time'],
  UND_ERR_BODY_TIMEOUT: ['timeout', 'body stopped coming'],
}

/**
 * Names what went wrong on the network. Everything not listed counts as a connection that broke.
 * @param hadHeaders whether the answer had begun
 * @throws the error itself when the request could not have been sent to anybody
 */
export function describeConnectionError(error: unknown, hadHeaders: boolean): ConnectionFailure {
  if (!(error instanceof Error)) throw error
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  // A parser error, which may have no code, carries the bytes it choked on, and those may repeat the credential.
  if (error.name === 'HTTPParserError') return { kind: 'reset', seen: 'an answer that is not HTTP' }
  if (code === '' || code.startsWith('UND_ERR_INVALID') || code === 'UND_ERR_NOT_SUPPORTED') throw error
  const known = byCode[code]
  if (known !== undefined) return { kind: known[0], seen: known[1], cause: error }
  if (hadHeaders) return { kind: 'ended early', seen: `body ended early (${code})`, cause: error }
  return { kind: 'reset', seen: `connection broke (${code})`, cause: error }
}
