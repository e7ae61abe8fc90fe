import { fsyncSync } from 'node:fs'
import { PGlite, type PGliteOptions } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'
import { FatalError, messageOf } from '../../base/errors.ts'
import { SYSTEM_ERROR } from '../sql-errors.ts'

/*
 * What makes the embedded database survive a power cut.
 *
 * Postgres orders its writes so that every instant is safe: the log before the data pages, the first image of each page
 * after a checkpoint in the log (full_page_writes), the control file last; and it waits with fsync where the order
 * matters. PGlite turns all of that off: it starts with -F, and its file system has no fsync. Here both are given back,
 * so a transaction is on the disk when its commit returns, and whatever a power cut loses or tears after the last fsync
 * is repaired from the log at the next start, as on a server.
 *
 * Only fsync(2) arrives here: fdatasync(2) ends in a stub inside of PGlite. So wal_sync_method must be fsync.
 */

/** Settings that belong to it. The others it needs are defaults: full_page_writes, synchronous_commit, data_checksums. */
const DURABLE = ['wal_sync_method = fsync']

type Initialize = NodeFS['init']
type EmscriptenOptions = Parameters<Initialize>[1]
type Emscripten = Parameters<NonNullable<EmscriptenOptions['preRun']>[number]>[0]

/** A memory of WebAssembly that several threads reach. */
export interface SharedMemory {
  readonly buffer: SharedArrayBuffer
}

/** What of Emscripten's NODEFS is needed; it has no types. */
interface NodeFiles {
  readonly stream_ops: { fsync?: (stream: { readonly nfd: number }) => void }
}

/** What PGlite calls for each message, and what it calls when that fails. */
interface Loop {
  _PostgresMainLoopOnce(): void
  stackRestore(): void
  _PostgresSendReadyForQueryIfNecessary(): void
  _pgl_pq_flush(): void
}

/** PGlite's files in a folder: with fsync where the database is durable, and with memory that is shared where it is given. */
class ClusterFiles extends NodeFS {
  readonly #folder: string
  readonly #durable: boolean
  readonly #memory: SharedMemory | undefined

  constructor(folder: string, durable: boolean, memory?: SharedMemory) {
    super(folder)
    this.#folder = folder
    this.#durable = durable
    this.#memory = memory
  }

