import type { Database, Sql } from '../../db/database.ts'
import { lockBesideWriters } from '../../db/locks/lock-timeout.ts'
import type { RetainedTable } from '../declare/resource.ts'
import { bulkTable } from '../sql/history-sql.ts'

/*
 * A retained table has a partition for each month (UTC), one for all that is older (`_before`) and one for the rest (`_rest`):
 * nothing is lost when a partition was not created in time. They live in schema `partitions`. The rest is the default partition until
 * months follow each other without a gap, and from then on what comes after them: only partitions that are in order, and no default among
 * them, does Postgres ask one after the other for the latest row before an instant that it learns when the statement runs.
 */

/** How many months ahead of now there are partitions. */
const monthsAhead = 2

export interface Part {
  /** Schema-qualified SQL name. */
  readonly name: string
  /** What it begins with. Null: without a beginning, or a default partition. */
  readonly from: Date | null
  /** What it ends before. Null: the rest. */
  readonly to: Date | null
}

/** A retained table with its names in SQL. */
export type TableNames = ReturnType<typeof namesOf>

/** The partitions of a table in order of time; the rest comes last. */
export async function partsOf(sql: Sql, table: string): Promise<Part[]> {
  return await boundsOf(sql, [table])
}

async function boundsOf(sql: Sql, tables: readonly string[]): Promise<(Part & { readonly table: string })[]> {
  return await sql.query(
    `select parent.name as table, part.oid::regclass::text as name,
            substring(bound.text from 'FROM \\(''([^'']+)''\\)')::timestamptz as "from",
            substring(bound.text from 'TO \\(''([^'']+)''\\)')::timestamptz as "to"
       from unnest($1::text[]) as parent(name)
       join pg_inherits on inhparent = parent.name::regclass
       join pg_class part on part.oid = inhrelid
      cross join lateral (select pg_get_expr(part.relpartbound, part.oid) as text) bound
      order by 1, 4 nulls last`,
    [tables],
  )
}

/** Of some tables those that have no months yet, or lack one whose rows no partition takes. */
export async function withoutMonths(sql: Sql, tables: readonly string[]): Promise<string[]> {
  const bounds = await boundsOf(sql, tables)
  return tables.filter((table) => {
    const parts = bounds.filter((part) => part.table === table)
    const rest = parts.find(({ to }) => to === null)
    return parts.length <= 1 || (rest?.from !== null && rest?.from.getTime() !== endOf(parts)?.getTime())
  })
}

export function namesOf({ table, key }: RetainedTable) {
  const { name, columns } = bulkTable(table)
  const named = key.flatMap((property) => columns.get(property)?.name ?? [])
  return {
    /** `game.world_sample` */
    table: name,
    /** `partitions.world_sample`, to which the rest of a partition's name is added. */
    stem: name.replace(/^.*\./, 'partitions.'),
    /** Columns of the key; `true` when there is but one series. */
    key: named.length > 0 ? named : ['true'],
    columns: [...columns.values()].map((column) => column.name),
  }
}

/** The first instant of the month (UTC) that lies `months` after that of `at`. */
export function monthOf(at: Date, months = 0): Date {
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + months, 1))
}

/**
 * Creates the partitions that a table should have: for every month from its first row to some months ahead. Rows of the
 * default partition move there. Each partition is created in a transaction of its own. A table that never had a row gets
 * none, so that a database of one small resource has no hundred empty tables.
 * @param isAwaited whether its first row is about to come
 * @returns names of the partitions that are new, and how many rows had no month before
 */
