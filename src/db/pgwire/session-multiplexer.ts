import type { Clock } from '../../app/clock.ts'
import type { Sql } from '../database.ts'
import { errorMessage, MessageReader } from './messages.ts'

/** A database whose one session speaks the Postgres protocol. */
export interface ProtocolSession extends Sql {
  /** Sends one message and returns the whole response. */
  exchange(message: Uint8Array): Promise<Uint8Array>
}

/** A client of the shared session. */
export interface ClientConnection {
  readonly id: number
  /** Settings of the session, kept while others have it. */
  settings: ReadonlyMap<string, string>
  send(bytes: Uint8Array): void
  disconnect(message: Buffer): void
}

/** Lets many clients take turns on one session. */
export type SessionMultiplexer = ReturnType<typeof multiplexSession>

/** How long an open transaction may be idle while others wait, in ms. */
const IDLE_TIMEOUT = 30_000

export class Cancelled extends Error {}

interface Turn {
  readonly client: ClientConnection
  begin(): void
  cancel(): void
}

/**
 * One client has the session from the first message of a statement until its response is complete and no transaction is
 * open. The client that waits longest is next, with its own settings.
 */
export function multiplexSession(engine: ProtocolSession, clock: Clock) {
  const waiting: Turn[] = []
  let owner: ClientConnection | undefined
  let last: ClientConnection | undefined
  let idle = new AbortController()

  async function enter(client: ClientConnection): Promise<void> {
    if (owner === client) return
    if (owner) {
      startIdleTimer()
      await new Promise<void>((begin, refuse) => {
        waiting.push({ client, begin, cancel: () => refuse(new Cancelled('cancelled before its turn came')) })
      })
    }
    owner = client
    if (last !== client) await swapSettings(last, client)
    last = client
  }

  /** Saves the settings of one client and restores those of the next. */
  async function swapSettings(from: ClientConnection | undefined, to: ClientConnection): Promise<void> {
    if (from) from.settings = await settingsOf(engine)
    await engine.query('reset all')
    for (const [name, value] of to.settings) {
      await engine.query('select set_config($1, $2, false)', [name, value]).catch(() => {})
    }
  }

  function next(): void {
    idle.abort()
    owner = undefined
    const turn = waiting.shift()
    // From now on, so that no client comes in between.
    owner = turn?.client
    turn?.begin()
  }

  /** Disconnects a client whose transaction stays idle while others wait. */
  function startIdleTimer(): void {
    const client = owner
    if (!client || !idle.signal.aborted) return
    idle = new AbortController()
    clock.sleep(IDLE_TIMEOUT, idle.signal).then(
      () => {
        if (owner === client && waiting.length > 0) {
          const why = 'the transaction was idle while others waited: all share one session of the embedded database'
          client.disconnect(errorMessage('FATAL', '25P03', why))
        }
      },
      () => {},
    )
  }
  idle.abort()

  /**
   * Passes a message to the session when it is this client's turn, and sends the response.
   * @throws Cancelled when `cancel` came before
   */
  async function pass(client: ClientConnection, message: Buffer): Promise<void> {
    await enter(client)
    idle.abort()
    const response = await engine.exchange(message)
    client.send(response)
    if (stateAfter(response) === 'I') next()
    else if (waiting.length > 0) startIdleTimer()
  }

  return {
    pass,
    /** Cancels the waiting statement of a client. A running one cannot be cancelled: it blocks the process. */
    cancel(client: ClientConnection): void {
      const at = waiting.findIndex((turn) => turn.client === client)
      if (at >= 0) waiting.splice(at, 1)[0]?.cancel()
    },
    /** Drops what waits, and rolls back what is open. */
    async leave(client: ClientConnection): Promise<void> {
      for (let at = waiting.length - 1; at >= 0; at--) if (waiting[at]?.client === client) waiting.splice(at, 1)
      if (owner === client) {
        // Sync ends a statement of which not everything came.
        await engine.exchange(Buffer.from([0x53, 0, 0, 0, 4]))
        await engine.query('rollback')
        next()
      }
      if (last === client) last = undefined
    },
  }
}

/** The transaction state when the session waits for the next statement: `I` none, `T` open, `E` failed. */
function stateAfter(response: Uint8Array): string | undefined {
  const reader = new MessageReader()
  reader.push(response)
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
