import { and, gt } from 'drizzle-orm'
import type { Sql } from '../../db/database.ts'
import { lockForTransaction } from '../../db/locks/held-locks.ts'
import { anyOf, typed } from '../../db/typed.ts'
import type { ResourceBase } from '../declare/resource.ts'
import { bulkTable } from '../sql/history-sql.ts'
import { tier } from '../tables/retention.ts'

/** Averaging waits for responses that write samples, and they wait for it. */
export const averagingLock = 'averages'

/**
 * Invalidates averages that were made ahead, from the hour of an accepted response on, where it came late. In the transaction
 * of the response, after its rows: averaging waits for it, or it for averaging.
 */
export async function averageAgain(
  sql: Sql,
  { samples = {} }: Pick<ResourceBase, 'samples'>,
  observedAt: Date,
): Promise<void> {
  await averageTablesAgain(
    sql,
    Object.values(samples).map(({ table }) => bulkTable(table).name),
    observedAt,
  )
}

/** The same of tables of samples, from the hour of the oldest new one on. */
export async function averageTablesAgain(sql: Sql, tables: readonly string[], observedAt: Date): Promise<void> {
  await lockForTransaction(sql, averagingLock, 'shared')
  await typed(sql)
    .update(tier)
    .set({ averagedUntil: new Date(observedAt.getTime() - (observedAt.getTime() % 3_600_000)) })
    .where(and(anyOf(tier.sampleTable, tables), gt(tier.averagedUntil, observedAt)))
}
