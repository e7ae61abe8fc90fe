import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { Clock } from './clock.ts'
import { RetryableError, trustFault } from './errors.ts'
import type { ProxySettings } from './proxies.ts'
import { visibleLine } from './terminal-text.ts'

interface HttpOptions {
  /** Absent: what the environment of the process says. */
  readonly proxy?: ProxySettings | undefined
  /** How long to wait for a connection, for the headers, and between two pieces of a body; ms. */
  readonly timeouts?: { readonly connect?: number; readonly headers?: number; readonly body?: number } | undefined
}

interface HttpRequest {
  readonly method?: Dispatcher.HttpMethod | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: string | Readable | null | undefined
  readonly signal?: AbortSignal | undefined
}

export type HttpResponse = Dispatcher.ResponseData

/** What sends every HTTP request of this program. */
export interface Http {
  /**
   * Sends one request. A redirect is a response like others: it is not followed, so that no other host gets what the headers hold.
   * @param target path and query as they are sent
   * @throws CertificateFault; ProxyRefusal or ProxyAway when the proxy is at fault; else the error of undici
   */
  send(origin: string, target: string, request: HttpRequest): Promise<HttpResponse>
  /** What sends the requests, for the client of the API: it describes faults itself. */
  dispatcher(): Promise<Dispatcher>
  /** What comes of the body of a response. @throws RetryableError where it comes so slowly that it would take for ever */
  piecesOf(body: Readable, clock: Clock): AsyncIterable<Buffer>
  /** The same of a body that is sent. @throws RetryableError where it is taken so slowly that it would take for ever */
  paced(body: Readable, clock: Clock): AsyncIterable<Buffer>
  close(): Promise<void>
}

/** What must come or go of a body in so long as is spent waiting for the other side, ms and bytes. What goes byte by byte is never silent. */
const PACE = { wait: 60_000, bytes: 60_000 }

/** What is called with each piece, after how many ms of waiting it came or went. @param did what happened to bytes */
function paceOf(did: string): (ms: number, length: number) => void {
  let waited = 0
  let bytes = 0
  return (ms, length) => {
    waited += ms
    bytes += length
    if (waited < PACE.wait) return
    if (bytes * PACE.wait < PACE.bytes * waited)
      throw new RetryableError(
        `only ${bytes} bytes ${did} in ${Math.round(waited / 1000)} s: see what slows down the service or the way to it, and call again`,
      )
    waited = bytes = 0
  }
}

async function* piecesOf(body: Readable, clock: Clock): AsyncGenerator<Buffer, void, void> {
  const keepPace = paceOf('came')
  let asked = clock.now()
  for await (const piece of body as AsyncIterable<Buffer>) {
    // What is done with a piece does not count.
    keepPace(clock.now() - asked, piece.length)
    yield piece
    asked = clock.now()
  }
}

async function* paced(body: Readable, clock: Clock): AsyncGenerator<Buffer, void, void> {
  const keepPace = paceOf('were taken')
  for await (const piece of body as AsyncIterable<Buffer>) {
    const given = clock.now()
    yield piece
    // What it takes to read a piece does not count. Where none is wanted for long, the connection is given up.
    keepPace(clock.now() - given, piece.length)
  }
}

/** Opens what sends HTTP requests, over kept-alive connections that do not keep the process alive. */
export function openHttp({ proxy, timeouts = {} }: HttpOptions): Http {
  const { connect: timeout = 10_000, headers: headersTimeout = 30_000, body: bodyTimeout = 30_000 } = timeouts
  const options = { connect: { timeout }, headersTimeout, bodyTimeout }
  const isDirect = proxy !== undefined && !proxy.http && !proxy.https
  const open = async (): Promise<Dispatcher> => {
    // What knows proxies is loaded by those alone who have one.
    if (!isDirect) return (await import('./http-proxy.ts')).openProxied(proxy, options)
    return new (await import('undici')).Agent(options)
  }
  let agent: Promise<Dispatcher> | undefined
  const dispatcher = () => {
    agent ??= open()
    return agent
  }
  return {
    dispatcher,
    piecesOf,
    paced,
    async send(origin, target, { method = 'GET', headers = {}, body = null, signal }) {
      const request = { origin, path: target, method, headers: { ...headers }, body, ...(signal && { signal }) }
      return await (await dispatcher()).request(request).catch((error: unknown) => {
        throw trustFault(error, new URL(origin).host) ?? error
      })
    },
    async close() {
      await (await agent?.catch(() => undefined))?.destroy()
    },
  }
}

/** Sends one request to a URL. */
export function sendTo(http: Http, url: string | URL, request: HttpRequest): Promise<HttpResponse> {
  const { origin, pathname, search } = new URL(url)
  return http.send(origin, pathname + search, request)
}

/**
 * Where a response redirects to, for a message: without user, password, query and fragment, which may be secrets.
 * @param base the URL of the request
 * @returns undefined when it is no redirect
 */
export function redirectTarget(status: number, location: unknown, base: string): string | undefined {
  if (status <= 300 || status >= 400 || typeof location !== 'string' || location === '') return undefined
  const url = URL.canParse(location, base) ? new URL(location, base) : undefined
  if (url && !/^https?:$/.test(url.protocol)) return url.protocol
  const shown = url
    ? `${url.origin}${url.pathname}`
    : visibleLine(location.replace(/[?#].*/s, '').replace(/\/\/.*@/s, '//'))
  return shown.slice(0, 200)
}
