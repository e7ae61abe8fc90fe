import type { Database, Sql } from '../../db/database.ts'
import { LockTimeout, limitLockWaits } from '../../db/locks/lock-timeout.ts'
import type { RetainedTable } from '../resource.ts'
import { namesOf, repairPartitions } from './partitions.ts'
import { daysBefore, type Retention } from './retention.ts'
import { averageAhead, removeCoarse, rollUp } from './rollup.ts'

/** What the tables that grow are looked after with. */
export interface Upkeep {
  readonly now: Date
  readonly tables: readonly RetainedTable[]
  readonly retention: Retention
}

/** What looking after them came to. */
export interface Maintained {
  /** Partitions that are new. */
  readonly created: string[]
  /** Rows that moved into their month. */
  readonly moved: number
  /** Months that were replaced by their coarser tier. */
  readonly rolledUp: string[]
  /** Rows that are gone. */
  readonly removed: number
}

/** From then on the tables are to be looked after again, ms. */
const enough = 86_400_000

/**
 * Makes the partitions of the months to come, gives rows without a month theirs, and replaces what is older than its
 * retention by its coarser tier. Many short transactions; may be interrupted at any time, and called as often as one likes.
 * A table that a long query keeps from being changed is left for the next time, and the others are looked after.
 * @returns null when another process is at it
 * @throws RetryableError when the database is away
 * @throws LockTimeout at the end, when a table was left
 */
export async function maintain(db: Database, { tables, ...upkeep }: Upkeep): Promise<Maintained | null> {
  const lock = await db.tryLock('wynnsync maintain')
  if (!lock) return null
  let left: LockTimeout | undefined
  try {
    const total = { created: [] as string[], moved: 0, rolledUp: [] as string[], removed: 0 }
    for (const growing of tables) {
      try {
        await maintainTable(limitLockWaits(db, `maintenance of ${namesOf(growing).table}`), growing, upkeep, total)
      } catch (error) {
        if (!(error instanceof LockTimeout)) throw error
        left ??= error
      }
    }
    if (left) throw left
    return total
  } finally {
    await lock.release()
  }
}

async function maintainTable(
  db: Database,
  growing: RetainedTable,
  { now, retention }: Omit<Upkeep, 'tables'>,
  total: { -readonly [Count in keyof Maintained]: Maintained[Count] },
): Promise<void> {
  const repaired = await repairPartitions(db, growing, now)
  total.created.push(...repaired.created)
  total.moved += repaired.moved
  const { table } = namesOf(growing)
  // First, so that of a month that goes no averages stay that somebody made of other samples.
  await averageAhead(db, growing, now)
  const keep = retention.get(table.replace(/^.*\./, ''))
  if (keep) {
    const rolled = await rollUp(db, growing, daysBefore(now, keep.fine), now)
    total.rolledUp.push(...rolled.months)
    total.removed += rolled.removed
    if (keep.coarse !== undefined) total.removed += await removeCoarse(db, growing, daysBefore(now, keep.coarse))
  }
  await db.query(
    `insert into sync.tier (sample_table, checked_at) values ($1, $2)
     on conflict (sample_table) do update set checked_at = excluded.checked_at`,
    [table, now],
  )
}

/** A machine that was idle for so long still trusts its own clock, ms. */
const idle = 32 * enough

/**
 * The time by which tables are looked after: that of this machine's clock, but not long after the latest accepted response.
 * A clock that is years ahead neither makes partitions for them nor lets what is kept expire.
 */
export async function maintenanceTime(sql: Sql, now: Date): Promise<Date> {
  const [row] = await sql.query<{ latest: Date | null }>(
    `select max(observed_at) as latest from sync.run where status in ('ok', 'unchanged', 'partial')`,
  )
  const latest = row?.latest?.getTime() ?? now.getTime()
  return new Date(Math.min(now.getTime(), latest + idle))
}

/** Whether a table was not looked after for a day: one small query, for commands that are done at once. */
export async function isMaintenanceDue(sql: Sql, { now, tables }: Pick<Upkeep, 'now' | 'tables'>): Promise<boolean> {
  const [state] = await sql.query<{ fresh: number }>(
    'select count(*)::int as fresh from sync.tier where sample_table = any($1::text[]) and checked_at > $2 and checked_at <= $3',
    // A clock that was ahead says nothing of what is due now.
    [
      tables.map((growing) => namesOf(growing).table),
      new Date(now.getTime() - enough),
      new Date(now.getTime() + enough),
    ],
  )
  return (state?.fresh ?? 0) < tables.length
}
