import { FatalError } from '../../base/errors.ts'
import { quoted } from '../../db/bulk/copy-columns.ts'
import { type DuckDb, literal } from '../duckdb.ts'
import type { LakeFile } from '../index-file.ts'

/** The longest value, in bytes: more than any that a database of this program has. A row with a longer one is refused. */
export const LONGEST_VALUE = 1_000_000

/** How much text of a file is written at once, in bytes, and how many rows DuckDB holds at once. */
const HELD = 8_000_000
const VECTOR = 2048

/** About how long the text of a value of another type is. */
const PLAIN = 12

/** Rows of a file, by their number from 0, that are read together. */
export interface Range {
  readonly first: number
  readonly last: number
}

interface MeasuredFile {
  /** Bytes of text of all rows. */
  readonly bytes: number
  readonly ranges: readonly Range[]
}

/** Rows of a Parquet file, with their number. */
export const numberedRows = (path: string): string =>
  `read_parquet(${literal(path)}, hive_partitioning = false, file_row_number = true)`

/** @throws FatalError when the file has another number of rows than the index says */
export async function checkRows(duck: DuckDb, path: string, { rows }: Pick<LakeFile, 'rows'>): Promise<void> {
  const [footer] = await duck.rows(
    `select num_rows::double as rows,
            (select coalesce(sum(rows), 0)::double from (select distinct row_group_id, row_group_num_rows as rows
                                                           from parquet_metadata(${literal(path)}))) as grouped
       from parquet_file_metadata(${literal(path)})`,
  )
  const [found, grouped] = [Number(footer?.rows), Number(footer?.grouped)]
  if (found !== rows || grouped !== rows)
    throw new FatalError(`it has ${found === rows ? grouped : found} rows; the index says ${rows}`)
}

/**
 * How much text the columns of a file have, without making any: a few bytes of a file may be gigabytes of equal values. Where
 * rows are wide, few are read together.
 */
export async function measureFile(
  duck: DuckDb,
  path: string,
  columns: readonly (readonly [name: string, type: string])[],
): Promise<MeasuredFile> {
  const sizes = columns.map(([name, type]) => `least(coalesce(${sizeOf(quoted(name), type)}, 0), ${LONGEST_VALUE})`)
  const parts = await duck.rows(
    `select part::double as part, sum(bytes)::double as bytes, max(bytes)::double as widest, max(number)::double as last
       from (select file_row_number // ${VECTOR} as part, file_row_number as number, (${sizes.join(' + ') || '0'})::bigint as bytes
               from ${numberedRows(path)})
      group by 1 order by 1`,
  )
  const ranges: Range[] = []
  let bytes = 0
  let open = 0
  for (const part of parts) {
    const [first, last, widest] = [Number(part.part) * VECTOR, Number(part.last), Number(part.widest)]
    bytes += Number(part.bytes)
    const isWide = Number(part.bytes) > 2 * HELD
    const before = ranges.at(-1)
    const joins = !isWide && open > 0 && open + Number(part.bytes) <= HELD
    if (joins && before) ranges[ranges.length - 1] = { ...before, last }
    const step = isWide ? Math.max(1, Math.floor(HELD / widest)) : VECTOR
    if (!joins)
      for (let at = first; at <= last; at += step) ranges.push({ first: at, last: Math.min(last, at + step - 1) })
    open = isWide ? 0 : Number(part.bytes) + (joins ? open : 0)
  }
  return { bytes, ranges }
}

/** SQL of DuckDB: bytes of the text of a value. */
function sizeOf(own: string, type: string): string {
  if (type === 'bytea') return `2 * octet_length(${own})`
  if (type === 'text[]') return `list_sum(list_transform(${own}, lambda one: coalesce(strlen(one), 4) + 4))`
  return ['text', 'json', 'jsonb', 'uuid'].includes(type) ? `strlen(${own}::varchar)` : `${PLAIN}`
}
