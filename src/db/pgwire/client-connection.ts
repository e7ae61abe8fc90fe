import type { Socket } from 'node:net'
import type { Database, Lock } from '../database.ts'
import {
  AHEAD,
  AHEAD_MESSAGE,
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
import { challenge, MECHANISM, type Verifier } from './scram.ts'
import { Cancelled, type ClientConnection, type SessionMultiplexer } from './session-multiplexer.ts'

export interface Connections {
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
export const LONGEST_PATIENCE = 8000

/** Serves one client until one of the two closes the connection. Never rejects. */
export async function serveConnection(socket: Socket, id: number, connections: Connections): Promise<void> {
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
    client.patienceMs = Math.min(Number(parameters.get(PATIENCE)), LONGEST_PATIENCE)
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
