import { RetryableError, UsageError } from '../app/errors.ts'
import { type Answer, withBody } from './answer.ts'
import type { ApiRequest, Lane, Transport } from './http/transport.ts'
import { typeOf } from './schemas/form/record.ts'

/** What every call accepts: who waits first, and how to give up. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  /** Priority class; default `refresh`. */
  readonly lane?: Lane | undefined
}

/** An answer whose body is as sent, and can be read as what it is documented to be. */
export interface ReadableAnswer<Body, Value> extends Answer<Body> {
  /**
   * The body with its documented type. Unknown fields and words are kept, and nearly every field may be missing or null.
   * @throws RecordError with the JSON pointer of the first thing that does not fit
   */
  read(): Value
}

/** Gives an answer its reader. */
export async function readable<Body, Value>(
  asked: Promise<Answer<Body>>,
  read: (body: Body) => Value,
): Promise<ReadableAnswer<Body, Value>> {
  const answer = await asked
  return { ...answer, read: () => read(answer.body) }
}

/** A request whose answer is an object or a list; a `GET` unless it says otherwise. */
export interface ObjectRequest
  extends Partial<Pick<ApiRequest, 'method' | 'query' | 'form' | 'credential' | 'repeatable' | 'secrets'>> {
  /** The path as a template, `/guild/uuid/{uuid}`. */
  readonly route: string
  /** What goes into the template, in the order of its gaps, as a person would write it. */
  readonly segments?: readonly string[] | undefined
}

/**
 * Asks for one object.
 * @throws RetryableError when the body is none, UsageError for a segment that cannot stand in a path, and what `send` throws
 */
export async function readObject(
  transport: Transport,
  request: ObjectRequest,
  call: CallOptions,
): Promise<Answer<Record<string, unknown>>> {
  const answer = await readObjectOrList(transport, request, call)
  const { body } = answer
  if (!isList(body)) return withBody(answer, body)
  throw shapeError(fillRoute(request.route, request.segments), body)
}

/** The same for a route that has answered with an array at times. */
export async function readObjectOrList(
  transport: Transport,
  { segments, ...request }: ObjectRequest,
  { lane, signal }: CallOptions,
): Promise<Answer<Record<string, unknown> | readonly unknown[]>> {
  const path = fillRoute(request.route, segments)
  const answer = await transport.send({ method: 'GET', ...request, path, lane, signal })
  const { body } = answer
  if (typeof body !== 'object' || body === null) throw shapeError(path, body)
  return withBody(answer, Array.isArray(body) ? body : { ...body })
}

/**
 * The path of a route: each `{gap}` filled with the next segment, percent-encoded. Spaces at the ends are part of a name.
 * @throws UsageError for a segment that would lead to another route, or that no URL can carry
 */
export function fillRoute(route: string, segments: readonly string[] = []): string {
  let next = 0
  return route.replaceAll(/\{(\w+)\}/g, (_gap, name: string) => encodeSegment(name, segments[next++] ?? ''))
}

function encodeSegment(name: string, segment: string): string {
  // "." and ".." are resolved away even when they are percent-encoded; half a surrogate pair is no character.
  if (segment !== '' && !/^\.{1,2}$/.test(segment) && !/\p{Surrogate}/u.test(segment))
    return encodeURIComponent(segment)
  throw new UsageError(`${JSON.stringify(segment)} cannot be a ${name}: write what the game shows, or a uuid`)
}

function isList(body: Record<string, unknown> | readonly unknown[]): body is readonly unknown[] {
  return Array.isArray(body)
}

function shapeError(path: string, body: unknown): RetryableError {
  const context = { path, shape: typeOf(body) }
  return new RetryableError(`unexpected shape: ${path} should answer with an object`, { context })
}
