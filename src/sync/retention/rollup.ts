import { and, eq, isNotNull } from 'drizzle-orm'
import type { Database, Sql } from '../../db/database.ts'
import { lockForTransaction } from '../../db/locks/held-locks.ts'
import { lockBesideWriters } from '../../db/locks/lock-timeout.ts'
import { typed } from '../../db/typed.ts'
import type { Averages, RetainedTable } from '../declare/resource.ts'
import { averagingLock } from '../respond/load-response.ts'
import { bulkTable } from '../sql/history-sql.ts'
import { tier } from '../tables/retention.ts'
import { instant, namesOf, type Part, partsOf, type TableNames } from './partitions.ts'
import { deleteRows, setTier } from './tiers.ts'

/**
 * Replaces the months that end at or before an instant by their coarser tier: the rows that the table's declaration retains
 * move to its oldest partition, so that the value of each key before the first whole month is still there, and
 * averages by the hour go to a table of their own. Each month goes in one transaction.
 */
export async function rollUp(db: Database, retained: RetainedTable, before: Date, now: Date) {
  const names = namesOf(retained)
  const months: string[] = []
  let removed = 0
  for (const part of await partsOf(db, names.table)) {
    if (!part.from || !part.to || part.to > before) continue
    removed += await db.transaction((sql) => rollUpMonth(sql, { retained, names, part, now }))
    months.push(part.name)
  }
  return { months, removed }
}

async function rollUpMonth(
  sql: Sql,
  { retained, names, part, now }: { retained: RetainedTable; names: TableNames; part: Part; now: Date },
): Promise<number> {
  const { table, stem } = names
  const columns = names.columns.join(', ')
  const kept = `${stem}_kept`
  // What is removed from it meanwhile, for privacy, must not come back with what is kept.
  await sql.query(`lock table ${part.name} in share mode`)
  if (retained.averages && part.from && part.to) await keepAverages(sql, retained.averages, part.from, part.to)
  await sql.query(`create table ${kept} as ${keptRows(retained, names, part.name)}`)
  const [count] = await sql.query<{ removed: number }>(
    `select ((select count(*) from ${part.name}) - (select count(*) from ${kept}))::int as removed`,
  )
  const parts = await partsOf(sql, table)
  const oldest = parts.find(({ from, to }) => from === null && to !== null)?.name ?? `${stem}_before`
  // From here on every query of the table waits.
  await lockBesideWriters(sql, table)
  await sql.query(`alter table ${table} detach partition ${part.name}`)
  await sql.query(`drop table ${part.name}`)
  await sql.query(`alter table ${table} detach partition ${oldest}`)
  await sql.query(`insert into ${oldest} (${columns}) select ${columns} from ${kept}`)
  await sql.query(`drop table ${kept}`)
  await sql.query(
    `alter table ${table} attach partition ${oldest} for values from (minvalue) to (${instant(part.to ?? now)})`,
  )
  const fineSince = part.to
  await setTier(sql, { sampleTable: table, fineSince, checkedAt: now }, { fineSince })
  return count?.removed ?? 0
}

/** Writes the averages of the hours of `[from, to)` that do not exist yet. */
export async function keepAverages(sql: Sql, { table, of }: Averages, from: Date, to: Date): Promise<void> {
  const { name, columns } = bulkTable(table)
  const targets = [...columns.values()].map((column) => column.name).join(', ')
  await sql.query(`insert into ${name} (${targets}) select ${targets} from (${of}) average on conflict do nothing`, [
    from,
    to,
  ])
}

/** How much is averaged in one transaction, ms, and in how many of them at most: a year and more the first time. */
const stride = 7 * 86_400_000
const strides = 60

/**
 * Writes averages of hours that are over, while their samples stay: week by week, and what is left the next time. Returns how
 * many weeks were averaged.
 */
export async function averageAhead(db: Database, retained: RetainedTable, now: Date): Promise<number> {
  const { averages, finalRange } = retained
  if (!averages || !finalRange) return 0
  const { table } = namesOf(retained)
  let done = 0
  while (done < strides && (await db.transaction((sql) => averageStride(sql, { table, averages, finalRange, now }))))
    done++
  return done
}

