import { AsyncLocalStorage } from 'node:async_hooks'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setImmediate as immediate } from 'node:timers/promises'
import { PGlite, type Transaction, TransactionAbortedError } from '@electric-sql/pglite'
import type { Clock } from '../../base/clock.ts'
import { FatalError, withRoom } from '../../base/errors.ts'
import { arrayColumns, CSV, copyStatement } from '../bulk/copy-columns.ts'
import { copyText } from '../bulk/copy-text.ts'
import { readers, toText } from '../bulk/values.ts'
import { type Database, isBeforeOthers, type Sql, type SqlValue } from '../database.ts'
import type { ProtocolSession, ProtocolTurn, TakeOptions } from '../pgwire/session-multiplexer.ts'
import { SYSTEM_ERROR, sqlState, swallowedStatementError, toAppError } from '../sql-errors.ts'
import { type DailyCopy, dailyCopies, openCluster, outdateCopies } from './embedded-copies.ts'
import type { Template } from './embedded-create.ts'
import { bindToReader, READ_ONLY } from './embedded-reader.ts'
import { SocketEngine } from './engine-socket.ts'
import { ThreadEngine } from './engine-thread.ts'
import { lockFolder } from './folder-lock.ts'
import { type Engine, exchange, RemoteEngine } from './remote-engine.ts'
import { questionTimeout, type Turn, type TurnOptions, type Turns, takeTurns } from './turns.ts'

/*
 * The work of a server's background processes: checkpoints, or the log grows for ever; analyze, or the planner has no
 * statistics; vacuum. How much was written since the last time is the difference of two log positions.
 */

const MEGABYTE = 1024 * 1024
const CHECKPOINT_EVERY_BYTES = 48 * MEGABYTE
/** And a fifth of what there was, so that a large database is analyzed less often. */
const ANALYZE_EVERY_BYTES = 4 * MEGABYTE
/** Over all processes that had the folder open: most of them write little and end. */
const VACUUM_EVERY_BYTES = 96 * MEGABYTE

/** Every table, system catalogs too; of partitioned ones also what is known of them as a whole. */
const TABLES = `select case relkind when 'p' then 'only ' else '' end || format('%I.%I', nspname, relname) as name
  from pg_class join pg_namespace n on n.oid = relnamespace
 where relkind in ('r', 'p') and relpersistence <> 't' order by pg_class.oid`

const markerOf = (dataDir: string) => join(dataDir, 'vacuumed')

/** A vacuum that was not done to its end is due again at once. */
async function forgetVacuum(dataDir: string): Promise<void> {
  await writeFile(markerOf(dataDir), '0', { mode: 0o600 }).catch(() => undefined)
}

/**
 * Returns the function to call after each transaction; mostly nothing is due. It returns statements, each of one table: the whole
 * database takes seconds, for which no poll could wait.
 */
function housekeeping(engine: Engine, dataDir: string): () => Promise<readonly string[]> {
  const marker = markerOf(dataDir)
  let checkpointed: number | undefined
  let analyzed: number | undefined
  let vacuumed: number | undefined
  const ofTables = async (command: string) =>
    (await engine.query<{ name: string }>(TABLES)).rows.map(({ name }) => `${command} ${name}`)
  return async () => {
    try {
      const { rows } = await engine.query<{ written: number }>(
        `select (pg_current_wal_insert_lsn() - '0/0')::float8 as written`,
      )
      const written = rows[0]?.written ?? 0
      vacuumed ??= await readFile(marker, 'utf8').then(Number, async () => {
        await writeFile(marker, String(written), { mode: 0o600 })
        return written
      })
      checkpointed ??= written
      analyzed ??= written
      const due: string[] = []
      if (written - vacuumed > VACUUM_EVERY_BYTES) {
        due.push(...(await ofTables('vacuum (analyze)')))
        await writeFile(marker, String(written), { mode: 0o600 })
        vacuumed = analyzed = written
      } else if (written - analyzed > ANALYZE_EVERY_BYTES + analyzed / 5) {
        due.push(...(await ofTables('analyze')))
        analyzed = written
      }
      if (written - checkpointed > CHECKPOINT_EVERY_BYTES) {
        // At once: while others write on, the log would grow.
        await engine.exec('checkpoint')
        checkpointed = written
      }
      return due
    } catch {
      // What was committed is committed; the next statement that needs room reports a full disk.
      return []
    }
  }
}

