import type { Socket } from 'node:net'
import { errorMessage, MessageReader, messageOf, type Opening, READY, readOpening, withOwnNames } from './messages.ts'
import { challenge, MECHANISM, type Verifier } from './scram.ts'
import { Cancelled, type ClientConnection, type SessionMultiplexer } from './session-multiplexer.ts'

export interface Connections {
  readonly multiplexer: SessionMultiplexer
  /** Settings that clients receive at the start. */
  readonly reported: ReadonlyMap<string, string>
  readonly random: () => number
  /** Of the password; undefined when clients need none. */
  readonly verifier: Verifier | undefined
  /** By the number that a client may cancel its statements with. */
  readonly open: Map<number, { readonly client: ClientConnection; readonly secret: number }>
}

/** Parameters of a connection that are no settings. */
const notSettings = new Set(['user', 'database', 'replication', 'options'])

/** Serves one client until one of the two closes the connection. Never rejects. */
export async function serveConnection(socket: Socket, id: number, connections: Connections): Promise<void> {
  const { multiplexer, open } = connections
  const client: ClientConnection = {
    id,
    settings: new Map(),
    send: (bytes) => void (socket.writable && socket.write(bytes)),
    disconnect: (message) => {
      socket.write(message)
      socket.destroySoon()
    },
  }
  socket.on('error', () => socket.destroy())
  try {
    const reader = new MessageReader()
    const handling = handleMessages(client, reader, connections)
    await handling.next()
    for await (const chunk of socket) {
      reader.push(chunk)
      if ((await handling.next()).done) break
    }
  } catch {
    // A protocol error, or a session that has failed: nothing more can be sent.
  } finally {
    open.delete(id)
    socket.end()
    await multiplexer.leave(client).catch(() => {})
  }
}

/** Handles all messages that have arrived, each time it is called; done when the client terminates. */
async function* handleMessages(
  client: ClientConnection,
  reader: MessageReader,
  connections: Connections,
): AsyncGenerator<void, void> {
  const { multiplexer } = connections
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
  for (;;) {
    const message = yield* received(() => reader.message())
    const letter = String.fromCharCode(message[0] ?? 0)
    if (letter === 'X') return
    if (skipping) {
      skipping = letter !== 'S'
      if (!skipping) client.send(READY)
      continue
    }
    try {
      await multiplexer.pass(client, withOwnNames(message, `${client.id}:`))
    } catch (error) {
      if (!(error instanceof Cancelled)) throw error
      client.send(errorMessage('ERROR', '57014', 'canceling statement due to user request'))
      if (letter === 'Q') client.send(READY)
      else skipping = true
    }
  }
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
  { open, reported, random }: Connections,
): void {
  const secret = Math.floor(random() * 2 ** 31)
  open.set(client.id, { client, secret })
  client.settings = new Map([
    ...[...parameters].filter(([name]) => !notSettings.has(name)),
    // `-c name=value`, as PGOPTIONS has it.
    ...[...(parameters.get('options') ?? '').matchAll(/-c\s*([\w.]+)=(\S+)/g)].map(
      ([, name = '', value = '']) => [name, value] as const,
    ),
  ])
  client.send(messageOf('R', 0))
  const settings = new Map([...reported, ...[...parameters].filter(([name]) => reported.has(name))])
  for (const [name, value] of settings) client.send(messageOf('S', name, value))
  client.send(messageOf('K', client.id, secret))
  client.send(READY)
}

function cancel({ id, secret }: Opening & { kind: 'cancel' }, { multiplexer, open }: Connections): void {
  const known = open.get(id)
  if (known?.secret === secret) multiplexer.cancel(known.client)
}
