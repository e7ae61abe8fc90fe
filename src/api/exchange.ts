import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { Pool } from 'undici'
import type { Clock } from '../clock.ts'
import { UsageError } from '../errors.ts'
import { MAX_BODY_BYTES } from './body-limit.ts'
import { isErrorBody } from './errors.ts'
import { describeConnectionError } from './failures.ts'
import type { Headers } from './headers.ts'
import { redacted } from './redact.ts'
import type { FailureKind } from './retry.ts'

/** How long to wait for a server, each in real ms; `body` is the longest silence between two pieces. */
export interface Timeouts {
  readonly connect: number
  readonly headers: number
  readonly body: number
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
}

/** A body as it travelled. */
export interface WireBody {
  readonly bytes: Uint8Array
  readonly isGzip: boolean
}

/** What came back, good or bad. Never thrown for what a server or a network may do. */
export interface Outcome {
  /** Null when no headers came. */
  readonly status: number | null
  readonly headers: Headers
  /** The parsed body; null when there was none or it could not be parsed. */
  readonly body: unknown
  /** What was wrong, besides the status; null when nothing was. */
  readonly failure: FailureKind | null
  /** The failure in words, for a message. */
  readonly seen: string
  readonly cause?: unknown
  readonly bytes: number
  /** The body as it travelled; absent when it could not be read. */
  readonly wire?: WireBody
  /** When the headers came, or the exchange failed; ms since the epoch. */
  readonly receivedAt: number
}

/** Sends single requests to one origin. */
export interface Exchange {
  /** Rejects only with the signal's reason, or for a request that cannot be sent at all. */
  exchange(request: WireRequest, signal: AbortSignal): Promise<Outcome>
  close(): Promise<void>
}

/** What an exchange needs to know about the server and the caller. */
export interface ExchangeOptions {
  readonly baseUrl: string
  readonly token?: string | undefined
  readonly userAgent: string
  readonly clock: Clock
  readonly timeouts?: Partial<Timeouts> | undefined
  /** Largest body accepted, before and after decompression; bytes. Default 64 MB. */
  readonly maxBytes?: number | undefined
}

const unzip = promisify(gunzip)
const noHeaders: Headers = new Map()

/** Opens a pool of kept-alive connections to the origin of `baseUrl`. The credential stays inside. */
export function createExchange(options: ExchangeOptions): Exchange {
  const { clock, token, userAgent, maxBytes = MAX_BODY_BYTES } = options
  const { connect = 10_000, headers: headersTimeout = 30_000, body: bodyTimeout = 30_000 } = options.timeouts ?? {}
  const { origin, prefix } = readBaseUrl(options.baseUrl)
  const pool = new Pool(origin, { connect: { timeout: connect }, headersTimeout, bodyTimeout })
  const plainHeaders = { accept: 'application/json', 'accept-encoding': 'gzip', 'user-agent': userAgent }
  const credential = token === undefined ? {} : { authorization: `Bearer ${checkToken(token)}` }

  async function exchange(request: WireRequest, signal: AbortSignal): Promise<Outcome> {
    const { method, target, body, contentType, guest = false } = request
    const secrets = [...(token === undefined ? [] : [token]), ...(request.secrets ?? [])]
    let outcome: Outcome = emptyOutcome(clock.now())
    try {
      const response = await pool.request({
        method,
        path: `${prefix}${target}`,
        headers: {
          ...plainHeaders,
          ...(guest ? {} : credential),
          ...(contentType === undefined ? {} : { 'content-type': contentType }),
        },
        body: body ?? null,
        signal,
      })
      const headers = lowerCase(response.headers)
      outcome = { ...outcome, status: response.statusCode, headers, receivedAt: clock.now() }
      const chunks: Buffer[] = []
      let bytes = 0
      for await (const chunk of response.body) {
        chunks.push(chunk)
        bytes += chunk.length
        if (bytes > maxBytes) return failed({ ...outcome, bytes }, 'too large', `more than ${maxBytes} bytes`)
      }
      outcome = { ...outcome, bytes }
      return await readBody(outcome, Buffer.concat(chunks), secrets)
    } catch (error) {
      signal.throwIfAborted()
      const { kind, seen, cause } = describeConnectionError(error, outcome.status !== null)
      const receivedAt = outcome.status === null ? clock.now() : outcome.receivedAt
      return { ...failed({ ...outcome, receivedAt }, kind, seen), cause }
    }
  }

  async function readBody(outcome: Outcome, raw: Buffer, secrets: readonly string[]): Promise<Outcome> {
    const encoding = outcome.headers.get('content-encoding') ?? ''
    const decoded = await decode(raw, encoding, maxBytes)
    if (typeof decoded !== 'string') return failed(outcome, decoded.kind, decoded.seen)
    if (decoded.trim() === '') return failed(outcome, 'empty', 'an empty body')
    if (decoded.trimStart().startsWith('<')) return failed(outcome, 'html', 'HTML instead of JSON')
    const body = parseJson(decoded)
    if (body === undefined) return failed(outcome, 'not json', 'text that is not JSON, or JSON that ended early')
    const isError = (outcome.status ?? 0) >= 300 || isErrorBody(body)
    // Some services repeat a rejected token in the error's text.
    if (isError) return { ...outcome, body: redacted(body, secrets) }
    return { ...outcome, body, wire: { bytes: raw, isGzip: isGzip(encoding) && raw.length > 0 } }
  }

  return { exchange, close: () => pool.destroy() }
}

function emptyOutcome(receivedAt: number): Outcome {
  return { status: null, headers: noHeaders, body: null, failure: null, seen: '', bytes: 0, receivedAt }
}

function failed(outcome: Outcome, failure: FailureKind, seen: string): Outcome {
  return { ...outcome, failure, seen }
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

function isGzip(encoding: string): boolean {
  return /^\s*(x-)?gzip\s*$/i.test(encoding)
}

async function decode(raw: Buffer, encoding: string, maxOutputLength: number) {
  const name = encoding.trim().toLowerCase()
  if (name === '' || name === 'identity' || raw.length === 0) return raw.toString('utf8')
  if (!isGzip(encoding)) return { kind: 'encoding', seen: `a body encoded as ${name}` } as const
  try {
    return (await unzip(raw, { maxOutputLength })).toString('utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null
    if (code === 'ERR_BUFFER_TOO_LARGE')
      return { kind: 'too large', seen: `more than ${maxOutputLength} bytes` } as const
    return { kind: 'ended early', seen: 'a compressed body that ended early or is broken' } as const
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
