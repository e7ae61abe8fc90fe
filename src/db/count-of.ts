import type { Sql, SqlValue } from './database.ts'

/** How many rows a statement returns, which may be millions: they stay in the database. */
export async function countOf(sql: Sql, statement: string, parameters: readonly SqlValue[] = []): Promise<number> {
  const [row] = await sql.query<{ rows: number }>(
    `with counted as (${statement}) select count(*) as rows from counted`,
    parameters,
  )
  return row?.rows ?? 0
}