export async function repairPartitions(db: Database, retained: RetainedTable, now: Date, isAwaited = false) {
  const names = namesOf(retained)
  const created: string[] = []
  let moved = 0
  let parts = await partsOf(db, names.table)
  const rest = parts.find((part) => part.to === null)?.name ?? `${names.stem}_rest`
  if (parts.every((part) => part.to !== null)) {
    await db.query(`create table ${rest} partition of ${names.table} default`)
    created.push(rest)
  }
  const waiting = await monthsIn(db, rest)
  if (parts.length <= 1 && waiting.length === 0 && !isAwaited) return { created, moved }
  const before = parts.find((part) => part.from === null && part.to !== null)
  const early = before ? await earlyRows(db, names, before) : null
  if (before && early) {
    created.push(...(await splitBefore(db, names, before, early)))
    parts = await partsOf(db, names.table)
  }
  const starts = [monthOf(now), ...waiting, ...parts.flatMap(({ from }) => from ?? [])].map((at) => at.getTime())
  const first = monthOf(early ?? before?.to ?? new Date(Math.min(...starts)))
  if (!before) {
    created.push(await createPartition(db, names, `${names.stem}_before`, ['minvalue', instant(first)]))
  }
  for (let month = first; month <= monthOf(now, monthsAhead); month = monthOf(month, 1)) {
    if (parts.some(({ from, to }) => from && to && from < monthOf(month, 1) && to > month)) continue
    const name = monthName(names, month)
    moved += await db.transaction((sql) => createMonth(sql, { names, rest, name, month }))
    created.push(name)
  }
  if (moved > 0) await db.transaction((sql) => freeSpace(sql, rest))
  await db.transaction((sql) => boundRest(sql, names))
  return { created, moved }
}

/** Where the months from the oldest on follow each other: the end of the last one. */
function endOf(parts: readonly Part[]): Date | undefined {
  const bounded = parts.filter(({ to }) => to !== null)
  const isWhole = bounded.every(({ from }, nth) => from?.getTime() === bounded[nth - 1]?.to?.getTime())
  return isWhole ? (bounded.at(-1)?.to ?? undefined) : undefined
}

/** The default partition becomes the one of what comes after the last month. */
async function boundRest(sql: Sql, { table }: TableNames): Promise<void> {
  const parts = await partsOf(sql, table)
  const rest = parts.find(({ to }) => to === null)
  const end = endOf(parts)
  if (!rest || rest.from || !end) return
  await sql.query(`alter table ${table} detach partition ${rest.name}`)
  await attachRest(sql, table, rest.name, end)
}

async function attachRest(sql: Sql, table: string, rest: string, from: Date): Promise<void> {
  await sql.query(`alter table ${table} attach partition ${rest} for values from (${instant(from)}) to (maxvalue)`)
}

/** Gives rows that are about to come, of a month without a partition, one before they come: they need not move later. */
export async function awaitMonth(sql: Sql, retained: RetainedTable, month: Date): Promise<void> {
  const names = namesOf(retained)
  const parts = await partsOf(sql, names.table)
  const rest = parts.find(({ to }) => to === null)
  // What comes after the last month moves with the maintenance, as far as there are to be months.
  if (!rest || (rest.from && rest.from <= month)) return
  if (parts.some(({ from, to }) => to && (!from || from < monthOf(month, 1)) && to > month)) return
  await createMonth(sql, { names, rest: rest.name, name: monthName(names, month), month })
}

async function monthsIn(sql: Sql, name: string): Promise<Date[]> {
  const rows = await sql.query<{ month: Date }>(
    `select distinct date_trunc('month', observed_at, 'UTC') as month from ${name} order by 1`,
  )
  return rows.map(({ month }) => month)
}

/** The month of the oldest row before the first month, when such rows came later and nothing was compacted yet. */
async function earlyRows(sql: Sql, { table }: TableNames, before: Part): Promise<Date | null> {
  const [row] = await sql.query<{ month: Date | null }>(
    `select date_trunc('month', min(observed_at), 'UTC') as month from ${before.name}
      where not exists (select from sync.tier where sample_table = $1 and fine_since is not null)`,
    [table],
  )
  return row?.month ?? null
}

