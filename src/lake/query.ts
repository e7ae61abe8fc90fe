import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { FatalError, messageOf, UsageError, withRoom } from '../base/errors.ts'
import { unknownName } from '../base/text/nearest.ts'
import { quoted } from '../db/bulk/copy-columns.ts'
import { type DuckDb, literal } from './duckdb.ts'
import type { LakeFile } from './index-file.ts'
import { openLocked } from './read/locked-duckdb.ts'
import type { LakePlace } from './read/place.ts'
import { inWorkFolder } from './read/work-folder.ts'

/** Compiled code is as deep below the package's folder as this file. */
const sqlFolder = fileURLToPath(new URL('../../src/lake/sql/', import.meta.url))

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

interface AskOptions {
  /** Of rows; 0 for all. */
  readonly limit: number
  /** More bytes of files than this are not fetched from a place that is no folder of this machine. */
  readonly maxBytes: number
  readonly signal?: AbortSignal | undefined
}

/**
 * Answers a question about a lake. The files of the question's tables are held against the index first: Parquet has no checksum of its
 * values, and a flipped bit would be another answer. Of a place that is no folder of this machine they are fetched.
 * @throws UsageError when the question is about tables that the lake has not, such as those about players
 */
export async function askLake(place: LakePlace, name: string, options: AskOptions): Promise<Record<string, unknown>[]> {
  const text = await lakeSql(name)
  const { files, tables } = await place.index(options.signal)
  const isNeeded = (table: string) => new RegExp(`\\b(?:from|join)\\s+${nameOf(table)}\\b`).test(text)
  const needed = files.filter(({ table }) => isNeeded(table))
  const empty = Object.entries(tables).filter(
    ([table]) => isNeeded(table) && !needed.some((file) => nameOf(file.table) === nameOf(table)),
  )
  return await inWorkFolder(async (folder) => {
    const paths = await pathsOf(place, needed, folder, options)
    const allowed = { files: [...paths.values()].flat(), temporary: join(folder, 'temporary') }
    const db = await openLocked({ ...allowed, memory: '1GB', threads: 2 })
    const interrupt = () => db.interrupt()
    options.signal?.addEventListener('abort', interrupt)
    try {
      for (const [table, own] of paths) await createView(db, table, own)
      for (const [table, types] of empty) await createEmpty(db, nameOf(table), types)
      return await db.rows(`select * from (${text})${options.limit > 0 ? ` limit ${options.limit}` : ''}`)
    } catch (error) {
      options.signal?.throwIfAborted()
      const [, table] = /Table with name (\w+) does not exist/.exec(String(error)) ?? []
      // They are what the index lists, so whoever wrote both wrote files that cannot be asked.
      const [reason] = messageOf(withRoom(error, `the temporary folder ${folder}, which TMPDIR names`)).split('\n')
      if (table === undefined) throw new FatalError(`${place.place} cannot be asked: ${reason}`, { cause: error })
      throw new UsageError(
        `the lake has no ${table}: it was exported without --people, or by a version that does not have it`,
      )
    } finally {
      options.signal?.removeEventListener('abort', interrupt)
      db.close()
    }
  })
}

async function createView(db: DuckDb, table: string, paths: readonly string[]): Promise<void> {
  const files = `[${paths.map(literal).join(', ')}]`
  await db.run(`create view ${quoted(table)} as select * from read_parquet(${files}, hive_partitioning = false)`)
}

/** What DuckDB calls as Postgres does. All else is text: others may have written the index, and its words do not come into SQL. */
const PLAIN = /^(boolean|smallint|integer|bigint|real|double precision|timestamp with time zone)$/

/** A table of which nothing was recorded has no file. */
async function createEmpty(db: DuckDb, table: string, types: Readonly<Record<string, string>>): Promise<void> {
  // Files of versions have a column more than their table.
  const all = { ...types, ...('valid_until' in types && { is_current: 'boolean' }) }
  const columns = Object.entries(all).map(([name, type]) => `${quoted(name)} ${PLAIN.test(type) ? type : 'varchar'}`)
  await db.run(`create table if not exists ${quoted(table)} (${columns.join(', ')})`)
}

/** Where files lie on this machine, by the table's name without its schema. */
async function pathsOf(
  { place, pathOf, fetch }: LakePlace,
  files: readonly LakeFile[],
  folder: string,
  { maxBytes, signal }: AskOptions,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  if (!pathOf && bytes > maxBytes)
    throw new UsageError(`${place} has ${bytes} bytes of these tables; --max-bytes allows ${maxBytes}`)
  const paths = new Map<string, string[]>()
  for (const [nth, file] of files.entries()) {
    const copy = join(folder, `${nth}.parquet`)
    const checked = fetch(file, pathOf ? null : copy, signal).then(() => (pathOf ? pathOf(file) : copy))
    const path = await checked.catch((error: unknown) => {
      if ((error as Error).constructor !== FatalError) throw error
      throw new FatalError(
        `${place}: ${file.path}: ${messageOf(error)}; copy the lake there again, or remove that file and export anew`,
        { cause: error },
      )
    })
    const name = nameOf(file.table)
    paths.set(name, [...(paths.get(name) ?? []), path])
  }
  return paths
}

const nameOf = (table: string): string => table.replace(/^.*\./, '')
