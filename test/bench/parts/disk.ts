import type { Sql } from '../../../src/db/database.ts'
import { openServer } from '../../../src/db/server/server.ts'
import { resources } from '../../../src/resources/index.ts'
import { runNode } from '../child.ts'
import { bytesOfResponse, countResponses } from '../disk/snapshots.ts'
import { openStretch, paces } from '../disk/stretch.ts'
import type { Part } from '../part.ts'
import type { Target } from '../target.ts'

/** How long the simulated game is synced. All of a year is this stretch, as often as it fits. */
const MINUTES = 30

const IN_A_YEAR = (365 * 24 * 60) / MINUTES

const target: Target = {
  name: `9 disk of a year (${MINUTES} minutes, extrapolated)`,
  unit: 'GB',
  reference: 'rows of every response',
  bound: { of: 'ratio', atMost: 1 / 50 },
}

/** What the tables of a year take, with their indexes and the ledger, and without any retention. */
export const disk: Part = async ({ program, createDatabase, say }) => {
  const url = await createDatabase('disk')
  await runNode([program, 'migrate'], { DATABASE_URL: url })
  const db = await openServer(url)
  try {
    const play = await openStretch(db, 1)
    const synced = resources.filter(({ name }) => name in paces)
    const first = await bytesOfTables(db)
    const before = new Map<string, number>()
    for (const resource of synced) before.set(resource.name, await countResponses(db, resource))
    await play(MINUTES)
    const grown = (await bytesOfTables(db)) - first
    const lines = []
    for (const resource of synced) {
      const responses = (await countResponses(db, resource)) - (before.get(resource.name) ?? 0)
      // What is requested once an hour has its share of the stretch.
      const share = responses || (MINUTES * 60) / (paces[resource.name] ?? Number.NaN)
      const bytes = await bytesOfResponse(db, resource)
      lines.push({ resource: resource.name, responses: share, bytes, year: (share * bytes * IN_A_YEAR) / 1e9 })
    }
    say(
      `Rows of every response of ${MINUTES} simulated minutes`,
      lines.map(({ year, bytes, responses, ...line }) => ({
        ...line,
        responses,
        'kB of one': Math.round(bytes / 1000),
        'GB of a year': Math.round(year),
      })),
    )
    say('Tables that grew', await largestTables(db))
    const reference = lines.reduce((sum, { year }) => sum + year, 0)
    return [{ target, measured: (first + grown * IN_A_YEAR) / 1e9, reference }]
  } finally {
    await db.close()
  }
}

const tables = `pg_class where relnamespace in ('game'::regnamespace, 'sync'::regnamespace, 'partitions'::regnamespace) and relkind = 'r'`

async function bytesOfTables(sql: Sql): Promise<number> {
  const [size] = await sql.query<{ bytes: number }>(
    `select sum(pg_total_relation_size(oid))::float8 as bytes from ${tables}`,
  )
  return size?.bytes ?? Number.NaN
}

async function largestTables(sql: Sql) {
  return await sql.query<{ table: string; MB: number }>(
    `select oid::regclass::text as table, round(pg_total_relation_size(oid) / 1e6, 1)::float8 as "MB" from ${tables} order by 2 desc limit 12`,
  )
}
