import { tableExists } from '../catalog.ts'
import type { Sql } from '../database.ts'
import { MOVE_PROGRESS } from './copied-table.ts'
import type { TableDigest } from './table-digest.ts'

/*
 * Which tables a move has copied, in the target. The table exists while a move is unfinished; nothing else may write into
 * such a database, or open it as if its history were whole.
 */

/** Whether a move into this database is unfinished. */
export const isMoveUnfinished = (sql: Sql): Promise<boolean> => tableExists(sql, MOVE_PROGRESS)

export async function beginProgress(sql: Sql): Promise<void> {
  await sql.query(
    `create table ${MOVE_PROGRESS} (table_name text primary key, rows bigint not null, digest numeric not null);
     comment on table ${MOVE_PROGRESS} is 'Tables that an unfinished move into this database has copied.'`,
  )
}

export async function readProgress(sql: Sql): Promise<Map<string, TableDigest>> {
  const rows = await sql.query<TableDigest & { name: string }>(
    `select table_name as name, rows, digest::text as digest from ${MOVE_PROGRESS}`,
  )
  return new Map(rows.map(({ name, rows: count, digest }) => [name, { rows: count, digest }]))
}

/** In the transaction that copied the table. */
export async function recordCopied(sql: Sql, name: string, { rows, digest }: TableDigest): Promise<void> {
  await sql.query(`insert into ${MOVE_PROGRESS} (table_name, rows, digest) values ($1, $2, $3::text::numeric)`, [
    name,
    rows,
    digest,
  ])
}

export async function endProgress(sql: Sql): Promise<void> {
  await sql.query(`drop table ${MOVE_PROGRESS}`)
}
