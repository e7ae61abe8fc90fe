import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../../../src/db/database.ts'
import { openServer } from '../../../src/db/server/server.ts'
import { type Cost, measureTree } from './process-tree.ts'
import type { Responses, Work } from './responses.ts'
import type { Place, Tool } from './tools.ts'

/** What one tool came to with one work in one round. */
export interface Measured extends Cost {
  readonly tool: string
  readonly work: string
  readonly walMb: number
  /** What the database grew by. */
  readonly diskMb: number
  /** Rows of all tables afterwards. */
  readonly rows: number
}

/** Whether the versions that ended are those that a direct comparison of the responses finds. */
export interface History {
  readonly tool: string
  readonly expected: number
  readonly found: number
  readonly missed: number
  readonly invented: number
}

/** What is measured, in this order. */
const works: readonly (readonly [string, Work])[] = [
  ['item database, first', 'items'],
  ['the same again', 'items'],
  ['territories, first', 'territories'],
  ['territories, unchanged', 'territories'],
  ['flat rows', 'flat'],
]

/** Two responses of the same second would not be told apart. */
const APART = 1100

/** Loads everything with one tool into an empty database; then two changed responses, and compares what is kept of them. */
export async function tryTool(
  tool: Tool,
  database: string,
  responses: Responses,
): Promise<{ measured: Measured[]; history: History }> {
  const folder = await mkdtemp(join(tmpdir(), 'wynnsync-peer-state-'))
  const place: Place = { database, folder, responses }
  const load = (work: Work) => measureTree(tool.command(work, place), tool.variables(place))
  const db = await openServer(database)
  try {
    responses.reset()
    const measured: Measured[] = []
    for (const [name, work] of works) {
      const before = await sizeOf(db)
      const cost = await load(work)
      const after = await sizeOf(db)
      measured.push({
        tool: tool.name,
        work: name,
        ...cost,
        rows: await countRows(db),
        walMb: (after.wal - before.wal) / 1e6,
        diskMb: (after.disk - before.disk) / 1e6,
      })
      await sleep(APART)
    }
    for (let nth = 0; nth < 2; nth++) {
      responses.change()
      await load('items')
      await load('territories')
      await sleep(APART)
    }
    return { measured, history: await compareHistory(db, tool, responses) }
  } finally {
    await db.close()
    await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** Every changed entity went to another state and back: two of its versions ended. */
async function compareHistory(db: Database, tool: Tool, { changed }: Responses): Promise<History> {
  let [expected, found, missed, invented] = [0, 0, 0, 0]
  for (const what of ['items', 'territories'] as const) {
    const query = tool.endedVersions?.[what]
    const ended = new Map<string, number>()
    for (const { key } of query ? await db.query<{ key: string }>(query) : []) ended.set(key, (ended.get(key) ?? 0) + 1)
    const keys = new Set(changed[what])
    expected += 2 * keys.size
    for (const key of keys) missed += Math.max(0, 2 - (ended.get(key) ?? 0))
    for (const [key, times] of ended) {
      found += times
      invented += Math.max(0, times - (keys.has(key) ? 2 : 0))
    }
  }
  return { tool: tool.name, expected, found, missed, invented }
}

async function sizeOf(db: Database): Promise<{ wal: number; disk: number }> {
  const [size] = await db.query<{ wal: number; disk: number }>(
    `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as wal, pg_database_size(current_database())::float8 as disk`,
  )
  return size ?? { wal: Number.NaN, disk: Number.NaN }
}

async function countRows(db: Database): Promise<number> {
  const tables = await db.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname not in ('pg_catalog', 'information_schema', 'partitions')`,
  )
  const counts = tables.map(({ name }) => `(select count(*) from ${name})`)
  const [row] = await db.query<{ rows: number }>(`select (${counts.join(' + ')})::float8 as rows`)
  return row?.rows ?? 0
}
