import { setImmediate as immediate } from 'node:timers/promises'
import { FatalError } from '../../base/errors.ts'
import { quoted } from '../bulk/copy-columns.ts'
import type { Database, Sql } from '../database.ts'
import type { CopiedTable } from './copied-table.ts'
import { recordCopied } from './move-progress.ts'
import { rowDigest, setTextForm, type TableDigest } from './table-digest.ts'

/** How much text is read at once, in characters: what is in memory of a table. */
const CHUNK_CHARACTERS = 2_000_000
/** How many rows are read at once, at first and at most. */
const FIRST_ROWS = 200
const MOST_ROWS = 20_000

/** A row with its values as text. */
type TextRow = (string | null)[]

interface CopyOptions {
  readonly signal?: AbortSignal | undefined
  /** Called with the rows that were copied since the last call. */
  readonly onRows: (rows: number) => void
}

/** Copies a table in one transaction of the target, into which its digest and the progress go too. */
export async function copyTable(
  source: Sql,
  target: Database,
  table: CopiedTable,
  { signal, onRows }: CopyOptions,
): Promise<TableDigest> {
  return await target.transaction(async (sql) => {
    await setTextForm(sql)
    await matchPartitions(sql, table.name, await partitionsOf(source, table.name))
    const texts = table.columns.map((name) => `${quoted(name)}::text`)
    const read = readTextRows(source, [...texts, `(${rowDigest(table)})::text`], `from ${quoted(table.name)}`)
    let rows = 0
    let digest = 0n
    for await (const chunk of read) {
      signal?.throwIfAborted()
      for (const row of chunk) digest += BigInt(row.pop() ?? 0)
      rows += await sql.copy(table.name, table.columns, chunk)
      onRows(chunk.length)
      // The embedded database answers without a turn for timers and signals.
      await immediate()
    }
    const copied = { rows, digest: String(digest) }
    await recordCopied(sql, table.name, copied)
    return copied
  })
}

/** Reads rows through a cursor, so many at a time that a chunk stays small. @param texts SQL of their values */
export async function* readTextRows(sql: Sql, texts: readonly string[], rest: string): AsyncGenerator<TextRow[]> {
  await sql.query(`declare read_rows no scroll cursor for select ${texts.join(', ')} ${rest}`)
  let limit = FIRST_ROWS
  for (;;) {
    const rows = (await sql.values(`fetch forward ${limit} from read_rows`)) as TextRow[]
    if (rows.length === 0) break
    const length = Math.max(1, lengthOf(rows))
    yield rows
    limit = Math.round(Math.min(MOST_ROWS, limit * 4, Math.max(1, (rows.length * CHUNK_CHARACTERS) / length)))
  }
  await sql.query('close read_rows')
}

function lengthOf(rows: readonly TextRow[]): number {
  let length = 0
  for (const row of rows) for (const text of row) length += text?.length ?? 0
  return length
}

interface Partition {
  readonly schema: string
  readonly name: string
  /** `FOR VALUES FROM (...) TO (...)`, or `DEFAULT`. */
  readonly bound: string
}

/** Gives a table, which is empty, these partitions and no others. */
export async function matchPartitions(target: Sql, name: string, wanted: readonly Partition[]): Promise<void> {
  const present = await partitionsOf(target, name)
  const nameOf = (part: Partition) => `${quoted(part.schema)}.${quoted(part.name)}`
  const textOf = (part: Partition) => `${nameOf(part)} ${part.bound}`
  const wantedTexts = new Set(wanted.map(textOf))
  const presentTexts = new Set(present.map(textOf))
  for (const part of present) {
    if (wantedTexts.has(textOf(part))) continue
    const [row] = await target.query<{ empty: boolean }>(`select not exists (select from ${nameOf(part)}) as empty`)
    if (!row?.empty) throw new FatalError(`partition ${nameOf(part)} of the target has rows`)
    await target.query(`drop table ${nameOf(part)}`)
  }
  for (const part of wanted)
    if (!presentTexts.has(textOf(part)))
      await target.query(`create table ${nameOf(part)} partition of ${quoted(name)} ${part.bound}`)
}

export async function partitionsOf(sql: Sql, table: string): Promise<Partition[]> {
  return await sql.query<Partition>(
    `select relnamespace::regnamespace::text as schema, relname::text as name, pg_get_expr(relpartbound, oid) as bound
       from pg_inherits join pg_class on oid = inhrelid
      where inhparent = to_regclass($1) order by 1, 2`,
    [table],
  )
}

interface Sequence {
  readonly name: string
  /** The last number that it gave. */
  readonly last: string
}

export async function sequencesOf(sql: Sql): Promise<Sequence[]> {
  return await sql.query<Sequence>(
    `select quote_ident(schemaname) || '.' || quote_ident(sequencename) as name, last_value::text as last
       from pg_sequences where schemaname in ('game', 'sync') and last_value is not null order by 1`,
  )
}

/** Lets the numbers that tables give go on where they were. */
export async function setSequences(target: Sql, sequences: readonly Sequence[]): Promise<void> {
  for (const { name, last } of sequences)
    await target.query('select setval(to_regclass($1), $2::text::bigint)', [name, last])
}
