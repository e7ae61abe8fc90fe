import type { Clock } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import type { Sql } from '../database.ts'
import { sqlState } from '../sql-errors.ts'
import { errorMessage, MessageReader } from './messages.ts'

/** A database whose one session speaks the Postgres protocol. */
export interface ProtocolSession extends Sql {
  /** Waits for the session. @throws when `signal` is aborted before */
  take(options: TakeOptions): Promise<ProtocolTurn>
}

export interface TakeOptions {
  /** Whether it writes, or only asks: then it comes after those that write. */
  readonly isWork: boolean
  /** Of work: comes before other work. */
  readonly isUrgent?: boolean | undefined
  /** Of a question: how long it runs although work waits for it, ms. */
  readonly patienceMs?: number | undefined
  /** Of a question: how long it may take with its waiting, ms. */
  readonly limitMs?: number | undefined
  /** Called when it is to end the turn, since its time is over or work waits for it. From then on its statements are interrupted. */
  readonly onStop: () => void
  /** Called when others begin to wait for its end. */
  readonly onWait: () => void
  readonly signal: AbortSignal
  /** Brings the session back to what it was, before others than the users of this function have it. */
  readonly restore: (sql: Sql) => Promise<void>
}

/** The session, until `end`. */
export interface ProtocolTurn {
  readonly turn: {
    /** Why its statements are interrupted; undefined: they are not. */
    stopped(): 'late' | 'preempted' | undefined
    /** Whether others wait for its end. */
    isAwaited(): boolean
    /** Runs a statement that may be interrupted. @throws the error of a stopped turn, also before it begins */
    run<T>(statement: () => Promise<T>): Promise<T>
  }
  readonly sql: Sql
  /** Sends one message and returns the whole response. @param blob what `/dev/blob` holds for it */
  exchange(message: Uint8Array, blob?: Uint8Array): Promise<Uint8Array>
  /** Cancels the statement that runs, where the database can. */
  interrupt(): void
  end(): Promise<void>
}

/** A client of the shared session. */
export interface ClientConnection {
  readonly id: number
  /** Whether its transactions come before questions. */
  isWork: boolean
  /** Whether what follows comes before other work. */
  isUrgent: boolean
  /** Of questions: how long they run although work waits, ms. */
  patienceMs: number | undefined
  /** Settings of the session, kept while others have it. */
  settings: ReadonlyMap<string, string>
  /** Whether it may have prepared statements with names, which the session keeps. */
  hasPrepared: boolean
  send(bytes: Uint8Array): void
  disconnect(message: Buffer): void
}

/** Lets many clients take turns on one session. */
export type SessionMultiplexer = ReturnType<typeof multiplexSession>

/** How long an open transaction may be idle while others wait, in ms. */
const IDLE_TIMEOUT_MS = 30_000

export class Cancelled extends Error {}

/** Of a question that was stopped; the one that work waited for may succeed when it is asked again. */
const STOPPED = {
  late: errorMessage('FATAL', '57014', 'the question took longer than it may'),
  preempted: errorMessage('FATAL', '40001', 'the question was ended, because a sync waited for it; ask again'),
}
const IDLE = errorMessage(
  'FATAL',
  '25P03',
  'the transaction was idle while others waited: all share one session of the embedded database',
)

/** What a client has while it has the session or waits for it. */
interface Place {
  readonly cancel: AbortController
  taken: ProtocolTurn | undefined
  isRunning: boolean
}

/**
 * One client has the session from the first message of a statement until its response is complete and no transaction is
 * open. The client that waits longest is next, with its own settings.
 * @param limitMs how long a question may take
 */
