import { gunzipSync } from 'node:zlib'
import type { Outcome } from './outcome.ts'
import { type ApiRequest, wireRequest } from './request.ts'
import type { Headers } from './response-headers.ts'

/** A request and its last outcome: a response, or a refusal. */
export interface HttpExchange {
  readonly request: ApiRequest
  readonly outcome: Outcome
  /** Who is shown the response: `token` where the client's credential was sent, and the response is not one for guests all the same. */
  readonly credential: 'guest' | 'token'
}

/** The headers that define for which instant a response speaks, and until when. */
const instantHeaders = [
  'date',
  'expires',
  'cache-control',
  'age',
  'last-modified',
  'etag',
  'version',
  'territorylasttick',
]

/** The body as the service sent it; of a refusal, what is left when secrets are hidden. */
export function textOf({ outcome }: HttpExchange): Uint8Array {
  const { wire, body } = outcome
  if (!wire) return Buffer.from(JSON.stringify(body))
  return wire.isGzip ? gunzipSync(wire.bytes) : wire.bytes
}

/** Method, path and query, `GET /guild/list/guild?identifier=uuid`; with what was sent along, for a search. */
export function lineOf({ request }: Pick<HttpExchange, 'request'>): string {
  const { method, target, body } = wireRequest(request)
  return `${method} ${target}${body === undefined ? '' : ` ${body}`}`
}

/** The headers that a replay of the response needs. */
export function tellingHeaders(headers: Headers): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => instantHeaders.includes(name)))
}
