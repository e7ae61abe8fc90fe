import { rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { html, raw } from 'hono/html'
import type { Clock } from '../base/clock.ts'
import { reach } from '../base/errors.ts'
import type { Database, Sql } from '../db/database.ts'
import { syncFile } from '../db/embedded/sync-files.ts'
import { inSnapshot } from '../db/move/move.ts'
import { documentText, policyOf } from '../drawing/document.ts'
import { tableMarkup } from '../drawing/html-table.ts'
import { style } from '../drawing/style.ts'
import { readOrigin } from '../sync/run/admission.ts'
import { type Changes, changesOf, isContinued, type Job, type Reading, readingOf, refuseOther } from './changes.ts'
import { coverageOf } from './coverage.ts'
import { type DuckDb, describeParquet, openDuckDb, writeParquet } from './duckdb.ts'
import { writeCatalogue } from './ducklake/catalogue.ts'
import { sha256Of } from './file-hash.ts'
import {
  addToDraft,
  draftPath,
  dropTableIndexes,
  ENDING,
  FORMAT,
  indexOf,
  isInside,
  type LakeFile,
  type LakeIndex,
  type LakeState,
  readDraft,
  writeIndex,
  writeTableIndexes,
} from './index-file.ts'
import { type LakeStore, type StoreSettings, WRITING } from './lake-store.ts'
import { lakeQuestions } from './query.ts'
import { writeCsv } from './read-rows.ts'
import { openStore, withWritingFolder } from './store.ts'
import { type LakeTable, lakeTables } from './tables.ts'

const PAGE = 'index.html'

/**
 * Writes a page beside a lake that says what is in it and how it is read: for somebody who opens the folder or bucket in a browser. It has
 * no script, and names no player. A reader of the lake needs the index, not this page.
 */
async function writeContents(store: LakeStore, index: LakeIndex, tables: readonly LakeTable[]): Promise<void> {
  const draft = join(store.work, WRITING, PAGE)
  await writeFile(draft, await pageOf(index, tables), { flush: true })
  await store.put(draft, PAGE)
}

async function pageOf(index: LakeIndex, tables: readonly LakeTable[]): Promise<string> {
  const { at, program, people, isSandbox, files, coverage } = index
  const filled = tables.filter(({ name }) => files.some(({ table }) => table === name))
  const title = `${isSandbox ? 'History of a sandbox' : 'History of Wynncraft'}, as of ${minuteOf(at)} UTC`
  const questions = await lakeQuestions()
  const policy = policyOf(style, '').join('; ')
  const observed = coverage.map(({ resource, since, until, gaps }) => [
    resource,
    since === null ? null : minuteOf(since),
    until === null ? null : minuteOf(until),
    gaps.length,
  ])
  return await documentText({
    title,
    version: program,
    head: html`<meta http-equiv="Content-Security-Policy" content="${raw(policy)}">`,
    script: '',
    body: html`<main><h1>${title}</h1>
<p>${filled.length} tables in ${files.length} Parquet files, ${sizeOf(files)}, ${people ? 'with' : 'without'} what names players. Written by wynnsync ${program}.</p>
<h2>Read it</h2>
<p>With DuckDB, as tables under their own names${questions.length > 0 ? html`, and as the questions ${questions.join(', ')}` : ''}:</p>
<pre>attach 'ducklake:history.ducklake' as history (read_only, data_path './', override_data_path true);
select * from history.${bareName(filled[0]?.name ?? 'game.item')} limit 10;</pre>
<p>With pandas, one file at a time, or all that <a href="index.json">index.json</a> lists of a table; it lists what belongs together:</p>
<pre>import json, pandas
files = [one["path"] for one in json.load(open("index.json"))["files"] if one["table"] == "${filled[0]?.name ?? 'game.item'}"]
rows = pandas.concat(map(pandas.read_parquet, files))</pre>
<h2>What was observed</h2>
${tableMarkup({ columns: ['resource', 'from (UTC)', 'until', 'gaps'], rows: observed })}
<h2>Tables</h2>
${filled.map((table) =>
  tableSection(
    table,
    files.filter((file) => file.table === table.name),
  ),
)}</main>`,
  })
}

function tableSection({ name, comment, types, comments }: LakeTable, files: readonly LakeFile[]) {
  const rows = files.reduce((sum, file) => sum + file.rows, 0)
  const columns = Object.entries(types).map(([column, type]) => [column, type, comments[column] ?? ''])
  const links = files.map(({ path, month, rows, bytes, sha256 }) => [
    html`<a href="${path}">${month ?? 'all'}</a>`,
    rows,
    megabytes(bytes),
    sha256.slice(0, 12),
  ])
  return html`<details id="${name}"><summary>${name}: ${rows.toLocaleString('en-US')} rows, ${sizeOf(files)}</summary>
<p>${comment}</p>
${tableMarkup({ columns: ['column', 'type in Postgres', 'what it is'], rows: columns })}
${tableMarkup({ columns: ['month', 'rows', 'size', 'SHA-256'], rows: links })}</details>
`
}

const bareName = (name: string) => name.replace(/^.*\./, '')
const minuteOf = (at: string) => at.slice(0, 16).replace('T', ' ')
const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(bytes < 1e7 ? 2 : 0)} MB`
const sizeOf = (files: readonly LakeFile[]) => megabytes(files.reduce((sum, { bytes }) => sum + bytes, 0))

export interface ExportOptions {
  readonly clock: Clock
  readonly program: string
  /** Whether with what names players. */
  readonly people: boolean
  /** How long files that are replaced stay for readers that have them open, ms. */
  readonly keepMs: number
  /** Whether the lake of another database may be replaced. */
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

export interface Exported extends Pick<LakeState, 'files' | 'rows' | 'bytes'> {
  /** Files written and rows in them; the others hold what the database holds already. */
  readonly written: number
  readonly writtenRows: number
  readonly dropped: number
}

interface Export {
  readonly sql: Sql
  readonly duck: DuckDb
  readonly store: LakeStore
  readonly reading: Reading
  readonly options: ExportOptions
}

/**
 * Makes the Parquet files of a folder equal to one snapshot of the database. Only months that changed are read. Readers see
 * the files of the export before until the index is put in place. Interrupted at any instant, the next call takes what was
 * written as far as it is still right.
 * @throws UsageError when DuckDB is not installed, or the folder has an index of a newer format
 * @throws PlaceOfAnother when it has one of another database
 * @throws RetryableError while another process exports there
 */
export async function exportLake(db: Database, place: string, options: ExportOptions): Promise<Exported> {
  const store = await openStore(place, options.settings)
  return await withWritingFolder(store, options.clock, async (temporary) => {
    const before = await indexOf(store)
    const duck = await openDuckDb(temporary)
    try {
      return await inSnapshot(db, async (sql) => {
        await sql.query(`set local work_mem = '32MB'`)
        const reading = await readingOf(sql, db.place)
        if (before && !options.replace && !options.dryRun) await refuseOther(sql, reading, store.place, before)
        return await exportSnapshot({ sql, duck, store, reading, options }, before)
      })
    } finally {
      duck.close()
    }
  })
}

async function exportSnapshot(work: Export, before: LakeIndex | undefined): Promise<Exported> {
  const { sql, store, reading, options } = work
  const { clock, program, people, keepMs, signal } = options
  const at = new Date(clock.now()).toISOString()
  const candidates = await candidatesOf(work, before)
  const changes: Changes[] = []
  const tables = await lakeTables(sql, people)
  for (const [nth, table] of tables.entries()) {
    signal?.throwIfAborted()
    options.onLooked?.(nth, tables.length)
    const own = candidates.filter((file) => file.table === table.name)
    changes.push(await changesOf(sql, table, own, reading))
  }
  const kept = changes.flatMap(({ unchanged }) => unchanged)
  // What may hold something that was removed from the database goes first.
  const jobs = changes.flatMap((one) => one.jobs).sort((one, other) => rank(one) - rank(other))
  if (options.dryRun) return countsOf(kept, jobs)
  const written = await writeFiles(work, jobs)
  const files = [...kept, ...written].sort((one, other) => (one.path < other.path ? -1 : 1))
  const paths = new Set(files.map(({ path }) => path))
  const replaced = [
    ...(before?.replaced ?? []),
    ...(before?.files ?? []).map(({ path }) => ({ path, since: at })),
  ].filter(({ path, since }) => !paths.has(path) && clock.now() - Date.parse(since) < keepMs)
  const index: LakeIndex = {
    format: FORMAT,
    program,
    at,
    source: reading.source,
    lastRun: reading.lastRun,
    people,
    isSandbox: (await readOrigin(sql)).isSandbox ?? null,
    coverage: await coverageOf(sql),
    tables: Object.fromEntries(tables.map((one) => [one.name, one.types])),
    files,
    replaced,
  }
  await writeTableIndexes(store, before, index)
  await writeIndex(store, index)
  await writeCatalogue(work.duck, store, { tables, files, at })
  await writeContents(store, index, tables)
  await rm(draftPath(store), { force: true })
  const dropped = await dropOthers(store, new Set([...paths, ...replaced.map(({ path }) => path)]))
  await dropTableIndexes(store, before, index)
  return {
    files: files.length,
    rows: files.reduce((sum, { rows }) => sum + rows, 0),
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    written: written.length,
    writtenRows: written.reduce((sum, { rows }) => sum + rows, 0),
    dropped,
  }
}

/** What an export would come to. Bytes are those of files that stay: how small the others become is known when they are written. */
function countsOf(kept: readonly LakeFile[], jobs: readonly Job[]): Exported {
  const writtenRows = jobs.reduce((sum, { rows }) => sum + rows, 0)
  return {
    files: kept.length + jobs.length,
    written: jobs.length,
    writtenRows,
    dropped: 0,
    rows: kept.reduce((sum, { rows }) => sum + rows, writtenRows),
    bytes: kept.reduce((sum, { bytes }) => sum + bytes, 0),
  }
}

/** The files of earlier exports that may hold what the database holds: whole, and read from what it is now. */
async function candidatesOf({ sql, store, reading }: Export, before: LakeIndex | undefined): Promise<LakeFile[]> {
  const known = (await isContinued(sql, reading, before)) ? (before?.files ?? []) : []
  const drafted: LakeFile[] = []
  const continued = new Map<string | null, boolean>()
  for (const { source, lastRun, ...file } of await readDraft(store)) {
    if (!continued.has(lastRun)) continued.set(lastRun, await isContinued(sql, reading, { source, lastRun }))
    if (source === reading.source && continued.get(lastRun)) drafted.push(file)
  }
  if (drafted.length > 0) reach('recovery: an export takes what an interrupted one had written')
  const present = await store.list(ENDING)
  // An index of an earlier version lacks what a catalogue says of a file.
  return [...known, ...drafted].filter((file) => file.instants !== undefined && present.get(file.path) === file.bytes)
}

const rank = ({ table, replaces }: Job): number => (table.isPersonal && replaces ? 0 : 1)

async function writeFiles(work: Export, jobs: readonly Job[]): Promise<LakeFile[]> {
  const { store, reading, options } = work
  const total = jobs.reduce((sum, { rows }) => sum + rows, 0)
  let done = 0
  const files: LakeFile[] = []
  for (const job of jobs) {
    const file = await writeJob(work, job, (rows) => {
      done += rows
      options.onProgress(job.table.name, done, total)
    })
    await addToDraft(store, { ...file, source: reading.source, lastRun: reading.lastRun })
    files.push(file)
  }
  return files
}

async function writeJob(
  { sql, duck, store, reading, options }: Export,
  { table, month, rows }: Job,
  onRows: (rows: number) => void,
): Promise<LakeFile> {
  const [csv, parquet] = ['rows.csv', 'rows.parquet'].map((name) => join(store.work, WRITING, name)) as [string, string]
  const { paths, size } = await writeCsv(sql, table, { path: csv, month }, { signal: options.signal, onRows })
  await writeParquet(duck, table, { csv: paths, path: parquet, width: size / rows })
  for (const one of paths) await rm(one)
  const described = await describeParquet(duck, parquet)
  await syncFile(parquet, 'r')
  const sha256 = await sha256Of(parquet)
  const path = `${table.name}/${month === null ? '' : `month=${month}/`}${sha256.slice(0, 20)}.parquet`
  const { size: bytes } = await stat(parquet)
  await store.put(parquet, path, sha256)
  const { schema, name } = table
  const transaction = String(reading.transaction)
  return { path, table: name, month, rows, bytes, sha256, schema, transaction, ...described }
}

/** Deletes the files of earlier exports, and of interrupted ones, that are not to stay; no file that an export cannot have made. */
async function dropOthers(store: LakeStore, stay: ReadonlySet<string>): Promise<number> {
  const others = [...(await store.list(ENDING)).keys()].filter((path) => isInside(path) && !stay.has(path))
  for (const path of others) await store.remove(path)
  return others.length
}