export function multiplexSession(session: ProtocolSession, clock: Clock, limitMs?: number) {
  const places = new Map<ClientConnection, Place>()
  /** Clients that left prepared statements behind. */
  const gone: ClientConnection[] = []
  let last: ClientConnection | undefined
  const idle = idleTimer(clock, (client) => {
    if (places.get(client)?.taken?.turn.isAwaited()) void drop(client, IDLE)
  })

  /** Saves the settings of the last client. */
  async function restore(sql: Sql): Promise<void> {
    if (last) last.settings = await settingsOf(sql)
    last = undefined
    await sql.query('reset all')
    await deallocate(sql, gone.splice(0))
  }

  /** Waits for the turn of a client, and gives it its settings. */
  async function enter(client: ClientConnection): Promise<Place> {
    const known = places.get(client)
    if (known) return known
    const place: Place = { cancel: new AbortController(), isRunning: false, taken: undefined }
    places.set(client, place)
    const onStop = () => {
      const stopped = place.taken?.turn.stopped()
      if (stopped && !place.isRunning) void drop(client, STOPPED[stopped])
    }
    const onWait = () => void (place.taken && !place.isRunning && idle.start(client))
    const { signal } = place.cancel
    const { isWork, isUrgent, patienceMs } = client
    try {
      place.taken = await session.take({ isWork, isUrgent, patienceMs, limitMs, restore, onStop, onWait, signal })
    } catch (error) {
      places.delete(client)
      throw signal.aborted || sqlState(error) === '57014' ? new Cancelled(messageOf(error)) : error
    }
    if (last === client) return place
    await restore(place.taken.sql)
    await applySettings(place.taken.sql, client)
    last = client
    return place
  }

  async function end(client: ClientConnection): Promise<void> {
    idle.stop()
    const taken = places.get(client)?.taken
    places.delete(client)
    await taken?.end()
  }

  /** Rolls back what is open, and disconnects. */
  async function drop(client: ClientConnection, message: Buffer): Promise<void> {
    const taken = places.get(client)?.taken
    if (!taken) return
    client.disconnect(message)
    await rollBack(taken).finally(() => end(client))
  }

  /**
   * Passes a message to the session when it is this client's turn, and sends the response.
   * @param blob what `/dev/blob` holds for it
   * @throws Cancelled when `cancel` came before, or its time was over
   */
  async function pass(client: ClientConnection, message: Buffer, blob?: Uint8Array): Promise<void> {
    const place = await enter(client)
    const { taken } = place
    idle.stop()
    if (!taken) return
    const response = await exchangeIn(place, taken, message, blob)
    const stopped = taken.turn.stopped()
    if (stopped) return await drop(client, STOPPED[stopped])
    if (stateAfter(response) === 'I') await end(client)
    else if (taken.turn.isAwaited()) idle.start(client)
    client.send(response)
  }

  return {
    pass,
    /** Cancels the statement of a client: one that waits, and one that runs where the database can. */
    cancel: (client: ClientConnection): void => cancelIn(places.get(client)),
    /** Drops what waits, and rolls back what is open. */
    async leave(client: ClientConnection): Promise<void> {
      const place = places.get(client)
      place?.cancel.abort()
      if (last === client) last = undefined
      if (client.hasPrepared) gone.push(client)
      if (place?.taken) await rollBack(place.taken).finally(() => end(client))
    },
  }
}

function cancelIn(place: Place | undefined): void {
  if (place?.taken && place.isRunning) place.taken.interrupt()
  else if (!place?.taken) place?.cancel.abort()
}

async function exchangeIn(
  place: Place,
  { turn, exchange }: ProtocolTurn,
  message: Buffer,
  blob?: Uint8Array,
): Promise<Uint8Array> {
  place.isRunning = true
  try {
    return await turn.run(() => exchange(message, blob))
  } finally {
    place.isRunning = false
  }
}

/** Tells which client has done nothing for long. */
function idleTimer(clock: Clock, expired: (client: ClientConnection) => void) {
  let over: AbortController | undefined
  return {
    start(client: ClientConnection): void {
      if (over) return
      over = new AbortController()
      clock.sleep(IDLE_TIMEOUT_MS, over.signal).then(
        () => expired(client),
        () => {},
      )
    },
    stop(): void {
      over?.abort()
      over = undefined
    },
  }
}

async function applySettings(sql: Sql, { settings }: ClientConnection): Promise<void> {
  for (const [name, value] of settings)
    await sql.query('select set_config($1, $2, false)', [name, value]).catch(() => {})
}

/** Removes the prepared statements of clients that have gone: the session, which all share, does not end. */
async function deallocate(sql: Sql, gone: readonly ClientConnection[]): Promise<void> {
  if (gone.length === 0) return
  const statements = await sql.query<{ text: string }>(
    `select format('deallocate %I', name) as text from pg_prepared_statements where split_part(name, ':', 1) = any ($1::text[])`,
    [gone.map(({ id }) => String(id))],
  )
  for (const { text } of statements) await sql.query(text)
}

async function rollBack({ exchange, sql }: ProtocolTurn): Promise<void> {
  // Sync ends a statement of which not everything came.
  await exchange(Buffer.from([0x53, 0, 0, 0, 4]))
  await sql.query('rollback')
}

/** The transaction state when the session waits for the next statement: `I` none, `T` open, `E` failed. */
function stateAfter(response: Uint8Array): string | undefined {
  const reader = new MessageReader(Number.POSITIVE_INFINITY)
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
