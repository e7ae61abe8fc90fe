import { existsSync, readFileSync } from 'node:fs'
import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { seededRandom, systemClock, type VirtualClock, virtualClock } from '../../src/base/clock.ts'
import type { Database } from '../../src/db/database.ts'
import { lockFolder } from '../../src/db/embedded/folder-lock.ts'
import { openServer } from '../../src/db/server/server.ts'
import { openDuckDb } from '../../src/lake/duckdb.ts'
import { type Exported, exportLake } from '../../src/lake/export.ts'
import { sha256Of } from '../../src/lake/file-hash.ts'
import type { LakeIndex } from '../../src/lake/index-file.ts'
import { fillYear } from '../bench/year/fill.ts'
import { afterwards } from '../support/afterwards.ts'
import { buildProgram, startProgram } from '../support/cli.ts'
import { runInside } from '../support/cli-inside.ts'
import { cataloguedFiles } from '../support/lake-catalogue.ts'
import { readIndex, transactionsOver } from '../support/lake-folder.ts'
import { readOnlyUser, temporaryFolder, testDatabaseUrl } from '../support/postgres.ts'

const until = new Date('2026-06-01T12:00Z')
const extent = { until, days: 1, guilds: 4, territories: 20, items: 60, seed: 1 }
const hour = 3_600_000

interface Scene {
  readonly db: Database
  readonly clock: VirtualClock
  readonly folder: string
  run(more?: { readonly replace?: boolean }): Promise<Exported>
  index(): Promise<LakeIndex>
}

const noteworthy = ['game.territory_hold', 'game.territory_resource', 'game.item', 'game.world_sample', 'sync.run']