/** How many statements outside transactions may run before the log is checked. */
const CHECK_LOG_EVERY_STATEMENTS = 500

/** How much of a COPY is passed on at once, in characters: PGlite reads from memory, not from a stream. */
const COPY_CHUNK_BYTES = 256 * 1024

/** The embedded database, whose one session also speaks the Postgres protocol. */
export interface EmbeddedDatabase extends Database, ProtocolSession {
  /** Aborted with the reason when Postgres failed in the middle of something: every later statement fails, until it is opened again. */
  readonly failure: AbortSignal
}

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
  /**
   * The compiled `engine-worker.ts`: Postgres runs in a thread of its own, so that this one goes on during a statement, and questions
   * end in time, and shows how far its work is. One that comes and goes, as a poll does, loads less without.
   */
  readonly thread?: URL | undefined
  /** Aborted when the process is to end: housekeeping and copies that are due then are left for the next one. */
  readonly ending?: AbortSignal | undefined
}

/**
 * Opens the database in `<dataDir>/postgres`: PostgreSQL compiled to WebAssembly, in this process. The folder is
 * created (mode 0700) when it is missing, and locked against every other opener until `close`.
 *
 * All callers share one session: a statement waits for the end of a running transaction, and a question for all others. Do not call the
 * database from inside `transaction`; use the `sql` given there.
 *
 * Neither a killed process nor a power cut loses what was committed. A cluster that is damaged all the same is restored
 * from the newest of its daily copies.
 *
 * @throws RetryableError when another process has the folder open
 * @throws FatalError when it is damaged and there is no copy
 */
export async function openEmbedded(dataDir: string, options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const { clock, durable = true, readOnly = false, report = () => {}, template, thread, ending } = options
  const unlock = await lockFolder(dataDir, options)
  try {
    const parameters = readOnly ? READ_ONLY : []
    const opening = { clock, durable, report, template, parameters, thread }
    const { engine, isFromTemplate } = await openCluster(dataDir, opening)
    if (readOnly && engine instanceof ThreadEngine) await engine.bind()
    if (readOnly && engine instanceof PGlite) await bindToReader(engine)
    const copies =
      durable && !readOnly ? await dailyCopies(engine, dataDir, { clock, report, isFromTemplate, ending }) : undefined
    return databaseOf(engine, dataDir, unlock, { copies, ending })
  } catch (error) {
    await unlock()
    throw toAppError(withRoom(error, dataDir), dataDir)
  }
}

/** What PGlite and its transactions have in common. */
type Session = Pick<Transaction, 'query' | 'exec'>

/** Runs work in one transaction: the one that is open, or one of its own. */
type Atomically = <T>(work: (session: Session) => Promise<T>) => Promise<T>

/** Turns that find the session as it was when it was opened, whatever the one before has changed. */
function restoringTurns(turns: Turns, direct: Sql) {
  let restore: TakeOptions['restore'] | undefined
  /** @param own restores what this user of the session changes */
  return async (options: TurnOptions = {}, own?: TakeOptions['restore']): Promise<Turn> => {
    const turn = await turns.begin(options)
    const back = restore
    restore = own
    if (back === undefined || back === own) return turn
    try {
      await back(direct)
      return turn
    } catch (error) {
      turn.end()
      throw error
    }
  }
}

