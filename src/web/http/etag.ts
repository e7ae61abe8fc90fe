import { createHash, randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Context } from 'hono'
import { html } from 'hono/html'
import { parseAccept } from 'hono/utils/accept'
import type { ContentfulStatusCode } from 'hono/utils/http-status'

type Bytes = Uint8Array<ArrayBuffer>

/** Encodings by how much they save. */
const encodings = ['br', 'gzip'] as const

type Encoding = (typeof encodings)[number]

/** Smaller bodies are sent as they are, bytes. */
const COMPRESSED_FROM_BYTES = 1024

/** Streams of events are not in it: each event must be sent at once. */
const compressible = /^(text\/(html|csv)|application\/(json|x-ndjson|problem\+json|atom\+xml)|image\/svg\+xml)\b/

const gzipBytes = promisify(gzip)
const brotliBytes = promisify(brotliCompress)

/** Of bodies that are sent often: what they were compressed to. */
const kept = new WeakMap<Bytes, Map<Encoding, Promise<Bytes>>>()

/**
 * How to send a body of this type and size to the client; undefined: as it is. Of what can be compressed, caches learn that it depends
 * on `Accept-Encoding`.
 */
function encodingFor(context: Context, contentType: string, size: number): Encoding | undefined {
  if (!compressible.test(contentType) || size < COMPRESSED_FROM_BYTES) return undefined
  context.header('Vary', 'Accept-Encoding', { append: true })
  const accepted = parseAccept(context.req.header('accept-encoding') ?? '')
  const weights = new Map(accepted.map(({ type, q }) => [type.toLowerCase(), q]))
  const weightOf = (encoding: Encoding) => weights.get(encoding) ?? weights.get('*') ?? 0
  const [best] = encodings.toSorted((one, other) => weightOf(other) - weightOf(one))
  return best !== undefined && weightOf(best) > 0 ? best : undefined
}

/** The body in this encoding. Bytes that are sent again are compressed once. */
export async function compressed(body: string | Bytes, encoding: Encoding): Promise<Bytes> {
  if (typeof body === 'string') return await compress(new TextEncoder().encode(body), encoding)
  const forms = kept.get(body) ?? new Map<Encoding, Promise<Bytes>>()
  kept.set(body, forms)
  const form = forms.get(encoding) ?? compress(body, encoding)
  forms.set(encoding, form)
  return await form
}

async function compress(body: Bytes, encoding: Encoding): Promise<Bytes> {
  // As long as gzip takes, for a fifth less.
  const params = { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_SIZE_HINT]: body.length }
  return new Uint8Array(await (encoding === 'br' ? brotliBytes(body, { params }) : gzipBytes(body)))
}

/** Something to send, with what tells it from others. */
export interface Entity {
  readonly etag: string
  readonly type: string
  /** Bytes, which are compressed once for all who ask, or what makes them when they are sent. */
  readonly body: Uint8Array<ArrayBuffer> | (() => Promise<Uint8Array<ArrayBuffer>>)
}

export function entityOf(text: string, type: string): Entity {
  return { etag: etagOf(text, type), type, body: new TextEncoder().encode(text) }
}

/** Bytes of an entity that is kept, with what it is compressed to. */
export function keptBytes({ body }: Entity): number {
  return typeof body === 'function' ? 0 : 2 * body.length
}

/** What stands for the scheme, host and port in a text that is kept: a client reaches the same server under many. */
export const ORIGIN = `origin-${randomUUID()}`

/** A text that is made once for all who ask, under whatever address. */
export interface Written {
  readonly bytes: number
  under(origin: string): Entity
}

/** @param text with `ORIGIN` where the address of the server belongs, of HTML or XML */
export function written(text: string, type: string): Written {
  const entity = (origin: string) => entityOf(text.replaceAll(ORIGIN, String(html`${origin}`)), type)
  // One is kept with what it is compressed to: nearly all come by the same address.
  let last: { readonly origin: string; readonly entity: Entity } | undefined
  return {
    bytes: 4 * text.length,
    under: (origin) => {
      if (last?.origin !== origin) last = { origin, entity: entity(origin) }
      return last.entity
    },
  }
}

/** @param text what the content follows from */
export function etagOf(text: string, type: string): string {
  return `"${createHash('sha256').update(type).update(text).digest('base64url').slice(0, 27)}"`
}

/**
 * The entity, compressed where the client takes that, or 304 when the client has it, in whatever encoding. Unless told otherwise, caches
 * ask each time: what a player hides must be gone at once.
 */
export async function sendEntity(
  context: Context,
  { etag, type, body }: Entity,
  caching = 'no-cache',
): Promise<Response> {
  const encoding = typeof body === 'function' ? undefined : encodingFor(context, type, body.length)
  context.header('ETag', etagIn(encoding, etag))
  context.header('Cache-Control', caching)
  const known = (context.req.header('if-none-match') ?? '').split(',').map(plainEtag)
  if (known.includes(etag) || known.includes('*')) return context.body(null, 304)
  if (typeof body === 'function') return context.body(await body(), 200, { 'content-type': type })
  return await sendBody(context, body, { type, encoding, status: 200 })
}

/** A text that is sent once, compressed where the client takes that. */
export async function sendText(
  context: Context,
  text: string,
  type: string,
  status: ContentfulStatusCode,
): Promise<Response> {
  return await sendBody(context, text, { type, encoding: encodingFor(context, type, text.length), status })
}

interface Sending {
  readonly type: string
  readonly encoding: Encoding | undefined
  readonly status: ContentfulStatusCode
}

/** The body with its type, in an encoding that `encodingFor` chose. */
async function sendBody(
  context: Context,
  body: string | Uint8Array<ArrayBuffer>,
  { type, encoding, status }: Sending,
): Promise<Response> {
  const sent = encoding === undefined ? body : await compressed(body, encoding)
  const headers = { 'content-type': type, ...(encoding !== undefined && { 'content-encoding': encoding }) }
  if (typeof body === 'string' || sent.length === 0) return context.body(sent, status, headers)
  return context.body(inPieces(sent as Bytes), status, { ...headers, 'content-length': `${sent.length}` })
}

/** How much is given to a connection at once, bytes. */
const PIECE_BYTES = 64 * 1024

/** Bytes that many are sent, as each takes them: a response that is given bytes copies them, and thousands at once would fill the memory. */
function inPieces(bytes: Bytes): ReadableStream<Bytes> {
  let sent = 0
  const pull = (controller: ReadableStreamDefaultController<Bytes>) => {
    controller.enqueue(bytes.subarray(sent, sent + PIECE_BYTES))
    sent += PIECE_BYTES
    if (sent >= bytes.length) controller.close()
  }
  return new ReadableStream({ pull }, { highWaterMark: 0 })
}

/** Other bytes have another ETag. */
function etagIn(encoding: Encoding | undefined, etag: string): string {
  return encoding === undefined ? etag : etag.replace(/"$/, `-${encoding}"`)
}

/** The ETag of the content, whatever it was encoded in. */
function plainEtag(text: string): string {
  return text
    .trim()
    .replace(/^W\//, '')
    .replace(/-(br|gzip)"$/, '"')
}
