import { createHash, createHmac, pbkdf2Sync, randomBytes, timingSafeEqual } from 'node:crypto'
import { chmod } from 'node:fs/promises'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { Clock } from '../../base/clock.ts'
import { cannotListen } from '../../base/errors.ts'
import type { Database, Lock } from '../database.ts'
import {
  AHEAD,
  AHEAD_MESSAGE,
  ENDED_AT_ONCE,
  ENDED_IN_ORDER,
  errorMessage,
  FRAME,
  FRAMES,
  LOCK,
  MessageReader,
  messageOf,
  type Opening,
  PATIENCE,
  READY,
  readOpening,
  UNLOCK,
  WORK,
  withOwnNames,
} from './messages.ts'
import {
  Cancelled,
  type ClientConnection,
  multiplexSession,
  type ProtocolSession,
  type SessionMultiplexer,
} from './session-multiplexer.ts'

/*
 * The server's side of SCRAM-SHA-256 (RFC 5802 and 7677), as Postgres speaks it: the password itself never crosses the
 * network.
 */

const MECHANISM = 'SCRAM-SHA-256'
const ITERATIONS = 4096

/** Verifies a password without containing it. */
interface Verifier {
  readonly salt: Buffer
  readonly storedKey: Buffer
  readonly serverKey: Buffer
}

const hmac = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest()
const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest()

function verifierOf(password: string): Verifier {
  const salt = randomBytes(16)
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, ITERATIONS, 32, 'sha256')
  return { salt, storedKey: hash(hmac(salted, 'Client Key')), serverKey: hmac(salted, 'Server Key') }
}

/** One client's log-in, after its first message; null when that is not one. */
function challenge(verifier: Verifier, clientFirst: string) {
  const [, header = '', bare = '', clientNonce = ''] =
    /^([ny],[^,]*,)(n=[^,]*,r=([!-+\--~]+).*)$/.exec(clientFirst) ?? []
  if (clientNonce === '') return null
  const nonce = clientNonce + randomBytes(18).toString('base64')
  const first = `r=${nonce},s=${verifier.salt.toString('base64')},i=${ITERATIONS}`
  return {
    /** The server's response to the client's first message. */
    first,
    /** Its response to the client's last message; null when the password is wrong. */
    finish(clientFinal: string): string | null {
      const [, withoutProof = '', proof = ''] = /^(.*),p=([A-Za-z0-9+/=]+)$/.exec(clientFinal) ?? []
      if (withoutProof !== `c=${Buffer.from(header).toString('base64')},r=${nonce}`) return null
      const all = `${bare},${first},${withoutProof}`
      const signature = hmac(verifier.storedKey, all)
      const given = Buffer.from(proof, 'base64')
      if (given.length !== signature.length) return null
      const clientKey = Buffer.from(signature.map((byte, at) => byte ^ (given[at] ?? 0)))
      if (!timingSafeEqual(hash(clientKey), verifier.storedKey)) return null
      return `v=${hmac(verifier.serverKey, all).toString('base64')}`
    },
  }
}

interface Connections {
  readonly multiplexer: SessionMultiplexer
  /** Settings that clients receive at the start. */
  readonly reported: ReadonlyMap<string, string>
  readonly random: () => number
  /** Of the password; undefined when clients need none. */
  readonly verifier: Verifier | undefined
  /** For clients that are processes of this program, and may write: takes a named lock. */
  readonly tryLock: Database['tryLock'] | undefined
  /** By the number that a client may cancel its statements with. */
  readonly open: Map<number, { readonly client: ClientConnection; readonly secret: number }>
}

/** Parameters of a connection that are no settings. */
const notSettings = new Set(['user', 'database', 'replication', 'options', WORK, FRAMES, PATIENCE])

/** How long syncs wait at most for a question that is asked again and again, ms. */
const LONGEST_PATIENCE_MS = 8000

/** Serves one client until one of the two closes the connection. Never rejects. */
async function serveConnection(socket: Socket, id: number, connections: Connections): Promise<void> {
  const { multiplexer, open } = connections
  const client: ClientConnection = {
    id,
    isWork: false,
    isUrgent: false,
    patienceMs: undefined,
    settings: new Map(),
    hasPrepared: false,
    send: (bytes) => void (socket.writable && socket.write(bytes)),
    disconnect: (message) => {
      socket.write(message)
      socket.destroySoon()
    },
  }
  socket.on('error', () => socket.destroy())
  // Of a client that went away, nothing needs to run to its end.
  for (const event of ['end', 'close']) socket.on(event, () => multiplexer.cancel(client))
  const locks = new Map<string, Lock>()
  try {
    const reader = new MessageReader()
    const handling = handleMessages(client, reader, connections, locks)
    await handling.next()
    for await (const chunk of chunksOf(socket)) {
      reader.push(chunk)
      if ((await handling.next()).done) break
    }
  } catch {
    // A protocol error, or a session that has failed: nothing more can be sent.
  } finally {
    open.delete(id)
    socket.end()
    await multiplexer.leave(client).catch(() => {})
    for (const lock of locks.values()) await lock.release()
  }
}

/** What arrives. It is read also while a statement runs: the end of a connection comes after all that was sent before. */
async function* chunksOf(socket: Socket): AsyncGenerator<Buffer, void> {
  const chunks: Buffer[] = []
  let isOver = false
  let wake = () => {}
  socket.on('data', (chunk) => {
    chunks.push(chunk)
    wake()
  })
  for (const event of ['end', 'close'])
    socket.on(event, () => {
      isOver = true
      wake()
    })
  for (;;) {
    const chunk = chunks.shift()
    if (chunk) yield chunk
    else if (isOver) return
    else
      await new Promise<void>((resolve) => {
        wake = resolve
      })
  }
}

