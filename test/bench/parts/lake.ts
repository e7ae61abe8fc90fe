import { join } from 'node:path'
import { openServer } from '../../../src/db/server/server.ts'
import { literal, openDuckDb } from '../../../src/lake/duckdb.ts'
import type { Exported } from '../../../src/lake/export.ts'
import { indexOf } from '../../../src/lake/index-file.ts'
import { openStore } from '../../../src/lake/store.ts'
import { type Finished, runNode } from '../child.ts'
import type { Part } from '../part.ts'
import type { Outcome } from '../target.ts'
import { countRows, fillYear } from '../year/fill.ts'
import { wholeYear } from '../year/year.ts'

/**
 * A made-up history as Parquet files, and as a backup: exported whole, then again when nothing has changed; loaded into an empty database, and
 * verified. With `--budget whole` it is all that a token's budget records.
 */
export const lake: Part = async ({ program, folder, createDatabase, extent, say }) => {
  const url = await createDatabase('lake')
  await runNode([program, 'migrate'], { DATABASE_URL: url })
  const db = await openServer(url)
  let size = 0
  const counted = new Map<string, number>()
  try {
    await fillYear(db, { ...wholeYear, ...extent, until: new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000) })
    size = Number((await db.values('select pg_database_size(current_database())'))[0])
    for (const { table, rows } of await countRows(db)) counted.set(table, rows)
  } finally {
    await db.close()
  }
  const place = join(folder, 'lake')
  const exported = () => runNode([program, 'lake', 'export', place, '--people', '--json'], { DATABASE_URL: url })
  const runs = { first: await exported(), again: await exported() }
  const backup = () => runNode([program, 'backup', join(folder, 'backup'), '--yes', '--json'], { DATABASE_URL: url })
  const backups = { 'backup first': await backup(), 'backup again': await backup() }
  const other = await createDatabase('from_lake')
  const loaded = await runNode([program, 'backfill', '--from-lake', place, '--json'], { DATABASE_URL: other })
  const verified = await runNode([program, 'verify', '--json'], { DATABASE_URL: url }, { codes: [0, 3] })
  // The ledger has not all responses of a made-up history.
  const { checks } = JSON.parse(verified.out) as { checks: { check: string; table: string; wrong: number }[] }
  const wrong = checks.find((one) => one.wrong > 0 && one.check !== 'source')
  if (wrong) throw new Error(`verify: ${wrong.check} ${wrong.table}: ${wrong.wrong} rows are wrong`)
  const first: Exported = JSON.parse(runs.first.out)
  await compareRows(place, counted)
  const rate = (first.rows / runs.first.wallMs) * 1000
  say(
    `A lake of ${extent.days} days and ${extent.guilds} guilds: ${first.rows} rows, ${mb(size)} MB in Postgres, ${mb(first.bytes)} MB of Parquet`,
    Object.entries(runs).map(([run, { wallMs, cpuMs, peakMb, out }]: [string, Finished]) => ({
      run,
      written: (JSON.parse(out) as Exported).writtenRows,
      'wall s': Number((wallMs / 1000).toFixed(1)),
      'cpu s': Number((cpuMs / 1000).toFixed(1)),
      'peak MB': Math.round(peakMb),
    })),
  )
  say(
    `Backup, ${mb(JSON.parse(backups['backup first'].out).bytes)} MB, the lake loaded into an empty database, and what it was exported from verified`,
    Object.entries({ ...backups, 'backfill --from-lake': loaded, verify: verified }).map(
      ([run, { wallMs, cpuMs, peakMb }]) => ({
        run,
        'wall s': Number((wallMs / 1000).toFixed(1)),
        'cpu s': Number((cpuMs / 1000).toFixed(1)),
        'peak MB': Math.round(peakMb),
      }),
    ),
  )
  const name = (what: string) => `17 lake, ${what} (${extent.days} days, ${extent.guilds} guilds)`
  return [
    // The table of sizes says 0.9 of a whole budget.
    ...(extent.isWhole ? [outcome(name('disk'), 'GB a day', size / 1e9 / extent.days, { atMost: 1 })] : []),
    outcome(name('export'), 'rows/s', rate, { atLeast: 200_000 }),
    outcome(name('memory'), 'MB', runs.first.peakMb, { atMost: 200 }),
    outcome(name('bytes'), 'of those in Postgres', first.bytes / size, { atMost: 1 / 20 }),
    outcome(name('loaded'), 's', loaded.wallMs / 1000, { atMost: (60 * extent.days) / 365 }),
    outcome(name('verify'), 's per GB', verified.wallMs / 1000 / (size / 1e9), { atMost: 60 }),
  ]
}

/** @throws Error for a table that has other rows in its files than in Postgres */
async function compareRows(place: string, counted: ReadonlyMap<string, number>): Promise<void> {
  const files = (await indexOf(await openStore(place)))?.files ?? []
  const duck = await openDuckDb()
  try {
    for (const table of new Set(files.map((file) => file.table))) {
      const own = files.filter((file) => file.table === table)
      const list = own.map(({ path }) => literal(join(place, path))).join(', ')
      const [row] = await duck.rows(`select count(*)::int as rows from read_parquet([${list}])`)
      if (row?.rows !== counted.get(table)) throw new Error(`${table}: ${row?.rows} rows, not ${counted.get(table)}`)
    }
  } finally {
    duck.close()
  }
}

const mb = (bytes: number) => Math.round(bytes / 1e6)

function outcome(
  name: string,
  unit: string,
  measured: number,
  bound: { atMost: number } | { atLeast: number },
): Outcome {
  return { target: { name, unit, bound: { of: 'measured', ...bound } }, measured }
}
