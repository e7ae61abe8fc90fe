import type { Clock } from '../../app/clock.ts'
import type { Sql } from '../database.ts'
import { errorMessage, MessageReader } from './messages.ts'

/** A database whose one session speaks the Postgres protocol. */
export interface ProtocolSession extends Sql {
  /** Sends one message and gives back all that comes of it. */
  exchange(message: Uint8Array): Promise<Uint8Array>
}

/** A client of the shared session. */
export interface ClientConnection {
  readonly id: number
  /** Settings of the session, kept while others have it. */
  settings: ReadonlyMap<string, string>
  send(bytes: Uint8Array): void
  /** Ends the connection with a last message. */
  dismiss(message: Buffer): void
}

/** Lets many clients take turns on one session. */
export interface SessionMultiplexer {
  /**
   * Gives a message to the session when it is this guest's turn, and sends the answer.
   * @throws Cancelled when `cancel` came before
   */
  pass(guest: ClientConnection, message: Buffer): Promise<void>
  /** Forgets what waits and what is open. */
  leave(guest: ClientConnection): Promise<void>
  /** Ends what a guest waits for. What runs cannot be ended: it has the whole process. */
  cancel(guest: ClientConnection): void
}

/** How long an open transaction may rest while others wait, in ms. */
const PATIENCE = 30_000

/** What a guest's statement ends with that was cancelled before its turn came. */
export class Cancelled extends Error {}

interface Turn {
  readonly guest: ClientConnection
  begin(): void
  cancel(): void
}

/**
 * One guest has the session from the first message of a statement until it is answered and no transaction is open. Then
 * the client that waits longest is next, and finds the settings that it left.
 */
export function multiplexSession(engine: ProtocolSession, clock: Clock): SessionMultiplexer {
  const waiting: Turn[] = []
  let owner: ClientConnection | undefined
  let last: ClientConnection | undefined
  let resting = new AbortController()

  async function enter(guest: ClientConnection): Promise<void> {
    if (owner === guest) return
    if (owner) {
      rest()
      await new Promise<void>((begin, refuse) => {
        waiting.push({ guest, begin, cancel: () => refuse(new Cancelled('cancelled before its turn came')) })
      })
    }
    owner = guest
    if (last !== guest) await change(last, guest)
    last = guest
  }

  /** The settings go with the client that made them. */
  async function change(from: ClientConnection | undefined, to: ClientConnection): Promise<void> {
    if (from) from.settings = await settingsOf(engine)
    await engine.query('reset all')
    for (const [name, value] of to.settings) {
      await engine.query('select set_config($1, $2, false)', [name, value]).catch(() => {})
    }
  }

  function next(): void {
    resting.abort()
    owner = undefined
    const turn = waiting.shift()
    // From now on, so that no client comes in between.
    owner = turn?.guest
    turn?.begin()
  }

  /** A transaction that stays idle must not block the others for ever. */
  function rest(): void {
    const guest = owner
    if (!guest || !resting.signal.aborted) return
    resting = new AbortController()
    clock.sleep(PATIENCE, resting.signal).then(
      () => {
        if (owner === guest && waiting.length > 0) {
          const why = 'the transaction rested while others waited: all share one session of the embedded database'
          guest.dismiss(errorMessage('FATAL', '25P03', why))
        }
      },
      () => {},
    )
  }
  resting.abort()

  async function pass(guest: ClientConnection, message: Buffer): Promise<void> {
    await enter(guest)
    resting.abort()
    const answer = await engine.exchange(message)
    guest.send(answer)
    if (stateAfter(answer) === 'I') next()
    else if (waiting.length > 0) rest()
  }

  return {
    pass,
    cancel(guest) {
      const at = waiting.findIndex((one) => one.guest === guest)
      if (at >= 0) waiting.splice(at, 1)[0]?.cancel()
    },
    async leave(guest) {
      for (let at = waiting.length - 1; at >= 0; at--) if (waiting[at]?.guest === guest) waiting.splice(at, 1)
      if (owner === guest) {
        // Sync ends a statement of which not everything came.
        await engine.exchange(Buffer.from([0x53, 0, 0, 0, 4]))
        await engine.query('rollback')
        next()
      }
      if (last === guest) last = undefined
    },
  }
}

/** What the session is in when it waits for the next statement: `I` no transaction, `T` one, `E` a failed one. */
function stateAfter(answer: Uint8Array): string | undefined {
  const reader = new MessageReader()
  reader.push(answer)
  let state: string | undefined
  for (let message = reader.message(); message; message = reader.message()) {
    if (message[0] === 'Z'.charCodeAt(0)) state = String.fromCharCode(message[5] ?? 0)
  }
  return state
}

async function settingsOf(sql: Sql): Promise<ReadonlyMap<string, string>> {
  const rows = await sql.query<{ name: string; setting: string }>(
    `select name, setting from pg_settings where source = 'session' and context in ('user', 'superuser')`,
  )
  return new Map(rows.map(({ name, setting }) => [name, setting]))
}
