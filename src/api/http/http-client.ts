import { isUtf8 } from 'node:buffer'
import { promisify } from 'node:util'
import { createGunzip, gunzip } from 'node:zlib'
import { type Clock, followSignal } from '../../base/clock.ts'
import { trustFault, UsageError } from '../../base/errors.ts'
import { openHttp, redirectTarget } from '../../base/http.ts'
import type { ProxySettings } from '../../base/proxies.ts'
import { redacted } from '../auth/redact-credential.ts'
import { parseJson } from '../schemas/form/bodies.ts'
import { MAX_BODY_BYTES } from '../schemas/recordings/body-limit.ts'
import { describeConnectionError, isErrorBody } from './classify-response.ts'
import { emptyOutcome, type FailureKind, type Outcome, type WireBody } from './outcome.ts'
import type { Headers } from './response-headers.ts'

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
async function readBody(raw: Uint8Array, context: BodyContext): Promise<ReadBody> {
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

/**
 * How long to wait for a server, each in real ms. `body` is the longest pause between two pieces, `deadline` the end of the
 * whole exchange: a byte now and then does not put it off.
 */
export interface Timeouts {
  readonly connect: number
  readonly headers: number
  readonly body: number
  readonly deadline: number
}

/** One HTTP request, ready to go. */
export interface WireRequest {
  readonly method: 'GET' | 'POST'
  /** Percent-encoded path and query, below the base URL. */
  readonly target: string
  readonly body?: string | undefined
  readonly contentType?: string | undefined
  /** True to leave the credential out. */
  readonly guest?: boolean | undefined
  /** What must not be repeated from an error body, besides the credential. */
  readonly secrets?: readonly string[] | undefined
  /** Whether a body, as decompressed bytes, is one that need not be parsed. */
  readonly isKnown?: ((body: BodyParts) => Promise<boolean>) | undefined
}

/** What an exchange needs to know about the server and the caller. */
interface HttpClientOptions {
  readonly baseUrl: string
  readonly token?: string | undefined
  readonly userAgent: string
  readonly clock: Clock
  readonly timeouts?: Partial<Timeouts> | undefined
  /** Default: as the environment says. */
  readonly proxy?: ProxySettings | undefined
  /** Largest body accepted, before and after decompression; bytes. Default 64 MB. */
  readonly maxBytes?: number | undefined
}

/** Sends single requests to the origin of `baseUrl`, and to no other. The credential stays inside. */
export function createHttpClient(options: HttpClientOptions) {
  const { clock, token, userAgent, maxBytes = MAX_BODY_BYTES, proxy } = options
  const { deadline = 120_000, ...timeouts } = options.timeouts ?? {}
  const { origin, prefix } = readBaseUrl(options.baseUrl)
  const http = openHttp({ proxy, timeouts })
  const plainHeaders = { accept: 'application/json', 'accept-encoding': 'gzip', 'user-agent': userAgent }
  const credential = token === undefined ? {} : { authorization: `Bearer ${checkToken(token)}` }

  /** Rejects only with the signal's reason, or for a request that cannot be sent at all. */
  async function exchange(request: WireRequest, signal: AbortSignal): Promise<Outcome> {
    const { method, target, body, contentType, guest = false } = request
    const secrets = [...(token === undefined ? [] : [token]), ...(request.secrets ?? [])]
    let outcome = emptyOutcome(clock.now())
    const ending = followSignal(signal)
    let isTooLate = false
    // By the machine's own timer, as sockets are not on any other clock.
    const timer = setTimeout(() => {
      isTooLate = true
      ending.abort()
    }, Math.ceil(deadline))
    try {
      const dispatcher = await http.dispatcher()
      const response = await dispatcher.request({
        origin,
        path: `${prefix}${target}`,
        method,
        headers: {
          ...plainHeaders,
          ...(guest ? {} : credential),
          ...(contentType === undefined ? {} : { 'content-type': contentType }),
        },
        body: body ?? null,
        signal: ending.signal,
      })
      const { statusCode: status } = response
      const headers = lowerCase(response.headers)
      outcome = { ...outcome, status, headers, receivedAt: clock.now() }
      const chunks: Buffer[] = []
      let bytes = 0
      for await (const chunk of response.body) {
        chunks.push(chunk)
        bytes += chunk.length
        if (bytes > maxBytes) return failed({ ...outcome, bytes }, 'too large', `more than ${maxBytes} bytes`)
      }
      outcome = { ...outcome, bytes }
      const encoding = headers.get('content-encoding') ?? ''
      const context = { status, encoding, maxBytes, secrets, isKnown: request.isKnown }
      const read = { ...outcome, ...(await readBody(Buffer.concat(chunks), context)) }
      const elsewhere = redirectTarget(status, headers.get('location'), origin)
      if (elsewhere === undefined) return read
      return failed(read, 'redirect', `a redirect to ${redacted(elsewhere, secrets)}, which is not followed`)
    } catch (error) {
      signal.throwIfAborted()
      const receivedAt = outcome.status === null ? clock.now() : outcome.receivedAt
      if (isTooLate) return failed({ ...outcome, receivedAt }, 'timeout', `no whole body within ${deadline / 1000} s`)
      return {
        ...outcome,
        receivedAt,
        ...describeConnectionError(trustFault(error, new URL(origin).host) ?? error, outcome.status !== null),
      }
    } finally {
      clearTimeout(timer)
      ending.end()
    }
  }

  return { send: exchange, close: () => http.close() }
}

function failed(outcome: Outcome, failure: FailureKind, reason: string): Outcome {
  return { ...outcome, failure, reason }
}

function readBaseUrl(baseUrl: string): { origin: string; prefix: string } {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UsageError('the base URL must begin with http:// or https://, such as https://api.wynncraft.com/v3')
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new UsageError('the base URL must hold no user name, password, query or fragment; the token goes elsewhere')
  return { origin: url.origin, prefix: url.pathname.replace(/\/+$/, '') }
}

function checkToken(token: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw new UsageError('the token must be printable ASCII without spaces or line breaks, and not empty')
}

function lowerCase(headers: Record<string, string | string[] | undefined>): Headers {
  const entries = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name.toLowerCase(), Array.isArray(value) ? value.join(', ') : value]],
  )
  return new Map(entries)
}
