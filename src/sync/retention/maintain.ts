import { and, gt, lte, max, sql as text } from 'drizzle-orm'
import type { Database, Sql } from '../../db/database.ts'
import { LockTimeout, limitLockWaits } from '../../db/locks/lock-timeout.ts'
import { anyOf, typed } from '../../db/typed.ts'
import type { RetainedTable } from '../declare/resource.ts'
import { accepted } from '../sql/history-sql.ts'
import { run } from '../tables/ledger.ts'
import { tier } from '../tables/retention.ts'
import { namesOf, repairPartitions, withoutMonths } from './partitions.ts'
import { daysBefore, type Retention } from './retention.ts'
import { averageAhead, removeCoarse, rollUp } from './rollup.ts'
import { setTier } from './tiers.ts'

interface MaintenanceInput {
  readonly now: Date
  readonly tables: readonly RetainedTable[]
  readonly retention: Retention
}

interface Maintained {
  readonly created: string[]
  /** Rows that moved into their month. */
  readonly moved: number
  /** Months that were replaced by their coarser tier. */
  readonly rolledUp: string[]
  readonly removed: number
}

/** Maintenance is due this long after the last one, ms. */
const interval = 86_400_000

/** Held by the process that maintains. */
const lockName = 'wynnsync maintain'

/**
 * Creates the partitions of the months to come, moves rows without a partition into theirs, and replaces what is older than
 * its retention by its coarser tier. Many short transactions; may be interrupted at any time, and called again.
 * A table that a long query locks is skipped until the next maintenance, and the others are maintained.
 * @returns null when another process is maintaining
 * @throws RetryableError when the database is away
 * @throws LockTimeout at the end, when a table was skipped
 */
export async function maintain(db: Database, { tables, ...input }: MaintenanceInput): Promise<Maintained | null> {
  const lock = await db.tryLock(lockName)
  if (!lock) return null
  let skipped: LockTimeout | undefined
  try {
    const total = { created: [] as string[], moved: 0, rolledUp: [] as string[], removed: 0 }
    for (const retained of tables) {
      try {
        await maintainTable(limitLockWaits(db, `maintenance of ${namesOf(retained).table}`), retained, input, total)
      } catch (error) {
        if (!(error instanceof LockTimeout)) throw error
        skipped ??= error
      }
    }
    if (skipped) throw skipped
    return total
  } finally {
    await lock.release()
  }
}

async function maintainTable(
  db: Database,
  retained: RetainedTable,
  { now, retention }: Omit<MaintenanceInput, 'tables'>,
  total: { -readonly [Count in keyof Maintained]: Maintained[Count] },
): Promise<void> {
  const repaired = await repairPartitions(db, retained, now)
  total.created.push(...repaired.created)
  total.moved += repaired.moved
  const { table } = namesOf(retained)
  // First, so that of a month that goes no averages stay that were made of other samples.
  await averageAhead(db, retained, now)
  const keep = retention.get(table.replace(/^.*\./, ''))
  if (keep) {
    const rolled = await rollUp(db, retained, daysBefore(now, keep.fine), now)
    total.rolledUp.push(...rolled.months)
    total.removed += rolled.removed
    if (keep.coarse !== undefined) total.removed += await removeCoarse(db, retained, daysBefore(now, keep.coarse))
  }
  await setTier(db, { sampleTable: table, checkedAt: now })
}

/**
 * Gives tables that never had a row the partitions of this month and of those to come, before their first row: what comes into the
 * default partition would move at the next maintenance. And tables of which a month was dropped or detached by hand get it back: without a
 * default partition its rows would be refused.
 */
export async function makeMonths(db: Database, { tables, now }: Omit<MaintenanceInput, 'retention'>): Promise<void> {
  const byName = new Map(tables.map((retained) => [namesOf(retained).table, retained]))
  const bare = await withoutMonths(db, [...byName.keys()])
  if (bare.length === 0) return
  const lock = await db.tryLock(lockName)
  // Another process makes them, or moves the rows.
  if (!lock) return
  try {
    for (const name of bare) {
      const retained = byName.get(name)
      if (retained) await repairPartitions(limitLockWaits(db, `partitions of ${name}`), retained, now, true)
    }
  } finally {
    await lock.release()
  }
}

/** A machine that was idle for so long still trusts its own clock, ms. */
const idle = 32 * interval

/**
 * The time by which tables are maintained: that of this machine's clock, but not long after the latest accepted response.
 * A clock that is years ahead neither creates partitions for these years nor expires what is kept.
 */
export async function maintenanceTime(sql: Sql, now: Date): Promise<Date> {
  const [row] = await typed(sql)
    .select({ latest: max(run.observedAt) })
    .from(run)
    .where(text.raw(accepted))
  const latest = row?.latest?.getTime() ?? now.getTime()
  return new Date(Math.min(now.getTime(), latest + idle))
}

/** Whether a table had no maintenance for a day: one small query, for commands that take seconds. */
export async function isMaintenanceDue(
  sql: Sql,
  { now, tables }: Pick<MaintenanceInput, 'now' | 'tables'>,
): Promise<boolean> {
  const names = tables.map((retained) => namesOf(retained).table)
  const recent = and(
    gt(tier.checkedAt, new Date(now.getTime() - interval)),
    // A clock that was ahead says nothing of what is due now.
    lte(tier.checkedAt, new Date(now.getTime() + interval)),
  )
  return (await typed(sql).$count(tier, and(anyOf(tier.sampleTable, names), recent))) < tables.length
}
