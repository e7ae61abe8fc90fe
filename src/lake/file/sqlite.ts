import { codeOf, UsageError } from '../../base/errors.ts'
import { quoted } from '../../db/bulk/copy-columns.ts'
import { type DuckDb, literal } from '../duckdb.ts'

const INSTALL = 'npm install node-sqlite3-wasm@0.8.60'

/** @throws UsageError with the command that installs it when SQLite is not there */
async function loadSqlite(): Promise<typeof import('node-sqlite3-wasm')> {
  return await import('node-sqlite3-wasm').catch((error: unknown) => {
    if (!/MODULE_NOT_FOUND$/.test(String(codeOf(error)))) throw error
    throw new UsageError(`a file .sqlite needs a package that is not installed: ${INSTALL}; a file .duckdb needs none`)
  })
}

/** The first row of a table, its columns `source` and `last_run`. @throws the library's error where it is no such file */
export async function readSqlite(file: string, table: string): Promise<readonly unknown[] | undefined> {
  const { Database } = await loadSqlite()
  const db = new Database(file, { readOnly: true })
  try {
    const row = db.get(`select source, last_run from ${quoted(table)}`)
    return row ? [row.source, row.last_run] : undefined
  } finally {
    db.close()
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
export async function writeSqlite(duck: DuckDb, path: string, signal: AbortSignal | undefined): Promise<void> {
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
