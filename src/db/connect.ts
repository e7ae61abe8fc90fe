import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { codeOf, UsageError } from '../base/errors.ts'
import type { Database } from './database.ts'
import type { SharedOptions } from './embedded/shared-folder.ts'

/** Where the database is, and how it is opened. */
export interface ConnectOptions extends Omit<SharedOptions, 'readOnly'> {
  /** A PostgreSQL server. Without it the embedded database in `dataDir` is opened. */
  readonly databaseUrl?: string | undefined
  readonly dataDir: string
  /** Whether an embedded database that is not there is made. Default: yes. */
  readonly creates?: boolean
  /** Whether the embedded database trades speed for memory: right for a job on a small server. */
  readonly lowMemory?: boolean
  /** Whether the process ends after some statements. */
  readonly isBrief?: boolean
  /** Cancels what runs on a server when it is aborted; for commands that only read. */
  readonly signal?: AbortSignal | undefined
  /** Variables of libpq, for what the URL leaves out. */
  readonly libpq?: Readonly<Record<string, string | undefined>>
  /** How long a server may take to accept a connection, ms. */
  readonly connectMs?: number
}

/**
 * Opens the database that the configuration asks for. Only the code of that kind is loaded.
 * @throws NothingThere when the embedded one is not there, and is not to be made
 * @throws UsageError, RetryableError, FatalError as `openServer` and `openEmbedded`
 */
export async function connect(options: ConnectOptions): Promise<Database> {
  const {
    databaseUrl,
    dataDir,
    creates = true,
    lowMemory = false,
    isBrief = false,
    signal,
    connectMs,
    libpq,
    ...embedded
  } = options
  const applicationName = ['wynnsync', ...(options.holds ?? []).slice(0, 1)].join(' ').slice(0, 63)
  if (databaseUrl) {
    const { openServer } = await import('./server/server.ts')
    return await openServer(databaseUrl, { applicationName, signal, connectMs, variables: libpq })
  }
  if (!creates && (await isAbsent(dataDir))) throw new NothingThere(dataDir)
  if (lowMemory) enableLowMemoryMode()
  const { openShared } = await import('./embedded/shared-folder.ts').catch(withoutEngine)
  // What ends soon, or is thrown away, is not reached by others.
  const random = isBrief || embedded.durable === false ? undefined : embedded.random
  const open = () => openShared(dataDir, { ...embedded, random })
  return await (lowMemory || isBrief ? open() : withOptimizingCompiler(open))
}

function withoutEngine(error: unknown): never {
  if (!/MODULE_NOT_FOUND$/.test(String(codeOf(error)))) throw error
  throw new UsageError(
    'the embedded database is not installed: run npm install @electric-sql/pglite, or name a PostgreSQL server in DATABASE_URL',
  )
}

/** What a command finds that reads or changes a history where there is none. */
export class NothingThere extends UsageError {
  constructor(place: string) {
    super(
      `there is no history in ${place}: \`wynnsync sync\` begins one there; one that is elsewhere is named by --data-dir or --database-url`,
    )
  }
}

/** Whether there never was an embedded database in a folder; one of which only copies are left is there. */
async function isAbsent(dataDir: string): Promise<boolean> {
  const files = async (folder: string) => await readdir(join(dataDir, folder)).catch(() => [])
  return (await files('postgres')).length === 0 && (await files('backups')).length === 0
}

/** Node 20, 22, 24 and 26 know both. */
const COMPILER = ['wasm-tier-up', 'wasm-dynamic-tiering']

/**
 * How much runs before it is compiled anew, in bytes: what later versions of Node have. With the seventh of it that Node 20 has, a
 * start took half again as much processor time, for functions that are never called again, and 60 MB more.
 */
const TIERING_BUDGET_BYTES = 13_000_000

/**
 * Opens an embedded database that works for long with V8's second compiler for WebAssembly, which the program switches off when
 * it starts. What is loaded later does without again.
 */
async function withOptimizingCompiler<T>(open: () => Promise<T>): Promise<T> {
  for (const flag of COMPILER) setFlagsFromString(`--${flag}`)
  setFlagsFromString(`--wasm-tiering-budget=${TIERING_BUDGET_BYTES}`)
  try {
    return await open()
  } finally {
    for (const flag of COMPILER) setFlagsFromString(`--no-${flag}`)
  }
}

/**
 * Makes this process take less memory and more time, before the embedded database is opened: with WebAssembly compiled once, 225
 * instead of 360 MB at the peak of a first sync of all items, half again as much processor time; 207 instead of 270 MB of a later
 * one for the same time.
 */
function enableLowMemoryMode(): void {
  setFlagsFromString('--optimize-for-size')
}
