import { open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { type DuckDb, literal } from '../duckdb.ts'
import type { LakeFile } from '../index-file.ts'
import { lakeQuestions, lakeSql } from '../query.ts'
import { catalogueStatements } from './catalogue-tables.ts'

const CATALOGUE = 'history.ducklake'

/** What DuckLake calls the types that DuckDB reads from the files; of a list that of its elements. */
const TYPES: Readonly<Record<string, string>> = {
  BOOLEAN: 'boolean',
  SMALLINT: 'int16',
  INTEGER: 'int32',
  BIGINT: 'int64',
  FLOAT: 'float32',
  DOUBLE: 'float64',
  VARCHAR: 'varchar',
  BLOB: 'blob',
  JSON: 'json',
  'TIMESTAMP WITH TIME ZONE': 'timestamptz',
}

/**
 * Writes a DuckLake catalogue of the files into the folder: one snapshot, in which tables have their own names and questions are
 * views. It is put in place of the one before at once, so a reader sees one of the two.
 * @param at when the export began to read, ISO 8601
 */
export async function writeCatalogue(duck: DuckDb, folder: string, files: readonly LakeFile[], at: string) {
  const draft = join(folder, 'writing', CATALOGUE)
  await duck.run(`attach ${literal(draft)} as made`)
  try {
    for (const statement of catalogueStatements) await duck.run(statement)
    await fillCatalogue(duck, folder, files, at)
  } finally {
    await duck.run('detach made')
  }
  const file = await open(draft)
  await file.sync().finally(() => file.close())
  await rename(draft, join(folder, CATALOGUE))
}

/** Everything is of one snapshot, 0: what was exported before is not in the folder for long. */
async function fillCatalogue(duck: DuckDb, folder: string, files: readonly LakeFile[], at: string): Promise<void> {
  const tables = [...new Set(files.map(({ table }) => table))].sort()
  const rows = files.map(({ table, path, rows, bytes }, id) => {
    const texts = [path.slice(table.length + 1), join(folder, path)].map(literal)
    return `(${[id, tables.indexOf(table) + 1, ...texts, rows, bytes].join(', ')})`
  })
  await duck.run(`create or replace temp table file as
    select * from (values ${rows.join(', ')}) as file(id, table_id, path, place, rows, bytes)`)
  await duck.run('set variable places = (select list(place order by id) from file)')
  await duck.run(`insert into made.ducklake_schema values (0, uuid(), 0, null, 'main', '', true)`)
  for (const [nth, table] of tables.entries()) await addTable(duck, nth + 1, table)
  for (const statement of ofFiles) await duck.run(statement)
  const views = await addViews(duck, tables.length + 1)
  await duck.run(`insert into made.ducklake_metadata values ('version', '1.0', null, null), ('created_by', 'wynnsync', null, null),
    ('data_path', '', null, null), ('encrypted', 'false', null, null)`)
  const next = `${tables.length + views + 1}, ${files.length}`
  await duck.run(`insert into made.ducklake_snapshot values (0, ${literal(at)}, 0, ${next})`)
  await duck.run(`insert into made.ducklake_snapshot_changes values (0, 'created_schema:"main"', null, null, null)`)
}

/** A table with its columns, and a view of its files for the questions. */
async function addTable(duck: DuckDb, id: number, table: string): Promise<void> {
  const name = table.replace(/^.*\./, '')
  const texts = [name, `${table}/`].map(literal)
  await duck.run(`insert into made.ducklake_table values (${id}, uuid(), 0, null, 0, ${texts.join(', ')}, true)`)
  await duck.run(`insert into made.ducklake_column_mapping values (${id}, ${id}, 'map_by_name')`)
  await duck.run(`set variable own = (select list(place) from file where table_id = ${id})`)
  await duck.run(
    `create or replace temp view "${name}" as select * from read_parquet(getvariable('own'), hive_partitioning = false)`,
  )
  const described = await duck.rows(`describe "${name}"`)
  let last = 0
  for (const { column_name, column_type } of described as { column_name: string; column_type: string }[]) {
    const own = ++last
    const element = /^(.*)\[\]$/.exec(column_type)?.[1]
    await addColumn(duck, id, own, null, column_name, element === undefined ? typeOf(column_type) : 'list')
    // As Parquet calls what is in a list.
    if (element !== undefined) await addColumn(duck, id, ++last, own, 'element', typeOf(element), 'list')
  }
}

async function addColumn(
  duck: DuckDb,
  table: number,
  id: number,
  parent: number | null,
  name: string,
  type: string,
  inFile = name,
): Promise<void> {
  await duck.run(`insert into made.ducklake_column values
    (${id}, 0, null, ${table}, ${id}, ${literal(name)}, ${literal(type)}, null, 'NULL', true, ${parent}, 'literal', 'duckdb')`)
  await duck.run(`insert into made.ducklake_name_mapping values
    (${table}, ${id - 1}, ${literal(inFile)}, ${id}, ${parent === null ? null : parent - 1}, false)`)
}

function typeOf(type: string): string {
  const known = TYPES[type]
  if (known === undefined) throw new Error(`DuckLake has no type for ${type}`)
  return known
}

/** Of instants the first and last in each file are kept, so that a question about a week opens the files of that week alone. */
const ofFiles = [
  `insert into made.ducklake_data_file
   select file.id, file.table_id, 0, null, null, file.path, true, 'parquet', file.rows, file.bytes, meta.footer_size,
          coalesce(sum(file.rows) over (partition by file.table_id order by file.id rows between unbounded preceding and 1 preceding), 0),
          null, null, file.table_id, null
     from file join parquet_file_metadata(getvariable('places')) meta on meta.file_name = file.place`,
  `insert into made.ducklake_table_stats select table_id, sum(rows), sum(rows), sum(bytes) from file group by table_id`,
  `insert into made.ducklake_file_column_stats
   select file.id, file.table_id, kept.column_id, sum(meta.total_compressed_size), sum(meta.num_values), sum(meta.stats_null_count),
          min(meta.stats_min_value::timestamptz)::varchar, max(meta.stats_max_value::timestamptz)::varchar, null, null
     from parquet_metadata(getvariable('places')) meta
     join file on file.place = meta.file_name
     join made.ducklake_column kept
       on kept.table_id = file.table_id and kept.column_name = meta.path_in_schema and kept.column_type = 'timestamptz'
    group by file.id, file.table_id, kept.column_id
   having bool_and(meta.stats_min_value is not null or meta.stats_null_count = meta.num_values)`,
]

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
