import { hash, randomUUID } from 'node:crypto'
import { existsSync, realpathSync } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as immediate } from 'node:timers/promises'
import type { Random } from '../../base/clock.ts'
import { RetryableError } from '../../base/errors.ts'
import { createFolder } from '../../base/private-folder.ts'
import type { Database, Lock, Sql } from '../database.ts'
import { serveSocket } from '../pgwire/pgwire-server.ts'
import { sqlState } from '../sql-errors.ts'
import { databaseOn, type EmbeddedDatabase, type EmbeddedOptions, openEmbedded } from './embedded.ts'
import { duplicateCluster, outdateCopies } from './embedded-copies.ts'
import { isUnanswered, SocketEngine } from './engine-socket.ts'
import { lockFolder, nameOf, readHolder } from './folder-lock.ts'

/*
 * Several processes with one data folder. One holds it: PGlite must never be opened by two. The holder answers the others on a socket, so
 * that they read and write through it; when it ends, the next one takes the folder. What was committed is on the disk by then; a
 * transaction that was open is rolled back, as on a server.
 */

/** How long a question of another process may take, ms. */
const QUESTION_TIMEOUT_MS = 60_000
/** How long its questions run at first although a sync waits, ms; twice as long each time that a sync ended one. */
const PATIENCE_MS = 1000
/** The longest of these times after which a question is asked of a copy, where it may be, ms. */
const COPIES_AFTER_MS = 4000
/** How often a waiting process looks again, ms. */
const LOOK_EVERY_MS = 100
/** How soon a process says that it waits for an answer of the holder, ms; one that needs the folder says it at once. */
const SAY_AFTER_MS = 500
/** How long the holder waits, when it ends, for a transaction of another process, ms; and when a signal ends it. */
const END_WITHIN_MS = 60_000
const STOP_WITHIN_MS = 3000
/** Bytes of the path of a socket, which is short on every system. */
const SOCKET_PATH_BYTES = 100

export interface SharedOptions extends EmbeddedOptions {
  /**
   * What is done while another process holds the folder: reading, or writing, too, through that process; or reading a copy of its files, which
   * takes room on the disk and is for what reads for longer than syncs may wait. Without it, the folder must be held.
   */
  readonly shares?: 'reads' | 'writes' | 'copy' | undefined
  /** Of what reads through that process: whether it goes on with such a copy where syncs leave a question no time. What it reads is of that instant then. */
  readonly mayCopy?: boolean | undefined
  /** For the keys of processes that connect while this one holds the folder; without it, none can. */
  readonly random?: Random | undefined
  /** Called with whom this process waits for; again when that is another one. */
  readonly onWait?: ((message: string) => void) | undefined
  /** Ends the first waiting, with its reason. What goes on later, when the holder ends, is not stopped: it may have to be written. */
  readonly stopWaiting?: AbortSignal | undefined
}

interface Open {
  readonly db: Database
  /** Whether this process holds the folder. */
  readonly isOwn: boolean
  isLost(): boolean
  /** Called once where this process holds the folder, and Postgres fails. */
  onFailure?(then: () => void): void
  /** Of a lost one: whether what it did not answer may have been done all the same. */
  isUncertain(): boolean
}

/**
 * Opens the database in `<dataDir>/postgres`, or connects to the process that has it open.
 * @throws RetryableError when another process has it open and does not answer for `waitMs`; and as `openEmbedded`
 */
export async function openShared(dataDir: string, options: SharedOptions): Promise<Database> {
  const opened = await reopening(dataDir, options)
  const { close, locks } = opened
  const reads = options.shares === 'reads'
  const use = repeating(opened, options)

  return {
    kind: 'embedded',
    place: dataDir,
    query: (...given) =>
      use(
        (db) => db.query(...given),
        (isUncertain) => reads || !isUncertain,
      ),
    values: (...given) =>
      use(
        (db) => db.values(...given),
        (isUncertain) => reads || !isUncertain,
      ),
    copy: (table, columns, rows) => {
      let hasBegun = false
      const begun = function* () {
        hasBegun = true
        yield* rows
      }
      return use(
        (db) => db.copy(table, columns, begun()),
        () => !hasBegun,
      )
    },
    copyCsv: (...given) =>
      use(
        (db) => db.copyCsv(...given),
        (isUncertain) => !isUncertain,
      ),
    transaction: (work, limits = {}) => {
      let hasBegun = false
      const begun = (sql: Sql) => {
        hasBegun = true
        return work(sql)
      }
      const mayRepeat = () => reads || limits.limitMs !== undefined || !hasBegun
      return use((db) => db.transaction(begun, limits), mayRepeat, reads && limits.limitMs === undefined)
    },
    tryLock: async (name) => {
      if (locks.has(name)) return null
      const lock = await use(
        (db) => db.tryLock(name),
        () => true,
      )
      if (!lock) return null
      locks.set(name, lock)
      const release = async () => {
        const held = locks.get(name)
        locks.delete(name)
        await held?.release()
      }
      return { release }
    },
    outdateCopies: () => outdateCopies(dataDir),
    close,
  }
}

