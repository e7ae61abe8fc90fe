import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import { setImmediate as immediate } from 'node:timers/promises'
import type { Sql } from '../db/database.ts'
import { quoted } from '../db/move/copied-table.ts'
import type { LakeTable } from './tables.ts'

/** What stands for NULL in the CSV. */
export const NULL = '\\N'

/** How much text is read at once, in characters, and how many rows at most. */
const CHUNK = 1_000_000
const MOST_ROWS = 20_000

interface ReadOptions {
  readonly signal?: AbortSignal | undefined
  readonly onRows: (rows: number) => void
}

/** Writes the rows of a month, or of all of a table, into a CSV file in order of their key. Returns how many characters a row has. */
export async function writeCsv(
  sql: Sql,
  { name, columns, order, month }: LakeTable,
  { path, of }: { readonly path: string; readonly of: string | null },
  { signal, onRows }: ReadOptions,
): Promise<{ readonly rows: number; readonly width: number }> {
  const fields = columns.map(({ text, quotes }) =>
    quotes ? `coalesce('"' || replace(${text}, '"', '""') || '"', '${NULL}')` : `coalesce(${text}, '${NULL}')`,
  )
  const range = of === null ? '' : `where ${month} = '${of}'`
  // More than 100 arguments are too many for a function.
  await sql.query(`declare lake_rows no scroll cursor for
    select ${fields.join(` || ',' || `)} || E'\\n' from ${quoted(name)} ${range} order by ${order}`)
  const file = createWriteStream(path)
  let [rows, length, limit] = [0, 0, 200]
  try {
    for (;;) {
      signal?.throwIfAborted()
      const lines = await sql.values(`fetch forward ${limit} from lake_rows`)
      if (lines.length === 0) break
      const text = lines.join('')
      rows += lines.length
      length += text.length
      onRows(lines.length)
      if (!file.write(text)) await once(file, 'drain')
      limit = Math.round(Math.min(MOST_ROWS, limit * 4, Math.max(1, (lines.length * CHUNK) / text.length)))
      // The embedded database answers without a turn for timers and signals.
      await immediate()
    }
  } finally {
    file.end()
    await finished(file)
  }
  await sql.query('close lake_rows')
  return { rows, width: length / Math.max(1, rows) }
}
