import { type Clock, followSignal } from '../../base/clock.ts'
import { trustFault, UsageError } from '../../base/errors.ts'
import { openHttp, redirectTarget } from '../../base/http.ts'
import type { ProxySettings } from '../../base/proxies.ts'
import { redacted } from '../auth/redact-credential.ts'
import { MAX_BODY_BYTES } from '../schemas/recordings/body-limit.ts'
import { describeConnectionError } from './classify-response.ts'
import { emptyOutcome, type FailureKind, type Outcome } from './outcome.ts'
import { type BodyParts, readBody } from './response-body.ts'
import type { Headers } from './response-headers.ts'

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
