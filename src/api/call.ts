import { RetryableError, UsageError } from '../base/errors.ts'
import type { ApiRequest, Lane, Transport } from './http/transport.ts'
import type { ApiResponse } from './response.ts'
import type { Body } from './schemas/form/bodies.ts'
import { typeOf } from './schemas/form/record.ts'
import { isFields } from './schemas/form/unknown.ts'

/** What every call accepts. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  /** Priority class; default `refresh`. */
  readonly lane?: Lane | undefined
}

/** A response whose body is as sent, and can be read as what it is documented to be. */
export interface ReadableResponse<Body, Value> extends ApiResponse<Body> {
  /**
   * The body with its documented type. Unknown fields and words are kept, and nearly every field may be missing or null.
   * @throws RecordError with the JSON pointer of the first thing that does not fit
   */
  read(): Value
}

/** A response with its body, and the reader of that. */
export function readable<Body, Value>(
  response: ApiResponse<unknown>,
  body: Body,
  read: (body: Body) => Value,
): ReadableResponse<Body, Value> {
  return { ...response, body, read: () => read(body) }
}

/** A request whose response is an object or a list; a `GET` unless it says otherwise. */
export interface ObjectRequest
  extends Partial<Pick<ApiRequest, 'method' | 'query' | 'form' | 'credential' | 'repeatable' | 'secrets'>> {
  /** The path as a template, `/guild/uuid/{uuid}`. */
  readonly route: string
  /** What goes into the template, in the order of its gaps, as a person would write it. */
  readonly segments?: readonly string[] | undefined
}

/**
 * Requests one object. An empty array counts as an empty object: some servers write it so.
 * @throws RetryableError when the body is none, UsageError for a segment that cannot stand in a path, and what `send` throws
 */
export async function readObject<Value>(
  transport: Transport,
  request: ObjectRequest,
  call: CallOptions,
  read: (body: Record<string, unknown>) => Value,
): Promise<ReadableResponse<Record<string, unknown>, Value>> {
  const response = await transport.send(toApiRequest(request, call))
  // Of what is recorded, an empty list has nothing of it; of who is asking, it says nothing.
  const body = isEmptyList(response.body) && request.credential !== 'required' ? {} : response.body
  if (!isFields(body)) throw shapeError(request, body)
  return readable(response, { ...body }, read)
}

function isEmptyList(body: unknown): boolean {
  return Array.isArray(body) && body.length === 0
}

/** The same for a route that has responded with an array at times. */
export async function readObjectOrList<Value>(
  transport: Transport,
  request: ObjectRequest,
  call: CallOptions,
  read: (body: Body) => Value,
): Promise<ReadableResponse<Body, Value>> {
  const response = await transport.send(toApiRequest(request, call))
  const { body } = response
  if (typeof body !== 'object' || body === null) throw shapeError(request, body)
  return readable<Body, Value>(response, Array.isArray(body) ? body : { ...body }, read)
}

function toApiRequest({ segments, ...request }: ObjectRequest, { lane, signal }: CallOptions): ApiRequest {
  return { method: 'GET', ...request, path: fillRoute(request.route, segments), lane, signal }
}

/**
 * The path of a route: each `{gap}` filled with the next segment, percent-encoded. Spaces at the ends are part of a name.
 * @throws UsageError for a segment that would lead to another route, or that no URL can carry
 */
export function fillRoute(route: string, segments: readonly string[] = []): string {
  let next = 0
  return route.replaceAll(/\{(\w+)\}/g, (_gap, name: string) => encodeSegment(name, segments[next++] ?? ''))
}

/** Whether a route can have it: "." and ".." are resolved away even when encoded, half a surrogate pair is no character. */
export function isPathValue(segment: string): boolean {
  return segment !== '' && !/^\.{1,2}$/.test(segment) && !/\p{Surrogate}/u.test(segment)
}

function encodeSegment(name: string, segment: string): string {
  if (isPathValue(segment)) return encodeURIComponent(segment)
  throw new UsageError(`${JSON.stringify(segment)} cannot be a ${name}: write what the game shows, or a uuid`)
}

function shapeError({ route, segments }: ObjectRequest, body: unknown): RetryableError {
  const path = fillRoute(route, segments)
  const context = { path, shape: typeOf(body) }
  return new RetryableError(`unexpected shape: ${path} should respond with an object`, { context })
}