/** Gives months of their own to rows that are older than the first month was when they came. */
function splitBefore(db: Database, names: TableNames, before: Part, first: Date): Promise<string[]> {
  return db.transaction(async (sql) => {
    const created: string[] = []
    await sql.query(`lock table ${before.name} in access exclusive mode`)
    await lockBesideWriters(sql, names.table)
    const taken = await takeRows(sql, names, before.name, 'true')
    await sql.query(`drop table ${before.name}`)
    await createPartition(sql, names, `${names.stem}_before`, ['minvalue', instant(first)])
    for (let month = first; before.to && month < before.to; month = monthOf(month, 1)) {
      const bounds = [instant(month), instant(monthOf(month, 1))] as const
      created.push(await createPartition(sql, names, monthName(names, month), bounds))
    }
    await putRows(sql, names, taken)
    return created
  })
}

/** Returns its name. */
async function createPartition(
  sql: Sql,
  { table }: TableNames,
  name: string,
  [from, to]: readonly [string, string],
): Promise<string> {
  await sql.query(`create table ${name} partition of ${table} for values from (${from}) to (${to})`)
  return name
}

async function createMonth(
  sql: Sql,
  { names, rest, name, month }: { names: TableNames; rest: string; name: string; month: Date },
): Promise<number> {
  const from = instant(month)
  const to = instant(monthOf(month, 1))
  // Transactions that write into it end first, or their rows would stay in the wrong partition.
  await sql.query(`lock table ${rest} in access exclusive mode`)
  // One that was detached by hand comes back with its rows.
  await sql.query(`create table if not exists ${name} (like ${names.table} including all excluding indexes)`)
  const where = `observed_at >= ${from} and observed_at < ${to}`
  const [found] = await sql.query<{ rows: boolean }>(`select exists (select from ${rest} where ${where}) as rows`)
  const taken = found?.rows ? await takeRows(sql, names, rest, where) : undefined
  const [bound] = (await partsOf(sql, names.table)).filter(
    (part) => part.to === null && part.from?.getTime() === month.getTime(),
  )
  if (bound) {
    await lockBesideWriters(sql, names.table)
    await sql.query(`alter table ${names.table} detach partition ${rest}`)
  }
  await sql.query(`alter table ${names.table} attach partition ${name} for values from (${from}) to (${to})`)
  if (bound) await attachRest(sql, names.table, rest, monthOf(month, 1))
  if (taken) await putRows(sql, names, taken)
  return taken?.rows ?? 0
}

/** Rows on their way from one partition to another. */
type TakenRows = Awaited<ReturnType<typeof takeRows>>

/*
 * Rows are deleted from a partition, and inserted through the table: logical replication sends both. What is inserted into
 * a partition before it is attached, or detached with its rows, a subscriber would lose or have twice.
 */

async function takeRows(sql: Sql, { stem, table, columns }: TableNames, from: string, where: string) {
  const taken = `${stem}_taken`
  const names = columns.join(', ')
  // Unlogged, so that no replication sends it.
  await sql.query(`create unlogged table ${taken} (like ${table})`)
  const [moved] = await sql.query<{ rows: number }>(
    `with moved as (delete from ${from} where ${where} returning ${names}),
          inserted as (insert into ${taken} (${names}) select ${names} from moved)
     select count(*)::int as rows from moved`,
  )
  return { table: taken, rows: moved?.rows ?? 0 }
}

async function putRows(sql: Sql, { table, columns }: TableNames, taken: TakenRows): Promise<void> {
  const names = columns.join(', ')
  if (taken.rows > 0)
    await sql.query(`insert into ${table} (${names}) select ${names} from ${taken.table} on conflict do nothing`)
  await sql.query(`drop table ${taken.table}`)
}

/** Deleted rows keep their space until vacuum; an empty table returns it at once. */
async function freeSpace(sql: Sql, rest: string): Promise<void> {
  await sql.query(`lock table ${rest} in access exclusive mode`)
  const [state] = await sql.query<{ empty: boolean }>(`select not exists (select from ${rest}) as empty`)
  if (state?.empty) await sql.query(`truncate ${rest}`)
}

function monthName({ stem }: TableNames, month: Date): string {
  return `${stem}_${month.toISOString().slice(0, 7).replace('-', '_')}`
}

/** An instant as a literal: bounds take no parameters. */
export function instant(at: Date): string {
  return `timestamptz '${at.toISOString()}'`
}
