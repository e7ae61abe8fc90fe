import type { Database } from './database.ts'
import type { EmbeddedOptions } from './embedded/embedded.ts'
import { enableLowMemoryMode, withOptimizingCompiler } from './low-memory.ts'

/** Where the database is, and how it is opened. */
export interface ConnectOptions extends Omit<EmbeddedOptions, 'readOnly'> {
  /** A PostgreSQL server. Without it the embedded database in `dataDir` is opened. */
  readonly databaseUrl?: string | undefined
  readonly dataDir: string
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
