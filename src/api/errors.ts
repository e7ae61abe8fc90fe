import { FatalError, RetryableError } from '../base/errors.ts'
import type { Dates } from './http/response-headers.ts'

/** What an error body says, whichever of the two families it belongs to (API reference 2.5). */
export interface Refusal {
  /** HTTP status, or the `code` of an error body that came with status 200. */
  readonly status: number
  /** The body's `error` name, such as `NotFound`; null when it had none. */
  readonly kind: string | null
  /** The body's `detail` or `message`; null when it had none. */
  readonly detail: string | null
  /** Path of the request, percent-encoded, without the query. */
  readonly path: string
  /** The matches of a 300, by uuid; empty otherwise. */
  readonly objects: Readonly<Record<string, unknown>>
  /** When it was written by its own `Date`, else when it came; ms since the epoch. Absent: not known. */
  readonly respondedAt?: number | undefined
  /** The same with its age and what the headers say of it. Absent: not known. */
  readonly dates?: Dates | undefined
}

/** The API refused the request: a repeat would bring the same. */
export class ApiError extends FatalError {
  readonly status: number
  readonly kind: string | null
  readonly detail: string | null
  readonly path: string
  /** Ms since the epoch; null when not known. */
  readonly respondedAt: number | null
  /** Null when not known. */
  readonly dates: Dates | null

  constructor(refusal: Refusal) {
    const { status, kind, detail, path } = refusal
    super(refusalMessage(refusal), { context: { status, kind, detail, path } })
    this.respondedAt = refusal.respondedAt ?? null
    this.dates = refusal.dates ?? null
    this.status = status
    this.kind = kind
    this.detail = detail
    this.path = path
  }
}

/** 300: a name or prefix matches several objects. Resolve by uuid. */
export class MultipleObjectsReturned extends ApiError {
  /** Light identities by uuid. */
  readonly objects: Readonly<Record<string, unknown>>

  constructor(refusal: Refusal) {
    super(refusal)
    this.objects = refusal.objects
  }
}

/** 400: a malformed request, or a page past the end. */
export class BadRequest extends ApiError {}

/** 401: the credential is missing, expired or revoked. */
export class Unauthorized extends ApiError {}

/** 403 that the application itself wrote: private, or not this credential's business. */
export class Forbidden extends ApiError {}

/** 404 that the application itself wrote: no such player, guild, item or path. */
export class NotFound extends ApiError {}

/** 429 even after waiting several windows. */
export class TooManyRequests extends RetryableError {}

/** The service gave no usable response, even after repeats; the message has the last fault. */
export class Unavailable extends RetryableError {}

/** Whether another request may succeed all the same: this one failed, its body is something else, or the API refused it, and not the credential. */
export function isOfRequest(error: unknown): error is Error {
  const hasOther = (error instanceof RetryableError || error instanceof FatalError) && error.context.shape !== undefined
  return hasOther || error instanceof Unavailable || (error instanceof ApiError && !(error instanceof Unauthorized))
}

const errorOfStatus: Readonly<Record<number, new (refusal: Refusal) => ApiError>> = {
  300: MultipleObjectsReturned,
  400: BadRequest,
  401: Unauthorized,
  403: Forbidden,
  404: NotFound,
}

/** The error for a refusal, of the class for its status. */
export function refusalError(refusal: Refusal): ApiError {
  const Kind = errorOfStatus[refusal.status] ?? ApiError
  return new Kind(refusal)
}

function refusalMessage({ status, kind, detail, path }: Refusal): string {
  const reason = [kind, detail].filter((part) => part !== null).join(': ')
  return `${path} responded with ${status}${reason === '' ? '' : ` (${reason})`}`
}
