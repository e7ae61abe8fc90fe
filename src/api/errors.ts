import { type ErrorContext, FatalError, RetryableError } from '../app/errors.ts'

/** What an error body said, whichever of the two families it belongs to (API reference 2.5). */
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
}

/** The API answered, and the answer is no: asking again would bring the same. */
export class ApiError extends FatalError {
  readonly status: number
  readonly kind: string | null
  readonly detail: string | null
  readonly path: string
  /** Ms since the epoch; null when not known. */
  readonly respondedAt: number | null

  constructor(refusal: Refusal) {
    super(refusalMessage(refusal), { context: refusalContext(refusal) })
    this.respondedAt = refusal.respondedAt ?? null
    this.status = refusal.status
    this.kind = refusal.kind
    this.detail = refusal.detail
    this.path = refusal.path
  }
}

/** 300: a name or prefix matches several objects. Resolve by uuid; never guess. */
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

/** The service could not give a usable answer, even after repeating; the message says what was seen. */
export class Unavailable extends RetryableError {}

/** The error class for a refusal with this status. */
export function refusalError(refusal: Refusal): ApiError {
  switch (refusal.status) {
    case 300:
      return new MultipleObjectsReturned(refusal)
    case 400:
      return new BadRequest(refusal)
    case 401:
      return new Unauthorized(refusal)
    case 403:
      return new Forbidden(refusal)
    case 404:
      return new NotFound(refusal)
    default:
      return new ApiError(refusal)
  }
}

/**
 * Whether the application itself wrote an error body: an error name, with its detail and its code (API reference 2.5). A
 * gateway writes a message instead, and other frameworks put other fields beside the name. Only the application knows
 * anything of a player or a guild.
 * @param status the HTTP status, or the one that the body names
 */
export function isFromApplication(status: number, body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false
  const { error, detail, code, message }: Record<string, unknown> = { ...body }
  if (message !== undefined || typeof error !== 'string' || !/^[A-Za-z]+$/.test(error)) return false
  if (code !== undefined) return code === status
  return typeof detail === 'string' || Object.keys(body).length === 1
}

/** Reads an error body of either family, or none at all. */
export function readRefusal(status: number, path: string, body: unknown, respondedAt?: number): Refusal {
  const fields: Record<string, unknown> = typeof body === 'object' && body !== null ? { ...body } : {}
  const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null)
  const kind = text(fields.error)
  const detail = text(fields.detail) ?? text(fields.message)
  return { status, kind, detail, path, objects: status === 300 ? readObjects(fields, kind) : {}, respondedAt }
}

/**
 * True for a body that is an error although its status says success. The values are checked too: a listing keyed by
 * name may well have an entry called "error" or "message".
 */
export function isErrorBody(body: unknown): body is Record<string, unknown> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return false
  if ('error' in body && typeof body.error === 'string') return true
  if (!('message' in body) || typeof body.message !== 'string') return false
  return Object.keys(body).every((key) => key === 'message' || key === 'request_id')
}

// Before release 3.5 the map of matches was the whole body, without envelope (API reference 2.5).
function readObjects(fields: Record<string, unknown>, kind: string | null): Record<string, unknown> {
  if (typeof fields.objects === 'object' && fields.objects !== null) return { ...fields.objects }
  return kind === null ? fields : {}
}

function refusalMessage({ status, kind, detail, path }: Refusal): string {
  const said = [kind, detail].filter((part) => part !== null).join(': ')
  return `${path} answered ${status}${said === '' ? '' : ` (${said})`}`
}

function refusalContext({ status, kind, detail, path }: Refusal): ErrorContext {
  return { status, kind, detail, path }
}