/** Handles all messages that have arrived, each time it is called; done when the client terminates. */
async function* handleMessages(
  client: ClientConnection,
  reader: MessageReader,
  connections: Connections,
  locks: Map<string, Lock>,
): AsyncGenerator<void, void> {
  const { multiplexer, tryLock } = connections
  for (let isOpen = false; !isOpen; ) {
    const opening = readOpening(yield* received(() => reader.opening()))
    if (opening.kind === 'encrypt') client.send(Buffer.from('N'))
    else if (opening.kind === 'start') {
      if (connections.verifier && !(yield* authenticate(client, reader, connections.verifier))) return
      acceptClient(client, opening, connections)
      isOpen = true
    } else {
      if (opening.kind === 'cancel') cancel(opening, connections)
      return
    }
  }
  let skipping = false
  let blob: Uint8Array | undefined
  for (;;) {
    const message = yield* received(() => reader.message())
    const letter = String.fromCharCode(message[0] ?? 0)
    if (letter === 'X') return
    if (skipping) {
      skipping = letter !== 'S'
      if (!skipping) client.send(READY)
      continue
    }
    if (tryLock && (letter === LOCK || letter === UNLOCK)) {
      client.send(Uint8Array.of(Number(await changeLock(message, tryLock, locks))))
      continue
    }
    if (tryLock && letter === AHEAD_MESSAGE) {
      client.isUrgent = message[5] === 1
      continue
    }
    if (tryLock && letter === 'd') {
      blob = message.subarray(5)
      continue
    }
    try {
      const named = withOwnNames(message, `${client.id}:`)
      client.hasPrepared ||= letter === 'P' && named !== message
      await multiplexer.pass(client, named, blob)
    } catch (error) {
      if (!(error instanceof Cancelled)) throw error
      const cancelled = errorMessage('ERROR', '57014', 'canceling statement due to user request')
      client.send(letter === 'Q' ? Buffer.concat([cancelled, READY]) : cancelled)
      skipping = letter !== 'Q'
    } finally {
      blob = undefined
    }
  }
}

/** Takes or gives back the lock that a message names. Returns whether the client has it now. */
async function changeLock(message: Buffer, tryLock: Database['tryLock'], locks: Map<string, Lock>): Promise<boolean> {
  const name = message.toString('utf8', 5, message.length - 1)
  if (message[0] === LOCK.charCodeAt(0)) {
    const lock = await tryLock(name)
    if (lock) locks.set(name, lock)
    return lock !== null
  }
  await locks.get(name)?.release()
  locks.delete(name)
  return false
}

/** Yields until a whole message has arrived. */
async function* received(read: () => Buffer | undefined): AsyncGenerator<void, Buffer> {
  for (;;) {
    const message = read()
    if (message) return message
    yield
  }
}

/** Authenticates the client by password. Returns false when it failed; the client has received the error. */
async function* authenticate(
  client: ClientConnection,
  reader: MessageReader,
  verifier: Verifier,
): AsyncGenerator<void, boolean> {
  const message = () => reader.message()?.subarray(5)
  client.send(messageOf('R', 10, MECHANISM, new Uint8Array(1)))
  // The mechanism and its zero, the length of the rest, the rest.
  const initial = yield* received(message)
  const begun = challenge(verifier, initial.toString('utf8', initial.indexOf(0) + 5))
  if (begun) {
    client.send(messageOf('R', 11, Buffer.from(begun.first)))
    const last = begun.finish((yield* received(message)).toString('utf8'))
    if (last !== null) {
      client.send(messageOf('R', 12, Buffer.from(last)))
      return true
    }
  }
  client.disconnect(errorMessage('FATAL', '28P01', 'password authentication failed'))
  return false
}

function acceptClient(
  client: ClientConnection,
  { parameters }: Opening & { kind: 'start' },
  { open, reported, random, tryLock }: Connections,
): void {
  const secret = Math.floor(random() * 2 ** 31)
  open.set(client.id, { client, secret })
  client.isWork = tryLock !== undefined && parameters.has(WORK)
  if (tryLock && parameters.has(PATIENCE))
    client.patienceMs = Math.min(Number(parameters.get(PATIENCE)), LONGEST_PATIENCE_MS)
  client.settings = new Map([
    ...[...parameters].filter(([name]) => !notSettings.has(name)),
    // `-c name=value`, as PGOPTIONS has it.
    ...[...(parameters.get('options') ?? '').matchAll(/-c\s*([\w.]+)=(\S+)/g)].map(
      ([, name = '', value = '']) => [name, value] as const,
    ),
  ])
  client.send(messageOf('R', 0))
  const settings = new Map([...reported, ...[...parameters].filter(([name]) => reported.has(name))])
  if (client.isWork) settings.set(AHEAD, 'on')
  for (const [name, value] of settings) client.send(messageOf('S', name, value))
  client.send(messageOf('K', client.id, secret))
  client.send(READY)
  const { send } = client
  if (parameters.has(FRAMES)) client.send = (bytes) => send(messageOf(FRAME, bytes))
}

function cancel({ id, secret }: Opening & { kind: 'cancel' }, { multiplexer, open }: Connections): void {
  const known = open.get(id)
  if (known?.secret === secret) multiplexer.cancel(known.client)
}

/** A port that speaks the Postgres protocol. */
interface WireServer {
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