async function averageStride(
  sql: Sql,
  { table, averages, finalRange, now }: { table: string; averages: Averages; finalRange: string; now: Date },
): Promise<boolean> {
  await lockForTransaction(sql, averagingLock, 'exclusive')
  await typed(sql).insert(tier).values({ sampleTable: table, checkedAt: now }).onConflictDoNothing()
  // A replay that replaces the samples waits; where it came first, the next maintenance averages those. Waiting for it here
  // would be a deadlock: it waits for responses, and these for this.
  const isTable = eq(tier.sampleTable, table)
  const [state] = await typed(sql).select().from(tier).where(isTable).for('update', { skipLocked: true })
  const [known] = await sql.query<{ since: Date | null; until: Date | null }>(finalRange)
  if (!state || !known?.since || !known.until) return false
  const begin = hourOf(Math.max(known.since.getTime(), state.averagedUntil?.getTime() ?? 0))
  const end = Math.min(hourOf(known.until.getTime()), begin + stride)
  if (end <= begin) return false
  const from = new Date(begin)
  const to = new Date(end)
  // Those that were made of other samples.
  await sql.query(`delete from ${bulkTable(averages.table).name} where hour >= $1`, [from])
  await keepAverages(sql, averages, from, to)
  await typed(sql).update(tier).set({ averagedUntil: to }).where(isTable)
  return true
}

function hourOf(ms: number): number {
  return ms - (ms % 3_600_000)
}

/** The rows of a month that stay: see `RetainedTable`. */
function keptRows(retained: RetainedTable, { key, columns }: TableNames, part: string): string {
  const series = `partition by ${key.join(', ')}`
  const cell = `${series}, date_trunc('${retained.cell}', observed_at, 'UTC')`
  const alone = [
    `observed_at = min(observed_at) over (${series})`,
    `observed_at = max(observed_at) over (${cell})`,
    ...(retained.highest
      ? [`row_number() over (${cell} order by ${retained.highest} desc nulls last, observed_at) = 1`]
      : []),
  ]
  const withNext = [
    ...(retained.last ?? []).map(
      (condition) => `${condition} and observed_at = max(observed_at) filter (where ${condition}) over (${cell})`,
    ),
    ...(retained.every ?? []),
    'false',
  ]
  return `select ${columns.join(', ')}
    from (select marked.*, lag(marked."stays with next", 1, false) over (${series} order by observed_at) as "is next"
            from (select ${columns.join(', ')}, ${alone.join(' or ')} as "stays",
                         coalesce(${withNext.map((one) => `(${one})`).join(' or ')}, false) as "stays with next"
                    from ${part}) marked) ranked
   where "stays" or "stays with next" or "is next"`
}

/** Removes the coarser tier from before an instant: of each key the last row stays, and no averages. Returns how many rows it removed. */
export async function removeCoarse(db: Database, retained: RetainedTable, before: Date): Promise<number> {
  const names = namesOf(retained)
  const oldest = (await partsOf(db, names.table)).find(({ from, to }) => from === null && to !== null)
  if (!oldest) return 0
  return await db.transaction(async (sql) => {
    const same = names.key
      .map((column) => (column === 'true' ? 'true' : `later.${column} = old.${column}`))
      .join(' and ')
    const rows = await deleteRows(
      sql,
      `delete from ${oldest.name} old
        where old.observed_at < $1 and exists (select from ${oldest.name} later where ${same}
                                                  and later.observed_at > old.observed_at and later.observed_at <= $1)`,
      [before],
    )
    const { averages } = retained
    const hours = averages
      ? await deleteRows(sql, `delete from ${bulkTable(averages.table).name} where hour < $1`, [before])
      : 0
    await typed(sql)
      .update(tier)
      .set({ coarseSince: before })
      .where(and(eq(tier.sampleTable, names.table), isNotNull(tier.fineSince)))
    return rows + hours
  })
}
