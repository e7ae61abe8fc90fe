import { chmod } from 'node:fs/promises'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { Clock } from '../../base/clock.ts'
import { cannotListen } from '../../base/errors.ts'
import type { Database } from '../database.ts'
import { type Connections, serveConnection } from './client-connection.ts'
import { ENDED_AT_ONCE, ENDED_IN_ORDER, errorMessage } from './messages.ts'
import { verifierOf } from './scram.ts'
import { multiplexSession, type ProtocolSession } from './session-multiplexer.ts'

/** A port that speaks the Postgres protocol. */
export interface WireServer {
  readonly host: string
  readonly port: number
  /** Sends every client the shutdown error, and ends all connections. */
  close(): Promise<void>
}

/** Parameters that clients receive at the start of a connection. */
const REPORTED = [
  'server_version',
  'server_encoding',
  'client_encoding',
  'DateStyle',
  'IntervalStyle',
  'TimeZone',
].concat(['integer_datetimes', 'standard_conforming_strings', 'default_transaction_read_only'])

const SHUTDOWN = 'the server is shutting down'

/** How long a client has to receive the last message, in ms. */
const CLOSE_TIMEOUT_MS = 500

interface SessionOptions {
  readonly clock: Clock
  readonly random: () => number
  /** Required of clients; without one, any client that reaches the port may connect. */
  readonly password?: string | undefined
  /** How long a question may take, ms; without it, as long as no work waits for it. */
  readonly limitMs?: number
  /** For clients that are processes of this program, and may write: takes a named lock. */
  readonly tryLock?: Database['tryLock']
}

interface WireOptions extends SessionOptions {
  readonly host: string
  readonly port: number
}

/**
 * Serves the session of the embedded database to any number of clients. What they may do is up to the session: it must have
 * been opened with `readOnly`.
 * @throws UsageError when the port is unavailable
 */
export async function serveWire(engine: ProtocolSession, { host, port, ...options }: WireOptions): Promise<WireServer> {
  const { server, close } = await wireServer(engine, options)
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(cannotListen(error, { host, port, flag: '--port' })))
    server.listen(port, host, resolve)
  })
  return { host, port: (server.address() as AddressInfo).port, close }
}

/**
 * The same on a socket of the file system, which only its owner may connect to. `close` gets whether everything that clients asked for
 * is answered or will never begin.
 * @throws the system's error
 */
export async function serveSocket(
  engine: ProtocolSession,
  path: string,
  options: SessionOptions,
): Promise<{ close(isInOrder: boolean): Promise<void> }> {
  const { server, close } = await wireServer(engine, options)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })
  if (process.platform !== 'win32') await chmod(path, 0o600)
  // The database is held for other reasons, not for those who may connect.
  server.unref()
  return { close }
}

async function wireServer(engine: ProtocolSession, { clock, random, password, limitMs, tryLock }: SessionOptions) {
  const reported = new Map<string, string>()
  for (const name of REPORTED) {
    const [row] = await engine.query<{ value: string }>('select current_setting($1) as value', [name])
    reported.set(name, row?.value ?? '')
  }
  const verifier = password === undefined ? undefined : verifierOf(password)
  const connections: Connections = {
    multiplexer: multiplexSession(engine, clock, limitMs),
    reported,
    random,
    verifier,
    tryLock,
    open: new Map(),
  }
  const sockets = new Set<Socket>()
  let count = 0
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    count++
    void serveConnection(socket, count, connections)
  })
  const close = async (isInOrder = true) => {
    const closed = new Promise((resolve) => server.close(resolve))
    const last = errorMessage('FATAL', isInOrder ? ENDED_IN_ORDER : ENDED_AT_ONCE, SHUTDOWN)
    for (const { client } of connections.open.values()) client.disconnect(last)
    await Promise.race([closed, clock.sleep(CLOSE_TIMEOUT_MS)])
    for (const socket of sockets) socket.destroy()
    await closed
  }
  return { server, close }
}
