import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate as immediate } from 'node:timers/promises'
import { type PGlite, type Transaction, TransactionAbortedError } from '@electric-sql/pglite'
import type { Clock } from '../../app/clock.ts'
import { FatalError } from '../../app/errors.ts'
import { arrayColumns, copyStatement } from '../bulk/copy-columns.ts'
import { copyText } from '../bulk/copy-text.ts'
import { readers, toText } from '../bulk/values.ts'
import type { Database, Sql, SqlValue } from '../database.ts'
import type { ProtocolSession } from '../pgwire/session-multiplexer.ts'
import { swallowedStatementError, toAppError } from '../sql-errors.ts'
import { type DailyCopy, dailyCopies } from './embedded-copies.ts'
import type { Template } from './embedded-create.ts'
import { housekeeping } from './embedded-housekeeping.ts'
import { bindToReader, READ_ONLY } from './embedded-reader.ts'
import { openCluster } from './embedded-restore.ts'
import { lockFolder } from './folder-lock.ts'

/** How many statements outside transactions may run before the log is checked. */
const CHECK_LOG_EVERY = 500

/** How much of a COPY is passed on at once, in characters: PGlite reads from memory, not from a stream. */
const COPY_CHUNK = 256 * 1024

/** The embedded database, whose one session also speaks the Postgres protocol. */
export type EmbeddedDatabase = Database & ProtocolSession

export interface EmbeddedOptions {
  readonly clock: Clock
  /** How long to wait for another process that has the folder open, in milliseconds. Default 0. */
  readonly waitMs?: number
  /** What this process does (`sync items`), shown to a process that finds the folder in use. */
  readonly holds?: readonly string[]
  /**
   * Whether a commit waits for the disk, and copies are kept: the default. False for a database that is thrown away: it
   * survives a killed process, and no power cut.
   */
  readonly durable?: boolean
  /** Whether the session is the reader's for good: it reads what readers may, and writes nothing. */
  readonly readOnly?: boolean
  /** Called with what was lost when the database had to be restored from a copy, and why there is no new copy. */
  readonly report?: (message: string) => void
  /** What a new database is made from; without it, it is empty. */
  readonly template?: Template
}

/**
 * Opens the database in `<dataDir>/postgres`: PostgreSQL compiled to WebAssembly, in this process. The folder is
 * created (mode 0700) when it is missing, and locked against every other opener until `close`.
 *
 * All callers share one session: a statement waits for the end of a running transaction. Do not call the
 * database from inside `transaction`; use the `sql` given there.
 *
 * Neither a killed process nor a power cut loses what was committed. A cluster that is damaged all the same is restored
 * from the newest of its daily copies.
 *
 * @throws RetryableError when another process has the folder open
 * @throws FatalError when it is damaged and there is no copy
 */
export async function openEmbedded(dataDir: string, options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const { clock, durable = true, readOnly = false, report = () => {}, template } = options
  const unlock = await lockFolder(dataDir, options)
  try {
    const parameters = readOnly ? READ_ONLY : []
    const { engine, isFromTemplate } = await openCluster(dataDir, { clock, durable, report, template, parameters })
    if (readOnly) await bindToReader(engine)
    const copies =
      durable && !readOnly ? await dailyCopies(engine, dataDir, { clock, report, isFromTemplate }) : undefined
    return databaseOf(engine, dataDir, unlock, copies)
  } catch (error) {
    await unlock()
    throw toAppError(error, dataDir)
  }
}

/** What PGlite and its transactions have in common. */
type Session = Pick<Transaction, 'query' | 'exec'>

/** Runs work in one transaction: the one that is open, or one of its own. */
type Atomically = <T>(work: (session: Session) => Promise<T>) => Promise<T>

function databaseOf(
  engine: PGlite,
  dataDir: string,
  unlock: () => Promise<void>,
  copies?: DailyCopy,
): EmbeddedDatabase {
  const held = new Set<string>()
  const checkpointWhenIdle = housekeeping(engine, dataDir)
  const inside = new AsyncLocalStorage<{ open: boolean }>()

  async function transaction<T>(work: (session: Session) => Promise<T>): Promise<T> {
    refuseInside()
    const state = { open: true }
    try {
      return await engine.transaction((session) => inside.run(state, () => work(session)))
    } catch (error) {
      throw error instanceof TransactionAbortedError ? swallowedStatementError() : toAppError(error, dataDir)
    } finally {
      state.open = false
      await checkpointWhenIdle()
      await copies?.afterTransaction()
    }
  }

  /** The session is busy with the caller's own transaction: waiting for it would never end. */
  function refuseInside(): void {
    if (inside.getStore()?.open)
      throw new FatalError('the database was called from inside its own transaction; use the sql that it gave')
  }

  let statementsRun = 0
  async function single<T>(run: () => Promise<T>): Promise<T> {
    refuseInside()
    const result = await run()
    statementsRun++
    if (statementsRun % CHECK_LOG_EVERY === 0) await checkpointWhenIdle()
    return result
  }
  const session: Session = {
    query: (...statement) => single(() => engine.query(...statement)),
    exec: (...statement) => single(() => engine.exec(...statement)),
  }

  return {
    kind: 'embedded',
    place: dataDir,
    ...statements(session, dataDir, transaction),
    transaction: (work) => transaction((open) => work(statements(open, dataDir, (more) => more(open)))),
    // The folder's lock keeps every other process out, so names must differ in this one only.
    tryLock: async (name) => {
      if (held.has(name)) return null
      const lock = { release: async () => void held.delete(name) }
      held.add(name)
      return lock
    },
    exchange: (message) =>
      engine.runExclusive(async () => {
        const parts: Uint8Array[] = []
        await engine.execProtocolRawStream(message, { onRawData: (bytes) => void parts.push(bytes.slice()) })
        return Buffer.concat(parts)
      }),
    close: async () => {
      try {
        if (engine.closed) return
        await copies?.finish()
        await engine.close()
      } finally {
        await unlock()
      }
    },
  }
}

const PARSERS = Object.fromEntries(readers)
const SERIALIZERS = Object.fromEntries(
  [...readers.keys()].map((oid) => [oid, (value: Exclude<SqlValue, null>) => toText(value, oid)]),
)

function statements(session: Session, dataDir: string, atomically: Atomically): Sql {
  async function run(text: string, params: readonly SqlValue[], rowMode: 'array' | 'object'): Promise<unknown[]> {
    const options = { rowMode, parsers: PARSERS, serializers: SERIALIZERS }
    try {
      // Text without parameters may hold several statements; the rows of the last one count.
      if (params.length === 0) return (await session.exec(text, options)).at(-1)?.rows ?? []
      return (await session.query(text, [...params], options)).rows
    } catch (error) {
      throw toAppError(error, dataDir)
    }
  }
  const sql: Sql = {
    query: async <Row>(text: string, params: readonly SqlValue[] = []) => (await run(text, params, 'object')) as Row[],
    values: async (text, params = []) => (await run(text, params, 'array')) as unknown[][],
    copy: (table, columns, rows) =>
      atomically(async (open) => {
        const statement = copyStatement(table, columns, `'/dev/blob'`)
        const arrays = await arrayColumns(statements(open, dataDir, atomically), table, dataDir)
        let count = 0
        for (const chunk of copyText(columns, rows, arrays, COPY_CHUNK)) {
          await open.query(statement, [], { blob: new Blob([chunk.text]) }).catch((error) => {
            throw toAppError(error, dataDir)
          })
          count += chunk.rows
          // All of PGlite is one long microtask, in which no timer, signal or socket has its turn.
          await immediate()
        }
        return count
      }),
  }
  return sql
}
