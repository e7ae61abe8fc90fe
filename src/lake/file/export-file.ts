import { existsSync } from 'node:fs'
import { copyFile, link, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { codeOf, UsageError } from '../../base/errors.ts'
import { quoted } from '../../db/bulk/copy-columns.ts'
import type { Database, Sql } from '../../db/database.ts'
import { syncFile, syncNames } from '../../db/embedded/sync-files.ts'
import { inSnapshot } from '../../db/move/move.ts'
import { readOrigin } from '../../sync/run/admission.ts'
import { changesOf, type Job, type Reading, readingOf, refuseOther } from '../changes.ts'
import { coverageOf } from '../coverage.ts'
import { type DuckDb, literal, openDuckDb, selectCsv } from '../duckdb.ts'
import type { Exported, ExportOptions } from '../export.ts'
import type { fileKind } from '../lake-store.ts'
import { lakeQuestions, lakeSql } from '../query.ts'
import { openLocked } from '../read/locked-duckdb.ts'
import { writeCsv } from '../read-rows.ts'
import { withWritingFolder } from '../store.ts'
import { type LakeTable, lakeTables } from '../tables.ts'

const INSTALL = 'npm install node-sqlite3-wasm@0.8.60'

/** @throws UsageError with the command that installs it when SQLite is not there */
async function loadSqlite(): Promise<typeof import('node-sqlite3-wasm')> {
  return await import('node-sqlite3-wasm').catch((error: unknown) => {
    if (!/MODULE_NOT_FOUND$/.test(String(codeOf(error)))) throw error
    throw new UsageError(`a file .sqlite needs a package that is not installed: ${INSTALL}; a file .duckdb needs none`)
  })
}

/** The first row of `lake_export`, its columns `source`, `last_run` and `at`. @throws the library's error where it is no such file */
async function readSqlite(file: string, temporary: string): Promise<readonly unknown[] | undefined> {
  const { Database } = await loadSqlite()
  // The library locks by a folder beside the path it is given, which would stay beside the user's file where this process is killed.
  const path = join(temporary, 'before.sqlite')
  await link(file, path).catch(() => copyFile(file, path))
  const db = new Database(path, { readOnly: true })
  try {
    const row = db.get(`select source, last_run, "at" from ${EXPORT}`)
    return row ? [row.source, row.last_run, row.at] : undefined
  } finally {
    db.close()
    await rm(path)
  }
}

/** How SQLite keeps what DuckDB has of a type, and SQL that gives it as text; other types are text. */
const TYPES: Readonly<Record<string, readonly [affinity: string, text: (column: string) => string]>> = {
  BOOLEAN: ['integer', (column) => `${column}::tinyint`],
  SMALLINT: ['integer', (column) => column],
  INTEGER: ['integer', (column) => column],
  BIGINT: ['integer', (column) => column],
  FLOAT: ['real', (column) => column],
  DOUBLE: ['real', (column) => column],
  BLOB: ['blob', (column) => `hex(${column})`],
  'TIMESTAMP WITH TIME ZONE': ['text', (column) => `strftime(${column}::timestamp, '%Y-%m-%dT%H:%M:%S.%fZ')`],
  'VARCHAR[]': ['text', (column) => `to_json(${column})`],
}

interface Column {
  readonly name: string
  readonly affinity: string
  readonly text: string
}

/** Copies all tables of the current database of a DuckDB into a new file of SQLite, which has no types but numbers, text and bytes. */
async function writeSqlite(duck: DuckDb, path: string, signal: AbortSignal | undefined): Promise<void> {
  const { Database } = await loadSqlite()
  const db = new Database(path)
  try {
    // The file is put in place when it is whole.
    db.exec('pragma journal_mode = off; pragma synchronous = off; begin')
    const tables = await duck.rows(
      `select table_name as name from duckdb_tables() where database_name = current_database() order by 1`,
    )
    for (const { name } of tables) {
      const columns = await columnsOf(duck, String(name))
      const own = columns.map((column) => `${quoted(column.name)} ${column.affinity}`)
      db.exec(`create table ${quoted(String(name))} (${own.join(', ')})`)
      const values = columns.map(({ affinity }) => (affinity === 'blob' ? 'unhex(?)' : '?'))
      const insert = db.prepare(`insert into ${quoted(String(name))} values (${values.join(', ')})`)
      const texts = columns.map(({ text }) => `(${text})::varchar`)
      for await (const rows of duck.stream(`select ${texts.join(', ')} from ${quoted(String(name))}`)) {
        signal?.throwIfAborted()
        for (const row of rows) insert.run(row)
      }
      insert.finalize()
    }
    db.exec('commit')
  } finally {
    db.close()
  }
}

async function columnsOf(duck: DuckDb, table: string): Promise<Column[]> {
  const columns = await duck.rows(
    `select column_name as name, data_type as type from duckdb_columns()
      where database_name = current_database() and table_name = ${literal(table)} order by column_index`,
  )
  return columns.map(({ name, type }) => {
    const [affinity, text] = TYPES[String(type)] ?? ['text', (column: string) => column]
    return { name: String(name), affinity, text: text(quoted(String(name))) }
  })
}

type Kind = NonNullable<ReturnType<typeof fileKind>>

/** The table of such a file that says which database it is of; a file without it was made by something else. */
const EXPORT = 'lake_export'

/** Beside such a file while a program has it open for writing: what is in them would be put into the next file of that name. */
const OPEN: Readonly<Record<Kind, readonly string[]>> = { duckdb: ['.wal'], sqlite: ['-wal', '-journal'] }

/**
 * Writes one file to hand on: the tables of a lake under their own names, of one snapshot of the database. It is put in place of the
 * one before as a whole; interrupted at any instant, that one stays.
 * @throws UsageError when a package is not installed, or the file there was made by something else
 * @throws PlaceOfAnother when it is of another database
 * @throws RetryableError while another process writes it
 */
export async function exportFile(db: Database, file: string, kind: Kind, options: ExportOptions): Promise<Exported> {
  const { clock, program, people, replace, dryRun, signal, onProgress, onLooked } = options
  return await withWritingFolder({ place: file, work: `${file}.wynnsync` }, clock, async (temporary) => {
    const before = await writtenBefore(file, kind, temporary)
    const duck = await openDuckDb(temporary)
    try {
      return await inSnapshot(db, async (sql) => {
        await sql.query(`set local work_mem = '32MB'`)
        const reading = await readingOf(sql, db.place)
        if (before && !replace && !dryRun) await refuseOther(sql, reading, file, before)
        const tables = await lakeTables(sql, people)
        const jobs = new Map<LakeTable, readonly Job[]>()
        for (const table of tables) {
          onLooked?.(jobs.size, tables.length)
          jobs.set(table, (await changesOf(sql, table, [], reading)).jobs)
        }
        const rows = [...jobs.values()].flat().reduce((sum, job) => sum + job.rows, 0)
        const done = { files: 1, written: 1, rows, writtenRows: rows, bytes: 0, dropped: 0 }
        if (dryRun) return done
        const draft = join(temporary, 'history.duckdb')
        await duck.run(`attach ${literal(draft)} as made; use made`)
        let read = 0
        for (const [table, own] of jobs) {
          const onRows = (count: number) => {
            read += count
            onProgress(table.name, read, rows)
          }
          await copyTable({ sql, duck, temporary, signal, onRows }, table, own)
        }
        await addOrigin(sql, duck, { reading, program, people, at: new Date(clock.now()).toISOString() })
        await addQuestions(duck)
        const path = kind === 'sqlite' ? join(temporary, 'history.sqlite') : draft
        if (kind === 'sqlite') await writeSqlite(duck, path, signal)
        await duck.run('use memory; detach made')
        await syncFile(path)
        await rename(path, file)
        await syncNames(dirname(file))
        return { ...done, bytes: (await stat(file)).size }
      })
    } finally {
      duck.close()
    }
  })
}

/** @throws UsageError when the file is none of `exportFile`, or is open for writing */
async function writtenBefore(
  file: string,
  kind: Kind,
  temporary: string,
): Promise<(Pick<Reading, 'source' | 'lastRun'> & { readonly at: string }) | undefined> {
  const open = OPEN[kind].map((ending) => file + ending).find((path) => existsSync(path))
  if (open !== undefined)
    throw new UsageError(
      `${open} is there: a program has ${file} open for writing, or was killed; end it, or open and close it once`,
    )
  if (!existsSync(file)) return undefined
  const found = await (kind === 'sqlite' ? readSqlite : readDuckDb)(file, temporary).catch((error: unknown) => {
    if (error instanceof UsageError) throw error
    throw notOurs(file, error)
  })
  const [source, lastRun, at] = found ?? []
  if (typeof source !== 'string') throw notOurs(file)
  return { source, lastRun: typeof lastRun === 'string' ? lastRun : null, at: String(at) }
}

const notOurs = (file: string, cause?: unknown) =>
  new UsageError(`${file} is there, and is not a file that lake export wrote: name another, or move it away`, { cause })

async function readDuckDb(file: string, temporary: string): Promise<readonly unknown[] | undefined> {
  const duck = await openLocked({ files: [file, `${file}.wal`], temporary, memory: '512MB', threads: 1 })
  try {
    await duck.run(`attach ${literal(file)} as there (read_only)`)
    const [row] = await duck.rows(`select source, last_run, epoch_ms("at")::varchar as "at" from there.main.${EXPORT}`)
    return row && [row.source, row.last_run, new Date(Number(row.at)).toISOString()]
  } finally {
    duck.close()
  }
}

interface Copying {
  readonly sql: Sql
  readonly duck: DuckDb
  readonly temporary: string
  readonly signal: AbortSignal | undefined
  readonly onRows: (rows: number) => void
}

/** Copies a table, month by month where it is large, so that no more than a month of it lies on the disk twice. */
async function copyTable(
  { sql, duck, temporary, signal, onRows }: Copying,
  table: LakeTable,
  jobs: readonly Pick<Job, 'month'>[],
): Promise<void> {
  const name = quoted(bareName(table))
  const empty = table.columns.map((column) => `null::varchar as ${quoted(column.name)}`)
  const values = table.columns.map((column) => `${column.value} as ${quoted(column.name)}`)
  await duck.run(`create table ${name} as select ${values.join(', ')} from (select ${empty.join(', ')}) where false`)
  for (const { month } of jobs) {
    const csv = join(temporary, 'rows.csv')
    const { paths } = await writeCsv(sql, table, { path: csv, month }, { signal, onRows })
    await duck.run(`insert into ${name} ${selectCsv(table, paths)}`)
    for (const path of paths) await rm(path)
  }
  await duck.run(`comment on table ${name} is ${literal(table.comment)}`)
  for (const [column, comment] of Object.entries(table.comments))
    await duck.run(`comment on column ${name}.${quoted(column)} is ${literal(comment)}`)
}

const bareName = ({ name }: LakeTable): string => name.replace(/^.*\./, '')

interface Origin {
  readonly reading: Reading
  readonly program: string
  readonly people: boolean
  readonly at: string
}

/** What the index of a lake says: whose history it is, and when each resource was observed. */
async function addOrigin(sql: Sql, duck: DuckDb, { reading, program, people, at }: Origin): Promise<void> {
  const text = (value: string | null) => (value === null ? 'null' : literal(value))
  const isSandbox = (await readOrigin(sql)).isSandbox ?? null
  await duck.run(`create table ${EXPORT} as select ${text(program)} as program, ${text(at)}::timestamptz as at, ${text(reading.source)} as source,
    ${text(reading.lastRun)}::varchar as last_run, ${people} as people, ${isSandbox}::boolean as is_sandbox`)
  await duck.run(`create table lake_coverage (resource varchar, since timestamptz, until timestamptz);
    create table lake_gap (resource varchar, began timestamptz, ended timestamptz)`)
  for (const { resource, since, until, gaps } of await coverageOf(sql)) {
    await duck.run(`insert into lake_coverage values (${[resource, since, until].map(text).join(', ')})`)
    const rows = gaps.map((gap) => `(${[resource, ...gap].map(text).join(', ')})`)
    if (rows.length > 0) await duck.run(`insert into lake_gap values ${rows.join(', ')}`)
  }
}

/** A view for each question whose tables are there. */
async function addQuestions(duck: DuckDb): Promise<void> {
  for (const question of await lakeQuestions()) {
    const view = quoted(question.replaceAll('-', '_'))
    await duck.run(`create view ${view} as ${await lakeSql(question)}`).catch((error: unknown) => {
      if (!/Table with name \w+ does not exist/.test(String(error))) throw error
    })
  }
}