/** Does what is due of housekeeping after the turn that saw it, each statement in a turn of its own: polls come in between. */
function housekeeper(engine: Engine, dataDir: string, begin: () => Promise<Turn>) {
  const due = engine instanceof SocketEngine ? async () => [] : housekeeping(engine, dataDir)
  const statements: string[] = []
  let doing: Promise<void> | undefined
  const run = async () => {
    for (let statement = statements.shift(); statement !== undefined; statement = statements.shift()) {
      const turn = await begin().catch(() => undefined)
      if (!turn) return
      // A table that is gone by now, or a full disk, which the next transaction reports.
      await engine.exec(statement).catch(() => undefined)
      turn.end()
    }
  }
  return {
    /** Called at the end of a turn. */
    async look(): Promise<void> {
      statements.push(...(await due()))
      if (statements.length === 0) return
      doing ??= run().finally(() => {
        doing = undefined
      })
    },
    done: async () => await doing,
    /** Leaves what is due, and the statement that runs, for the next process. */
    async leave(): Promise<void> {
      const left = statements.splice(0)
      if (doing && engine instanceof RemoteEngine) engine.interrupt()
      await doing
      if (left.length > 0) await forgetVacuum(dataDir)
    },
  }
}

/** Notices when Postgres fails in the middle of something. */
function watchedEngine() {
  const failing = new AbortController()
  const onEngine = async <T>(run: () => Promise<T>): Promise<T> => {
    try {
      return await run()
    } catch (error) {
      if (sqlState(error) === SYSTEM_ERROR) failing.abort(error)
      throw error
    }
  }
  return { onEngine, failure: failing.signal }
}

