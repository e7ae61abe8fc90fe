import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'

/** What one route answers. `raw` goes out as it is; `body` goes out as JSON. */
export interface Reply {
  readonly status?: number
  readonly headers?: Record<string, string>
  readonly body?: unknown
  readonly raw?: string | Buffer
}

/** A request as the server saw it. */
export interface Seen {
  readonly method: string
  /** Path and query, undecoded. */
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** What a test does with a request: give a reply, or write to the response itself and give nothing. */
export type Responder = (seen: Seen, response: ServerResponse) => Reply | undefined | Promise<Reply | undefined>

/** A real HTTP server on a free loopback port. */
export interface TestServer {
  readonly url: string
  readonly seen: readonly Seen[]
  close(): Promise<void>
}

export async function startServer(
  respond: Responder,
  tls?: { readonly cert: string; readonly key: string },
): Promise<TestServer> {
  const seen: Seen[] = []
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const one = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body }
    seen.push(one)
    const reply = await respond(one, response)
    if (reply === undefined) return
    const headers = { 'content-type': 'application/json', ...reply.headers }
    response.writeHead(reply.status ?? 200, headers)
    response.end(reply.raw ?? JSON.stringify(reply.body ?? {}))
  }
  const server = tls ? createTlsServer(tls, answer) : createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the test server has no port')
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${address.port}`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
