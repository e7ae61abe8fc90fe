import { join } from 'node:path'
import { quoted } from '../../db/bulk/copy-columns.ts'
import { syncFile } from '../../db/embedded/sync-files.ts'
import { type DuckDb, literal } from '../duckdb.ts'
import type { LakeFile } from '../index-file.ts'
import { type LakeStore, WRITING } from '../lake-store.ts'
import { lakeQuestions, lakeSql } from '../query.ts'
import type { LakeTable } from '../tables.ts'

/**
 * The tables of a DuckLake 1.0 catalogue (https://ducklake.select/docs/stable/specification/tables/overview): name, then columns.
 * A reader asks all of them, also those that are empty here.
 */
const TABLES = `
  metadata: key varchar not null, value varchar not null, scope varchar, scope_id bigint
  snapshot: snapshot_id bigint primary key, snapshot_time timestamptz, schema_version bigint, next_catalog_id bigint, next_file_id bigint
  snapshot_changes: snapshot_id bigint primary key, changes_made varchar, author varchar, commit_message varchar, commit_extra_info varchar
  schema: schema_id bigint primary key, schema_uuid uuid, begin_snapshot bigint, end_snapshot bigint, schema_name varchar, path varchar, path_is_relative boolean
  schema_versions: begin_snapshot bigint, schema_version bigint, table_id bigint
  table: table_id bigint, table_uuid uuid, begin_snapshot bigint, end_snapshot bigint, schema_id bigint, table_name varchar, path varchar, path_is_relative boolean
  column: column_id bigint, begin_snapshot bigint, end_snapshot bigint, table_id bigint, column_order bigint, column_name varchar, column_type varchar, initial_default varchar, default_value varchar, nulls_allowed boolean, parent_column bigint, default_value_type varchar, default_value_dialect varchar
  view: view_id bigint, view_uuid uuid, begin_snapshot bigint, end_snapshot bigint, schema_id bigint, view_name varchar, dialect varchar, sql varchar, column_aliases varchar
  data_file: data_file_id bigint primary key, table_id bigint, begin_snapshot bigint, end_snapshot bigint, file_order bigint, path varchar, path_is_relative boolean, file_format varchar, record_count bigint, file_size_bytes bigint, footer_size bigint, row_id_start bigint, partition_id bigint, encryption_key varchar, mapping_id bigint, partial_max bigint
  delete_file: delete_file_id bigint primary key, table_id bigint, begin_snapshot bigint, end_snapshot bigint, data_file_id bigint, path varchar, path_is_relative boolean, format varchar, delete_count bigint, file_size_bytes bigint, footer_size bigint, encryption_key varchar, partial_max bigint
  column_mapping: mapping_id bigint, table_id bigint, type varchar
  name_mapping: mapping_id bigint, column_id bigint, source_name varchar, target_field_id bigint, parent_column bigint, is_partition boolean
  table_stats: table_id bigint, record_count bigint, next_row_id bigint, file_size_bytes bigint
  table_column_stats: table_id bigint, column_id bigint, contains_null boolean, contains_nan boolean, min_value varchar, max_value varchar, extra_stats varchar
  file_column_stats: data_file_id bigint, table_id bigint, column_id bigint, column_size_bytes bigint, value_count bigint, null_count bigint, min_value varchar, max_value varchar, contains_nan boolean, extra_stats varchar
  file_variant_stats: data_file_id bigint, table_id bigint, column_id bigint, variant_path varchar, shredded_type varchar, column_size_bytes bigint, value_count bigint, null_count bigint, min_value varchar, max_value varchar, contains_nan boolean, extra_stats varchar
  partition_info: partition_id bigint, table_id bigint, begin_snapshot bigint, end_snapshot bigint
  partition_column: partition_id bigint, table_id bigint, partition_key_index bigint, column_id bigint, transform varchar
  file_partition_value: data_file_id bigint, table_id bigint, partition_key_index bigint, partition_value varchar
  sort_info: sort_id bigint, table_id bigint, begin_snapshot bigint, end_snapshot bigint
  sort_expression: sort_id bigint, table_id bigint, sort_key_index bigint, expression varchar, dialect varchar, sort_direction varchar, null_order varchar
  tag: object_id bigint, begin_snapshot bigint, end_snapshot bigint, key varchar, value varchar
  column_tag: table_id bigint, column_id bigint, begin_snapshot bigint, end_snapshot bigint, key varchar, value varchar
  inlined_data_tables: table_id bigint, table_name varchar, schema_version bigint
  files_scheduled_for_deletion: data_file_id bigint, path varchar, path_is_relative boolean, schedule_start timestamptz
  macro: schema_id bigint, macro_id bigint, macro_name varchar, begin_snapshot bigint, end_snapshot bigint
  macro_impl: macro_id bigint, impl_id bigint, dialect varchar, sql varchar, type varchar
  macro_parameters: macro_id bigint, impl_id bigint, column_id bigint, parameter_name varchar, parameter_type varchar, default_value varchar, default_value_type varchar`

/** A statement for each table, in the attached database `made`. */
const catalogueStatements: readonly string[] = TABLES.trim()
  .split('\n')
  .map((line) => line.trim().split(': '))
  .map(([name, columns]) => `create table made.ducklake_${name} (${columns})`)

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
