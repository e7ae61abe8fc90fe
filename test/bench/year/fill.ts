import type { Database } from '../../../src/db/database.ts'
import { growingTables, resources } from '../../../src/resources/index.ts'
import { materializeCoverage } from '../../../src/sync/coverage/coverage.ts'
import { maintain } from '../../../src/sync/retention/maintain.ts'
import { instant, monthOf, namesOf } from '../../../src/sync/retention/partitions.ts'
import { createDraws, dropDraws, type Extent } from './draws.ts'
import { guildStatements } from './guilds.ts'
import { mapStatements } from './map.ts'
import { onlineStatements } from './online.ts'
import { loadPatches } from './patches.ts'
import { lastStatements, playerStatements } from './players.ts'

/** Rows of one table. */
export interface Filled {
  readonly table: string
  readonly rows: number
}

/**
 * Fills a migrated, empty database with what the engine would have written in so many days: in the tables' own partitions,
 * with all constraints, in the order of time. Months are made, and afterwards looked after, by the engine.
 * @param told called with what was filled and how long that took, in ms
 */
export async function fillYear(
  db: Database,
  extent: Extent,
  told: (what: string, ms: number) => void = () => {},
): Promise<void> {
  await dropDraws(db)
  await createDraws(db, extent)
  const upkeep = { now: extent.until, tables: growingTables, retention: new Map() }
  await createFirstMonths(db, new Date(extent.until.getTime() - extent.days * 86_400_000))
  await maintain(db, upkeep)
  const filling = async (what: string, work: () => Promise<void>) => {
    const started = performance.now()
    await work()
    told(what, performance.now() - started)
  }
  const lane = (what: string, statements: readonly string[]) =>
    filling(what, () =>
      db.transaction(async (sql) => {
        await sql.query(`set local work_mem = '256MB'`)
        for (const statement of statements) await sql.query(statement)
      }),
    )
  await Promise.all([
    lane('map', mapStatements),
    lane('online', onlineStatements),
    lane('guilds', guildStatements).then(() => lane('players', playerStatements)),
  ])
  await filling('patches', () => loadPatches(db, extent))
  await lane('gaps', lastStatements)
  const maintained = await maintain(db, upkeep)
  if (maintained?.moved !== 0) throw new Error('the generated rows do not lie in their months')
  await materializeCoverage(db, { now: extent.until, resources })
  await dropDraws(db)
  await filling('analyze', async () => void (await db.query('vacuum (analyze)')))
}

/** The engine leaves a table that never had a row without months. */
async function createFirstMonths(db: Database, first: Date): Promise<void> {
  for (const growing of growingTables) {
    const { table, stem } = namesOf(growing)
    const name = `${stem}_${first.toISOString().slice(0, 7).replace('-', '_')}`
    await db.query(
      `create table ${name} partition of ${table} for values from (${instant(monthOf(first))}) to (${instant(monthOf(first, 1))})`,
    )
  }
}

/** How many rows each table of schemas `game` and `sync` has, the largest first; empty ones are left out. */
export async function countRows(db: Database): Promise<Filled[]> {
  const tables = await db.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class
      where relnamespace in ('game'::regnamespace, 'sync'::regnamespace) and relkind in ('r', 'p')`,
  )
  const counted = await db.query<Filled>(
    tables.map(({ name }) => `select '${name}' as "table", count(*) as rows from ${name}`).join(' union all '),
  )
  return counted.filter(({ rows }) => rows > 0).sort((a, b) => b.rows - a.rows)
}
