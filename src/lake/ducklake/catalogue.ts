import { join } from 'node:path'
import { quoted } from '../../db/bulk/copy-columns.ts'
import { syncFile } from '../../db/embedded/sync-files.ts'
import { type DuckDb, literal } from '../duckdb.ts'
import type { LakeFile } from '../index-file.ts'
import { type LakeStore, WRITING } from '../lake-store.ts'
import { lakeQuestions, lakeSql } from '../query.ts'
import type { LakeTable } from '../tables.ts'
import { catalogueStatements } from './catalogue-tables.ts'

const CATALOGUE = 'history.ducklake'

/** What DuckLake calls the types that the columns of Postgres have in the files; others are text. */
const TYPES: Readonly<Record<string, string>> = {
  boolean: 'boolean',
  smallint: 'int16',
  integer: 'int32',
  bigint: 'int64',
  real: 'float32',
  'double precision': 'float64',
  bytea: 'blob',
  json: 'json',
  jsonb: 'json',
  'timestamp with time zone': 'timestamptz',
  'text[]': 'list',
}

interface Contents {
  readonly tables: readonly LakeTable[]
  readonly files: readonly LakeFile[]
  /** When the export began to read, ISO 8601. */
  readonly at: string
}

/**
 * Writes a DuckLake catalogue of the files into the lake: one snapshot, in which tables have their own names and questions are
 * views. It is put in place of the one before at once, so a reader sees one of the two.
 */
export async function writeCatalogue(duck: DuckDb, store: LakeStore, contents: Contents): Promise<void> {
  const draft = join(store.work, WRITING, CATALOGUE)
  await duck.run(`attach ${literal(draft)} as made`)
  try {
    for (const statement of catalogueStatements) await duck.run(statement)
    await fillCatalogue(duck, contents)
  } finally {
    await duck.run('detach made')
  }
  await syncFile(draft, 'r')
  await store.put(draft, CATALOGUE)
}

/** Everything is of one snapshot, 0: what was exported before is not in the lake for long. Tables without a row have no file. */
async function fillCatalogue(duck: DuckDb, { tables, files, at }: Contents): Promise<void> {
  await duck.run(`insert into made.ducklake_schema values (0, uuid(), 0, null, 'main', '', true)`)
  let id = 0
  let file = 0
  for (const table of tables) {
    const own = files.filter((one) => one.table === table.name)
    if (own.length === 0) continue
    const columns = await addTable(duck, ++id, table)
    await addFiles(duck, { table: id, columns, first: file }, own)
    file += own.length
  }
  const views = await addViews(duck, id + 1)
  await duck.run(`insert into made.ducklake_metadata values ('version', '1.0', null, null), ('created_by', 'wynnsync', null, null),
    ('data_path', '', null, null), ('encrypted', 'false', null, null)`)
  await duck.run(`insert into made.ducklake_snapshot values (0, ${literal(at)}, 0, ${id + views + 1}, ${file})`)
  await duck.run(`insert into made.ducklake_snapshot_changes values (0, 'created_schema:"main"', null, null, null)`)
}

/** A table, also an empty one for the questions. @returns the id of each column by its name */
async function addTable(duck: DuckDb, id: number, { name, columns, types }: LakeTable): Promise<Map<string, number>> {
  const bare = name.replace(/^.*\./, '')
  const rows: string[] = []
  const mapped: string[] = []
  const ids = new Map<string, number>()
  const add = (column: string, type: string, parent: number | null, inFile: string) => {
    const own = rows.length + 1
    rows.push(
      `(${own}, 0, null, ${id}, ${own}, ${literal(column)}, ${literal(type)}, null, 'NULL', true, ${parent}, 'literal', 'duckdb')`,
    )
    mapped.push(`(${id}, ${own - 1}, ${literal(inFile)}, ${own}, ${parent === null ? null : parent - 1}, false)`)
    return own
  }
  for (const column of columns) {
    const type = column.name in types ? (TYPES[types[column.name] ?? ''] ?? 'varchar') : 'boolean'
    const own = add(column.name, type, null, column.name)
    ids.set(column.name, own)
    // As Parquet calls what is in a list.
    if (type === 'list') add('element', 'varchar', own, 'list')
  }
  const texts = [bare, `${name}/`].map(literal)
  await duck.run(`insert into made.ducklake_table values (${id}, uuid(), 0, null, 0, ${texts.join(', ')}, true)`)
  await duck.run(`insert into made.ducklake_column values ${rows.join(', ')}`)
  await duck.run(`insert into made.ducklake_column_mapping values (${id}, ${id}, 'map_by_name')`)
  await duck.run(`insert into made.ducklake_name_mapping values ${mapped.join(', ')}`)
  const values = columns.map(({ name, value }) => `${value} as ${quoted(name)}`)
  const texty = columns.map((column) => `null::varchar as ${quoted(column.name)}`)
  await duck.run(
    `create or replace temp table ${quoted(bare)} as select ${values.join(', ')} from (select ${texty.join(', ')}) where false`,
  )
  return ids
}

/** Of instants the first and last in each file are kept, so that a question about a week opens the files of that week alone. */
async function addFiles(
  duck: DuckDb,
  { table, columns, first }: { readonly table: number; readonly columns: ReadonlyMap<string, number>; first: number },
  files: readonly LakeFile[],
): Promise<void> {
  let before = 0
  const rows = files.map(({ path, table: name, rows, bytes, footer }, nth) => {
    const start = before
    before += rows
    const place = literal(path.slice(name.length + 1))
    return `(${first + nth}, ${table}, 0, null, null, ${place}, true, 'parquet', ${Number(rows)}, ${Number(bytes)}, ${Number(footer)}, ${start}, null, null, ${table}, null)`
  })
  const stats = files.flatMap(({ instants, rows }, nth) =>
    Object.entries(instants).map(([name, [least, most, none]]) => {
      const [from, to] = [least, most].map((one) => (one === null ? 'null' : literal(String(one))))
      return `(${first + nth}, ${table}, ${columns.get(name)}, null, ${Number(rows)}, ${Number(none)}, ${from}, ${to}, null, null)`
    }),
  )
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  await duck.run(`insert into made.ducklake_data_file values ${rows.join(', ')}`)
  if (stats.length > 0) await duck.run(`insert into made.ducklake_file_column_stats values ${stats.join(', ')}`)
  await duck.run(`insert into made.ducklake_table_stats values (${table}, ${before}, ${before}, ${bytes})`)
}

/** A view for each question whose tables the lake has. @param first the id of the first @returns how many there are */
async function addViews(duck: DuckDb, first: number): Promise<number> {
  let id = first
  for (const question of await lakeQuestions()) {
    const sql = (await lakeSql(question)).replace(/^--.*\n/gm, '').trim()
    const isMissing = await duck.rows(`describe ${sql}`).then(
      () => false,
      (error: unknown) => /Table with name \w+ does not exist/.test(String(error)),
    )
    if (isMissing) continue
    await duck.run(`insert into made.ducklake_view values
      (${id++}, uuid(), 0, null, 0, ${literal(question.replaceAll('-', '_'))}, 'duckdb', ${literal(sql)}, '')`)
  }
  return id - first
}
