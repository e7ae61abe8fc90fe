import type { Clock } from '../app/clock.ts'
import type { Database } from './database.ts'
import type { Template } from './embedded/embedded-create.ts'
import { enableLowMemoryMode, withOptimizingCompiler } from './low-memory.ts'

/** Where the database is, and how it is opened. */
export interface ConnectOptions {
  /** A PostgreSQL server. Without it the embedded database in `dataDir` is opened. */
  readonly databaseUrl?: string | undefined
  readonly dataDir: string
  readonly clock: Clock
  /** What this process does (`sync items`), shown to a process that finds the embedded database in use. */
  readonly holds?: readonly string[]
  /** How long to wait for another process that has the embedded database open, in milliseconds. */
  readonly waitMs?: number
  /** Whether the embedded database survives a power cut (the default); one that is thrown away need not. */
  readonly durable?: boolean
  /** Called with what was lost when the embedded database had to be restored from a copy, and why there is no new copy. */
  readonly report?: (message: string) => void
  /** What a new embedded database is made from; without it, it is empty. */
  readonly template?: Template
  /** Whether the embedded database trades speed for memory: right for a job on a small server. */
  readonly lowMemory?: boolean
  /** Whether the process ends after some statements. */
  readonly isBrief?: boolean
  /** Cancels what runs on a server when it is aborted; for commands that only read. */
  readonly signal?: AbortSignal | undefined
  /** How long a server may take to accept a connection, ms. */
  readonly connectMs?: number
}

/**
 * Opens the database that the configuration asks for. Only the code of that kind is loaded.
 * @throws UsageError, RetryableError, FatalError as `openServer` and `openEmbedded`
 */
export async function connect(options: ConnectOptions): Promise<Database> {
  const { databaseUrl, dataDir, lowMemory = false, isBrief = false, signal, connectMs, ...embedded } = options
  const applicationName = ['wynnsync', ...(options.holds ?? []).slice(0, 1)].join(' ').slice(0, 63)
  if (databaseUrl) {
    const { openServer } = await import('./server/server.ts')
    return await openServer(databaseUrl, { applicationName, signal, connectMs })
  }
  if (lowMemory) enableLowMemoryMode()
  const { openEmbedded } = await import('./embedded/embedded.ts')
  const open = () => openEmbedded(dataDir, embedded)
  return await (lowMemory || isBrief ? open() : withOptimizingCompiler(open))
}
