import { quoted } from '../bulk/copy-columns.ts'
import type { Database, Sql } from '../database.ts'
import type { CopiedTable } from './copied-table.ts'

/** What tells whether two tables have the same rows, in whatever order. */
export interface TableDigest {
  readonly rows: number
  /** Sum over all rows of the first 64 bits of the SHA-256 of each, as a decimal number. */
  readonly digest: string
}

/** SQL: the first 64 bits of the SHA-256 of a row, as a bigint. `md5` is missing on servers in FIPS mode. */
export function rowDigest({ columns }: CopiedTable): string {
  const row = `row(${columns.map(quoted).join(', ')})::text`
  return `('x' || encode(substr(sha256(convert_to(${row}, 'UTF8')), 1, 8), 'hex'))::bit(64)::bigint`
}

/** Reads every row of a table. The session must have the settings of `setTextForm`. */
export async function digestOf(sql: Sql, table: CopiedTable): Promise<TableDigest> {
  const [row] = await sql.query<TableDigest>(
    `select count(*) as rows, coalesce(sum(${rowDigest(table)}), 0)::text as digest from ${quoted(table.name)}`,
  )
  return row ?? { rows: 0, digest: '0' }
}

export async function countRows(sql: Sql, name: string): Promise<number> {
  const [row] = await sql.query<{ rows: number }>(`select count(*) as rows from ${quoted(name)}`)
  return row?.rows ?? 0
}

export function isSame(one: TableDigest, other: TableDigest): boolean {
  return one.rows === other.rows && one.digest === other.digest
}

/** Until the end of the transaction, values as text are exact, and the same on every server. */
export async function setTextForm(sql: Sql): Promise<void> {
  await sql.query(
    `set local datestyle = 'ISO, YMD';
     set local timezone = 'UTC';
     set local intervalstyle = 'postgres';
     set local bytea_output = 'hex';
     set local extra_float_digits = 1;
     set local statement_timeout = 0;
     set local idle_in_transaction_session_timeout = 0`,
  )
}

/**
 * How many rows were written into the tables of a server so far, as its statistics count them; 0 for the embedded database,
 * which one process has. A sync of a worklist takes no lock that could keep it out of a move.
 */
export async function countWrites(db: Database): Promise<number> {
  if (db.kind === 'embedded') return 0
  const [row] = await db.query<{ rows: number }>(
    `select coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0)::bigint as rows from pg_stat_user_tables
      where schemaname in ('game', 'sync', 'partitions') and relname <> 'lock'`,
  )
  return row?.rows ?? 0
}
