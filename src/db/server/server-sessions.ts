import type { Socket } from 'node:net'
import postgres from 'postgres'
import type { Host, ServerTarget } from '../../base/connection-string.ts'
import { codeOf, FatalError, RetryableError, UsageError } from '../../base/errors.ts'
import { isConnectionLoss, sqlState, toAppError } from '../sql-errors.ts'
import { type Encryption, findPassword, openSocket } from './server-socket.ts'

/** One connection of the pool. */
export interface Session {
  readonly client: postgres.Sql
  /** The connection is gone or cannot be trusted; the pool throws it away. */
  lost: boolean
  /** What the server said before it ended the connection. */
  farewell?: Error
  /** What is in flight on the connection. */
  readonly work: ReturnType<typeof underway>
  readonly facts: Facts
  /** Ends the connection at once, whatever is in flight. */
  destroy(): void
}

/** What the server says of itself when a session begins. */
interface Facts {
  readonly version: string
  readonly encoding?: string
  readonly standby?: boolean
  readonly readOnly?: boolean
  /** Of the server process that the first statement ran in. */
  readonly pid?: number
  /** Of the one that the server named when the connection began. A pooler gives a number of its own. */
  readonly announcedPid?: number
}

/**
 * Settings of a session that change what values look like or what statements mean; a database, a role or a pooler may have
 * others. A pooler may refuse them at the start of a connection, so they are a statement.
 */
const SETTINGS: Readonly<Record<string, string>> = {
  TimeZone: 'UTC',
  DateStyle: 'ISO, YMD',
  IntervalStyle: 'postgres',
  bytea_output: 'hex',
  extra_float_digits: '1',
  xmlbinary: 'base64',
  lc_numeric: 'C',
  lc_monetary: 'C',
  lc_time: 'C',
  search_path: 'public',
  standard_conforming_strings: 'on',
  array_nulls: 'on',
  transform_null_equals: 'off',
  quote_all_identifiers: 'off',
  default_transaction_isolation: 'read committed',
  default_transaction_deferrable: 'off',
  // The server notices within two minutes that a machine is gone, and lets go its locks.
  tcp_keepalives_idle: '60',
  tcp_keepalives_interval: '15',
  tcp_keepalives_count: '4',
}

const BEGIN = `select current_setting('server_version') as version, current_setting('server_encoding') as encoding,
  pg_is_in_recovery() as standby, current_setting('transaction_read_only') = 'on' as "readOnly", pg_backend_pid() as pid,
  ${Object.entries(SETTINGS).map(([name, value]) => `set_config('${name}', '${value}', false)`)}`

interface SessionOptions {
  readonly target: ServerTarget
  readonly applicationName: string
  readonly types: NonNullable<postgres.Options<Record<string, postgres.PostgresType>>['types']>
  /** How long a server may take to accept a connection, ms. */
  readonly connectMs: number
}

/**
 * Opens a connection to the first host that accepts one and is of the kind that is asked for, and sets it up.
 * @throws app errors
 */
export async function openSession(options: SessionOptions): Promise<Session> {
  const { target } = options
  const { hosts, sessionAttrs, ssl } = target
  const first: Encryption =
    ({ disable: 'never', allow: 'never', prefer: 'offered' }[ssl.mode as string] as Encryption) ?? 'required'
  let failure: unknown
  // The second round accepts a primary, when there was no standby.
  for (const attrs of sessionAttrs === 'prefer-standby' ? (['standby', 'any'] as const) : [sessionAttrs])
    for (const host of hosts) {
      try {
        const session = await openAllowed(options, host, first)
        if (isOfKind(session.facts, attrs)) return session
        session.destroy()
        failure ??= new RetryableError(`database ${target.place} is not ${attrs}, which target_session_attrs demands`, {
          context: { place: target.place },
        })
      } catch (error) {
        // libpq goes on to the next host unless one refuses the user.
        if (!(error instanceof RetryableError)) throw error
        failure = error
      }
    }
  throw failure
}

/** As libpq: with `prefer` and `allow`, a server that wants it the other way round is asked again. */
async function openAllowed(options: SessionOptions, host: Host, encryption: Encryption): Promise<Session> {
  const { mode } = options.target.ssl
  try {
    return await openOn(options, host, encryption)
  } catch (error) {
    if (sqlState(error) !== '28000' || (mode !== 'prefer' && mode !== 'allow')) throw error
    return await openOn(options, host, mode === 'prefer' ? 'never' : 'required').catch(() => {
      throw error
    })
  }
}

