import type { Sql, SqlValue } from '../../db/database.ts'
import { typed } from '../../db/typed.ts'
import { tier } from '../tables/retention.ts'

type Tier = typeof tier.$inferInsert

/** Writes how far back a table has its rows. @param changed what is written where the table has a row already */
export async function setTier(sql: Sql, row: Tier, changed: Partial<Tier> = row): Promise<void> {
  await typed(sql).insert(tier).values(row).onConflictDoUpdate({ target: tier.sampleTable, set: changed })
}

/** Runs a `delete` and returns how many rows it removed. */
export async function deleteRows(sql: Sql, deletion: string, params: readonly SqlValue[]): Promise<number> {
  const [row] = await sql.query<{ rows: number }>(
    `with removed as (${deletion} returning 1) select count(*)::int as rows from removed`,
    params,
  )
  return row?.rows ?? 0
}
