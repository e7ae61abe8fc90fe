import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { virtualClock } from '../../src/base/clock.ts'
import { refusalsOf } from '../../src/cli/commands/backfill/backfill-from-lake.ts'
import { openDuckDb } from '../../src/lake/duckdb.ts'
import { exportLake } from '../../src/lake/export.ts'
import { type LakeIndex, parseIndex } from '../../src/lake/index-file.ts'
import { askLake } from '../../src/lake/query.ts'
import { openLocked } from '../../src/lake/read/locked-duckdb.ts'
import { openPlace } from '../../src/lake/read/place.ts'
import { temporaryFolder, testDatabase } from '../support/postgres.ts'

const hash = 'a'.repeat(64)
const path = 'game.territory_hold/month=2026-05/ab.parquet'
const file = {
  path,
  table: 'game.territory_hold',
  month: '2026-05',
  rows: 1,
  bytes: 1,
  sha256: hash,
  schema: hash,
  transaction: '1',
  footer: 1,
  instants: { valid_from: [null, '2026-05-01 00:00:00.5+00', 0] },
}
const index = {
  format: 1,
  program: '0.1.0',
  at: '2026-05-02T00:00:00Z',
  source: hash,
  people: false,
  coverage: [],
  tables: { 'game.territory_hold': { territory: 'text' } },
  files: [file],
  replaced: [],
}

test('an index that an export cannot have written is refused', () => {
  expect(parseIndex(JSON.stringify(index), '/lake').files).toHaveLength(1)
  const refused = (change: object) => {
    expect(() => parseIndex(JSON.stringify({ ...index, ...change }), '/lake')).toThrow(
      /^\/lake\/index.json (is not that of a lake|is no index of a lake|names a file outside of the lake)/,
    )
  }
  const ofFile = (change: object) => refused({ files: [{ ...file, ...change }] })
  for (const table of ['../victim', 'game.a" as select 1; --', 'game.A', 'game', 'game.a.b', '', null, 1]) {
    ofFile({ table })
    refused({ tables: { [String(table)]: {} } })
  }
  for (const month of ['2026-13', '2026-5', '2026-06', "2026-05'", null, 5]) ofFile({ month })
  for (const count of [-1, 0.5, 2 ** 53, '1', null]) {
    ofFile({ rows: count })
    ofFile({ bytes: count })
    ofFile({ footer: count })
  }
  ofFile({ sha256: 'a' })
  ofFile({ transaction: '1; drop' })
  ofFile({ instants: { valid_from: ["'); drop", null, 0] } })
  ofFile({ instants: { 'a"': [null, null, 0] } })
  ofFile({ path: 'game.territory_hold/month=2026-04/ab.parquet' })
  refused({ tables: { 'game.a': { 'b"': 'text' } } })
  refused({ tables: { 'game.a': { b: "text'" } } })
  refused({ replaced: {} })
  refused({ replaced: [{ path: '../../x', since: '2026-05-01' }] })
  refused({ format: -1 })
  refused({ people: 'no' })
})

test('a question about a lake runs no SQL of its index', async () => {
  const folder = await temporaryFolder()
  const target = join(folder, 'written.csv')
  const lake = join(folder, 'lake')
  await mkdir(join(lake, 'game.territory_hold'), { recursive: true })
  const own = { ...file, path: 'game.territory_hold/ab.parquet', month: null }
  const duck = await openDuckDb()
  await duck.run(`copy (select 1 as territory) to '${join(lake, own.path)}' (format parquet)`)
  duck.close()
  const table = `game.x" as select 1; copy (select 'owned') to '${target}'; create view "territory_hold`
  await writeFile(join(lake, 'index.json'), JSON.stringify({ ...index, files: [own, { ...own, table }] }))
  const options = { limit: 1, maxBytes: 0 }
  await expect(askLake(openPlace(lake), 'holds', options)).rejects.toThrow('not that of a lake')
  expect(existsSync(target)).toBe(false)
})

