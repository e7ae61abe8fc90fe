import { CertificateFault, FatalError, ProxyAway, ProxyRefusal } from '../../base/errors.ts'
import { type Refusal, refusalError, TooManyRequests, Unavailable } from '../errors.ts'
import { storable } from '../schemas/form/limits.ts'
import { isFields } from '../schemas/form/unknown.ts'
import type { FailureKind, Outcome } from './outcome.ts'
import { datesOf, readHttpDate } from './response-headers.ts'

/**
 * Whether the application itself wrote an error body: an error name, with its detail and its code (API reference 2.5). A
 * gateway writes a message instead, and other frameworks put other fields beside the name. Only the application knows
 * anything of a player or a guild.
 * @param status the HTTP status, or the one that the body names
 */
function isFromApplication(status: number, body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false
  const { error, detail, code, message }: Record<string, unknown> = { ...body }
  if (message !== undefined || typeof error !== 'string' || !/^[A-Za-z]+$/.test(error)) return false
  if (code !== undefined) return code === status
  return typeof detail === 'string' || Object.keys(body).length === 1
}

/** Reads an error body of either family, or none at all. */
function readRefusal(status: number, path: string, body: unknown, respondedAt?: number): Refusal {
  const fields: Record<string, unknown> = typeof body === 'object' && body !== null ? { ...body } : {}
  const text = (value: unknown) => (typeof value === 'string' && value !== '' ? storable(value) : null)
  const kind = text(fields.error)
  const detail = text(fields.detail) ?? text(fields.message)
  return { status, kind, detail, path, objects: status === 300 ? readObjects(fields, kind) : {}, respondedAt }
}

/**
 * True for a body that is an error although its status says success. The values are checked too: a listing keyed by
 * name may well have an entry called "error" or "message".
 */
export function isErrorBody(body: unknown): body is Record<string, unknown> {
  if (!isFields(body)) return false
  if ('error' in body && typeof body.error === 'string') return true
  if (!('message' in body) || typeof body.message !== 'string') return false
  return Object.keys(body).every((key) => key === 'message' || key === 'request_id')
}