type Reopening = Awaited<ReturnType<typeof reopening>>

/** Runs work; again where the connection was lost and nothing can have been written, and a question more patiently where a sync ended it. */
function repeating({ live, isClosed }: Pick<Reopening, 'live' | 'isClosed'>, options: SharedOptions) {
  return async function use<T>(
    work: (db: Database) => Promise<T>,
    mayRepeat: (isUncertain: boolean) => boolean,
    isPatient = options.shares === 'reads',
  ): Promise<T> {
    const until = options.clock.now() + QUESTION_TIMEOUT_MS
    for (let patienceMs = PATIENCE_MS; ; ) {
      const { db, isOwn, isLost, isUncertain } = await live(patienceMs)
      try {
        return await work(db)
      } catch (error) {
        // What made Postgres fail here would do so again.
        if (isOwn || !isLost() || isClosed() || !mayRepeat(isUncertain())) throw error
        const mayCopy = options.mayCopy && isPatient
        const wasPreempted = sqlState(error) === '40001'
        const isLate = sqlState(error) === '57014'
        if (isLate && !mayCopy) throw error
        if (wasPreempted && !mayCopy && options.clock.now() >= until) throw tooBusy()
        if (isLate) patienceMs = Number.POSITIVE_INFINITY
        else if (wasPreempted && isPatient) patienceMs *= 2
      }
    }
  }
}

/** The open database; another one, when the process that held it has ended, and the same one anew, when Postgres failed here. */
async function reopening(dataDir: string, given: SharedOptions) {
  const locks = new Map<string, Lock>()
  let said: string | undefined
  const onWait = (message: string) => {
    if (message !== said) given.onWait?.(message)
    said = message
  }
  const options = { ...given, onWait }
  let current = await acquire(dataDir, options)
  reopenOnFailure()
  let isClosed = false
  let opening: Promise<void> | undefined

  async function reopen(patienceMs?: number): Promise<void> {
    if (current.isOwn) await current.db.close().catch(() => undefined)
    const next = await acquire(dataDir, { ...options, stopWaiting: undefined }, patienceMs)
    // They went with the other process.
    for (const name of locks.keys()) {
      const lock = await next.db.tryLock(name)
      if (lock) locks.set(name, lock)
      else locks.delete(name)
    }
    current = next
    reopenOnFailure()
  }

  async function live(patienceMs?: number): Promise<Open> {
    if (isClosed || !current.isLost()) return current
    opening ??= reopen(patienceMs).finally(() => {
      opening = undefined
    })
    await opening
    return current
  }

  /** Others may wait for this process, which may have nothing to do for long. */
  function reopenOnFailure(): void {
    current.onFailure?.(() => void live().catch(() => undefined))
  }

  return {
    locks,
    isClosed: () => isClosed,
    live,
    close: async () => {
      isClosed = true
      await opening?.catch(() => undefined)
      await current.db.close()
    },
  }
}

/** Opens the database, or connects to the process that has it open, whichever is possible first. */
async function acquire(dataDir: string, options: SharedOptions, patienceMs?: number): Promise<Open> {
  const { clock, shares, mayCopy = false, waitMs = 0, onWait, stopWaiting } = options
  const isTooLong = mayCopy && patienceMs !== undefined && patienceMs > COPIES_AFTER_MS
  const began = clock.now()
  const sayAfter = shares ? Math.min(SAY_AFTER_MS, waitMs / 2) : 0
  let said: string | undefined
  for (;;) {
    try {
      const db = await openEmbedded(dataDir, { ...options, waitMs: 0 })
      await removeAbandoned(dataDir, clock)
      return {
        db: await served(db, dataDir, options),
        isOwn: true,
        isLost: () => db.failure.aborted,
        isUncertain: () => true,
        onFailure: (then) => db.failure.addEventListener('abort', then, { once: true }),
      }
    } catch (error) {
      if (!(error instanceof RetryableError)) throw error
      if (isTooLong)
        onWait?.('the question takes longer than syncs wait: it is asked of a copy of the database, as it is now')
      const connected =
        isTooLong || shares === 'copy'
          ? await openCopy(dataDir, options)
          : shares && (await connectTo(dataDir, { isWork: shares === 'writes', patienceMs, onWait }))
      if (connected) return connected
      const waited = clock.now() - began
      if (waited >= waitMs) throw error
      if (error.message !== said && waited >= sayAfter) {
        said = error.message
        const seconds = Math.round((waitMs - waited) / 1000)
        onWait?.(said.replace('; ', `: waiting for up to ${seconds} s until it ends; `))
      }
      await clock
        .sleep(Math.min(LOOK_EVERY_MS, waitMs - waited), stopWaiting)
        .catch(() => stopWaiting?.throwIfAborted())
    }
  }
}

/** Where copies lie that are read, each in a folder that its reader has locked. */
const copiesIn = (dataDir: string) => join(dataDir, 'reading')

/**
 * A copy of the database that another process holds: what reads for long would let syncs wait, or be ended by them. They wait while its files
 * are copied. It is gone when it is closed.
 */
