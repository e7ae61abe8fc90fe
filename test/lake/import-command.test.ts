import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { seededRandom, systemClock } from '../../src/base/clock.ts'
import { tableExists } from '../../src/db/catalog.ts'
import type { Database } from '../../src/db/database.ts'
import { openEmbedded } from '../../src/db/embedded/embedded.ts'
import { openServer } from '../../src/db/server/server.ts'
import { fillYear } from '../bench/year/fill.ts'
import { buildProgram, startProgram } from '../support/cli.ts'
import { runInside } from '../support/cli-inside.ts'
import { different, linesOf, serve } from '../support/lake-folder.ts'
import { temporaryFolder, testDatabaseUrl } from '../support/postgres.ts'

const hour = 3_600_000
/** The program has the machine's clock: nothing of a lake may lie in the future. */
const until = new Date(Math.floor(Date.now() / hour) * hour)
const extent = { until, days: 2, guilds: 4, territories: 20, items: 60, seed: 1 }

interface Row {
  readonly table: string
  readonly rows: number
  readonly taken: number
  readonly refused: number
  readonly restricted: number
}

describe('wynnsync backfill --from-lake', () => {
  let source: string
  let folder: string
  beforeAll(async () => {
    await buildProgram()
    source = await testDatabaseUrl()
    const db = await openServer(source)
    await fillYear(db, extent).finally(() => db.close())
    folder = join(await temporaryFolder(), 'lake')
    const { code, err } = await runInside(['lake', 'export', folder, '--people', '--json'], { DATABASE_URL: source })
    expect([code, err]).toEqual([0, expect.any(String)])
  })

  const importing = (place: string, ...more: string[]) => ['backfill', '--from-lake', place, '--json', ...more]

  test('says what it would import, imports it over HTTP, and nothing the second time', async () => {
    const environment = { DATABASE_URL: await testDatabaseUrl() }
    const place = await serve(join(folder, '..'))
    const price = await runInside(importing(place, '--dry-run'), environment)
    const { rows, files, refused } = JSON.parse(price.out)
    expect([price.code, refused]).toEqual([0, []])
    // What only shows makes nothing, on a server and in a folder.
    const empty = await testDatabaseUrl({ migrated: false })
    expect(JSON.parse((await runInside(importing(place, '--dry-run'), { DATABASE_URL: empty })).out)).toEqual(
      JSON.parse(price.out),
    )
    const db = await openServer(empty)
    expect(await tableExists(db, 'sync.run').finally(() => db.close())).toBe(false)
    const dataDir = join(await temporaryFolder(), 'new')
    const embedded = await runInside(importing(place, '--dry-run'), { WYNNSYNC_DATA_DIR: dataDir })
    expect(JSON.parse(embedded.out)).toEqual(JSON.parse(price.out))
    expect(existsSync(join(dataDir, 'postgres'))).toBe(false)
    const first = await runInside(importing(place), environment)
    const done = JSON.parse(first.out)
    expect([first.code, done.files, done.refused]).toEqual([0, files, []])
    expect(sum(done.tables, 'rows')).toBe(rows)
    const again = await runInside(importing(place), environment)
    expect([again.code, JSON.parse(again.out)]).toEqual([0, expect.objectContaining({ files: 0, tables: [] })])
  })

  test('imports what an export without people holds, and says how many rows name no player', async () => {
    const nameless = join(await temporaryFolder(), 'lake')
    await runInside(['lake', 'export', nameless], { DATABASE_URL: source })
    const dataDir = join(await temporaryFolder(), 'new')
    const { code, out, err } = await runInside(importing(nameless), { WYNNSYNC_DATA_DIR: dataDir })
    const { refused, tables } = JSON.parse(out) as { refused: unknown[]; tables: Row[] }
    expect([code, refused], err).toEqual([0, []])
    expect(sum(tables, 'refused')).toBe(0)
    const observation = tables.find(({ table }) => table === 'sync.observation')
    expect(observation?.restricted).toBeGreaterThan(0)
    const [imported, own] = [await openEmbedded(dataDir, { clock: systemClock }), await openServer(source)]
    try {
      for (const table of ['game.territory_hold', 'game.item', 'game.world_sample'])
        expect([table, different(await linesOf(imported, table), await linesOf(own, table))]).toEqual([table, [[], []]])
      const [count] = await imported.values('select count(*) from game.player')
      expect(Number(count)).toBe(0)
    } finally {
      await Promise.all([imported.close(), own.close()])
    }
  })

  test('killed at any instant and begun again, it makes what an undisturbed import makes', async () => {
    const calm = { DATABASE_URL: await testDatabaseUrl() }
    expect((await runInside(importing(folder), calm)).code).toBe(0)
    const disturbed = { DATABASE_URL: await testDatabaseUrl() }
    const random = seededRandom(7)
    let killed = 0
    for (const files of [0, 1, 3, 6, 10, 15]) killed += (await killedAfter(disturbed, files, 40 * random())) ? 1 : 0
    expect(killed).toBeGreaterThan(2)
    const last = await runInside(importing(folder), disturbed)
    expect([last.code, JSON.parse(last.out).refused], last.err).toEqual([0, []])
    const [one, other] = [await openServer(calm.DATABASE_URL), await openServer(disturbed.DATABASE_URL)]
    try {
      const tables = await filledTables(one)
      expect(tables.length).toBeGreaterThan(10)
      for (const table of tables)
        expect([table, different(await linesOf(other, table), await linesOf(one, table))]).toEqual([table, [[], []]])
    } finally {
      await Promise.all([one.close(), other.close()])
    }
  })

  /** Whether it was killed a moment after so many files were imported, and did not end before. */
  async function killedAfter(environment: { DATABASE_URL: string }, files: number, ms: number): Promise<boolean> {
    const db = await openServer(environment.DATABASE_URL)
    const { child, finished } = startProgram(importing(folder), environment)
    try {
      for (let imported = -1; imported < files && child.exitCode === null; ) {
        await delay(5)
        // At first the process takes a while to begin.
        const [count] = await db.values(
          `select case when exists (select from sync.source) then (select count(*) from sync.source_file) else -1 end`,
        )
        imported = Number(count)
      }
      await delay(ms)
      child.kill('SIGKILL')
      return (await finished).code === null
    } finally {
      await db.close()
    }
  }
})

const sum = (rows: readonly Row[], of: 'rows' | 'refused') => rows.reduce((total, row) => total + row[of], 0)

/** What an import writes, but for when it did. */
async function filledTables(db: Database): Promise<string[]> {
  const names = await db.values(
    `select oid::regclass::text from pg_class where relkind in ('r', 'p') and not relispartition
        and (relnamespace = 'game'::regnamespace or relname in ('run', 'observation', 'gap', 'expectation', 'source_span',
                                                              'source_version', 'source_conflict'))`,
  )
  return names.map(String)
}