describe('an export', () => {
  let db: Database
  let url: string
  beforeAll(async () => {
    await buildProgram()
    url = await testDatabaseUrl()
    db = await openServer(url)
    afterwards(() => db.close())
    await fillYear(db, extent)
    // Numbers that text would sort otherwise.
    await db.query(`insert into game.guild_season (guild_uuid, season, observed_at)
      select guild_uuid, n, observed_at from (select * from game.guild_season limit 1) one, generate_series(8, 11) n`)
  })

  async function scene(): Promise<Scene> {
    const folder = join(await temporaryFolder(), 'lake')
    const clock = virtualClock(until.getTime())
    const options = { clock, program: 'test', keepMs: 24 * hour, onProgress: () => {} }
    return {
      db,
      clock,
      folder,
      run: async (more = {}) => {
        await transactionsOver(db)
        return await exportLake(db, folder, { ...options, people: true, ...more })
      },
      index: async () => {
        const index = await readIndex(folder)
        if (!index) throw new Error('there is no index')
        return index
      },
    }
  }

  test('equals the database, table by table and value by value, and is not written twice', async () => {
    const { run, folder, index } = await scene()
    const first = await run()
    expect(first.written).toBe(first.files)
    await expectEqual(db, folder)
    expect((await readIndex(folder))?.files.length).toBeGreaterThan(10)
    const again = await run()
    expect([again.written, again.files, again.rows]).toEqual([0, first.files, first.rows])
    const { files } = await index()
    for (const table of noteworthy) expect(files.some((file) => file.table === table)).toBe(true)
    await expectOrdered(db, folder, files)
    expect((await index()).coverage.find((one) => one.resource === 'territories')?.since).toMatch(/^2026-05-/)
  })

  test('reads what changed alone, and keeps what was replaced for as long as it is to stay', async () => {
    const { run, folder, index, clock } = await scene()
    const { files } = await run()
    const before = (await index()).files
    const [first] = await db.query<{ run: string }>('select min(run_id::text) as run from sync.run')
    await db.query('update sync.run set error = $1 where run_id = $2', [`a "quoted", text\n\\N`, first?.run ?? ''])
    await db.query(`delete from game.world_sample where observed_at = (select max(observed_at) from game.world_sample)`)
    await db.query(`insert into game.news_comments values ('', now(), null)`)
    const second = await run()
    expect([second.written, second.dropped]).toEqual([3, 0])
    await expectEqual(db, folder)
    const gone = before.filter(({ path }) => !existsSync(join(folder, path)))
    expect(gone).toEqual([])
    const foreign = ['mine.parquet', 'game.item/mine.parquet'].map((path) => join(folder, path))
    for (const path of foreign) await writeFile(path, 'PAR1')
    await clock.advance(25 * hour)
    expect(await run()).toMatchObject({ written: 0, files: files + 1, dropped: 2 })
    expect(foreign.map((path) => existsSync(path))).toEqual([true, true])
    await expectEqual(db, folder)
  })

  test('leaves what it did not make, and refuses a lake of another database and a place without a name', async () => {
    const { run, folder } = await scene()
    const own = ['writing/novel/1.txt', 'draft.ndjson', 'notes.txt'].map((path) => join(folder, path))
    for (const path of own) {
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, 'mine')
    }
    // Links in circles, to nothing, and to a file of another lake.
    const elsewhere = join(await temporaryFolder(), '0123abcd.parquet')
    await writeFile(elsewhere, 'of another lake')
    for (const [to, name] of [
      ['.', 'writing/one'],
      ['.', 'writing/two'],
      ['/nowhere', 'gone.parquet'],
      [dirname(elsewhere), 'game.other'],
    ] as const)
      await symlink(to, join(folder, name))
    await run()
    expect(own.map((path) => readFileSync(path, 'utf8'))).toEqual(['mine', 'mine', 'mine'])
    expect(existsSync(elsewhere)).toBe(true)
    const other = await openServer(await testDatabaseUrl())
    afterwards(() => other.close())
    const options = { clock: systemClock, program: 'test', keepMs: 0, people: true, onProgress: () => {} }
    await expect(exportLake(other, folder, options)).rejects.toThrow(
      /is the lake of another database.*--yes replaces it/,
    )
    await expectEqual(db, folder)
    await exportLake(other, folder, { ...options, replace: true })
    await expectEqual(other, folder)
    const { code, err } = await runInside(['lake', 'export', ''], { DATABASE_URL: url })
    expect([code, err]).toEqual([2, expect.stringContaining('the place of a lake is empty')])
  })

  test('writes files again that were lost or cut, and all of a database that came back from a backup', async () => {
    const { run, folder, index } = await scene()
    const { files } = await run()
    const [lost, cut] = (await index()).files.map(({ path }) => join(folder, path))
    await rm(String(lost))
    await writeFile(String(cut), 'PAR1')
    expect((await run()).written).toBe(2)
    await expectEqual(db, folder)
    // The latest run is not in the backup.
    const { lastRun } = await index()
    await db.query('delete from sync.run where run_id::text = $1', [lastRun])
    await expect(run()).rejects.toThrow('what this database recorded before it came back from an earlier copy')
    expect((await index()).lastRun).toBe(lastRun)
    expect((await run({ replace: true })).written).toBe(files)
    expect((await index()).lastRun).not.toBe(lastRun)
    await expectEqual(db, folder)
  })

  test('is made by one process at a time, also by a user who may only read', async () => {
    const { run, folder } = await scene()
    const release = await lockFolder(join(folder, '.wynnsync'), { clock: systemClock })
    await expect(run()).rejects.toThrow(/has been exporting into .* try again later/)
    await release()
    const reader = await readOnlyUser(url)
    const { code, err } = await runInside(['lake', 'export', folder, '--people'], { DATABASE_URL: reader })
    expect([code, err]).toEqual([0, expect.any(String)])
    await expectEqual(db, folder)
    expect(existsSync(join(folder, '.wynnsync'))).toBe(false)
  })

  test('is whole at every instant at which it is killed, and goes on where it was', async () => {
    const folder = join(await temporaryFolder(), 'lake')
    const random = seededRandom(7)
    const environment = { DATABASE_URL: url }
    const args = ['lake', 'export', folder, '--people', '--json']
    let kills = 0
    for (let round = 0; round < 10; round++) {
      if (round === 5) expect((await runInside(args, environment)).code).toBe(0)
      if (round === 5)
        for (const table of noteworthy) await db.query(`update ${table} set ${await someColumn(db, table)}`)
      const { child, finished } = startProgram(args, environment)
      // Half of them in the first half second after the first file.
      while (round % 2 === 0 && child.exitCode === null && !existsSync(join(folder, '.wynnsync/draft.ndjson')))
        await systemClock.sleep(5)
      await systemClock.sleep(random() * (round % 2 === 0 ? 500 : 1500))
      child.kill('SIGKILL')
      if ((await finished).code === null) kills++
      for (const { path, sha256 } of (await readIndex(folder))?.files ?? [])
        expect(await sha256Of(join(folder, path))).toBe(sha256)
      for (const path of [...((await cataloguedFiles(folder)) ?? []), ...(await tablesFiles(folder))])
        expect([path, existsSync(join(folder, path))]).toEqual([path, true])
    }
    expect(kills).toBeGreaterThan(5)
    const last = await runInside(args, environment)
    expect(last).toMatchObject({ code: 0 })
    await expectEqual(db, folder)
    expect((await readdir(folder)).filter((name) => !name.includes('.'))).toEqual([])
  })
})

