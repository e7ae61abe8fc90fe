import { gzipSync } from 'node:zlib'
import type { Random } from '../../../src/base/clock.ts'
import { mutateTree, oneOf, type Path } from './tree.ts'

/** One response on its way out. */
export interface Served {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** How it travels when not as a whole. */
  readonly delivery?: 'reset' | 'cut' | 'stall' | 'trickle' | 'no http' | 'too short' | 'too long'
}

/** A response with something wrong in it. */
export interface MutatedResponse {
  readonly served: Served
  readonly what: string
  /** Places of the body that say something else; empty where the body is good or cannot be read. */
  readonly paths: readonly Path[]
}

const texts = [
  '',
  ' ',
  '{}',
  '[]',
  'null',
  '0',
  '"text"',
  'true',
  '{"a',
  '[1,2',
  '<html>busy</html>',
  '\ufeff{}',
  '{"error":"X"}',
]
const errors = ['', '{"error":"NotFound","detail":"x","code":404}', '{"message":"no Route matched with those values"}']
const statuses = [
  201, 202, 204, 206, 300, 301, 304, 400, 401, 402, 403, 404, 405, 408, 409, 410, 418, 422, 429, 451, 500, 502, 503,
  504, 520,
]
const deliveries = ['reset', 'cut', 'no http', 'too short', 'too long'] as const

/** Mutates a good response: most often its values, now and then its text, encoding, headers, status or journey. */
export function mutateResponse(good: Served, random: Random): MutatedResponse {
  const draw = random()
  if (draw < 0.7) {
    const { text, what, paths } = mutateTree(JSON.parse(Buffer.from(good.body).toString()), random)
    return { served: { ...good, body: Buffer.from(text) }, what, paths }
  }
  const whole = { paths: [] }
  if (draw < 0.78) return { ...whole, ...spoilBytes(good, random) }
  if (draw < 0.86) return { ...whole, ...spoilHeaders(good, random) }
  if (draw < 0.94) return { ...whole, ...spoilStatus(good, random) }
  if (draw < 0.942) {
    const delivery = random() < 0.5 ? 'stall' : 'trickle'
    return { ...whole, what: delivery, served: { ...good, delivery } }
  }
  const delivery = oneOf(deliveries, random) ?? 'cut'
  return { ...whole, what: delivery, served: { ...good, delivery } }
}

function spoilBytes(good: Served, random: Random): Pick<MutatedResponse, 'served' | 'what'> {
  const { body, headers } = good
  const at = Math.floor(random() * body.length)
  const gzip = { ...headers, 'content-encoding': 'gzip' }
  const options: readonly (() => Pick<MutatedResponse, 'served' | 'what'>)[] = [
    () => ({ what: 'cut short', served: { ...good, body: body.subarray(0, at) } }),
    () => ({
      what: 'not utf-8',
      served: { ...good, body: Buffer.concat([body.subarray(0, at), Buffer.from([0xff]), body.subarray(at)]) },
    }),
    () => ({ what: 'utf-16', served: { ...good, body: Buffer.from(Buffer.from(body).toString(), 'utf16le') } }),
    () => ({ what: 'byte order mark', served: { ...good, body: Buffer.concat([Buffer.from('\ufeff'), body]) } }),
    () => ({ what: 'another text', served: { ...good, body: Buffer.from(oneOf(texts, random) ?? '') } }),
    () => ({ what: 'gzip cut short', served: { ...good, headers: gzip, body: gzipSync(body).subarray(0, 40) } }),
    () => ({ what: 'no gzip', served: { ...good, headers: gzip } }),
    () => ({ what: 'good gzip', served: { ...good, headers: gzip, body: gzipSync(body) } }),
    () => ({ what: 'brotli', served: { ...good, headers: { ...headers, 'content-encoding': 'br' } } }),
    () => ({ what: 'too much', served: { ...good, body: Buffer.alloc(2_200_000, ' ') } }),
    () => ({ what: 'deep', served: { ...good, body: Buffer.from('['.repeat(50_000) + ']'.repeat(50_000)) } }),
  ]
  return (oneOf(options, random) ?? options[0])?.() ?? { what: '', served: good }
}

const headerValues = [
  '',
  '0',
  '-1',
  'never',
  'NaN',
  '1e99',
  '99999999999999999999',
  'max-age=-1',
  'no-store',
  'x'.repeat(5000),
  'é',
]
const headerNames = [
  'date',
  'expires',
  'cache-control',
  'age',
  'content-type',
  'retry-after',
  'ratelimit-remaining',
  'ratelimit-reset',
  'ratelimit-limit',
  'etag',
  'territorylasttick',
]

function spoilHeaders(good: Served, random: Random): Pick<MutatedResponse, 'served' | 'what'> {
  const name = oneOf(headerNames, random) ?? 'date'
  const value = oneOf(headerValues, random) ?? ''
  const { [name]: _, ...others } = good.headers
  const headers = random() < 0.3 ? others : { ...others, [name]: Buffer.from(value).toString('latin1') }
  return { what: `${name}: ${headers === others ? 'none' : value.slice(0, 30)}`, served: { ...good, headers } }
}

function spoilStatus(good: Served, random: Random): Pick<MutatedResponse, 'served' | 'what'> {
  const status = oneOf(statuses, random) ?? 500
  const draw = random()
  const text = draw < 0.2 ? Buffer.from(good.body).toString() : (oneOf([...errors, ...texts], random) ?? '')
  return { what: `status ${status} ${text.slice(0, 30)}`, served: { ...good, status, body: Buffer.from(text) } }
}
