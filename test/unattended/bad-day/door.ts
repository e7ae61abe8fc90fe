import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Clock, type Random, seededRandom } from '../../../src/app/clock.ts'
import { bucketOf, type Delivered, headersOf, type Visit } from './journal.ts'

/** The way to the API: it writes down who came and what he was told, and it can fail. */
export interface Door {
  readonly url: string
  /** Every request so far, whatever came of it. */
  readonly visits: readonly Visit[]
  /** How many requests wait for time to pass. */
  readonly waiting: () => number
  /** `errors`: answers 503 itself; `hangs`: takes requests and says nothing; `refuses`: takes no connection. */
  be(mood: 'open' | 'errors' | 'hangs' | 'refuses'): Promise<void>
  /** A sender is no more: its connections end, and what may still come from it is nobody's. */
  bury(sender: string): void
  close(): Promise<void>
}

/** What a request takes, and how long a client waits for nothing; ms. */
const TRAVEL = 300
const PATIENCE = 30_000

/** @param tell is told of every answer that was delivered whole */
export async function openDoor(
  target: string,
  { clock, seed, tell }: { clock: Clock; seed: number; tell: (delivered: Delivered) => void },
): Promise<Door> {
  const to = new URL(target)
  const random: Random = seededRandom(seed)
  const agent = new Agent({ keepAlive: true })
  const visits: Visit[] = []
  const dead = new Set<string>()
  const bySender = new Map<string, Set<Socket>>()
  let mood: 'open' | 'errors' | 'hangs' | 'refuses' = 'open'
  let waiting = 0

  const server = createServer((incoming, outgoing) => {
    void receive(incoming, outgoing).catch(() => incoming.socket.destroy())
  })

  async function receive(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { socket } = incoming
    const sender = incoming.headers['user-agent'] ?? ''
    const sockets = bySender.get(sender) ?? new Set()
    bySender.set(sender, sockets.add(socket))
    if (dead.has(sender)) return void socket.destroy()
    const gone = new AbortController()
    outgoing.once('close', () => gone.abort())
    await wait(TRAVEL * random(), gone.signal)
    const [path = ''] = (incoming.url ?? '').slice(to.pathname.length).split('?')
    const visit = { at: clock.now(), path: decodeURIComponent(path), bucket: bucketOf(path), sender }
    const journal = (status: number | null) => void visits.push({ ...visit, status })
    if (mood === 'hangs') {
      journal(null)
      await wait(PATIENCE, gone.signal)
      return void socket.destroy()
    }
    if (mood === 'errors') {
      journal(503)
      return void outgoing.writeHead(503, { 'content-type': 'text/html' }).end('<html><body>503</body></html>')
    }
    await forward(incoming, outgoing, gone.signal, visit, journal)
  }

  function forward(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    signal: AbortSignal,
    visit: Omit<Visit, 'status'>,
    journal: (status: number | null) => void,
  ): Promise<void> {
    // Unpacking takes a moment that nobody could see.
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
        journal(null)
        fail(error)
      })
      onward.on('response', (answer) => {
        const status = answer.statusCode ?? 0
        const toldAt = clock.now()
        const pieces: Buffer[] = []
        journal(status)
        outgoing.sendDate = false
        outgoing.writeHead(status, answer.headers)
        answer.on('data', (piece: Buffer) => {
          pieces.push(piece)
          outgoing.write(piece)
        })
        answer.on('error', fail)
        answer.on('end', () => {
          if (!answer.complete) return fail(new Error('cut off'))
          const delivered = {
            ...visit,
            status,
            toldAt,
            headers: headersOf(answer.headers),
            body: Buffer.concat(pieces),
          }
          if (!signal.aborted) tell(delivered)
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
    visits,
    waiting: () => waiting,
    async be(next) {
      if (next === mood) return
      const wasShut = mood === 'refuses'
      mood = next
      if (next === 'refuses') {
        server.close()
        server.closeAllConnections()
      } else if (wasShut) await listen(address.port)
    },
    bury(sender) {
      dead.add(sender)
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
