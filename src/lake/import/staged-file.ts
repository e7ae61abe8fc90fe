import { rm } from 'node:fs/promises'
import { FatalError } from '../../base/errors.ts'
import { quoted } from '../../db/bulk/copy-columns.ts'
import type { Sql } from '../../db/database.ts'
import { type DuckDb, literal } from '../duckdb.ts'
import type { LakeFile } from '../index-file.ts'
import type { LakeTable } from '../tables.ts'

/** The longest value, in bytes: more than any that a database of this program has. A row with a longer one is refused. */
const LONGEST_VALUE = 1_000_000

/** How much text of a file is written at once, in bytes, and how many rows DuckDB holds at once. */
const HELD_BYTES = 8_000_000
const VECTOR_ROWS = 2048

/** About how long the text of a value of another type is. */
const OTHER_VALUE_CHARACTERS = 12

/** Rows of a file, by their number from 0, that are read together. */
interface Range {
  readonly first: number
  readonly last: number
}

interface MeasuredFile {
  /** Bytes of text of all rows. */
  readonly bytes: number
  readonly ranges: readonly Range[]
}

/** Rows of a Parquet file, with their number. */
const numberedRows = (path: string): string =>
  `read_parquet(${literal(path)}, hive_partitioning = false, file_row_number = true)`

/** @throws FatalError when the file has another number of rows than the index says */
export async function checkRows(duck: DuckDb, path: string, { rows }: Pick<LakeFile, 'rows'>): Promise<void> {
  const [footer] = await duck.rows(
    `select num_rows::double as rows,
            (select coalesce(sum(rows), 0)::double from (select distinct row_group_id, row_group_num_rows as rows
                                                           from parquet_metadata(${literal(path)}))) as grouped
       from parquet_file_metadata(${literal(path)})`,
  )
  const found = Number(footer?.rows)
  const grouped = Number(footer?.grouped)
  if (found !== rows || grouped !== rows)
    throw new FatalError(`it has ${found === rows ? grouped : found} rows; the index says ${rows}`)
}

/**
 * How much text the columns of a file have, without making any: a few bytes of a file may be gigabytes of equal values. Where
 * rows are wide, few are read together.
 */