test('a file that its index lists and DuckDB cannot read is said in one line', async () => {
  const lake = await temporaryFolder()
  await mkdir(join(lake, 'game.territory_hold/month=2026-05'), { recursive: true })
  const text = `PAR1${'no parquet\n'.repeat(9)}PAR1`
  await writeFile(join(lake, path), text)
  const files = [{ ...file, bytes: text.length, sha256: createHash('sha256').update(text).digest('hex') }]
  await writeFile(join(lake, 'index.json'), JSON.stringify({ ...index, files }))
  const asked = askLake(openPlace(lake), 'holds', { limit: 1, maxBytes: 0 })
  await expect(asked).rejects.toMatchObject({
    name: 'FatalError',
    message: expect.stringMatching(new RegExp(`^${lake} cannot be asked: .*${path}.*$`)),
  })
})

test('a DuckDB that reads files of others opens nothing else, for whatever SQL', async () => {
  const folder = await temporaryFolder()
  const [inside, outside] = [join(folder, 'in'), join(folder, 'out')]
  await mkdir(inside)
  await mkdir(outside)
  const duck = await openDuckDb()
  for (const one of [inside, outside]) await duck.run(`copy (select 1 as a) to '${one}/a.parquet' (format parquet)`)
  duck.close()
  for (const allowed of [{ folders: [inside] }, { files: [`${inside}/a.parquet`] }]) {
    const db = await openLocked({ ...allowed, temporary: join(inside, 'temporary'), memory: '100MB', threads: 1 })
    expect(await db.rows(`select * from read_parquet('${inside}/a.parquet')`)).toEqual([{ a: 1 }])
    for (const sql of [
      `select * from read_parquet('${outside}/a.parquet')`,
      `select * from read_parquet('${inside}/../out/a.parquet')`,
      `select * from read_text('/etc/passwd')`,
      `copy (select 1) to '${outside}/b.csv'`,
      `attach '${outside}/b.db'`,
      'load httpfs',
      'install httpfs',
      'set enable_external_access = true',
      `set allowed_directories = ['/']`,
      `set memory_limit = '10GB'`,
    ])
      await expect(db.run(sql)).rejects.toThrow(/Permission|locked|disabled/)
    db.close()
  }
})

test('an export into a place with an index of others deletes nothing outside of it', async () => {
  const db = await testDatabase('server')
  await db.query(`insert into sync.expectation values ('territories', '2026-05-01Z', 60, 'sync')`)
  const folder = await temporaryFolder()
  const [lake, victim] = [join(folder, 'lake'), join(folder, 'victim')]
  await mkdir(victim)
  await writeFile(join(victim, 'index.json'), 'kept')
  const options = { clock: virtualClock(Date.parse('2026-06-01Z')), program: 'test', people: false, keepMs: 0 }
  const run = () => exportLake(db, lake, { ...options, onProgress: () => {} })
  await run()
  const own = JSON.parse(await readFile(join(lake, 'index.json'), 'utf8')) as LakeIndex
  const files = own.files.map((one) => ({ ...one, table: '../victim' }))
  await writeFile(join(lake, 'index.json'), JSON.stringify({ ...own, files }))
  await expect(run()).rejects.toThrow('not that of a lake')
  expect(await readFile(join(victim, 'index.json'), 'utf8')).toBe('kept')
})

test('of any number of refused files, a few are printed', () => {
  const refused = Array.from({ length: 100_000 }, (_, nth) => ({
    what: `game.item/${nth}.parquet`,
    reason: 'it is missing',
  }))
  const lines = refusalsOf({ refused, notTaken: [] }).trimEnd().split('\n')
  expect([lines.length, lines[0], lines[20]]).toEqual([
    22,
    'refused: game.item/0.parquet: it is missing',
    'and 99980 more; --json has all',
  ])
})