async function openCopy(dataDir: string, options: SharedOptions): Promise<Open | undefined> {
  const path = socketPath(dataDir)
  if (path === undefined) return undefined
  await removeAbandoned(dataDir, options.clock)
  const folder = join(copiesIn(dataDir), randomUUID())
  const unlock = await lockFolder(folder, { clock: options.clock })
  const remove = async () => {
    await unlock()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    const engine = await SocketEngine.open(path, { isWork: true })
    await engine
      .transaction((session) => duplicateCluster(session, dataDir, join(folder, 'data', 'postgres')))
      .finally(() => engine.close())
    const db = await openEmbedded(join(folder, 'data'), { ...options, durable: false, waitMs: 0 })
    const close = () => db.close().finally(remove)
    return { db: { ...db, close }, isOwn: true, isLost: () => false, isUncertain: () => true }
  } catch (error) {
    await remove()
    // It has ended just now.
    if (isUnanswered(error) || error instanceof RetryableError) return undefined
    throw error
  }
}

/** How long a process may take to lock a new folder, and how long one reads at most, ms. */
const LOCKED_WITHIN_MS = 60_000
const READ_WITHIN_MS = 24 * 3_600_000

/** Removes the copies of processes that were killed; those of other machines, as of containers before, after a day. What cannot be removed stays. */
async function removeAbandoned(dataDir: string, clock: EmbeddedOptions['clock']): Promise<void> {
  for (const name of await readdir(copiesIn(dataDir)).catch(() => [])) {
    const folder = join(copiesIn(dataDir), name)
    const age = await stat(folder).then(
      ({ mtimeMs }) => clock.now() - mtimeMs,
      () => 0,
    )
    if (age < LOCKED_WITHIN_MS) continue
    const isRead = age < READ_WITHIN_MS && (await readHolder(folder).catch(() => null)) !== null
    if (!isRead) await rm(folder, { recursive: true, force: true }).catch(() => undefined)
  }
}

function tooBusy(): RetryableError {
  return new RetryableError(
    'the question needs more time than the process that has the database open leaves between its syncs; ask for less, or while it is stopped',
  )
}

async function connectTo(
  dataDir: string,
  { isWork, patienceMs, onWait }: Pick<SharedOptions, 'onWait'> & { isWork: boolean; patienceMs: number | undefined },
): Promise<Open | undefined> {
  const path = socketPath(dataDir)
  if (path === undefined) return undefined
  const sayWho = async () => {
    const holder = await readHolder(dataDir)
    if (holder) onWait?.(`waiting for an answer of ${nameOf(holder)}, which has the database open and syncs first`)
  }
  try {
    const engine = await SocketEngine.open(path, {
      isWork,
      patienceMs,
      onSlow: isWork ? undefined : () => void sayWho(),
    })
    return {
      db: databaseOn(engine, dataDir),
      isOwn: false,
      isLost: () => engine.isLost,
      isUncertain: () => engine.isUncertain,
    }
  } catch (error) {
    // It has ended just now.
    if (isUnanswered(error) || error instanceof RetryableError) return undefined
    throw error
  }
}

/** Lets other processes reach the database until it is closed. */
async function served(
  db: EmbeddedDatabase,
  dataDir: string,
  { clock, random, stopWaiting, ending }: SharedOptions,
): Promise<Database> {
  const path = socketPath(dataDir)
  if (path === undefined || random === undefined) return db
  // Of a process that was killed; the folder is held by this one.
  await rm(path, { force: true }).catch(() => undefined)
  const server = await serveSocket(db, path, {
    clock,
    random,
    limitMs: QUESTION_TIMEOUT_MS,
    tryLock: db.tryLock,
  }).catch(() => undefined)
  if (!server) return db
  return {
    ...db,
    close: async () => {
      // No transaction of another process is open then, and none begins.
      const none = async () => undefined
      const signal = AbortSignal.timeout(stopWaiting?.aborted || ending?.aborted ? STOP_WITHIN_MS : END_WITHIN_MS)
      const last = await db.take({ isWork: true, signal, onStop: none, onWait: none, restore: none }).catch(none)
      // What was answered is on its way by then.
      await immediate()
      await server.close(last !== undefined)
      await last?.end()
      await db.close()
    },
  }
}

/**
 * Where the holder of a folder listens: in the folder, or where its path is too long for a socket, in a folder of this user among the
 * temporary ones. Undefined where there is no place that only this user reaches.
 */
export function socketPath(dataDir: string): string | undefined {
  // By whatever path it is named.
  const place = existsSync(dataDir) ? realpathSync(dataDir) : dataDir
  const name = hash('sha256', place).slice(0, 24)
  if (process.platform === 'win32') return `\\\\.\\pipe\\wynnsync-${name}`
  const path = join(place, 'socket')
  if (Buffer.byteLength(path) <= SOCKET_PATH_BYTES) return path
  const folder = join(tmpdir(), `wynnsync-${process.geteuid?.() ?? 0}`)
  try {
    createFolder(folder)
    return join(folder, name)
  } catch {
    return undefined
  }
}