/** Paths of the files that the indexes of tables list, in order. */
async function tablesFiles(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => existsSync(join(folder, name, 'index.json')))
  const indexes = names.map(
    (name) =>
      JSON.parse(readFileSync(join(folder, name, 'index.json'), 'utf8')) as Pick<LakeIndex, 'files'> & {
        readonly table: string
        readonly types: object
      },
  )
  expect(indexes.map(({ table }) => table)).toEqual(names)
  return indexes.flatMap(({ files }) => files.map(({ path }) => path)).sort()
}

/** Rows lie in order of their key: numbers as numbers. */
async function expectOrdered(db: Database, folder: string, files: LakeIndex['files']): Promise<void> {
  const { path } = files.find(({ table }) => table === 'game.guild_season') ?? {}
  const duck = await openDuckDb()
  const there = await duck.rows(`select season from read_parquet('${join(folder, String(path))}')`)
  duck.close()
  const here = await db.query('select season from game.guild_season order by guild_uuid, season, observed_at')
  expect(there.length).toBeGreaterThan(4)
  expect(there).toEqual(here)
}

/** Every file is what the index says, and the tables hold what the database holds. */
async function expectEqual(db: Database, folder: string): Promise<void> {
  const index = await readIndex(folder)
  const listed = index?.files.map(({ path }) => path).sort()
  expect(await cataloguedFiles(folder)).toEqual(listed)
  expect(await tablesFiles(folder)).toEqual(listed)
  const duck = await openDuckDb()
  const tables = new Map<string, string[]>()
  for (const { path, sha256, table } of index?.files ?? []) {
    expect(await sha256Of(join(folder, path))).toBe(sha256)
    tables.set(table, [...(tables.get(table) ?? []), join(folder, path)])
  }
  for (const [table, paths] of tables) {
    const list = `[${paths.map((path) => `'${path}'`).join(', ')}]`
    const columns = await duck.rows(`describe select * from read_parquet(${list}, hive_partitioning = false)`)
    const names = columns.map((one) => String(one.column_name)).filter((name) => name !== 'is_current')
    // The text of a number or an instant differs between the two; what is compared is what they say.
    const here = await db.values(`select ${names.map((name) => `"${name}"`)} from ${table}`)
    const hex = columns.map(({ column_name: name, column_type: type }) =>
      type === 'BLOB' ? `hex("${name}") as "${name}"` : `"${name}"`,
    )
    const rows = await duck.rows(`select ${hex} from read_parquet(${list}, hive_partitioning = false)`)
    const there = rows.map((row) => names.map((name) => row[name]))
    const types = columns.map((one) => String(one.column_type))
    const lines = (rows: unknown[][]) =>
      rows.map((row) => JSON.stringify(row.map((one, n) => plain(one, types[n])))).sort()
    expect([table, here.length]).toEqual([table, there.length])
    expect([table, lines(here)]).toEqual([table, lines(there)])
  }
  const filled = await db.query<{
    name: string
  }>(`select relnamespace::regnamespace || '.' || relname as name from pg_class
    where relnamespace = 'game'::regnamespace and relkind in ('r', 'p')`)
  for (const { name } of filled) {
    const [row] = await db.query<{ rows: number }>(`select count(*) as rows from ${name}`)
    expect([name, row?.rows ?? 0]).toEqual([
      name,
      (index?.files ?? []).filter((one) => one.table === name).reduce((sum, one) => sum + one.rows, 0),
    ])
  }
  duck.close()
}

function plain(value: unknown, type = ''): unknown {
  if (value === null || value === undefined) return null
  if (value instanceof Date) return Math.abs(value.getTime()) > 8e15 ? null : value.toISOString()
  if (type.startsWith('TIMESTAMP')) return new Date(String(value).replace(' ', 'T').replace(/\+00$/, 'Z')).toISOString()
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex').toUpperCase()
  if (type === 'JSON') return sorted(typeof value === 'string' ? JSON.parse(value) : value)
  if (/INT|DOUBLE|FLOAT/.test(type)) return Number(value)
  return value
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, one]) => [key, sorted(one)]),
  )
}

/** What sets a column of a table to what it is. */
async function someColumn(db: Database, table: string): Promise<string> {
  const [row] = await db.query<{ name: string }>(
    `select attname::text as name from pg_attribute where attrelid = $1::regclass and attnum = 3`,
    [table],
  )
  return `"${row?.name}" = "${row?.name}"`
}
