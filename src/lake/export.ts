import { createHash } from 'node:crypto'
import { mkdir, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Clock } from '../app/clock.ts'
import { createFolder } from '../app/private-folder.ts'
import type { Database, Sql } from '../db/database.ts'
import { inSnapshot } from '../db/move/move.ts'
import { type Changes, changesOf, type Job, type Reading, readingOf } from './changes.ts'
import { coverageOf } from './coverage.ts'
import { type DuckDb, openDuckDb, writeParquet } from './duckdb.ts'
import { writeCatalogue } from './ducklake/catalogue.ts'
import {
  addToDraft,
  draftPath,
  FORMAT,
  type LakeFile,
  type LakeIndex,
  readDraft,
  readIndex,
  sha256Of,
  writeIndex,
} from './index-file.ts'
import { writeCsv } from './read-rows.ts'
import { lakeTables } from './tables.ts'

export interface ExportOptions {
  readonly clock: Clock
  /** Version of the program. */
  readonly program: string
  /** Whether with what names players. */
  readonly people: boolean
  /** How long files that are replaced stay for readers that have them open, ms. */
  readonly keepMs: number
  readonly signal?: AbortSignal | undefined
  /** Called while rows are read: the table, and how many of all there are to read. */
  readonly onProgress: (table: string, rows: number, of: number) => void
}

/** What an export did. */
export interface Exported {
  readonly files: number
  readonly rows: number
  readonly bytes: number
  /** Files written and rows in them; the others hold what the database holds already. */
  readonly written: number
  readonly writtenRows: number
  readonly dropped: number
}

/** Everything that an export works with. */
interface Export {
  readonly sql: Sql
  readonly duck: DuckDb
  readonly folder: string
  readonly reading: Reading
  readonly options: ExportOptions
}

/**
 * Makes the Parquet files of a folder equal to one snapshot of the database. Only months that changed are read. Readers see
 * the files of the export before until the index is put in place. Interrupted at any instant, the next call takes what was
 * written as far as it is still right.
 * @throws UsageError when DuckDB is not installed, or the folder has an index of a newer format
 */
export async function exportLake(db: Database, folder: string, options: ExportOptions): Promise<Exported> {
  createFolder(folder)
  const before = await readIndex(folder)
  const temporary = join(folder, 'writing')
  await rm(temporary, { recursive: true, force: true })
  await mkdir(temporary)
  const duck = await openDuckDb(temporary)
  try {
    return await inSnapshot(db, async (sql) => {
      await sql.query(`set local work_mem = '32MB'`)
      const reading = await readingOf(sql, (text) => createHash('sha256').update(text).digest('hex'), db.place)
      return await exportSnapshot({ sql, duck, folder, reading, options }, before)
    })
  } finally {
    duck.close()
    await rm(temporary, { recursive: true, force: true })
  }
}

async function exportSnapshot(work: Export, before: LakeIndex | undefined): Promise<Exported> {
  const { sql, folder, reading, options } = work
  const { clock, program, people, keepMs, signal } = options
  const at = new Date(clock.now()).toISOString()
  const known = before?.source === reading.source ? before.files : []
  const candidates = [...known, ...(await readDraft(folder, reading.source))]
  const changes: Changes[] = []
  const tables = await lakeTables(sql, people)
  for (const table of tables) {
    signal?.throwIfAborted()
    changes.push(
      await changesOf(
        sql,
        table,
        candidates.filter((file) => file.table === table.name),
        reading,
      ),
    )
  }
  const kept = changes.flatMap(({ unchanged }) => unchanged)
  // What may hold something that was removed from the database goes first.
  const jobs = changes.flatMap((one) => one.jobs).sort((one, other) => rank(one) - rank(other))
  const written = await writeFiles(work, jobs)
  const files = [...kept, ...written].sort((one, other) => (one.path < other.path ? -1 : 1))
  const paths = new Set(files.map(({ path }) => path))
  const replaced = [
    ...(before?.replaced ?? []),
    ...(before?.files ?? []).map(({ path }) => ({ path, since: at })),
  ].filter(({ path, since }) => !paths.has(path) && clock.now() - Date.parse(since) < keepMs)
  const coverage = await coverageOf(sql)
  await writeIndex(folder, {
    format: FORMAT,
    program,
    at,
    source: reading.source,
    people,
    coverage,
    tables: Object.fromEntries(tables.map((one) => [one.name, one.types])),
    files,
    replaced,
  })
  if (files.length > 0) await writeCatalogue(work.duck, folder, files, at)
  await rm(draftPath(folder), { force: true })
  const dropped = await dropOthers(folder, new Set([...paths, ...replaced.map(({ path }) => path)]))
  return {
    files: files.length,
    rows: files.reduce((sum, { rows }) => sum + rows, 0),
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    written: written.length,
    writtenRows: written.reduce((sum, { rows }) => sum + rows, 0),
    dropped,
  }
}

const rank = ({ table, replaces }: Job): number => (table.isPersonal && replaces ? 0 : 1)

async function writeFiles(work: Export, jobs: readonly Job[]): Promise<LakeFile[]> {
  const { folder, reading, options } = work
  const total = jobs.reduce((sum, { rows }) => sum + rows, 0)
  let done = 0
  const files: LakeFile[] = []
  for (const job of jobs) {
    const file = await writeFile(work, job, (rows) => {
      done += rows
      options.onProgress(job.table.name, done, total)
    })
    await addToDraft(folder, file, reading.source)
    files.push(file)
  }
  return files
}

async function writeFile(
  { sql, duck, folder, reading, options }: Export,
  { table, month, rows }: Job,
  onRows: (rows: number) => void,
): Promise<LakeFile> {
  const [csv, parquet] = [join(folder, 'writing/rows.csv'), join(folder, 'writing/rows.parquet')]
  const size = await writeCsv(sql, table, { path: csv, month }, { signal: options.signal, onRows })
  await writeParquet(duck, table, { csv, path: parquet, width: size / rows })
  await rm(csv)
  const file = await open(parquet)
  await file.sync().finally(() => file.close())
  const sha256 = await sha256Of(parquet)
  const path = `${table.name}/${month === null ? '' : `month=${month}/`}${sha256.slice(0, 20)}.parquet`
  await mkdir(dirname(join(folder, path)), { recursive: true })
  const { size: bytes } = await stat(parquet)
  await rename(parquet, join(folder, path))
  const { schema, name } = table
  return { path, table: name, month, rows, bytes, sha256, schema, transaction: String(reading.transaction) }
}

/** Deletes the files of earlier exports, and of interrupted ones, that are not to stay. */
async function dropOthers(folder: string, stay: ReadonlySet<string>): Promise<number> {
  let dropped = 0
  for (const name of await readdir(folder, { recursive: true })) {
    const path = name.replaceAll('\\', '/')
    if (!path.endsWith('.parquet') || stay.has(path)) continue
    await rm(join(folder, name))
    // The folder of a month or a table goes with its last file.
    for (const above of [dirname(name), dirname(dirname(name))])
      if (above !== '.') await rmdir(join(folder, above)).catch(() => {})
    dropped++
  }
  return dropped
}
