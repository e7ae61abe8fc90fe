import { PGlite, type PGliteOptions } from '@electric-sql/pglite'
import { FatalError } from '../../base/errors.ts'
import { ClusterFiles, DURABLE, guardLoop, type SharedMemory } from './embedded-files.ts'

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
  /was initialized by PostgreSQL version|No space left|Permission denied|Read-only file system|Too many open files|Cannot allocate memory|out of memory/

function openingError(folder: string, stderr: readonly string[], error: unknown): unknown {
  const from = stderr.findIndex((line) => /\b(FATAL|PANIC): /.test(line))
  // Postgres gives the reason on stderr only; without one, Postgres is not what failed.
  if (from < 0) return error
  const lines = stderr.slice(from).flatMap((line) => /(?:FATAL|PANIC|DETAIL): +(.*)/.exec(line)?.[1] ?? [])
  const reason = lines.slice(0, 2).join('; ')
  if (stderr.some((line) => LACK.test(line)))
    return new FatalError(
      `the embedded database in ${folder} cannot be opened: ${reason}${/No space left/.test(reason) ? '; make room on its disk' : ''}`,
    )
  return new DamagedCluster(reason)
}