// Before release 3.5 the map of matches was the whole body, without envelope (API reference 2.5).
function readObjects(fields: Record<string, unknown>, kind: string | null): Record<string, unknown> {
  if (typeof fields.objects === 'object' && fields.objects !== null) return { ...fields.objects }
  return kind === null ? fields : {}
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
 * Names what went wrong on the network. Everything not listed counts as a connection that broke. The cause is the original
 * error, where that holds nothing the server sent.
 * @param hadHeaders whether the response had begun
 * @throws the error itself when the request could not have been sent at all
 */
export function describeConnectionError(
  error: unknown,
  hadHeaders: boolean,
): Pick<Outcome, 'failure' | 'reason' | 'cause'> {
  if (!(error instanceof Error)) throw error
  if (error instanceof CertificateFault) return { failure: 'certificate', reason: error.message }
  if (error instanceof ProxyRefusal) return { failure: 'proxy refused', reason: error.message }
  if (error instanceof ProxyAway) return { failure: 'proxy away', reason: error.message }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  // A parser error, which may have no code, carries the bytes it choked on, and those may repeat the credential.
  if (error.name === 'HTTPParserError') return { failure: 'reset', reason: 'a response that is not HTTP' }
  if (code === '' || code.startsWith('UND_ERR_INVALID') || code === 'UND_ERR_NOT_SUPPORTED') throw error
  const known = byCode[code]
  if (known !== undefined) return { failure: known[0], reason: known[1], cause: error }
  if (hadHeaders) return { failure: 'ended early', reason: `body ended early (${code})`, cause: error }
  return { failure: 'reset', reason: `connection broke (${code})`, cause: error }
}

/** What is wrong with an outcome. */
export interface ResponseFault {
  /** The status it amounts to: an error body that came with 200 has its real one in `code`. Null without headers. */
  readonly status: number | null
  /** Null when the status alone says it. */
  readonly failure: FailureKind | null
  /** In words, for messages and logs. */
  readonly reason: string
  /** The error's own name, such as `InvalidTokenError`; null when it had none. */
  readonly kind: string | null
}

/** Null for a response that can be used; otherwise what is wrong with it. */
export function classifyResponse({ status, body, failure, reason }: Outcome): ResponseFault | null {
  if (status === null || failure !== null) return { status, failure, reason: reason || `status ${status}`, kind: null }
  if (status < 300 && !isErrorBody(body)) return null
  const { kind } = readRefusal(status, '', body)
  if (status >= 300) return distrustGateway({ status, failure: null, reason: String(status), kind }, body)
  const words = `an error body with status ${status}`
  const code = isErrorBody(body) ? body.code : null
  if (typeof code !== 'number' || code < 300 || code >= 600)
    return { status, failure: 'error body', reason: words, kind }
  return distrustGateway({ status: code, failure: null, reason: words, kind }, body)
}

/** A 403 or 404 that the application did not write says nothing about the resource. */
function distrustGateway(fault: ResponseFault, body: unknown): ResponseFault {
  const { status } = fault
  if (status === null || !isVerdict(status) || isFromApplication(status, body)) return fault
  return { ...fault, failure: 'gateway', reason: 'not from the application' }
}

function isVerdict(status: number | null): boolean {
  return status === 403 || status === 404
}

/** True when the request certainly did not reach the server. */
export function isConnectFailure(failure: FailureKind | null): boolean {
  return failure === 'refused' || failure === 'no such host' || failure === 'proxy away' || isLasting(failure)
}

/** True when there is no connection, and only a person can mend that. */
function isLasting(failure: FailureKind | null): boolean {
  return failure === 'certificate' || failure === 'proxy refused'
}

/** True when the same request may well succeed in a moment. */
export function isRetryable(status: number | null, failure: FailureKind | null): boolean {
  if (failure === 'too large' || isLasting(failure)) return false
  // The matches are in the body; without them a 300 is useless.
  if (status === 300) return failure !== null
  if (status !== null && status > 300) return passing.has(status) || status >= 500
  return failure !== null
}

/** Statuses below 500 that say nothing of the request: 304 comes from a cache in between, since no copy is ever referred to. */
const passing: ReadonlySet<number> = new Set([304, 408, 421, 425, 429])

/**
 * The error to throw when a fault is not repeated any more.
 * @param path of the request, without its query
 * @param attempts requests sent for this call
 * @param dates when it was made; default: as its headers say
 */
export function faultError(
  fault: ResponseFault,
  outcome: Outcome,
  path: string,
  attempts: number,
  dates = datesOf(outcome.headers, outcome.receivedAt),
): Error {
  const { status, failure, reason } = fault
  const respondedAt = readHttpDate(outcome.headers.get('date')) ?? outcome.receivedAt
  const refusal = { ...readRefusal(status ?? 0, path, outcome.body, respondedAt), dates }
  if (failure === 'too large')
    return new FatalError(`${path}: the response is too large: ${reason}`, { context: { path, shape: failure } })
  if (isLasting(failure)) return new FatalError(`${path}: ${reason}`, { context: { path, failure } })
  // A repeat would bring the same from a gateway, but it is no response of the application either.
  const isFromGateway = isVerdict(status) && failure !== null
  if (!isRetryable(status, failure) && !isFromGateway)
    return refusalError({
      ...refusal,
      detail: failure === 'redirect' ? reason : (refusal.detail ?? (failure && reason)),
    })
  const { kind, detail } = refusal
  const errorText = [kind, detail].filter((part) => part !== null).join(': ')
  const what = status !== null && status >= 300 && failure !== null ? `${status}, ${reason}` : reason
  const message = `${path}: ${what} after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`
  const context = { path, status, failure, kind, detail, attempts }
  const options = { context, ...(outcome.cause === undefined ? {} : { cause: outcome.cause }) }
  const Kind = status === 429 ? TooManyRequests : Unavailable
  return new Kind(errorText === '' ? message : `${message} (${errorText})`, options)
}
