import { createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { Clock } from '../../base/clock.ts'
import { RetryableError } from '../../base/errors.ts'
import { quoted } from '../../db/bulk/copy-columns.ts'
import { copyText } from '../../db/bulk/copy-text.ts'
import type { Database, Sql } from '../../db/database.ts'
import { syncFile } from '../../db/embedded/sync-files.ts'
import { type CopiedTable, listTables, RESTORED_FROM } from '../../db/move/copied-table.ts'
import { partitionsOf, readTextRows, sequencesOf } from '../../db/move/copy-table.ts'
import { inSnapshot } from '../../db/move/move.ts'
import { type Changes, changesOf, type Reading, readingOf, refuseOther, sha256 } from '../changes.ts'
import { sha256Of } from '../file-hash.ts'
import { type LakeStore, type StoreSettings, WRITING } from '../lake-store.ts'
import { openStore, withWritingFolder } from '../store.ts'
import {
  type BackupFile,
  ENDING,
  FORMAT,
  isBackupPath,
  MANIFEST,
  type Manifest,
  pathOf,
  readManifest,
  type StoredManifest,
  writeManifest,
} from './manifest.ts'

interface BackupOptions {
  readonly clock: Clock
  readonly program: string
  /** Whether the backup of another database may be replaced. */
  readonly replace?: boolean
  /** Whether only what would be written is counted. */
  readonly dryRun?: boolean
  readonly signal?: AbortSignal | undefined
  /** For a place that is no folder. */
  readonly settings?: StoreSettings | undefined
  /** Called while rows are read: the table, and how many of all there are to read. */
  readonly onProgress: (table: string, rows: number, of: number) => void
  /** Called while changes are looked for: in how many tables, of how many. */
  readonly onLooked?: (tables: number, of: number) => void
}

export interface BackedUp {
  readonly files: number
  readonly rows: number
  readonly bytes: number
  /** Files read and written, and rows in them; the others hold what the database holds already. */
  readonly written: number
  readonly writtenRows: number
  /** Files of earlier backups that were deleted. */
  readonly dropped: number
}

interface BackupTable extends CopiedTable {
  readonly time: string | undefined
  readonly month: string | undefined
  readonly names: undefined
  readonly rows: 'true'
  readonly schema: string
  /** So many rows at least are written by months. */
  readonly wholeRows: number
}

interface Backup {
  readonly sql: Sql
  readonly store: LakeStore
  readonly options: BackupOptions
  /** Paths of the backup before whose files are there. */
  readonly held: ReadonlySet<string>
}

/** Columns that say when a row came, the best first: rows of a month that is over stay as they are. */
const TIMES =
  'captured_at changed_at valid_from observed_at received_at started_at hour began_at starts_at first_listed_at latest first_at at'

/** A table with fewer rows, and less room in bytes, is one file. */
const WHOLE_ROWS = 50_000
const WHOLE_BYTES = 16_000_000

/**
 * Makes the files of a place equal to one snapshot of the database: every table, each month of a large one in a file of its own.
 * Only months that changed are read and written. No file is replaced by another, and the manifest is put in place last: interrupted at
 * any instant, the backup before is whole. Then files that it has no more are deleted, and with them what was removed from the database.
 * A database that was restored from the backup at the place goes on with it, as long as no other has done so.
 * @throws PlaceOfAnother when the place has one of another database
 * @throws RetryableError while another process writes there, or when one has done so meanwhile from elsewhere
 */
export async function backupDatabase(db: Database, place: string, options: BackupOptions): Promise<BackedUp> {
  const store = await openStore(place, options.settings)
  return await withWritingFolder(store, options.clock, async () => {
    const before = await readManifest(store, options.signal)
    return await inSnapshot(db, async (sql) => {
      const reading = await readingOf(sql, db.place)
      if (before && !options.replace && !options.dryRun)
        await refuseOther(sql, reading, store.place, {
          source: before.source,
          lastRun: before.lastRun?.run ?? null,
          at: before.at,
          backup: before.text,
        })
      const present = before ? await store.list(ENDING) : new Map<string, number>()
      const held = before?.files.filter(({ path, bytes }) => present.get(path) === bytes).map(({ path }) => path)
      return await backupSnapshot({ sql, store, options, held: new Set(held) }, reading, before)
    })
  })
}

/** Keeps in a database which backup it was restored from. */
export async function recordRestored(sql: Sql, { text }: StoredManifest): Promise<void> {
  await sql.query(
    `create table if not exists ${RESTORED_FROM} (backup text primary key);
     comment on table ${RESTORED_FROM} is 'The backup that this database was restored from: SHA-256 of its list of files.';
     delete from ${RESTORED_FROM};`,
  )
  await sql.query(`insert into ${RESTORED_FROM} values ($1)`, [sha256(text)])
}

async function backupSnapshot(backup: Backup, reading: Reading, before: StoredManifest | undefined): Promise<BackedUp> {
  const { sql, store, options } = backup
  const { clock, program, signal, dryRun = false } = options
  const at = new Date(clock.now()).toISOString()
  const lastRun = await writtenBy(sql, reading.lastRun)
  const known = await knownFiles(backup, before, reading)
  const tables: BackupTable[] = []
  const changes: Changes<BackupTable, BackupFile>[] = []
  const listed = await listTables(sql)
  for (const [nth, table] of listed.entries()) {
    signal?.throwIfAborted()
    options.onLooked?.(nth, listed.length)
    const own = await backupTable(sql, table)
    tables.push(own)
    const files = known.filter((file) => file.table === own.name)
    changes.push(await changesOf(sql, own, files, reading, own.wholeRows))
  }
  const kept = changes.flatMap(({ unchanged }) => unchanged)
  const jobs = changes.flatMap((one) => one.jobs)
  const total = jobs.reduce((sum, { rows }) => sum + rows, 0)
  const written: BackupFile[] = []
  let done = 0
  for (const { table, month } of dryRun ? [] : jobs)
    written.push(
      await writeFile(backup, { table, month, transaction: String(reading.transaction) }, (rows) => {
        done += rows
        options.onProgress(table.name, done, total)
      }),
    )
  const files = [...kept, ...written]
  const counts = {
    files: kept.length + jobs.length,
    rows: kept.reduce((sum, { rows }) => sum + rows, total),
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    written: jobs.length,
    writtenRows: total,
  }
  if (dryRun) return { ...counts, dropped: 0 }
  const present = await presentFiles(store, files)
  const manifest: Manifest = {
    format: FORMAT,
    program,
    at,
    source: reading.source,
    lastRun,
    files,
    migration: await newestMigration(sql),
    tables: await Promise.all(
      tables.map(async ({ name, columns }) => ({
        name,
        columns: [...columns],
        partitions: await partitionsOf(sql, name),
      })),
    ),
    sequences: await sequencesOf(sql),
  }
  const text = await writeManifest(store, manifest, before)
  const stay = new Set(files.map(({ path }) => path))
  const others = present.filter((path) => isBackupPath(path) && !stay.has(path))
  return { ...counts, dropped: await dropOthers(store, others, text) }
}

/** The latest run, with the transaction that wrote it. */
async function writtenBy(sql: Sql, run: string | null): Promise<Manifest['lastRun']> {
  const [row] = await sql.query<{ run: string; transaction: string }>(
    'select run_id::text as run, xmin::text as transaction from sync.run where run_id::text = $1',
    [run ?? ''],
  )
  return row ?? null
}

/**
 * The files of the backup before that may hold what the database holds: all or none. A database that was restored counts transactions
 * anew: its latest run is missing, or was written by another one.
 */
async function knownFiles(
  { sql, held }: Backup,
  before: Manifest | undefined,
  { source, next }: Reading,
): Promise<readonly BackupFile[]> {
  if (before?.source !== source || !before.lastRun) return []
  const { run, transaction } = before.lastRun
  if ((await writtenBy(sql, run))?.transaction !== transaction) return []
  if (before.files.some((file) => BigInt(file.transaction) > next)) return []
  return before.files.filter(({ path }) => held.has(path))
}

async function backupTable(sql: Sql, table: CopiedTable): Promise<BackupTable> {
  const [row] = await sql.query<{ time: string | null; bytes: number }>(
    `select (select attname::text from pg_attribute
              where attrelid = to_regclass($1) and atttypid = 'timestamptz'::regtype and attnotnull and attname = any($2::text[])
              order by array_position($2::text[], attname::text) limit 1) as time,
            (select coalesce(sum(pg_table_size(relid)), pg_table_size(to_regclass($1))) from pg_partition_tree(to_regclass($1)))::bigint as bytes`,
    [table.name, TIMES.split(' ')],
  )
  const time = row?.time ? quoted(row.time) : undefined
  return {
    ...table,
    time,
    month: time && `coalesce(nullif(to_char(${time} at time zone 'UTC', 'YYYY-MM'), ''), 'none')`,
    names: undefined,
    rows: 'true',
    schema: sha256(JSON.stringify(table.columns)),
    wholeRows: (row?.bytes ?? 0) > WHOLE_BYTES ? 1 : WHOLE_ROWS,
  }
}

async function writeFile(
  { sql, store, options, held }: Backup,
  {
    table,
    month,
    transaction,
  }: { readonly table: BackupTable; readonly month: string | null; readonly transaction: string },
  onRows: (rows: number) => void,
): Promise<BackupFile> {
  const draft = join(store.work, WRITING, `rows${ENDING}`)
  const counted = { rows: 0 }
  const zip = createGzip({ level: 1 })
  const file = pipeline(zip, createWriteStream(draft, { mode: 0o600 }))
  // Thrown where it is awaited.
  file.catch(() => undefined)
  const write = async (lines: Buffer, rows: number) => {
    options.signal?.throwIfAborted()
    if (!zip.write(lines)) await Promise.race([new Promise((resolve) => zip.once('drain', resolve)), file])
    counted.rows += rows
    onRows(rows)
  }
  try {
    await readLines(sql, table, month, write)
  } finally {
    zip.end()
    await file
  }
  await syncFile(draft, 'r')
  const hash = await sha256Of(draft)
  const { size: bytes } = await stat(draft)
  const about = { table: table.name, month, sha256: hash }
  const path = pathOf(about)
  // Of a database that was restored, most files are what they were.
  if (!held.has(path)) await store.put(draft, path, hash)
  return { path, ...about, rows: counted.rows, bytes, schema: table.schema, transaction }
}

type Write = (lines: Buffer, rows: number) => Promise<void>

/** Reads the rows of a month, or of all of a table, in the text format of COPY. */
async function readLines(
  sql: Sql,
  { name, columns, time }: BackupTable,
  month: string | null,
  write: Write,
): Promise<void> {
  const rest = `from ${quoted(name)}${month === null ? '' : ` where ${rangeOf(String(time), month)}`}`
  if (sql.copyOut)
    return await sql.copyOut(`copy (select ${columns.map(quoted).join(', ')} ${rest}) to stdout`, (lines) =>
      write(lines, countLines(lines)),
    )
  for await (const rows of readTextRows(
    sql,
    columns.map((column) => `${quoted(column)}::text`),
    rest,
  ))
    for (const { text, rows: count } of copyText(columns, rows)) await write(Buffer.from(text), count)
}

/** Its rows lie in partitions, or behind an index, that Postgres finds by a range alone. */
function rangeOf(time: string, month: string): string {
  if (month === 'none') return `not isfinite(${time})`
  const first = `timestamptz '${month}-01 00:00:00+00'`
  return `${time} >= ${first} and ${time} < (${first} at time zone 'UTC' + interval '1 month') at time zone 'UTC'`
}

function countLines(lines: Buffer): number {
  let count = 0
  for (let at = lines.indexOf(10); at !== -1; at = lines.indexOf(10, at + 1)) count++
  return count
}

/** The newest migration of a database, by its hash and time. */
export async function newestMigration(sql: Sql): Promise<string> {
  const [row] = await sql.query<{ when: string }>(
    'select created_at::text as "when" from drizzle.__drizzle_migrations order by created_at desc limit 1',
  )
  return row?.when ?? '0'
}

/** @returns the paths of all files that are there now @throws RetryableError when one of the backup is not: another process has deleted it */
async function presentFiles(store: LakeStore, files: readonly BackupFile[]): Promise<string[]> {
  const present = await store.list(ENDING)
  const missing = files.find(({ path, bytes }) => present.get(path) !== bytes)
  if (!missing) return [...present.keys()]
  throw new RetryableError(`${missing.path} is gone from ${store.place}: another process writes there; try again later`)
}

/**
 * Deletes files of earlier backups, and of interrupted ones. They were there before the manifest: what comes later may be of the next
 * backup, which another process makes.
 */
async function dropOthers(store: LakeStore, others: readonly string[], manifest: string): Promise<number> {
  for (const [nth, path] of others.entries()) {
    if ((await store.readText(MANIFEST)) !== manifest) return nth
    await store.remove(path)
  }
  return others.length
}
