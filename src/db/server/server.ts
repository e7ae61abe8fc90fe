import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { systemClock } from '../../base/clock.ts'
import { readConnection, type Variables } from '../../base/connection-string.ts'
import { FatalError, RetryableError, UsageError } from '../../base/errors.ts'
import { arrayColumns, CSV, copyStatement } from '../bulk/copy-columns.ts'
import { copyText } from '../bulk/copy-text.ts'
import { readers, toText } from '../bulk/values.ts'
import type { Database, Sql, SqlValue } from '../database.ts'
import { sessionLocks } from '../locks/server-locks.ts'
import { swallowedStatementError, toAppError } from '../sql-errors.ts'
import { lossReason, openSession, refuseTransactionPooling, type Session, sessionPool } from './server-sessions.ts'

/** Connections for queries and transactions. One more opens with the first lock. */
const POOL_SESSIONS = 3

/** The oldest server that has what the schema needs: `unique nulls not distinct` came with 15. */
const OLDEST_VERSION = 15

/** How long statements that run may take to finish when the database is closed, in seconds. */
const CLOSE_SECONDS = 5

interface ServerOptions {
  readonly applicationName?: string
  /** Cancels the statements that run when it is aborted, and refuses further ones, with its reason. */
  readonly signal?: AbortSignal | undefined
  /** How long the server may take to accept a connection, ms. */
  readonly connectMs?: number | undefined
  /** `PGHOST`, `PGPASSFILE` and so on, for what the URL leaves out. */
  readonly variables?: Variables | undefined
}

/**
 * Opens a PostgreSQL server, and checks that it responds, is new enough, holds UTF-8 and gives each connection a session
 * of its own. Sessions run in UTC.
 *
 * @param url what libpq reads: postgres://user:password@host:port/database, or `host=... dbname=...`
 * @throws UsageError when `url` is none, or the database cannot be used as it is; RetryableError when the server is away,
 * starting up or full; FatalError when it refuses user, password or database, or is older than PostgreSQL 15. No message
 * holds the password.
 */
export async function openServer(url: string, options: ServerOptions = {}): Promise<Database> {
  const target = targetOf(url, options.variables)
  const { place } = target
  const { signal, applicationName = 'wynnsync', connectMs = 10_000 } = options
  const open = () => openSession({ target, applicationName, connectMs, types: TYPES })
  const sessions = sessionPool(open, POOL_SESSIONS)
  const locks = sessionLocks(open, place)
  const onAnySession: OnSession = (work) => withAppErrors(place, () => sessions.use(work), signal)

  const database: Database = {
    kind: 'server',
    place,
    ...statements(onAnySession, place, signal),
    transaction: (work) => onAnySession((session) => inTransaction(session, place, work, signal)),
    tryLock: (name) => withAppErrors(place, () => locks.tryLock(name)),
    close: async () => {
      await Promise.all([locks.close(), sessions.close(CLOSE_SECONDS)])
    },
  }
  try {
    await onAnySession(async ({ facts }) => refuseUnfit(facts, place))
    await withAppErrors(place, () => refuseTransactionPooling(sessions, place), signal)
  } catch (error) {
    await database.close()
    throw error
  }
  return database
}

function targetOf(url: string, variables: Variables | undefined) {
  try {
    return readConnection(url, variables)
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(`the database URL ${error.message}`) : error
  }
}

/** Runs work on a session: any free one, or the one of a transaction. Rejects with app errors. */
type OnSession = <T>(work: (session: Session) => Promise<T>) => Promise<T>

async function inTransaction<T>(
  session: Session,
  place: string,
  work: (sql: Sql) => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  let hasEnded = false
  const onThis: OnSession = (statement) =>
    withAppErrors(
      place,
      async () => {
        if (hasEnded) throw new FatalError('the transaction has ended; its `sql` must not be used any more')
        if (session.lost)
          throw session.farewell ?? new RetryableError(`database ${place} cannot be reached: the connection was cut`)
        return await statement(session).catch((error: unknown) => {
          throw lossReason(session, error)
        })
      },
      signal,
    )
  await session.client.unsafe('begin')
  try {
    const result = await work(statements(onThis, place, signal))
    const { command } = await onThis(({ client }) => client.unsafe('commit'))
    // Postgres takes the commit of a transaction in which a statement failed, and rolls back.
    if (command === 'ROLLBACK') throw swallowedStatementError()
    return result
  } catch (error) {
    hasEnded = true
    // An aborted caller closes the connection, which rolls back too.
    if (!session.lost && !signal?.aborted) await session.client.unsafe('rollback').catch(() => {})
    throw error
  } finally {
    hasEnded = true
  }
}

function statements(onSession: OnSession, place: string, signal?: AbortSignal): Sql {
  const run = ({ client }: Session, text: string, params: readonly SqlValue[]) =>
    // Type 0 leaves the choice to the server, as the embedded database does; postgres.js would guess from the value.
    client.unsafe(
      text,
      params.map((value) => client.typed(value, 0)),
    )
  return {
    query: (text, params = []) =>
      onSession(async (session) => lastOf(await cancelled(run(session, text, params), signal))),
    values: (text, params = []) =>
      onSession(async (session) => lastOf(await cancelled(run(session, text, params).values(), signal))),
    copy: async (table, columns, rows) => {
      const arrays = await arrayColumns(statements(onSession, place, signal), table, place)
      let count = 0
      const texts = function* () {
        for (const chunk of copyText(columns, rows, arrays)) {
          count += chunk.rows
          yield chunk.text
        }
      }
      const source = () => Readable.from(buffers(texts()), { highWaterMark: 1 })
      await onSession((session) => copyIn(session, copyStatement(table, columns, 'stdin'), source()))
      return count
    },
    copyCsv: (table, columns, path) =>
      onSession((session) =>
        copyIn(
          session,
          `${copyStatement(table, columns, 'stdin')} ${CSV}`,
          createReadStream(path, { highWaterMark: PIECE_BYTES }),
        ),
      ),
    copyOut: (statement, onLines) => onSession((session) => copyOut(session, statement, onLines)),
  }
}

