import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { UsageError } from '../app/errors.ts'
import { unknownName } from '../app/text/nearest.ts'
import { type DuckDb, literal, openDuckDb } from './duckdb.ts'
import { type LakeIndex, readIndex } from './index-file.ts'

/** Compiled code is as deep below the package's folder as this file. */
const sqlFolder = fileURLToPath(new URL('../../src/lake/sql/', import.meta.url))

/** Names of the questions. */
export async function lakeQuestions(): Promise<string[]> {
  return (await readdir(sqlFolder)).map((name) => name.replace('.sql', '')).sort()
}

/** The SQL of a question. It is the same for DuckDB and Spark. @throws UsageError when there is none of this name */
export async function lakeSql(name: string): Promise<string> {
  const names = await lakeQuestions()
  if (!names.includes(name)) {
    const all = names.map((one) => ({ name: one }))
    throw new UsageError(unknownName('question', name, all, 'wynnsync lake query --help'))
  }
  return await readFile(join(sqlFolder, `${name}.sql`), 'utf8')
}

/** Paths of the files of each table, by the table's name without its schema. */
export function filesByTable(folder: string, { files }: LakeIndex): Map<string, string[]> {
  const tables = new Map<string, string[]>()
  for (const { table, path } of files) {
    const name = table.replace(/^.*\./, '')
    tables.set(name, [...(tables.get(name) ?? []), join(folder, path)])
  }
  return tables
}

/** A DuckDB with a view of each table of a lake. @throws UsageError when there is no lake */
export async function openLake(folder: string): Promise<DuckDb> {
  const index = await readIndex(folder)
  if (!index) throw new UsageError(`${folder} has no index.json: no lake was exported into it`)
  const db = await openDuckDb()
  for (const [name, paths] of filesByTable(folder, index))
    await db.run(
      `create view "${name}" as select * from read_parquet([${paths.map(literal).join(', ')}], hive_partitioning = false)`,
    )
  return db
}

/**
 * Answers a question about a lake. @param limit rows at most
 * @throws UsageError when the question is about tables that the lake has not, such as those about players
 */
export async function askLake(folder: string, name: string, limit: number): Promise<Record<string, unknown>[]> {
  const text = await lakeSql(name)
  const db = await openLake(folder)
  try {
    return await db.rows(`select * from (${text}) limit ${limit}`)
  } catch (error) {
    const [, table] = /Table with name (\w+) does not exist/.exec(String(error)) ?? []
    if (table === undefined) throw error
    throw new UsageError(`the lake has nothing of ${table}: it is empty, or was exported without --people`)
  } finally {
    db.close()
  }
}