async function openOn(options: SessionOptions, host: Host, encryption: Encryption): Promise<Session> {
  const { target, connectMs } = options
  const limitMs = target.connectSeconds === undefined ? connectMs : target.connectSeconds * 1000
  const sockets = new Set<Socket>()
  const found = await findPassword(target, host)
  let hasBegun = false
  const socket = async () => {
    // postgres.js connects again by itself, also in an endless loop while a server ends each connection at its start.
    if (session.lost) throw closed()
    const isMain = !hasBegun
    hasBegun = true
    const own = (one: Socket) => void sockets.add(one.once('close', () => sockets.delete(one)))
    const opened = await openSocket({ host, encryption, target, limitMs, own })
    if (isMain) watch(session, opened)
    return opened
  }
  const client = postgres({
    max: 1,
    types: options.types,
    fetch_types: false,
    socket,
    user: target.user,
    database: target.database,
    pass: () => found.password,
    ssl: false,
    connect_timeout: limitMs / 1000,
    // By default connections end after about 45 minutes, and session locks with them.
    max_lifetime: null,
    onnotice: (notice: { code?: string; message?: string }) => {
      // A crash of another process of the server is announced by a warning.
      if (notice.code === '57P02') session.farewell = farewellOf(notice.code, String(notice.message))
    },
    connection: {
      application_name: target.applicationName ?? options.applicationName,
      ...(target.options !== undefined && { options: target.options }),
    },
  } as object)
  const session: Session & { facts: Facts } = {
    lost: false,
    work: underway(),
    client,
    facts: { version: '' },
    destroy: () => {
      session.lost = true
      for (const one of sockets) one.destroy()
      void client.end({ timeout: 0 })
    },
  }
  try {
    const result = await session.work.use(async () => client.unsafe(BEGIN))
    const announcedPid = (result as unknown as { state?: { pid?: number | null } }).state?.pid ?? undefined
    session.facts = { ...(result[0] as unknown as Facts), ...(announcedPid !== undefined && { announcedPid }) }
    return session
  } catch (error) {
    session.destroy()
    throw withPasswordProblem(toAppError(lossReason(session, error), target.place), found.problem)
  }
}

/** Notices the end of a connection before postgres.js does, and keeps what the server says last. */
function watch(session: Session, socket: Socket): void {
  const lose = () => {
    session.lost = true
    session.work.cut()
  }
  socket.prependListener('error', lose)
  socket.once('close', lose)
  // postgres.js drops an error that answers no statement, and one that no further message follows. It is the last message,
  // and a text of the database holds no zero.
  socket.on('data', (bytes: Buffer) => {
    const at = bytes.length > FAREWELL_BYTES ? bytes.length - FAREWELL_BYTES : 0
    const last = bytes.subarray(at).toString('latin1')
    const [, code, rest = ''] = /[SV](?:FATAL|PANIC)\0C(\w{5})\0M([^\0]+)\0/s.exec(last) ?? []
    if (code !== undefined) session.farewell = farewellOf(code, Buffer.from(rest, 'latin1').toString())
  })
}

const FAREWELL_BYTES = 4096

function farewellOf(code: string, message: string): Error {
  return Object.assign(new Error(message), { code, severity: 'FATAL' })
}

function closed(): Error {
  return Object.assign(new Error('the connection was cut'), { code: 'CONNECTION_CLOSED' })
}

/** The reason that the server gave, in place of an error that says no more than that the connection is gone. */
export function lossReason({ farewell }: Pick<Session, 'farewell'>, error: unknown): unknown {
  return farewell !== undefined && isConnectionLoss(error) ? farewell : error
}

function withPasswordProblem(error: unknown, problem: string | undefined): unknown {
  if (problem === undefined || !(error instanceof FatalError) || sqlState(error) !== '28P01') return error
  return new FatalError(`${error.message}; ${problem}`, { context: error.context })
}

function isOfKind({ standby = false, readOnly = false }: Facts, attrs: ServerTarget['sessionAttrs']): boolean {
  if (attrs === 'read-write') return !standby && !readOnly
  if (attrs === 'read-only') return standby || readOnly
  if (attrs === 'primary') return !standby
  return attrs !== 'standby' || standby
}

/**
 * A pool of postgres.js clients with one connection each, opened when they are first needed. postgres.js has a pool of its
 * own, but does not report which connection was cut: the next statement of a transaction on it is then written to a socket
 * that is gone, and the exception of that ends the process. Here `lost` can be checked first.
 */