/**
 * Text without parameters may hold several statements; postgres.js then gives a list of results. After a statement that failed
 * behind its first rows, it puts the rows of the next one behind as many places that stay empty (3.4.9: its counter begins again only
 * when a statement is complete).
 */
function lastOf<Row>(result: object): Row[] {
  const rows: unknown = 'command' in result || !Array.isArray(result) ? result : result.at(-1)
  if (!Array.isArray(rows)) return []
  // `filter` leaves out places that are empty.
  return rows.length > 0 && !(0 in rows) ? rows.filter(() => true) : Array.from<Row>(rows)
}

/** How long a server may take to cancel a statement, ms. */
const CANCEL_TIMEOUT_MS = 2000

/** A statement that the server stops when the signal is aborted: closing the connection alone would let it run on. */
async function cancelled<T>(pending: PromiseLike<T> & { cancel(): void }, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return await pending
  const done = new AbortController()
  const late = new Promise<never>((_, reject) => {
    const cancel = async () => {
      pending.cancel()
      await systemClock.sleep(CANCEL_TIMEOUT_MS, done.signal).then(
        () => reject(signal.reason),
        () => undefined,
      )
    }
    signal.addEventListener('abort', () => void cancel(), { once: true, signal: done.signal })
  })
  return await Promise.race([pending, late]).finally(() => done.abort())
}

async function withAppErrors<T>(place: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  try {
    signal?.throwIfAborted()
    return await work()
  } catch (error) {
    // A cancelled statement fails with the reason of the signal.
    if (signal?.aborted) throw signal.reason
    throw toAppError(error, place)
  }
}

const TYPES = Object.fromEntries(
  [...readers].map(([oid, parse]) => [
    `oid${oid}`,
    { to: oid, from: [oid], parse, serialize: (value: Exclude<SqlValue, null>) => toText(value, oid) },
  ]),
)

function refuseUnfit({ version, encoding = 'UTF8' }: Session['facts'], place: string): void {
  if (!(Number.parseInt(version, 10) >= OLDEST_VERSION))
    throw new FatalError(`database ${place} is PostgreSQL ${version}; wynnsync needs ${OLDEST_VERSION} or newer`, {
      context: { place, version },
    })
  if (encoding !== 'UTF8')
    throw new UsageError(
      `database ${place} stores text as ${encoding}, which cannot hold every name; wynnsync needs UTF8: createdb --encoding=UTF8 --template=template0 NAME, and use that one`,
      { context: { place, encoding } },
    )
}

/**
 * Runs `copy ... from stdin` on a session, at the server's pace: the next chunk is read when the socket took the
 * last one. Rejects with the server's error, or with the one of `source`.
 */
async function copyIn(session: Session, statement: string, source: Readable): Promise<void> {
  const pending = session.client.unsafe(statement)
  const target = await pending.writable()
  // Once it has handed out the stream, postgres.js drops the error of a COPY that fails at its very end (a constraint,
  // most often) into a promise that is resolved already, and the stream would wait for ever.
  onRejection(pending, (error) => target.destroy(error instanceof Error ? error : new Error(String(error))))
  try {
    await pipeline(source, target)
  } catch (error) {
    // The client may still hold pieces of the broken stream.
    session.lost = true
    throw error
  }
}

/** How much of a COPY is passed on at once, in bytes. */
const PIECE_BYTES = 256 * 1024

/** Runs `copy ... to stdout` on a session, at the pace of `onLines`. Rejects with the server's error, or with the one of `onLines`. */
async function copyOut(session: Session, statement: string, onLines: (lines: Buffer) => Promise<void>): Promise<void> {
  const pending = session.client.unsafe(statement)
  const source = await pending.readable()
  onRejection(pending, (error) => source.destroy(error instanceof Error ? error : new Error(String(error))))
  try {
    let lines: Buffer[] = []
    let length = 0
    for await (const line of source) {
      lines.push(line)
      length += line.length
      if (length < PIECE_BYTES) continue
      await onLines(Buffer.concat(lines))
      lines = []
      length = 0
    }
    // postgres.js pauses the socket for what was not read yet, and does not resume it when that was the end.
    source._read(0)
    await onLines(Buffer.concat(lines))
  } catch (error) {
    // The server may go on to send lines.
    session.lost = true
    throw error
  }
}

function* buffers(chunks: Iterable<string>): Generator<Buffer> {
  for (const chunk of chunks) yield Buffer.from(chunk)
}

function onRejection(pending: object, listener: (error: unknown) => void): void {
  if (!('reject' in pending) || typeof pending.reject !== 'function')
    throw new FatalError('this version of postgres.js does not report a failed COPY')
  pending.reject = listener
}
