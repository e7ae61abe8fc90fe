import type { Database, Sql } from '../../../src/db/database.ts'
import type { Call } from './calls.ts'

/** Tables in a plan of their own order: a table that is small anyhow is best read as a whole. */
export interface Scanning {
  /** From how many rows on a table is large. */
  readonly large: number
  /** Have Postgres read a table as a whole only where no index helps: what a large table would get. */
  readonly asIfLarge?: boolean
}

/**
 * The tables that a call read as a whole, by Postgres's own count, which sees into functions too: EXPLAIN does not.
 * Partitions count for themselves.
 */
export async function largeScans(
  db: Database,
  { text, values }: Pick<Call, 'text' | 'values'>,
  { large, asIfLarge = false }: Scanning,
): Promise<string[]> {
  return await db.transaction(async (sql) => {
    // Workers count for themselves.
    await sql.query('set local max_parallel_workers_per_gather = 0')
    if (asIfLarge) await sql.query('set local enable_seqscan = off')
    const before = await readInSequence(sql)
    await sql.values(text, values)
    const after = await readInSequence(sql)
    return [...after].flatMap(([name, { rows, size }]) =>
      rows > (before.get(name)?.rows ?? 0) && size >= large ? [name] : [],
    )
  })
}

/** Of each table, how many rows this session read in sequence and has not reported yet, and how many the table has. */
async function readInSequence(sql: Sql): Promise<Map<string, { rows: number; size: number }>> {
  const found = await sql.query<{ name: string; rows: number; size: number }>(
    `select relid::regclass::text as name, seq_tup_read as rows, reltuples as size
       from pg_stat_xact_all_tables join pg_class on oid = relid
      where schemaname in ('game', 'sync', 'partitions') and seq_tup_read > 0 order by 1`,
  )
  return new Map(found.map(({ name, ...told }) => [name, told]))
}