/** The one session, which all take turns on. */
function sharedSession(engine: Engine, dataDir: string, copies?: DailyCopy) {
  const house = housekeeper(engine, dataDir, () => begin())
  const inside = new AsyncLocalStorage<{ open: boolean }>()
  const interrupt = () => void (engine instanceof RemoteEngine && engine.interrupt())
  const direct = statements(engine, dataDir, (work) => engine.transaction(work))
  const begin = restoringTurns(takeTurns(interrupt), direct)
  const { onEngine, failure } = watchedEngine()

  async function atOnce<T>(work: (session: Session) => Promise<T>, turn: Turn): Promise<T> {
    const state = { open: true }
    const inTransaction = (session: Session) => inside.run(state, () => work(interruptible(session, turn)))
    try {
      return await onEngine(() => engine.transaction(inTransaction))
    } catch (error) {
      throw error instanceof TransactionAbortedError ? swallowedStatementError() : toAppError(error, dataDir)
    } finally {
      state.open = false
    }
  }

  async function transaction<T>(work: (session: Session) => Promise<T>): Promise<T> {
    refuseInside()
    const turn = await begin({ isUrgent: isBeforeOthers() })
    try {
      return await atOnce(work, turn)
    } finally {
      await house.look()
      await copies?.afterTransaction()
      turn.end()
    }
  }

  async function question<T>(work: (session: Session) => Promise<T>, options: TurnOptions): Promise<T> {
    refuseInside()
    for (;;) {
      const turn = await begin(options)
      try {
        return await atOnce(work, turn)
      } catch (error) {
        if (turn.stopped() === 'late') throw questionTimeout()
        if (turn.stopped() === undefined) throw error
      } finally {
        turn.end()
      }
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
    const turn = await begin({ isUrgent: isBeforeOthers() })
    try {
      const result = await onEngine(run)
      statementsRun++
      if (statementsRun % CHECK_LOG_EVERY_STATEMENTS === 0) await house.look()
      return result
    } finally {
      turn.end()
    }
  }
  const session: Session = {
    query: (...statement) => single(() => engine.query(...statement)),
    exec: (...statement) => single(() => engine.exec(...statement)),
  }

  async function take({ isWork, limitMs = Number.POSITIVE_INFINITY, ...options }: TakeOptions): Promise<ProtocolTurn> {
    const endsAt = isWork ? undefined : performance.now() + limitMs
    const turn = await begin({ ...options, endsAt }, options.restore)
    return {
      turn,
      sql: direct,
      interrupt,
      exchange: (message, blob) => onEngine(() => exchange(engine, message, blob)),
      end: async () => {
        if (isWork) {
          await house.look()
          await copies?.afterTransaction()
        }
        turn.end()
      },
    }
  }

  return { transaction, question, session, begin, take, house, failure }
}

/** The database of another process. */
export function databaseOn(engine: SocketEngine, dataDir: string): Database {
  return databaseOf(engine, dataDir, async () => {})
}

function databaseOf(
  engine: Engine,
  dataDir: string,
  unlock: () => Promise<void>,
  { copies, ending }: { readonly copies?: DailyCopy | undefined; readonly ending?: AbortSignal | undefined } = {},
): EmbeddedDatabase {
  // Given with each statement, PGlite would copy all of its own for each: a tenth of what a short one takes.
  Object.assign(engine.parsers, PARSERS)
  const held = new Set<string>()
  const { transaction, question, session, begin, take, house, failure } = sharedSession(engine, dataDir, copies)
  return {
    kind: 'embedded',
    place: dataDir,
    ...statements(session, dataDir, transaction),
    transaction: async (work, { limitMs, whileIdle } = {}) => {
      const run = (open: Session) => work(statements(open, dataDir, (more) => more(open)))
      if (limitMs === undefined && !whileIdle) return await transaction(run)
      if (whileIdle && engine instanceof SocketEngine) throw new FatalError('another process has the database')
      const endsAt = performance.now() + (limitMs ?? Number.POSITIVE_INFINITY)
      return await question(run, { endsAt, isIdle: whileIdle !== undefined, signal: whileIdle })
    },
    // Other processes take them through this one.
    tryLock: async (name) => {
      if (engine instanceof SocketEngine) return await engine.tryLock(name)
      if (held.has(name)) return null
      const lock = { release: async () => void held.delete(name) }
      held.add(name)
      return lock
    },
    outdateCopies: () => outdateCopies(dataDir),
    take,
    failure,
    close: async () => {
      await (ending?.aborted ? house.leave() : house.done())
      const turn = await begin().catch(() => undefined)
      try {
        if (engine.closed) return
        if (!failure.aborted) await copies?.finish()
        await engine.close()
      } finally {
        turn?.end()
        await unlock()
      }
    },
  }
}

/** The statements of a transaction, which a stopped turn interrupts. */
function interruptible(session: Session, turn: Turn): Session {
  let since = performance.now()
  const run = async <T>(statement: () => Promise<T>): Promise<T> => {
    const result = await turn.run(statement)
    if (performance.now() - since > BREATH_MS) {
      // All of PGlite in this thread is one long microtask, in which no timer, signal or socket has its turn.
      await immediate()
      since = performance.now()
    }
    return result
  }
  return {
    query: (...statement) => run(() => session.query(...statement)),
    exec: (...statement) => run(() => session.exec(...statement)),
  }
}

/** For how long a transaction has the thread for itself, ms. */
const BREATH_MS = 500

const PARSERS = Object.fromEntries(readers)
const SERIALIZERS = Object.fromEntries(
  [...readers.keys()].map((oid) => [oid, (value: Exclude<SqlValue, null>) => toText(value, oid)]),
)

function statements(session: Session, dataDir: string, atomically: Atomically): Sql {
  async function run(text: string, params: readonly SqlValue[], rowMode: 'array' | 'object'): Promise<unknown[]> {
    const options = { rowMode, serializers: SERIALIZERS }
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
        for (const chunk of copyText(columns, rows, arrays, COPY_CHUNK_BYTES)) {
          await open.query(statement, [], { blob: new Blob([chunk.text]) }).catch((error) => {
            throw toAppError(error, dataDir)
          })
          count += chunk.rows
          // All of PGlite is one long microtask, in which no timer, signal or socket has its turn.
          await immediate()
        }
        return count
      }),
    copyCsv: (table, columns, path) =>
      atomically(async (open) => {
        const statement = `${copyStatement(table, columns, `'/dev/blob'`)} ${CSV}`
        await open.query(statement, [], { blob: new Blob([await readFile(path)]) }).catch((error) => {
          throw toAppError(error, dataDir)
        })
        await immediate()
      }),
  }
  return sql
}
