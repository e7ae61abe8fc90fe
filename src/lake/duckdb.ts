import { codeOf, UsageError } from '../base/errors.ts'
import { quoted } from '../db/bulk/copy-columns.ts'
import type { LakeFile } from './index-file.ts'
import { NULL } from './read-rows.ts'
import type { LakeTable } from './tables.ts'

/** The version that is tested; another 1.5 works as well. */
const INSTALL = 'npm install @duckdb/node-api@1.5.6-r.1'

/** Of a row group before it is compressed, in characters. */
const GROUP_CHARACTERS = 16_000_000

/** What is freed goes back to the system, also while DuckDB has nothing to do: its allocator keeps 100 MB and more otherwise. */
export const FREES = {
  allocator_flush_threshold: '1MB',
  allocator_bulk_deallocation_flush_threshold: '1MB',
  allocator_background_threads: 'true',
}

/**
 * With one thread rows stay in their order, and of two each would hold buffers of its own. The limit is for the widest rows, of
 * which 2,048 are held at once.
 */
const WRITER = { memory_limit: '1GB', threads: '1', preserve_insertion_order: 'false', ...FREES }

/** How much of a CSV file is read at once, in bytes; twice the longest line. */
const BUFFER_BYTES = 4_194_304

/** A DuckDB of its own in memory. */
export interface DuckDb {
  run(sql: string): Promise<void>
  /** Rows with values as JSON has them: instants and uuids as text, whole numbers beyond 2^53 too. */
  rows(sql: string): Promise<Record<string, unknown>[]>
  /** Rows of text columns, a few thousand at a time. */
  stream(sql: string): AsyncGenerator<(string | null)[][]>
  /** Ends what runs, with an error. */
  interrupt(): void
  close(): void
}

/** @throws UsageError with the command that installs it when DuckDB is not there */
export async function loadDuckDb(): Promise<typeof import('@duckdb/node-api')> {
  return await import('@duckdb/node-api').catch((error: unknown) => {
    if (!/MODULE_NOT_FOUND$/.test(String(codeOf(error)))) throw error
    throw new UsageError(`lake needs a package that is not installed: ${INSTALL}`)
  })
}

/** @throws UsageError where `loadDuckDb` does */
export async function openDuckDb(
  temporary?: string,
  settings: Readonly<Record<string, string>> = temporary === undefined ? { memory_limit: '1GB', threads: '2' } : WRITER,
): Promise<DuckDb> {
  const { DuckDBInstance } = await loadDuckDb()
  const instance = await DuckDBInstance.create(':memory:', {
    ...settings,
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    ...(temporary === undefined ? {} : { temp_directory: temporary }),
  })
  const connection = await instance.connect()
  await connection.run(`set timezone = 'UTC'`)
  return {
    run: async (sql) => void (await connection.run(sql)),
    rows: async (sql) => (await connection.runAndReadAll(sql)).getRowObjectsJson(),
    stream: async function* (sql) {
      const result = await connection.stream(sql)
      for (;;) {
        const chunk = await result.fetchChunk()
        if (!chunk || chunk.rowCount === 0) return
        yield chunk.getRows() as (string | null)[][]
      }
    },
    interrupt: () => connection.interrupt(),
    close: () => {
      connection.closeSync()
      instance.closeSync()
    },
  }
}

export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** SQL of the rows of CSV files, in their order. */
export function selectCsv({ columns }: Pick<LakeTable, 'columns'>, csv: readonly string[]): string {
  const texts = columns.map(({ name }) => `${literal(name)}: 'varchar'`)
  const values = columns.map(({ name, value }) => `${value} as ${quoted(name)}`)
  return `select ${values.join(', ')}
            from read_csv([${csv.map(literal).join(', ')}], columns = {${texts.join(', ')}}, auto_detect = false, header = false,
                          delim = ',', quote = '"', escape = '"', nullstr = ${literal(NULL)}, allow_quoted_nulls = false,
                          new_line = '\\n', strict_mode = true, parallel = false, buffer_size = ${BUFFER_BYTES})`
}

/** Makes a Parquet file of CSV files; rows stay in their order. @param width characters of a row, on average */
export async function writeParquet(
  db: DuckDb,
  table: LakeTable,
  { csv, path, width }: { readonly csv: readonly string[]; readonly path: string; readonly width: number },
): Promise<void> {
  const group = Math.max(2048, Math.min(122_880, Math.round(GROUP_CHARACTERS / Math.max(1, width))))
  await db.run(
    `copy (${selectCsv(table, csv)})
       to ${literal(path)} (format parquet, compression zstd, row_group_size ${group}, write_bloom_filter false)`,
  )
}

/** What a catalogue says of a Parquet file. @param path of this machine */
export async function describeParquet(db: DuckDb, path: string): Promise<Pick<LakeFile, 'footer' | 'instants'>> {
  const [meta] = await db.rows(`select footer_size::integer as footer from parquet_file_metadata(${literal(path)})`)
  const columns = await db.rows(
    `select path_in_schema as name, min(stats_min_value::timestamptz)::varchar as first,
            max(stats_max_value::timestamptz)::varchar as last, sum(stats_null_count)::double as none
       from parquet_metadata(${literal(path)})
      where path_in_schema in (select column_name from (describe select * from read_parquet(${literal(path)}))
                                where column_type = 'TIMESTAMP WITH TIME ZONE')
      group by 1 having bool_and(stats_min_value is not null or stats_null_count = num_values) order by 1`,
  )
  const instants = columns.map(({ name, first, last, none }) => [name, [first, last, none]])
  return { footer: Number(meta?.footer), instants: Object.fromEntries(instants) }
}
