import { cp, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { virtualClock } from '../../src/base/clock.ts'
import type { Database } from '../../src/db/database.ts'
import { openServer } from '../../src/db/server/server.ts'
import { openDuckDb } from '../../src/lake/duckdb.ts'
import { exportLake } from '../../src/lake/export.ts'
import { sha256Of } from '../../src/lake/file-hash.ts'
import { importLake } from '../../src/lake/import/import.ts'
import { openPlace } from '../../src/lake/read/place.ts'
import { fillYear } from '../bench/year/fill.ts'
import { afterwards } from '../support/afterwards.ts'
import { contentOf } from '../support/database-content.ts'
import { answersOf } from '../support/lake-answers.ts'
import { changeIndex, different, linesOf, readIndex, serve } from '../support/lake-folder.ts'
import { temporaryFolder, testDatabase, testDatabaseUrl } from '../support/postgres.ts'

const until = new Date('2026-06-01T12:00Z')
const extent = { until, days: 2, guilds: 4, territories: 20, items: 60, seed: 1 }
const clock = virtualClock(until.getTime())

/** Worked out anew by maintenance, or about this installation. */
const notCompared = ['sync.coverage_hour', 'sync.coverage_reach', 'sync.work_item', 'sync.tier']

async function exported(db: Database, people: boolean): Promise<string> {
  const folder = join(await temporaryFolder(), 'lake')
  await exportLake(db, folder, { clock, program: 'test', people, keepMs: 0, onProgress: () => {} })
  return folder
}

async function importInto(db: Database, place: string) {
  const options = { clock, maxBytes: 1e9, onProgress: () => {} }
  return await importLake(db, openPlace(place), options)
}

/** Constraints and indexes of the tables, without those of their months. */
async function shapeOf(db: Database): Promise<unknown[][]> {
  return await db.values(
    `select conrelid::regclass::text, conname::text, pg_get_constraintdef(pg_constraint.oid), condeferrable, condeferred, convalidated
       from pg_constraint join pg_class on pg_class.oid = conrelid where not relispartition and contype <> 'n'
      union all
     select indrelid::regclass::text, indexrelid::regclass::text, pg_get_indexdef(indexrelid), indisunique, indisprimary, indisvalid
       from pg_index join pg_class on pg_class.oid = indrelid where not relispartition and relnamespace <> 'pg_catalog'::regnamespace and relkind <> 't'
      order by 1, 2, 3`,
  )
}

describe('a lake', () => {
  let source: Database
  let folder: string
  beforeAll(async () => {
    source = await openServer(await testDatabaseUrl())
    afterwards(() => source.close())
    await fillYear(source, extent)
    folder = await exported(source, true)
  })

  for (const kind of ['server', 'embedded'] as const)
    test(`gives an empty ${kind} database the same rows, and nothing the second time`, async () => {
      const db = await testDatabase(kind)
      const done = await importInto(db, await serve(join(folder, '..')))
      expect(done.refused).toEqual([])
      expect(done.tables.filter((one) => one.refused + one.restricted + one.conflicts > 0)).toEqual([])
      for (const { table } of done.tables) {
        if (notCompared.includes(table)) continue
        expect([table, different(await linesOf(db, table), await linesOf(source, table))]).toEqual([table, [[], []]])
      }
      expect(await answersOf(db)).toEqual(await answersOf(source))
      const again = await importInto(db, folder)
      expect([again.files, again.tables]).toEqual([0, []])
      expect(await shapeOf(db)).toEqual(await shapeOf(await testDatabase(kind)))
    })

  test('gives the same where rows are merged, as they are when somebody was removed', async () => {
    const [placed, merged] = [await testDatabase('server'), await testDatabase('server')]
    await merged.query(
      `insert into sync.privacy_action (at, player_hash, field_group, policy, rows, reason)
       values ($1, sha256('somebody else'), 'everything', 'purge', 0, 'asked')`,
      [until],
    )
    for (const db of [placed, merged]) await importInto(db, folder)
    const [one, other] = [await contentOf(placed), await contentOf(merged)]
    const differs = Object.keys(one).filter((table) => JSON.stringify(one[table]) !== JSON.stringify(other[table]))
    expect(differs).toEqual(['sync.privacy_action'])
  })

  test('merges no versions where nothing is known, also of tables that could name a player', async () => {
    const db = await testDatabase('server')
    let merges = 0
    const transaction: Database['transaction'] = (work) =>
      db.transaction((sql) => {
        const query: typeof sql.query = (statement, ...rest) => {
          if (statement.includes('create temp table lake_came')) merges++
          return sql.query(statement, ...rest)
        }
        return work({ ...sql, query })
      })
    await importInto({ ...db, transaction }, folder)
    expect(merges).toBe(0)
  })

  test('merges rows that a constraint refuses', async () => {
    const twice = join(await temporaryFolder(), 'lake')
    await cp(folder, twice, { recursive: true })
    const duck = await openDuckDb()
    const tables = ['game.world_sample', 'game.territory_hold', 'sync.run']
    for (const file of (await readIndex(twice))?.files.filter(({ table }) => tables.includes(table)) ?? []) {
      const path = join(twice, file.path)
      await duck.run(
        `copy (select one.* from read_parquet('${path}', hive_partitioning = false) one, range(2)) to '${path}.new' (format parquet)`,
      )
      await rename(`${path}.new`, path)
      const made = { rows: 2 * file.rows, sha256: await sha256Of(path), bytes: (await stat(path)).size }
      await changeIndex(twice, ({ files }) => Object.assign(files.find((one) => one.path === file.path) ?? {}, made))
    }
    duck.close()
    const db = await testDatabase('server')
    expect((await importInto(db, twice)).refused).toEqual([])
    for (const table of tables)
      expect([table, different(await linesOf(db, table), await linesOf(source, table))]).toEqual([table, [[], []]])
    expect(await shapeOf(db)).toEqual(await shapeOf(await testDatabase('server')))
  })
})
