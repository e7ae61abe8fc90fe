import { type DuckDb, FREES, literal, openDuckDb } from '../duckdb.ts'

/** What a DuckDB that reads files of others may touch, all of this machine. */
interface Allowed {
  /** Folders and files that it may read. */
  readonly folders?: readonly string[]
  readonly files?: readonly string[]
  /** The folder for what does not fit into memory. */
  readonly temporary: string
  readonly memory: string
  readonly threads: number
}

/**
 * A DuckDB for files that others wrote: whatever its SQL says, it opens no other file, no network, no extension and no
 * database, and none of that can be changed any more.
 * @throws UsageError where `loadDuckDb` does
 */
export async function openLocked({ folders = [], files = [], temporary, memory, threads }: Allowed): Promise<DuckDb> {
  const db = await openDuckDb(temporary, {
    memory_limit: memory,
    threads: String(threads),
    ...FREES,
  })
  const list = (paths: readonly string[]) => `[${paths.map(literal).join(', ')}]::varchar[]`
  for (const setting of [
    `allowed_directories = ${list(folders.map((path) => path.replace(/\/*$/, '/')))}`,
    `allowed_paths = ${list(files)}`,
    'allow_community_extensions = false',
    'enable_external_access = false',
    'lock_configuration = true',
  ])
    await db.run(`set ${setting}`)
  return db
}