export function sessionPool(open: () => Promise<Session>, size: number) {
  const all = new Set<Session>()
  const idle: Session[] = []
  const waiting: ((session: Promise<Session>) => void)[] = []
  let opening = 0
  let isClosed = false

  async function create(): Promise<Session> {
    opening++
    try {
      const session = await open()
      all.add(session)
      if (isClosed) discard(session)
      return session
    } catch (error) {
      // The next one may have more luck.
      waiting.shift()?.(create())
      throw error
    } finally {
      opening--
    }
  }

  function discard(session: Session): void {
    all.delete(session)
    session.destroy()
  }

  async function take(): Promise<Session> {
    for (let session = idle.pop(); session; session = idle.pop()) {
      if (!session.lost) return session
      discard(session)
    }
    return all.size + opening < size ? await create() : await new Promise<Session>((resolve) => waiting.push(resolve))
  }

  function giveBack(session: Session): void {
    if (session.lost) discard(session)
    const next = waiting.shift()
    if (next) next(session.lost ? create() : Promise.resolve(session))
    else if (!session.lost) idle.push(session)
  }

  return {
    /** Lends a session to `work`, after waiting for a free one. */
    async use<T>(work: (session: Session) => Promise<T>): Promise<T> {
      const session = await take()
      try {
        return await session.work.use(() => work(session))
      } catch (error) {
        throw lossReason(session, error)
      } finally {
        giveBack(session)
      }
    },
    /** Ends all of them; statements that run have `seconds` to finish. */
    async close(seconds: number): Promise<void> {
      isClosed = true
      await Promise.all([...all].map((session) => endSession(session, seconds)))
    },
  }
}

/** Ends a session when its statement is done, at the latest after some seconds. Nothing of it stays, whatever its peer does. */
export async function endSession(session: Session, seconds: number): Promise<void> {
  if (!session.lost) await session.client.end({ timeout: seconds })
  session.destroy()
}

/**
 * Refuses a pooler that gives each transaction another session: what a session has set would be lost or reach others, and
 * a lock that it holds proves nothing. One that gives each connection a session of its own is fine.
 */
export async function refuseTransactionPooling(pool: ReturnType<typeof sessionPool>, place: string): Promise<void> {
  const pidOf = async ({ client }: Session, before = '') =>
    lastRow(await client.unsafe(`${before}select pg_backend_pid() as pid`))
  const isShared = await pool.use(async (mine) => {
    // The number that a server names when a connection begins is that of its process, unless a pooler is in between.
    const { pid, announcedPid } = mine.facts
    if (pid === undefined || announcedPid === undefined || pid === announcedPid) return false
    for (let round = 0; round < POOLER_ROUNDS; round++) {
      const first = await pidOf(mine)
      const other = pool.use(async (another) => {
        const late = setTimeout(() => another.destroy(), POOLER_WAIT_MS)
        try {
          // Open while this connection asks again: that one cannot use its process.
          const theirs = await pidOf(another, 'begin;')
          const again = theirs === first ? theirs : await pidOf(mine)
          await another.client.unsafe('rollback')
          return theirs === first || again !== first
        } finally {
          clearTimeout(late)
        }
      })
      // A pool of one session for each connection has none left to give.
      if (await other.catch(isPoolingError)) return true
    }
    return false
  })
  if (isShared) throw transactionPooling(place)
}

/** How often two connections are compared: two that a pooler lends out in turn may look like their own for once. */
const POOLER_ROUNDS = 4
const POOLER_WAIT_MS = 5000

export function transactionPooling(place: string): UsageError {
  return new UsageError(
    `database ${place} is behind a pooler that gives each transaction another session (transaction pooling); wynnsync needs its own: use the URL of the server itself, or of a pooler in session mode (PgBouncer: pool_mode=session; Neon: the host without "-pooler"; Supabase: port 5432)`,
    { context: { place } },
  )
}

/** A pooler of single statements refuses transactions. */
function isPoolingError(error: unknown): boolean {
  return codeOf(error) === '08P01' && /pooling/.test(String(error))
}

function lastRow(result: unknown): unknown {
  const sets = Array.isArray(result) ? result : []
  const rows: unknown = Array.isArray(sets.at(-1)) ? sets.at(-1) : sets
  return Array.isArray(rows) ? rows[0]?.pid : undefined
}

/**
 * Keeps work from outliving its connection. postgres.js forgets a statement that it is given between the error of a socket
 * and its end, such as the rollback of a transaction that just failed: no response would ever come.
 */
function underway() {
  const failing = new Set<(reason: Error) => void>()
  return {
    /** Runs work; it fails at the latest when the connection ends. */
    async use<T>(work: () => Promise<T>): Promise<T> {
      let fail: (reason: Error) => void = () => undefined
      const cut = new Promise<never>((_, reject) => {
        fail = reject
      })
      failing.add(fail)
      try {
        return await Promise.race([work(), cut])
      } finally {
        failing.delete(fail)
      }
    },
    cut(): void {
      // After postgres.js' own error, which has the reason.
      setImmediate(() => {
        for (const fail of failing) fail(closed())
      })
    },
  }
}
