import type { Database, Sql } from '../../db/database.ts'
import { lockForTransaction } from '../../db/locks/transaction-locks.ts'
import { bulkTable } from '../load/bulk-table.ts'
import type { Averages, ResourceBase, RetainedTable } from '../resource.ts'
import { type GrowingNames, instant, namesOf, type Part, partsOf } from './partitions.ts'

/** What came of old rows. */
export interface RolledUp {
  /** The months that went, by the name of their partition. */
  readonly months: string[]
  /** Rows that are gone. */
  readonly removed: number
}

/**
 * Replaces the months that end at or before an instant by their coarser tier: what the declaration of the table says that
 * stays moves to its oldest partition, so that the value of each key before the first whole month is still there, and
 * averages by the hour go to a table of their own. Each month goes in one transaction.
 */
export async function rollUp(db: Database, growing: RetainedTable, before: Date, now: Date): Promise<RolledUp> {
  const names = namesOf(growing)
  const months: string[] = []
  let removed = 0
  for (const part of await partsOf(db, names.table)) {
    if (!part.from || !part.to || part.to > before) continue
    removed += await db.transaction((sql) => rollUpMonth(sql, { growing, names, part, now }))
    months.push(part.name)
  }
  return { months, removed }
}

async function rollUpMonth(
  sql: Sql,
  { growing, names, part, now }: { growing: RetainedTable; names: GrowingNames; part: Part; now: Date },
): Promise<number> {
  const { table, stem } = names
  const [columns, kept] = [names.columns.join(', '), `${stem}_kept`]
  // What is removed from it meanwhile (a player's wish) must not come back with what is kept.
  await sql.query(`lock table ${part.name} in share mode`)
  if (growing.averages && part.from && part.to) await keepAverages(sql, growing.averages, part.from, part.to)
  await sql.query(`create table ${kept} as ${keptRows(growing, names, part.name)}`)
  const [count] = await sql.query<{ removed: number }>(
    `select ((select count(*) from ${part.name}) - (select count(*) from ${kept}))::int as removed`,
  )
  const parts = await partsOf(sql, table)
  const oldest = parts.find(({ from, to }) => from === null && to !== null)?.name ?? `${stem}_before`
  // Everybody waits from here on, so as little as possible happens.
  await sql.query(`alter table ${table} detach partition ${part.name}`)
  await sql.query(`drop table ${part.name}`)
  await sql.query(`alter table ${table} detach partition ${oldest}`)
  await sql.query(`insert into ${oldest} (${columns}) select ${columns} from ${kept}`)
  await sql.query(`drop table ${kept}`)
  await sql.query(
    `alter table ${table} attach partition ${oldest} for values from (minvalue) to (${instant(part.to ?? now)})`,
  )
  await sql.query(
    `insert into sync.tier (sample_table, fine_since, checked_at) values ($1, $2, $3)
     on conflict (sample_table) do update set fine_since = excluded.fine_since`,
    [table, part.to, now],
  )
  return count?.removed ?? 0
}

/** Makes the averages of the hours of `[from, to)` that are not there yet. */
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
 * Makes averages of hours that are over, while their samples stay. What is long to make is made piece by piece, the rest
 * the next time. Returns how many stretches were averaged.
 */
export async function averageAhead(db: Database, growing: RetainedTable, now: Date): Promise<number> {
  const { averages, settled } = growing
  if (!averages || !settled) return 0
  const { table } = namesOf(growing)
  let done = 0
  while (done < strides && (await db.transaction((sql) => averageStride(sql, { table, averages, settled, now }))))
    done++
  return done
}