async function measureFile(
  duck: DuckDb,
  path: string,
  columns: readonly (readonly [name: string, type: string])[],
): Promise<MeasuredFile> {
  const sizes = columns.map(([name, type]) => `least(coalesce(${sizeOf(quoted(name), type)}, 0), ${LONGEST_VALUE})`)
  const parts = await duck.rows(
    `select part::double as part, sum(bytes)::double as bytes, max(bytes)::double as widest, max(number)::double as last
       from (select file_row_number // ${VECTOR_ROWS} as part, file_row_number as number, (${sizes.join(' + ') || '0'})::bigint as bytes
               from ${numberedRows(path)})
      group by 1 order by 1`,
  )
  const ranges: Range[] = []
  let bytes = 0
  let open = 0
  for (const part of parts) {
    const first = Number(part.part) * VECTOR_ROWS
    const last = Number(part.last)
    const widest = Number(part.widest)
    bytes += Number(part.bytes)
    const isWide = Number(part.bytes) > 2 * HELD_BYTES
    const before = ranges.at(-1)
    const joins = !isWide && open > 0 && open + Number(part.bytes) <= HELD_BYTES
    if (joins && before) ranges[ranges.length - 1] = { ...before, last }
    const step = isWide ? Math.max(1, Math.floor(HELD_BYTES / widest)) : VECTOR_ROWS
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
  return ['text', 'json', 'jsonb', 'uuid'].includes(type) ? `strlen(${own}::varchar)` : `${OTHER_VALUE_CHARACTERS}`
}

/** The longest text of an indexed column, in bytes. */
const LONGEST_KEY = 1000

/** What DuckDB calls the types of a lake's columns. */
const DUCK_TYPES: Readonly<Record<string, string>> = {
  boolean: 'BOOLEAN',
  smallint: 'SMALLINT',
  integer: 'INTEGER',
  bigint: 'BIGINT',
  real: 'FLOAT',
  'double precision': 'DOUBLE',
  'timestamp with time zone': 'TIMESTAMP WITH TIME ZONE',
  bytea: 'BLOB',
  json: 'JSON',
  jsonb: 'JSON',
  'text[]': 'VARCHAR[]',
}

interface StagedRows {
  readonly rows: number
  readonly refused: number
  /** Rows about players whom the lake does not name. */
  readonly nameless: number
}

/** Of the instants of a row, pairs of which the second is not before the first. */
const ORDERED = [
  ['login_earliest', 'first_listed_at'],
  ['last_unlisted_at', 'first_listed_at'],
  ['first_listed_at', 'last_listed_at'],
  ['last_listed_at', 'first_unlisted_at'],
  ['last_listed_at', 'logout_latest'],
  ['from_at', 'until_at'],
  ['first_at', 'last_at'],
  ['first_received_at', 'last_received_at'],
] as const

/** What a row must fulfil besides the types of its columns. */
export interface RowRules {
  /** Columns that say when something was observed: nothing was observed after this instant. */
  readonly observed: readonly string[]
  readonly until: Date
  /** Columns that cannot be NULL. */
  readonly required: readonly string[]
  /** Columns with an index, whose values have a limit. */
  readonly indexed: readonly string[]
}

/** How much text may still be read, in bytes. */
export interface Room {
  bytes: number
}

interface StageOptions {
  readonly file: Pick<LakeFile, 'rows'>
  readonly path: string
  readonly room: Room
  /** The table; it has at least the columns of the lake's table. */
  readonly staged: string
  readonly rules: RowRules
  /** Columns that stay NULL. */
  readonly leftOut: readonly string[]
  readonly signal?: AbortSignal | undefined
}

/**
 * Copies the rows of a Parquet file that Postgres can store into a table of the transaction; the others are counted.
 * @throws FatalError when the file is no Parquet, has other columns than the table, other rows than the index says, or more text
 * than there is room
 */
export async function stageFile(
  sql: Sql,
  duck: DuckDb,
  table: Pick<LakeTable, 'name' | 'types' | 'hidden'>,
  { file, path, room, staged, rules, leftOut, signal }: StageOptions,
): Promise<StagedRows> {
  const from = numberedRows(path)
  await checkRows(duck, path, file).catch(refuse)
  const found = await duck.rows(`describe select * exclude (file_row_number) from ${from}`).catch(refuse)
  const names = Object.keys(table.types)
  const wanted = names.map((name) => `${name} ${DUCK_TYPES[table.types[name] ?? ''] ?? 'VARCHAR'}`)
  const present = found
    .map((one) => `${one.column_name} ${one.column_type}`)
    .filter((one) => !one.startsWith('is_current '))
  const other = present.find((one) => !wanted.includes(one)) ?? wanted.find((one) => !present.includes(one))
  if (other !== undefined) throw new FatalError(`its columns are not those of ${table.name}: ${other.slice(0, 100)}`)
  const copied = names.filter((name) => !leftOut.includes(name))
  const fit = copied.flatMap((name) => conditionsOf(name, table.types[name] ?? '', rules))
  const order = names.includes('valid_until') ? ['coalesce(valid_until > valid_from, true)'] : []
  const ordered = ORDERED.filter((pair) => pair.every((name) => names.includes(name)))
  const pairs = ordered.map(([first, then]) => `coalesce(${then} >= ${first}, true)`)
  const condition = [...fit, ...order, ...pairs].map((one) => `coalesce(${one}, false)`).join(' and ') || 'true'
  const needed = table.hidden.filter((name) => copied.includes(name) && rules.required.includes(name))
  const nameless = needed.map((name) => `${quoted(name)} is null`).join(' or ')
  const values = copied.map((name) => `${textOf(name, table.types[name] ?? '')} as ${quoted(name)}`)
  const typed = copied.map((name) => [name, table.types[name] ?? ''] as const)
  const { bytes, ranges } = await measureFile(duck, path, typed).catch(refuse)
  if (bytes > room.bytes) throw new FatalError(`it has ${bytes} bytes of text: more than --max-bytes allows`)
  room.bytes -= bytes
  const within = ({ first, last }: Range) => `file_row_number between ${first} and ${last}`
  const texts = copied.filter((name) => isText(table.types[name] ?? '')).map(quoted)
  const form = `format csv, header false, nullstr '\\N'${texts.length > 0 ? `, force_quote (${texts.join(', ')})` : ''}`
  // DuckDB writes the text of the next rows while Postgres takes these.
  const write = async (nth: number) => {
    const range = ranges[nth]
    if (!range) return undefined
    const csv = `${path}.${nth}.csv`
    // What is outside of the range is not even looked at.
    const chosen = `${within(range)} and case when ${within(range)} then ${condition} else false end`
    const [made] = await duck
      .rows(`copy (select ${values.join(', ')} from ${from} where ${chosen}) to ${literal(csv)} (${form})`)
      .catch(refuse)
    return { csv, rows: Number(made?.Count) }
  }
  let rows = 0
  let next = write(0)
  try {
    for (let made = await next, nth = 1; made; made = await next, nth++) {
      signal?.throwIfAborted()
      next = write(nth)
      // Where it fails, that is said when these rows are in.
      next.catch(() => undefined)
      if (made.rows > 0) await sql.copyCsv(staged, copied, made.csv)
      rows += made.rows
      await rm(made.csv)
    }
  } finally {
    await next.catch(() => undefined)
  }
  const [unnamed] =
    needed.length === 0
      ? []
      : await duck.rows(`select count(*)::integer as nameless from ${from} where ${nameless}`).catch(refuse)
  const without = Number(unnamed?.nameless ?? 0)
  return { rows, refused: file.rows - without - rows, nameless: without }
}

const withoutTexts = (json: string) => `regexp_replace(${json}, '"([^"\\\\]|\\\\.)*"', '', 'g')`

/** How many lists and objects JSON has at most that is not looked at any closer: Postgres reads some thousand levels. */
const UNCHECKED_LISTS = 5000

/** SQL of DuckDB: whether JSON is nested less than Postgres can read. What has many lists has few left without its innermost eight levels. */
function isFlat(json: string): string {
  const lists = (text: string) => `length(${text}) - length(translate(${text}, '[{', ''))`
  let inner = withoutTexts(json)
  for (let level = 0; level < 8; level++) inner = `regexp_replace(${inner}, '[\\[{][^\\[\\]{}]*[\\]}]', '', 'g')`
  return `case when ${lists(json)} < ${UNCHECKED_LISTS} then true else ${lists(inner)} < ${UNCHECKED_LISTS} end`
}

function refuse(error: unknown): never {
  if (error instanceof FatalError) throw error
  // The file has no part in it.
  if (/No space left on device|Could not write/.test(String(error))) throw error
  const reason = /^(Error: )?Out of Memory/.test(String(error))
    ? 'reading it takes more memory than is allowed'
    : 'it is no Parquet file that can be read'
  throw new FatalError(reason, { cause: error })
}

/** Whether values may have what ends a value, a row or the file in CSV. */
const isText = (type: string) => ['text', 'json', 'jsonb', 'text[]'].includes(type)

function textOf(name: string, type: string): string {
  const own = quoted(name)
  if (name === 'valid_until') return `coalesce(${own}::varchar, 'infinity')`
  if (type === 'bytea') return `'\\x' || lower(hex(${own}))`
  if (type === 'text[]') {
    const element = `'"' || replace(replace(one, '\\', '\\\\'), '"', '\\"') || '"'`
    return `'{' || array_to_string(list_transform(${own}, lambda one: coalesce(${element}, 'NULL')), ',') || '}'`
  }
  return `${own}::varchar`
}

/** SQL of DuckDB: what a value must be so that Postgres can store it. */
function conditionsOf(name: string, type: string, { observed, until, required, indexed }: RowRules): string[] {
  const own = quoted(name)
  const optional = (condition: string) => `(${own} is null or ${condition})`
  // Not `and`: DuckDB evaluates its operands in any order, and another copy of an unbounded value may exceed the memory.
  const notLong = (text: string, condition: string, longest = LONGEST_VALUE) =>
    `case when ${own} is null then true when strlen(${text}) >= ${longest} then false else ${condition} end`
  const conditions: string[] = []
  if (required.includes(name) && name !== 'valid_until') conditions.push(`${own} is not null`)
  if (type === 'timestamp with time zone') {
    const last = observed.includes(name) ? until.toISOString() : '9999-12-31T00:00:00Z'
    const first = observed.includes(name) ? '2000-01-01T00:00:00Z' : '0001-01-02T00:00:00Z'
    conditions.push(optional(`${own} between timestamptz '${first}' and timestamptz '${last}'`))
  } else if (type === 'uuid')
    conditions.push(optional(`regexp_full_match(${own}, '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')`))
  else if (type === 'bytea')
    conditions.push(optional(`octet_length(${own}) ${name.endsWith('hash') ? '= 32' : `< ${LONGEST_VALUE / 2}`}`))
  else if (type === 'json' || type === 'jsonb')
    // What jsonb refuses besides: NUL, lone halves of surrogate pairs, and numbers without end.
    conditions.push(
      notLong(
        `${own}::varchar`,
        // Halves of a surrogate pair are no valid JSON to DuckDB; NUL is. Behind a backslash that is escaped it is text.
        `json_valid(${own}::varchar) and not contains(replace(${own}::varchar, '\\\\', ''), '\\u0000')
         and not regexp_matches(${withoutTexts(`${own}::varchar`)}, '[eE][-+]?\\d{3}|\\d{1000}') and ${isFlat(`${own}::varchar`)}`,
      ),
    )
  else if (type === 'text')
    conditions.push(notLong(own, `not contains(${own}, chr(0))`, indexed.includes(name) ? LONGEST_KEY : LONGEST_VALUE))
  else if (type === 'text[]') {
    const size = `coalesce(list_sum(list_transform(${own}, lambda one: coalesce(strlen(one), 4) + 4)), 0)`
    const longest = indexed.includes(name) ? LONGEST_KEY : LONGEST_VALUE
    conditions.push(
      `case when ${own} is null then true when ${size} >= ${longest} then false else not contains(to_json(${own})::varchar, '\\u0000') end`,
    )
  } else if (type === 'real' || type === 'double precision') conditions.push(optional(`isfinite(${own})`))
  return conditions
}
