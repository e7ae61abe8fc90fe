import { isUtf8 } from 'node:buffer'
import { promisify } from 'node:util'
import { createGunzip, gunzip } from 'node:zlib'
import { redacted } from '../auth/redact-credential.ts'
import { parseJson } from '../schemas/form/bodies.ts'
import { isErrorBody } from './error-body.ts'
import type { Outcome, WireBody } from './outcome.ts'

/** A parsed body, or why it cannot be read. */
type ReadBody = Partial<Pick<Outcome, 'body' | 'failure' | 'reason' | 'wire' | 'isKnown'>>

/** What must be known besides the bytes of a body. */
interface BodyContext {
  readonly status: number
  /** The `Content-Encoding` header, or nothing. */
  readonly encoding: string
  /** Largest body accepted after decompression; bytes. */
  readonly maxBytes: number
  /** What must not be repeated from an error body. */
  readonly secrets: readonly string[]
  /** Whether a body of a success is one that need not be parsed. */
  readonly isKnown?: ((body: BodyParts) => Promise<boolean>) | undefined
}

/** A body as decompressed bytes, in parts; from its start each time it is iterated. */
export type BodyParts = AsyncIterable<Uint8Array>

const unzip = promisify(gunzip)

/** No error body of the API nests deeper, and what redacts it calls itself for each level. */
const errorNesting = 20

/** Decompresses, decodes and parses a body. Strictly: what is not certain is a failure. */
export async function readBody(raw: Uint8Array, context: BodyContext): Promise<ReadBody> {
  const { status, encoding, maxBytes, secrets, isKnown } = context
  const isGzipped = isGzip(encoding) && raw.length > 0
  const wire = { bytes: raw, isGzip: isGzipped }
  const name = encoding.trim().toLowerCase()
  if (!isGzipped && raw.length > 0 && name !== '' && name !== 'identity')
    return { failure: 'encoding', reason: `a body encoded as ${name}` }
  let bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.length)
  try {
    // In parts, so that a large body that is known is never in memory as a whole.
    const isRepeat = status < 300 && (await isKnown?.({ [Symbol.asyncIterator]: () => partsOf(wire, maxBytes) }))
    if (isRepeat) return { isKnown: true, wire }
    if (isGzipped) bytes = await unzip(raw, { maxOutputLength: maxBytes })
  } catch (error) {
    return decompressionFailure(error, maxBytes)
  }
  const decoded = textOf(bytes)
  if (typeof decoded !== 'string') {
    // Bytes that came whole are kept in the archive, whatever they mean.
    return decoded.failure === 'not utf-8' && status < 300 ? { ...decoded, wire } : decoded
  }
  if (decoded.trim() === '') return { failure: 'empty', reason: 'an empty body' }
  if (decoded.trimStart().startsWith('<')) return { failure: 'html', reason: 'HTML instead of JSON' }
  const body = parseJson(decoded)
  if (body === undefined) return { failure: 'not json', reason: 'text that is not JSON, or JSON that ended early' }
  if (status < 300 && !isErrorBody(body)) return { body, wire }
  if (nestsDeeper(body, errorNesting)) return { failure: 'not json', reason: 'an error body that nests too deep' }
  // Some services repeat a rejected token in the error's text.
  return { body: redacted(body, secrets) }
}

function isGzip(encoding: string): boolean {
  return /^\s*(x-)?gzip\s*$/i.test(encoding)
}

async function* partsOf({ bytes, isGzip }: WireBody, maxBytes: number): AsyncGenerator<Uint8Array> {
  if (!isGzip) return yield bytes
  const unzipping = createGunzip({ chunkSize: 64 * 1024 })
  unzipping.end(bytes)
  let length = 0
  for await (const part of unzipping) {
    length += part.length
    // As `gunzip` ends.
    if (length > maxBytes) throw Object.assign(new Error('too large'), { code: 'ERR_BUFFER_TOO_LARGE' })
    yield part
  }
}

function decompressionFailure(error: unknown, maxBytes: number): ReadBody {
  const code = error instanceof Error && 'code' in error ? error.code : ''
  if (code === 'ERR_BUFFER_TOO_LARGE') return { failure: 'too large', reason: `more than ${maxBytes} bytes` }
  if (!String(code).startsWith('Z_')) throw error
  return { failure: 'ended early', reason: 'a compressed body that ended early or is broken' }
}

/** Text, or what is wrong with the bytes: a replacement character for a broken one would become history. */
function textOf(bytes: Buffer) {
  if (isUtf8(bytes)) return bytes.toString('utf8')
  const isHtml = bytes.toString('latin1').trimStart().startsWith('<')
  if (isHtml) return { failure: 'html', reason: 'HTML instead of JSON' } as const
  return { failure: 'not utf-8', reason: 'bytes that are not UTF-8' } as const
}

function nestsDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((inner) => nestsDeeper(inner, levels - 1))
}