async function averageStride(
  sql: Sql,
  { table, averages, settled, now }: { table: string; averages: Averages; settled: string; now: Date },
): Promise<boolean> {
  await lockForTransaction(sql, averaging, 'exclusive')
  await sql.query('insert into sync.tier (sample_table, checked_at) values ($1, $2) on conflict do nothing', [
    table,
    now,
  ])
  // A replay that puts other samples in their place waits; where it came first, the next upkeep averages those. To wait for it
  // here would be a circle: it waits for answers, and these for whoever averages.
  const [state] = await sql.query<{ until: Date | null }>(
    'select averaged_until as until from sync.tier where sample_table = $1 for update skip locked',
    [table],
  )
  const [known] = await sql.query<{ since: Date | null; until: Date | null }>(settled)
  if (!state || !known?.since || !known.until) return false
  const begin = hourOf(Math.max(known.since.getTime(), state.until?.getTime() ?? 0))
  const end = Math.min(hourOf(known.until.getTime()), begin + stride)
  if (end <= begin) return false
  const [from, to] = [new Date(begin), new Date(end)]
  // What somebody made of other samples.
  await sql.query(`delete from ${bulkTable(averages.table).name} where hour >= $1`, [from])
  await keepAverages(sql, averages, from, to)
  await sql.query('update sync.tier set averaged_until = $2 where sample_table = $1', [table, to])
  return true
}

const averaging = 'averages'

/**
 * Makes averages that were made ahead be made again, from the hour of an accepted answer on, where it came late. In the
 * transaction of the answer, when its rows are there: whoever averages meanwhile waits for it, or is waited for.
 */
export async function averageAgain(
  sql: Sql,
  { samples = {} }: Pick<ResourceBase, 'samples'>,
  observedAt: Date,
): Promise<void> {
  await lockForTransaction(sql, averaging, 'shared')
  await sql.query(
    `update sync.tier set averaged_until = date_trunc('hour', $2::timestamptz, 'UTC')
      where sample_table = any($1::text[]) and averaged_until > $2`,
    [Object.values(samples).map(({ table }) => bulkTable(table).name), observedAt],
  )
}

function hourOf(ms: number): number {
  return ms - (ms % 3_600_000)
}

/** The rows of a month that stay: see `GrowingTable`. */
function keptRows(growing: RetainedTable, { key, columns }: GrowingNames, part: string): string {
  const series = `partition by ${key.join(', ')}`
  const cell = `${series}, date_trunc('${growing.cell}', observed_at, 'UTC')`
  const alone = [
    `observed_at = min(observed_at) over (${series})`,
    `observed_at = max(observed_at) over (${cell})`,
    ...(growing.highest
      ? [`row_number() over (${cell} order by ${growing.highest} desc nulls last, observed_at) = 1`]
      : []),
  ]
  const withNext = [
    ...(growing.last ?? []).map(
      (condition) => `${condition} and observed_at = max(observed_at) filter (where ${condition}) over (${cell})`,
    ),
    ...(growing.every ?? []),
    'false',
  ]
  return `select ${columns.join(', ')}
    from (select marked.*, lag(marked."stays with next", 1, false) over (${series} order by observed_at) as "is next"
            from (select ${columns.join(', ')}, ${alone.join(' or ')} as "stays",
                         coalesce(${withNext.map((one) => `(${one})`).join(' or ')}, false) as "stays with next"
                    from ${part}) marked) told
   where "stays" or "stays with next" or "is next"`
}

/**
 * Removes the coarser tier from before an instant: of each key the last row stays, and no averages. Returns how many rows
 * went.
 */
export async function removeCoarse(db: Database, growing: RetainedTable, before: Date): Promise<number> {
  const names = namesOf(growing)
  const oldest = (await partsOf(db, names.table)).find(({ from, to }) => from === null && to !== null)
  if (!oldest) return 0
  return await db.transaction(async (sql) => {
    const same = names.key
      .map((column) => (column === 'true' ? 'true' : `later.${column} = old.${column}`))
      .join(' and ')
    const rows = await sql.query<{ rows: number }>(
      `with removed as (
         delete from ${oldest.name} old
          where old.observed_at < $1 and exists (select from ${oldest.name} later where ${same}
                                                    and later.observed_at > old.observed_at and later.observed_at <= $1)
          returning 1)
       select count(*)::int as rows from removed`,
      [before],
    )
    const averages = growing.averages ? bulkTable(growing.averages.table).name : null
    const hours = averages
      ? await sql.query<{ rows: number }>(
          `with removed as (delete from ${averages} where hour < $1 returning 1) select count(*)::int as rows from removed`,
          [before],
        )
      : []
    await sql.query('update sync.tier set coarse_since = $2 where sample_table = $1 and fine_since is not null', [
      names.table,
      before,
    ])
    return [...rows, ...hours].reduce((sum, one) => sum + one.rows, 0)
  })
}
