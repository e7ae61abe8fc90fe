import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Context } from 'hono'
import { parseAccept } from 'hono/utils/accept'

type Bytes = Uint8Array<ArrayBuffer>

/** Encodings by how much they save. */
const encodings = ['br', 'gzip'] as const

export type Encoding = (typeof encodings)[number]

/** Smaller bodies are sent as they are, bytes. */
const LEAST = 1024

/** Streams of events are not in it: each event must be sent at once. */
const compressible = /^(text\/(html|csv)|application\/(json|x-ndjson|problem\+json|atom\+xml)|image\/svg\+xml)\b/

const [gzipBytes, brotliBytes] = [promisify(gzip), promisify(brotliCompress)]

/** Of bodies that are sent often: what they were compressed to. */
const kept = new WeakMap<Bytes, Map<Encoding, Promise<Bytes>>>()

/**
 * How to send a body of this type and size to the client; undefined: as it is. Of what can be compressed, caches learn that it depends
 * on `Accept-Encoding`.
 */
export function encodingFor(context: Context, contentType: string, size: number): Encoding | undefined {
  if (!compressible.test(contentType) || size < LEAST) return undefined
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
