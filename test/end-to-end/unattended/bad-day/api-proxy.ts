import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Clock, type Random, seededRandom } from '../../../../src/base/clock.ts'
import { bucketOf, type DeliveredResponse, headersOf, type ProxiedRequest } from './proxied-request.ts'

/** A proxy before the API: it records every request, and it can fail. */
export interface ApiProxy {
  readonly url: string
  /** Every request so far, whatever came of it. */
  readonly requests: readonly ProxiedRequest[]
  /** How many requests wait for time to pass. */
  readonly waiting: () => number
  /** `errors`: responds with 503 itself; `hangs`: takes requests and sends nothing; `refuses`: takes no connection. */
  setMode(mode: Mode): Promise<void>
  /** Ends all connections of a sender that was killed, and drops what still comes from it. */
  dropSender(sender: string): void
  close(): Promise<void>
}

type Mode = 'forwards' | 'errors' | 'hangs' | 'refuses'

/** The longest way of a request, and how long one that hangs is held; ms. */
const LATENCY = 300
const HANG = 30_000

/** @param onDelivered called with every response that was delivered whole */
export async function openApiProxy(
  target: string,
  { clock, seed, onDelivered }: { clock: Clock; seed: number; onDelivered: (response: DeliveredResponse) => void },
): Promise<ApiProxy> {
  const to = new URL(target)
  const random: Random = seededRandom(seed)
  const agent = new Agent({ keepAlive: true })
  const requests: ProxiedRequest[] = []
  const dropped = new Set<string>()
  const bySender = new Map<string, Set<Socket>>()
  let mode: Mode = 'forwards'
  let waiting = 0

  const server = createServer((incoming, outgoing) => {
    void receive(incoming, outgoing).catch(() => incoming.socket.destroy())
  })

  async function receive(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { socket } = incoming
    const sender = incoming.headers['user-agent'] ?? ''
    const sockets = bySender.get(sender) ?? new Set()
    bySender.set(sender, sockets.add(socket))
    if (dropped.has(sender)) return void socket.destroy()
    const gone = new AbortController()
    outgoing.once('close', () => gone.abort())
    await wait(LATENCY * random(), gone.signal)
    const [path = ''] = (incoming.url ?? '').slice(to.pathname.length).split('?')
    const entry = { at: clock.now(), path: decodeURIComponent(path), bucket: bucketOf(path), sender }
    const record = (status: number | null) => void requests.push({ ...entry, status })
    if (mode === 'hangs') {
      record(null)
      await wait(HANG, gone.signal)
      return void socket.destroy()
    }
    if (mode === 'errors') {
      record(503)
      return void outgoing.writeHead(503, { 'content-type': 'text/html' }).end('<html><body>503</body></html>')
    }
    await forward(incoming, outgoing, gone.signal, entry, record)
  }

  function forward(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    signal: AbortSignal,
    entry: Omit<ProxiedRequest, 'status'>,
    record: (status: number | null) => void,
  ): Promise<void> {
    // The clock would not wait for a client that unpacks.
    const { host: _, 'accept-encoding': _packed, ...headers } = incoming.headers
    const path = incoming.url ?? ''
    const onward = request({ host: to.hostname, port: to.port, agent, path, method: incoming.method ?? 'GET', headers })
    return new Promise((resolve, reject) => {
      const fail = (error: Error) => {
        incoming.socket.destroy()
        reject(error)
      }
      signal.addEventListener('abort', () => onward.destroy(), { once: true })
      onward.on('error', (error) => {
        record(null)
        fail(error)
      })
      onward.on('response', (upstream) => {
        const status = upstream.statusCode ?? 0
        const respondedAt = clock.now()
        const pieces: Buffer[] = []
        record(status)
        outgoing.sendDate = false
        outgoing.writeHead(status, upstream.headers)
        upstream.on('data', (piece: Buffer) => {
          pieces.push(piece)
          outgoing.write(piece)
        })
        upstream.on('error', fail)
        upstream.on('end', () => {
          if (!upstream.complete) return fail(new Error('cut off'))
          const response = {
            ...entry,
            status,
            respondedAt,
            headers: headersOf(upstream.headers),
            body: Buffer.concat(pieces),
          }
          if (!signal.aborted) onDelivered(response)
          outgoing.end(resolve)
        })
      })
      incoming.pipe(onward)
    })
  }

  async function wait(ms: number, signal: AbortSignal): Promise<void> {
    waiting += 1
    await clock.sleep(ms, signal).finally(() => {
      waiting -= 1
    })
  }

  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  await listen(0)
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    url: `http://127.0.0.1:${address.port}${to.pathname}`,
    requests,
    waiting: () => waiting,
    async setMode(next) {
      if (next === mode) return
      const wasClosed = mode === 'refuses'
      mode = next
      if (next === 'refuses') {
        server.close()
        server.closeAllConnections()
      } else if (wasClosed) await listen(address.port)
    },
    dropSender(sender) {
      dropped.add(sender)
      for (const socket of bySender.get(sender) ?? []) socket.destroy()
      bySender.delete(sender)
    },
    async close() {
      agent.destroy()
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
