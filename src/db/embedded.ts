import { AsyncLocalStorage } from 'node:async_hooks'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { PGlite, type Transaction, TransactionAbortedError } from '@electric-sql/pglite'
import type { Clock } from '../clock.ts'
import { FatalError } from '../errors.ts'
import { arrayColumns, copyStatement } from './copy-columns.ts'
import { copyText } from './copy-text.ts'
import type { Database, Sql, SqlValue } from './database.ts'
import { createCluster } from './embedded-create.ts'
import { housekeeping } from './embedded-housekeeping.ts'
import { lockFolder } from './folder-lock.ts'
import type { Engine } from './gate.ts'
import { asOurs, passedOver } from './sql-errors.ts'
import { readers, toText } from './values.ts'

/**
 * The whole configuration: PGlite writes it anew at each start. The defaults are for a server with memory of its own;
 * here the buffers live in this process.
 */
const CONFIGURATION = [
  'shared_buffers = 8MB',
  'wal_buffers = 512kB',
  'work_mem = 16MB',
  'maintenance_work_mem = 32MB',
  'min_wal_size = 8MB',
  'max_wal_size = 64MB',
  'wal_level = minimal',
  'max_wal_senders = 0',
  'jit = off',
  "timezone = 'UTC'",
  "datestyle = 'ISO, YMD'",
]

/** How many statements outside transactions may pass before the log is looked at. */
const CHECK_LOG_EVERY = 500

/** How much of a COPY is handed over at once, in characters: PGlite reads from memory, not from a stream. */
const COPY_CHUNK = 256 * 1024

/** The embedded database, whose one session also speaks the Postgres protocol. */
export type EmbeddedDatabase = Database & Engine

export interface EmbeddedOptions {
  readonly clock: Clock
  /** How long to wait for another process that has the folder open, in milliseconds. Default 0. */
  readonly waitMs?: number
  /** What this process is about to do, told to whoever finds the folder in use. */
  readonly holds?: readonly string[]
}

/**
 * Opens the database in `<dataDir>/postgres`: PostgreSQL compiled to WebAssembly, in this process. The folder is
 * created (mode 0700) when it is missing, and locked against every other opener until `close`.
 *
 * One session serves everybody: what is asked for while a transaction runs waits for its end. Do not call the
 * database from inside `transaction`; use the `sql` given there.
 *
 * A killed process loses nothing that was committed; a power failure may, since nothing here reaches fsync.
 *
 * @throws RetryableError when another process has the folder open
 */
export async function openEmbedded(dataDir: string, options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const unlock = await lockFolder(dataDir, options)
  const folder = join(dataDir, 'postgres')
  try {
    if (!existsSync(join(folder, 'PG_VERSION'))) await createCluster(folder)
    const engine = await PGlite.create({ dataDir: folder, postgresqlconf: CONFIGURATION })
    return over(engine, dataDir, unlock)
  } catch (error) {
    await unlock()
    throw asOurs(error, dataDir)
  }
}

/** What PGlite and its transactions have in common. */
type Session = Pick<Transaction, 'query' | 'exec'>

/** Runs work in one transaction: the one that is open, or one of its own. */
type Atomically = <T>(work: (session: Session) => Promise<T>) => Promise<T>

function over(engine: PGlite, dataDir: string, unlock: () => Promise<void>): EmbeddedDatabase {
  const held = new Set<string>()
  const settle = housekeeping(engine, dataDir)
  const inside = new AsyncLocalStorage<{ open: boolean }>()

  async function transaction<T>(work: (session: Session) => Promise<T>): Promise<T> {
    refuseInside()
    const state = { open: true }
    try {
      return await engine.transaction((session) => inside.run(state, () => work(session)))
    } catch (error) {
      throw error instanceof TransactionAbortedError ? passedOver() : asOurs(error, dataDir)
    } finally {
      state.open = false
      await settle()
    }
  }

  /** The session is busy with the caller's own transaction: waiting for it would be waiting for oneself. */
  function refuseInside(): void {
    if (inside.getStore()?.open)
      throw new FatalError('the database was called from inside its own transaction; use the sql that it gave')
  }

  let statementsRun = 0
  async function single<T>(run: () => Promise<T>): Promise<T> {
    refuseInside()
    const result = await run()
    statementsRun++
    if (statementsRun % CHECK_LOG_EVERY === 0) await settle()
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
    // The folder's lock keeps every other process out, so names need telling apart in this one only.
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
      if (!engine.closed) await engine.close()
      await unlock()
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
      throw asOurs(error, dataDir)
    }
  }
  const sql: Sql = {
    query: async <Row>(text: string, params: readonly SqlValue[] = []) => (await run(text, params, 'object')) as Row[],
    values: async (text, params = []) => (await run(text, params, 'array')) as unknown[][],
    copy: (table, columns, rows) =>
      atomically(async (open) => {
        const statement = copyStatement(table, columns, `'/dev/blob'`)
        const arrays = await arrayColumns(statements(open, dataDir, atomically), table)
        let count = 0
        for (const chunk of copyText(columns, rows, arrays, COPY_CHUNK)) {
          await open.query(statement, [], { blob: new Blob([chunk.text]) }).catch((error) => {
            throw asOurs(error, dataDir)
          })
          count += chunk.rows
        }
        return count
      }),
  }
  return sql
}
