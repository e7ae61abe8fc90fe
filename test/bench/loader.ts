import type { Database, Sql } from '../../src/db/database.ts'
import { items } from '../../src/resources/items/index.ts'
import { prepare } from '../../src/sync/normalize/prepare.ts'
import { loadVersions } from '../../src/sync/respond/load.ts'
import { bulkTable } from '../../src/sync/sql/history-sql.ts'
import type { Answers } from './items.ts'
import { collectGarbage, median, timed, timedAsync } from './measure.ts'
import type { RawCopy } from './raw-copy.ts'

const FIRST = new Date('2026-05-01T00:00:00Z')
const LATER = new Date('2026-05-02T00:00:00Z')

/** Milliseconds of one transaction: `prepare()` alone, `loadVersions()` with the commit alone. */
interface Load {
  readonly preparing: number
  readonly loading: number
  /** Entities that got a new version. */
  readonly written: number
}

/**
 * Loads the answers through the engine and copies exactly the rows that came of it straight into the same empty tables,
 * in turns, each in one transaction. Then loads the same answers over the copied rows, as a later observation: nothing
 * to write, and so a proof that both are the same.
 */
export async function measureLoader(db: Database, answers: Answers, raw: RawCopy, rounds: number) {
  const tables = [items.history.root, ...Object.values(items.history.parts)].map((table) => bulkTable(table).name)
  const loads: Load[] = []
  const copies: number[] = []
  for (let round = 0; round < rounds; round++) {
    await empty(db, tables)
    loads.push(await load(db, answers, FIRST))
    if (round === 0) await raw.remember(tables)
    await empty(db, tables)
    collectGarbage()
    copies.push((await timedAsync(() => raw.copy())).ms)
  }
  const rows = await countRows(db, tables)
  const again = await load(db, answers, LATER)
  if (again.written > 0) throw new Error('the rows copied are not the rows loaded')
  await empty(db, tables)

  const copyMs = median(copies)
  const line = (what: string, ms: number) => ({
    database: db.kind,
    what,
    rows,
    ms: Math.round(ms),
    'rows/s': Math.round((rows / ms) * 1000),
    ratio: Number((copyMs / ms).toFixed(2)),
  })
  return [
    line(`raw COPY (${raw.how})`, copyMs),
    line('prepare + loadVersions', median(loads.map(({ preparing, loading }) => preparing + loading))),
    line('loadVersions alone', median(loads.map(({ loading }) => loading))),
    line('the same again: nothing to write', again.preparing + again.loading),
    line('  of it loadVersions', again.loading),
  ]
}

/** Making the answers is not in the times: it stands for what comes over the network. */
async function load(db: Database, answers: Answers, at: Date): Promise<Load> {
  let [preparing, loading, written, ended] = [0, 0, 0, 0]
  await db.transaction(async (sql) => {
    for (let nth = 0; nth < answers.count; nth++) {
      const records = answers.records(nth)
      collectGarbage()
      const prepared = timed(() => prepare(items, records))
      if (prepared.result.quarantined.length > 0) throw new Error('the generated items are not all good')
      preparing += prepared.ms
      const loaded = await timedAsync(() => loadVersions(sql, items.history, prepared.result.entities, at))
      loading += loaded.ms
      written += loaded.result.inserted.length + loaded.result.changed.length
    }
    ended = performance.now()
  })
  return { preparing, loading: loading + performance.now() - ended, written }
}

async function empty(sql: Sql, tables: readonly string[]): Promise<void> {
  await sql.query(`truncate ${tables.join(', ')}`)
  await sql.query('checkpoint')
}

async function countRows(sql: Sql, tables: readonly string[]): Promise<number> {
  const counts = tables.map((table) => `(select count(*) from ${table})`)
  const [row] = await sql.query<{ rows: number }>(`select ${counts.join(' + ')} as rows`)
  return row?.rows ?? 0
}
