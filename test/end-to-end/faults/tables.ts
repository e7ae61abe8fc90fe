import type { Database } from '../../../src/db/database.ts'
import { tableNames } from '../../support/world.ts'

type Row = Readonly<Record<string, unknown>>

/** The tables of schema `game`. */
export async function factTables(db: Database): Promise<string[]> {
  return (await tableNames(db)).filter((table) => table.startsWith('game.'))
}

/** Fingerprints of whole tables: the same rows give the same one. */
export async function digestsOf(db: Database, tables: readonly string[]): Promise<Map<string, string>> {
  const selects = tables.map(
    (table) =>
      `select '${table}' as name, (select coalesce(md5(string_agg(row, ',' order by row)), '')
                                     from (select (to_jsonb(each) - 'run_id' - 'id')::text as row from ${table} each) rows) as digest`,
  )
  const rows = await db.query<{ name: string; digest: string }>(selects.join(' union all '))
  return new Map(rows.map(({ name, digest }) => [name, digest]))
}

/** Every row of a table, in one order. */
export async function rowsOf(db: Database, table: string): Promise<Row[]> {
  const rows = await db.query<{ row: Row }>(
    `select to_jsonb(each) - 'run_id' - 'id' as row from ${table} each order by (to_jsonb(each) - 'run_id' - 'id')::text`,
  )
  return rows.map(({ row }) => row)
}

/** The same without any instant that is ours or the API's to tell: what happened, in one order. */
export function timeless(rows: readonly Row[]): Row[] {
  const stripped = rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).filter(([column, value]) => column !== 'previous_until' && !isInstant(value)),
    ),
  )
  const texts = new Map(stripped.map((row) => [row, JSON.stringify(row)]))
  return stripped.sort((a, b) => ((texts.get(a) ?? '') < (texts.get(b) ?? '') ? -1 : 1))
}

function isInstant(value: unknown): boolean {
  return value === 'infinity' || (typeof value === 'string' && /^\d{4}-\d{2}-\d{2}T/.test(value))
}

/** What holds at the end: the current versions or latest samples, without the instants at which they began. */
export async function standing(db: Database, table: string, rows: readonly Row[]): Promise<Row[]> {
  if (rows.some((row) => 'valid_until' in row)) return timeless(rows.filter((row) => row.valid_until === 'infinity'))
  const key = await keyOf(db, table)
  if (!key.includes('observed_at')) return []
  const latest = new Map<string, Row>()
  for (const row of rows) {
    const name = JSON.stringify(key.map((column) => (column === 'observed_at' ? null : row[column])))
    const before = latest.get(name)
    if (!before || String(before.observed_at) < String(row.observed_at)) latest.set(name, row)
  }
  // A world without players may as well be down.
  return timeless([...latest.values()].filter((row) => table !== 'game.world_sample' || row.online !== 0))
}

async function keyOf(db: Database, table: string): Promise<string[]> {
  const rows = await db.query<{ column: string }>(
    `select attname::text as column from pg_index join pg_attribute on attrelid = indrelid and attnum = any(indkey::int2[])
      where indisprimary and indrelid = $1::regclass`,
    [table],
  )
  return rows.map(({ column }) => column)
}
