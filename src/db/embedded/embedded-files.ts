import { fsyncSync } from 'node:fs'
import type { PGlite } from '@electric-sql/pglite'
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
export const DURABLE = ['wal_sync_method = fsync']

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
export class ClusterFiles extends NodeFS {
  readonly #durable: boolean
  readonly #memory: SharedMemory | undefined

  constructor(folder: string, durable: boolean, memory?: SharedMemory) {
    super(folder)
    this.#durable = durable
    this.#memory = memory
  }

  override async init(engine: PGlite, options: EmscriptenOptions): ReturnType<Initialize> {
    const { emscriptenOpts } = await super.init(engine, options)
    const addFsync = (module: Emscripten): void => {
      const files = module.NODEFS as unknown as NodeFiles
      // Postgres gives up, for instance because the log cannot be written.
      module.onAbort = () => void stop(module as unknown as Loop, 'the embedded database failed; is its disk full?')
      files.stream_ops.fsync = ({ nfd }) => {
        try {
          fsyncSync(nfd)
        } catch (error) {
          const message = `the embedded database cannot be written to the disk: ${messageOf(error)}`
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
export function guardLoop(engine: PGlite): void {
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
