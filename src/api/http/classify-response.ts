import { FatalError } from '../../app/errors.ts'
import {
  isErrorBody,
  isFromApplication,
  type Refusal,
  readRefusal,
  refusalError,
  TooManyRequests,
  Unavailable,
} from '../errors.ts'
import type { Outcome } from './http-client.ts'
import { readHttpDate } from './http-date.ts'
import { type FailureKind, isRetryable } from './retry.ts'

/** What is wrong with an outcome. */
export interface ResponseFault {
  /** The status it amounts to: an error body that came with 200 says its real one in `code`. Null without headers. */
  readonly status: number | null
  readonly failure: FailureKind | null
  /** In words, for messages and logs. */
  readonly seen: string
  /** The error's own name, such as `InvalidTokenError`; null when it had none. */
  readonly kind: string | null
}

/** Null for an answer that can be used; otherwise what is wrong with it. */
export function classifyResponse({ status, body, failure, seen }: Outcome): ResponseFault | null {
  if (status === null || failure !== null) return { status, failure, seen: seen || `status ${status}`, kind: null }
  if (status >= 300) return believed({ status, failure: null, seen: String(status), kind: kindOf(status, body) }, body)
  if (!isErrorBody(body)) return null
  const kind = kindOf(status, body)
  const { code } = body
  const said = typeof code === 'number' && code >= 300 && code < 600 ? code : null
  const words = `an error body with status ${status}`
  if (said === null) return { status, failure: 'error body', seen: words, kind }
  return believed({ status: said, failure: null, seen: words, kind }, body)
}

/** A 403 or 404 that the application did not write says nothing about what was asked for. */
function believed(fault: ResponseFault, body: unknown): ResponseFault {
  const { status } = fault
  if (status === null || !isVerdict(status) || isFromApplication(status, body)) return fault
  return { ...fault, failure: 'gateway', seen: 'not from the application' }
}

/** Asking again in a moment would bring the same, but it is no answer of the application's either. */
function isFromElsewhere({ status, failure }: ResponseFault): boolean {
  return isVerdict(status) && failure !== null
}

function isVerdict(status: number | null): boolean {
  return status === 403 || status === 404
}

function kindOf(status: number, body: unknown): string | null {
  return readRefusal(status, '', body).kind
}

/**
 * The error to throw when a fault is not repeated any more.
 * @param path of the request, without its query
 * @param attempts requests sent for this call
 */
export function faultError(fault: ResponseFault, outcome: Outcome, path: string, attempts: number): Error {
  const { status, failure, seen } = fault
  const respondedAt = readHttpDate(outcome.headers.get('date')) ?? outcome.receivedAt
  const refusal = readRefusal(status ?? 0, path, outcome.body, respondedAt)
  if (failure === 'too large') return new FatalError(`${path}: the answer is too large: ${seen}`, { context: { path } })
  if (!isRetryable(status, failure) && !isFromElsewhere(fault))
    return refusalError(withDetail(refusal, failure === null ? null : seen))
  const { kind, detail } = refusal
  const said = [kind, detail].filter((part) => part !== null).join(': ')
  const saw = status !== null && status >= 300 && failure !== null ? `${status}, ${seen}` : seen
  const message = `${path}: ${saw} after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`
  const context = { path, status, failure, kind, detail, attempts }
  const options = { context, ...(outcome.cause === undefined ? {} : { cause: outcome.cause }) }
  const Kind = status === 429 ? TooManyRequests : Unavailable
  return new Kind(said === '' ? message : `${message} (${said})`, options)
}

function withDetail(refusal: Refusal, seen: string | null): Refusal {
  return { ...refusal, detail: refusal.detail ?? seen }
}
