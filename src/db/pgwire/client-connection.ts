import type { Socket } from 'node:net'
import { errorMessage, MessageReader, messageOf, type Opening, READY, readOpening, withOwnNames } from './messages.ts'
import { challenge, MECHANISM, type Verifier } from './scram.ts'
import { Cancelled, type ClientConnection, type SessionMultiplexer } from './session-multiplexer.ts'

/** Everybody who is connected, and what they share. */
export interface Connections {
  readonly gate: SessionMultiplexer
  /** Settings that clients receive at the start. */
  readonly reported: ReadonlyMap<string, string>
  readonly random: () => number
  /** Of the password that everybody must know; undefined when none is asked for. */
  readonly verifier: Verifier | undefined
  /** By the number that a client may cancel its statements with. */
  readonly present: Map<number, { readonly guest: ClientConnection; readonly secret: number }>
}

/** Parameters of a connection that are no settings. */
const notSettings = new Set(['user', 'database', 'replication', 'options'])

/** Talks with one client until one of the two hangs up. Never rejects. */
export async function serveConnection(socket: Socket, id: number, visitors: Connections): Promise<void> {
  const { gate, present } = visitors
  const guest: ClientConnection = {
    id,
    settings: new Map(),
    send: (bytes) => void (socket.writable && socket.write(bytes)),
    dismiss: (message) => {
      socket.write(message)
      socket.destroySoon()
    },
  }
  socket.on('error', () => socket.destroy())
  try {
    const reader = new MessageReader()
    const conversation = converse(guest, reader, visitors)
    await conversation.next()
    for await (const chunk of socket) {
      reader.push(chunk)
      if ((await conversation.next()).done) break
    }
  } catch {
    // What is no protocol, or a session that is gone: either way nothing more can be said here.
  } finally {
    present.delete(id)
    socket.end()
    await gate.leave(guest).catch(() => {})
  }
}

/** Answers all messages that have arrived, each time it is called; done when the client says goodbye. */
async function* converse(
  guest: ClientConnection,
  reader: MessageReader,
  visitors: Connections,
): AsyncGenerator<void, void> {
  const { gate } = visitors
  for (let isOpen = false; !isOpen; ) {
    const first = reader.opening()
    if (!first) {
      yield
      continue
    }
    const opening = readOpening(first)
    if (opening.kind === 'encrypt') guest.send(Buffer.from('N'))
    else if (opening.kind === 'start') {
      if (visitors.verifier && !(yield* logIn(guest, reader, visitors.verifier))) return
      greet(guest, opening, visitors)
      isOpen = true
    } else {
      if (opening.kind === 'cancel') cancel(opening, visitors)
      return
    }
  }
  let skipping = false
  for (;;) {
    const message = reader.message()
    if (!message) {
      yield
      continue
    }
    const letter = String.fromCharCode(message[0] ?? 0)
    if (letter === 'X') return
    if (skipping) {
      skipping = letter !== 'S'
      if (!skipping) guest.send(READY)
      continue
    }
    try {
      await gate.pass(guest, withOwnNames(message, `${guest.id}:`))
    } catch (error) {
      if (!(error instanceof Cancelled)) throw error
      guest.send(errorMessage('ERROR', '57014', 'canceling statement due to user request'))
      if (letter === 'Q') guest.send(READY)
      else skipping = true
    }
  }
}

/** Asks for the password. Gives back whether the client knew it; otherwise it received an error. */
async function* logIn(
  guest: ClientConnection,
  reader: MessageReader,
  verifier: Verifier,
): AsyncGenerator<void, boolean> {
  async function* answered(): AsyncGenerator<void, Buffer> {
    for (;;) {
      const message = reader.message()
      if (message) return message.subarray(5)
      yield
    }
  }
  guest.send(messageOf('R', 10, MECHANISM, new Uint8Array(1)))
  // The mechanism and its zero, the length of the rest, the rest.
  const initial = yield* answered()
  const begun = challenge(verifier, initial.toString('utf8', initial.indexOf(0) + 5))
  if (begun) {
    guest.send(messageOf('R', 11, Buffer.from(begun.first)))
    const last = begun.finish((yield* answered()).toString('utf8'))
    if (last !== null) {
      guest.send(messageOf('R', 12, Buffer.from(last)))
      return true
    }
  }
  guest.dismiss(errorMessage('FATAL', '28P01', 'password authentication failed'))
  return false
}

function greet(
  guest: ClientConnection,
  { parameters }: Opening & { kind: 'start' },
  { present, reported, random }: Connections,
): void {
  const secret = Math.floor(random() * 2 ** 31)
  present.set(guest.id, { guest, secret })
  guest.settings = new Map([
    ...[...parameters].filter(([name]) => !notSettings.has(name)),
    // `-c name=value`, as PGOPTIONS has it.
    ...[...(parameters.get('options') ?? '').matchAll(/-c\s*([\w.]+)=(\S+)/g)].map(
      ([, name = '', value = '']) => [name, value] as const,
    ),
  ])
  guest.send(messageOf('R', 0))
  const settings = new Map([...reported, ...[...parameters].filter(([name]) => reported.has(name))])
  for (const [name, value] of settings) guest.send(messageOf('S', name, value))
  guest.send(messageOf('K', guest.id, secret))
  guest.send(READY)
}

function cancel({ id, secret }: Opening & { kind: 'cancel' }, { gate, present }: Connections): void {
  const known = present.get(id)
  if (known?.secret === secret) gate.cancel(known.guest)
}
