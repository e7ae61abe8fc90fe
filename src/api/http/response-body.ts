import { isUtf8 } from 'node:buffer'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { redacted } from '../auth/redact-credential.ts'
import { isErrorBody } from './error-body.ts'
import type { FailureKind, WireBody } from './outcome.ts'

/** A parsed body, or why it cannot be read. */
export interface ReadBody {
  readonly body?: unknown
  readonly failure?: FailureKind
  readonly reason?: string
  readonly wire?: WireBody
  readonly isKnown?: boolean
}

/** What must be known besides the bytes of a body. */
export interface BodyContext {
  readonly status: number
  /** The `Content-Encoding` header, or nothing. */
  readonly encoding: string
  /** Largest body accepted after decompression; bytes. */
  readonly maxBytes: number
  /** What must not be repeated from an error body. */
  readonly secrets: readonly string[]
  /** Whether a body of a success, as decompressed bytes, is one that need not be parsed. */
  readonly isKnown?: ((bytes: Uint8Array) => boolean) | undefined
}

const unzip = promisify(gunzip)

/** No error body of the API nests deeper, and what redacts it calls itself for each level. */
const errorNesting = 20

/** Decompresses, decodes and parses a body. Strictly: what is not certain is a failure. */
export async function readBody(raw: Uint8Array, context: BodyContext): Promise<ReadBody> {
  const { status, encoding, maxBytes, secrets } = context
  const wire = { bytes: raw, isGzip: isGzip(encoding) && raw.length > 0 }
  const bytes = await decompress(Buffer.from(raw.buffer, raw.byteOffset, raw.length), encoding, maxBytes)
  if (!(bytes instanceof Uint8Array)) return bytes
  if (status < 300 && context.isKnown?.(bytes)) return { isKnown: true, wire }
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

async function decompress(raw: Buffer, encoding: string, maxOutputLength: number) {
  const name = encoding.trim().toLowerCase()
  if (name === '' || name === 'identity' || raw.length === 0) return raw
  if (!isGzip(encoding)) return { failure: 'encoding', reason: `a body encoded as ${name}` } as const
  try {
    return await unzip(raw, { maxOutputLength })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null
    if (code === 'ERR_BUFFER_TOO_LARGE')
      return { failure: 'too large', reason: `more than ${maxOutputLength} bytes` } as const
    return { failure: 'ended early', reason: 'a compressed body that ended early or is broken' } as const
  }
}

/** Text, or what is wrong with the bytes: a replacement character for a broken one would become history. */
function textOf(bytes: Buffer) {
  if (isUtf8(bytes)) return bytes.toString('utf8')
  const isHtml = bytes.toString('latin1').trimStart().startsWith('<')
  if (isHtml) return { failure: 'html', reason: 'HTML instead of JSON' } as const
  return { failure: 'not utf-8', reason: 'bytes that are not UTF-8' } as const
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function nestsDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((inner) => nestsDeeper(inner, levels - 1))
}