  override async init(engine: PGlite, options: EmscriptenOptions): ReturnType<Initialize> {
    const { emscriptenOpts } = await super.init(engine, options)
    const addFsync = (module: Emscripten): void => {
      const files = module.NODEFS as unknown as NodeFiles
      // Postgres gives up, for instance because the log cannot be written.
      const full = `the embedded database failed; is the disk of ${this.#folder} full, or the size of files limited (ulimit -f)?`
      module.onAbort = () => void stop(module as unknown as Loop, full)
      files.stream_ops.fsync = ({ nfd }) => {
        try {
          fsyncSync(nfd)
        } catch (error) {
          const message = `the embedded database in ${this.#folder} cannot be written to the disk: ${messageOf(error)}`
          throw stop(module as unknown as Loop, message)
        }
      }
    }
    return {
      emscriptenOpts: {
        ...emscriptenOpts,
        ...(this.#memory ? { wasmMemory: this.#memory } : {}),
        preRun: [...(emscriptenOpts.preRun ?? []), ...(this.#durable ? [addFsync] : [])],
      },
    }
  }
}

/**
 * Ends a database whose statement overflowed the stack of this process, or failed otherwise in the middle of Postgres: PGlite goes on as if
 * the statement had given no rows. Postgres' own limit of the depth counts another stack.
 */
function guardLoop(engine: PGlite): void {
  const loop = engine.Module as unknown as Loop
  const once = loop._PostgresMainLoopOnce
  const guarded = () => {
    try {
      once()
    } catch (error) {
      const isStopped = loop._PostgresMainLoopOnce !== guarded
      // With a status Postgres jumps back to its main loop, as for each error, or ends.
      if (isStopped || (error as { readonly status?: unknown } | undefined)?.status !== undefined) throw error
      const cause = error instanceof RangeError ? 'a statement or a value is nested too deep' : 'it cannot go on'
      throw stop(loop, `the embedded database failed: ${cause} (${messageOf(error)})`)
    }
  }
  loop._PostgresMainLoopOnce = guarded
}

/**
 * What a failed fsync had to write may be lost, also when the next one succeeds. A server ends its process then, and the
 * next start reads the log; PGlite would repeat the message for ever instead. So nothing runs in it any more: this
 * message and every later one ends with the error.
 */
function stop(loop: Loop, message: string): FatalError {
  const failure = new FatalError(message, { context: { sqlState: SYSTEM_ERROR } })
  const fail = () => {
    throw failure
  }
  loop._PostgresMainLoopOnce = fail
  // Called first after a failure, where nothing catches any more.
  loop.stackRestore = fail
  loop._PostgresSendReadyForQueryIfNecessary = () => {}
  loop._pgl_pq_flush = () => {}
  return failure
}

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

/** The files of a cluster are not what Postgres wrote: only a copy of them helps. */
export class DamagedCluster extends FatalError {}

/** A compiled module of WebAssembly. */
export type CompiledModule = NonNullable<PGliteOptions['pgliteWasmModule']>

export interface EngineOptions {
  /** Whether a commit waits for the disk. Only a database that is thrown away anyhow does without. */
  readonly durable: boolean
  /** More parameters for its start, such as `-c`, `name=value`. */
  readonly parameters?: readonly string[]
  /** What this thread compiled, and the memory of it that another thread reaches. */
  readonly shared?: { readonly module: CompiledModule; readonly memory: SharedMemory }
}

/**
 * Starts Postgres on the cluster in `folder`.
 * @throws DamagedCluster when Postgres cannot start from what is there
 * @throws FatalError when it was made by another version, or when the system lacks something, such as room
 */
export async function openEngine(folder: string, { durable, parameters = [], shared }: EngineOptions): Promise<PGlite> {
  const stderr: string[] = []
  let isOpen = false
  // -O lets system tables be changed, which nothing here needs.
  const startParams = [...PGlite.defaultStartParams.filter((parameter) => parameter !== '-O'), ...parameters]
  const files: PGliteOptions = {
    fs: new ClusterFiles(folder, durable, shared?.memory),
    // Without the -F of PGlite, which leaves fsync out.
    startParams: durable ? startParams.filter((parameter) => parameter !== '-F') : startParams,
    postgresqlconf: durable ? [...CONFIGURATION, ...DURABLE] : CONFIGURATION,
    ...(shared ? { pgliteWasmModule: shared.module } : {}),
  }
  const onStderr = (line: string): boolean => !isOpen && stderr.push(line) < 0
  try {
    const engine = await PGlite.create({ ...files, onStderr })
    isOpen = true
    guardLoop(engine)
    return engine
  } catch (error) {
    throw openingError(folder, stderr, error)
  }
}

/** Reasons why Postgres cannot start that are no damage to the files. */
const LACK =
  /was initialized by PostgreSQL version|No space left|File too large|Permission denied|Read-only file system|Too many open files|Cannot allocate memory|out of memory/

/** A limit of the size of files is met in the middle of a write, too, which Postgres calls a full disk. */
const ROOM = '; make room on its disk, or raise the limit of the size of files (ulimit -f)'

function openingError(folder: string, stderr: readonly string[], error: unknown): unknown {
  const from = stderr.findIndex((line) => /\b(FATAL|PANIC): /.test(line))
  // Postgres gives the reason on stderr only; without one, Postgres is not what failed.
  if (from < 0) return error
  const lines = stderr.slice(from).flatMap((line) => /(?:FATAL|PANIC|DETAIL): +(.*)/.exec(line)?.[1] ?? [])
  const reason = lines.slice(0, 2).join('; ')
  if (stderr.some((line) => LACK.test(line))) {
    const advice = /No space left|File too large/.test(reason) ? ROOM : ''
    return new FatalError(`the embedded database in ${folder} cannot be opened: ${reason}${advice}`)
  }
  return new DamagedCluster(reason)
}
