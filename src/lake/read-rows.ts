import { type FileHandle, open } from 'node:fs/promises'
import { setImmediate as immediate } from 'node:timers/promises'
import { quoted } from '../db/bulk/copy-columns.ts'
import type { Sql } from '../db/database.ts'
import type { LakeTable } from './tables.ts'

/** What stands for NULL in the CSV. */
export const NULL = '\\N'

/** Bytes of a CSV file. DuckDB keeps what it has read of a file until its end. */
const FILE_BYTES = 16_000_000

/** How much text is read at once of the embedded database, in characters, and how many rows at most. */
const CHUNK_CHARACTERS = 1_000_000
const CHUNK_ROWS = 20_000

interface ReadOptions {
  readonly signal?: AbortSignal | undefined
  /** Called with the rows that were read since the last call. */
  readonly onRows: (rows: number) => void
}

/** Writes the rows of a month, or of all of a table, into CSV files in order of their key: their paths, and the size of all in bytes. */
export async function writeCsv(
  sql: Sql,
  table: LakeTable,
  { path, month }: { readonly path: string; readonly month: string | null },
  { signal, onRows }: ReadOptions,
): Promise<{ readonly paths: readonly string[]; readonly size: number }> {
  const conditions = [
    table.rows,
    ...(month === null ? [] : [rangeOf(table.time, month)]),
    // A restriction that is pending hides at once, and removes nothing yet.
    ...(table.names === undefined
      ? []
      : [`not exists (select from sync.privacy_restriction pending where pending.is_pending and ${table.names})`]),
  ]
  const range = conditions.map((one) => `(${one})`).join(' and ')
  const rest = `from ${quoted(table.name)} kept where ${range} order by ${table.order}`
  const paths: string[] = []
  let file: FileHandle | undefined
  let size = 0
  const write = async (lines: Buffer, rows: number) => {
    signal?.throwIfAborted()
    if (size >= paths.length * FILE_BYTES) {
      await file?.close()
      const next = `${path}.${paths.length}`
      file = await open(next, 'w')
      paths.push(next)
    }
    await file?.appendFile(lines)
    size += lines.length
    onRows(rows)
  }
  try {
    await (sql.copyOut ? copyCsv(sql, table, rest, write) : fetchCsv(sql, table, rest, write))
    if (paths.length === 0) await write(Buffer.alloc(0), 0)
    return { paths, size }
  } finally {
    await file?.close()
  }
}

type Write = (lines: Buffer, rows: number) => Promise<void>

/** Its rows lie in partitions, or behind an index, that Postgres finds by a range alone. */
function rangeOf(time: string | undefined, month: string): string {
  const first = `timestamptz '${month}-01 00:00:00+00'`
  return `${time} >= ${first} and ${time} < (${first} at time zone 'UTC' + interval '1 month') at time zone 'UTC'`
}

async function copyCsv(sql: Sql, { columns }: LakeTable, rest: string, write: Write): Promise<void> {
  // Under names of their own: `order by` would else take the text for the column.
  const values = columns.map(({ text }, n) => `${text} as c${n}`)
  const texts = columns.flatMap(({ quotes }, n) => (quotes ? [`c${n}`] : []))
  const force = texts.length > 0 ? `, force_quote (${texts.join(', ')})` : ''
  const statement = `copy (select ${values.join(', ')} ${rest}) to stdout (format csv, null '${NULL}'${force})`
  await sql.copyOut?.(statement, (lines) => write(lines, countLines(lines)))
}

/** About as many as there are rows: texts may have lines of their own. */
function countLines(lines: Buffer): number {
  let count = 0
  for (let at = lines.indexOf(10); at !== -1; at = lines.indexOf(10, at + 1)) count++
  return count
}

async function fetchCsv(sql: Sql, { columns }: LakeTable, rest: string, write: Write): Promise<void> {
  const fields = columns.map(({ text, quotes }) =>
    quotes ? `coalesce('"' || replace(${text}, '"', '""') || '"', '${NULL}')` : `coalesce(${text}, '${NULL}')`,
  )
  const line = `${fields.join(` || ',' || `)} || E'\\n'`
  await sql.query(`declare lake_rows no scroll cursor for select ${line} ${rest}`)
  for (let limit = 200; ; ) {
    const lines = await sql.values(`fetch forward ${limit} from lake_rows`)
    if (lines.length === 0) break
    const text = Buffer.from(lines.join(''))
    await write(text, lines.length)
    limit = Math.round(Math.min(CHUNK_ROWS, limit * 4, Math.max(1, (lines.length * CHUNK_CHARACTERS) / text.length)))
    // The embedded database answers without a turn for timers and signals.
    await immediate()
  }
  await sql.query('close lake_rows')
}
