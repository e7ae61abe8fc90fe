import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sameText } from '../../../api/auth/oauth.ts'
import { type Clock, followSignal } from '../../../base/clock.ts'
import { FatalError, UsageError } from '../../../base/errors.ts'

interface Page {
  readonly status: number
  readonly text: string
}

/** Waits on this machine for the browser that comes back from the login page. */
interface Listener {
  /** Where the login page must send the browser: `http://127.0.0.1:<port>/callback`. */
  readonly redirectUri: string
  /** The code of the first redirect with the right state. Rejects with a FatalError when the redirect has an error instead. */
  readonly code: Promise<string>
  /** Shows the page to every browser that waits, and stops listening. */
  close(page: Page): Promise<void>
}

const PATH = '/callback'

/** How long to wait for the login, in ms; a code itself is valid as long (API reference 3.1). */
const WAIT_MS = 5 * 60_000

const headers = {
  'Content-Type': 'text/plain; charset=utf-8',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'",
  // The address of the page holds the code.
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
  Connection: 'close',
}

/**
 * Listens on 127.0.0.1. A redirect with another state belongs to another login: it gets a response, and the wait goes on.
 * @param options.port 0 takes a free one
 * @param options.onStray called for each redirect that was not followed
 * @throws UsageError when the port is unavailable
 */
export async function listenForCode(options: {
  readonly port: number
  readonly state: string
  readonly onStray?: (why: string) => void
}): Promise<Listener> {
  const { port, state, onStray } = options
  let accept = (_code: string) => {}
  let refuse = (_why: FatalError) => {}
  const code = new Promise<string>((resolve, reject) => {
    accept = resolve
    refuse = reject
  })
  // After `close` before a redirect, it has no handler any more.
  code.catch(() => {})
  let finish = (_page: Page) => {}
  const page = new Promise<Page>((resolve) => {
    finish = resolve
  })
  const open = new Set<Promise<void>>()

  const server = createServer((request, response) => {
    const query = queryOf(request)
    if (query === null) return show(response, { status: 404, text: 'There is nothing here.' })
    if (request.method !== 'GET') return show(response, { status: 405, text: 'Only GET.' })
    if (!sameText(only(query, 'state') ?? '', state)) {
      onStray?.('a redirect with another state was not followed')
      const text = 'This belongs to another login, or to none. Use the address that wynnsync auth login shows.'
      return show(response, { status: 400, text })
    }
    const found = only(query, 'code')
    if (found !== null && !query.has('error')) accept(found)
    else refuse(new FatalError(refusalIn(query)))
    // Several tabs, or a reload: all show how the login ended.
    open.add(
      new Promise((resolve) => {
        response.once('close', resolve)
        void page.then((end) => show(response, end))
      }),
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  }).catch((error: unknown) => {
    throw new UsageError(`port ${port} on 127.0.0.1 is unavailable (${reasonOf(error)}); choose another with --port`)
  })
  const { port: taken } = server.address() as AddressInfo

  return {
    redirectUri: `http://127.0.0.1:${taken}${PATH}`,
    code,
    async close(end) {
      finish(end)
      await Promise.all(open)
      await new Promise((resolve) => {
        server.close(resolve)
        server.closeAllConnections()
      })
    },
  }
}

/**
 * The code, once the browser is back.
 * @throws FatalError when the login page refused, or after five minutes; the reason of `signal`
 */
export async function awaitCode({ code }: Listener, clock: Clock, signal: AbortSignal): Promise<string> {
  const over = followSignal(signal)
  const late = clock.sleep(WAIT_MS, over.signal).then(() => {
    throw new FatalError('no login within five minutes; start again, or use wynnsync auth exchange')
  })
  try {
    return await Promise.race([code, late])
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    over.end()
    over.abort()
    late.catch(() => {})
  }
}

/** Text from outside as one line without control characters, which would rearrange the screen. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, 300)
}

function show(response: ServerResponse, { status, text }: Page): void {
  response.writeHead(status, headers)
  response.end(`${text}\n`)
}

/** The query of a redirect; null for any other request of the browser. */
function queryOf({ url = '' }: IncomingMessage): URLSearchParams | null {
  const [path, query = ''] = url.split(/\?(.*)/s)
  return path === PATH ? new URLSearchParams(query) : null
}

/** A parameter that is there once and not empty. */
function only(query: URLSearchParams, name: string): string | null {
  const [value, ...others] = query.getAll(name)
  return value === undefined || value === '' || others.length > 0 ? null : value
}

function refusalIn(query: URLSearchParams): string {
  const error = query.get('error')
  if (error === null) return 'the login page sent the browser back without a code; log in again'
  const description = query.get('error_description')
  const reason = oneLine(description ? `${error}: ${description}` : error)
  return error === 'access_denied'
    ? `access was not allowed on the login page (${reason})`
    : `the login page refused (${reason}); check --client-id, --scope and the redirect addresses of the application`
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error) || !('code' in error)) return String(error)
  if (error.code === 'EADDRINUSE') return 'another program has it'
  return error.code === 'EACCES' ? 'not allowed' : String(error.code)
}
