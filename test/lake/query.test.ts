import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { openServer } from '../../src/db/server/server.ts'
import { exportLake } from '../../src/lake/export.ts'
import { askLake, lakeQuestions } from '../../src/lake/query.ts'
import { openPlace } from '../../src/lake/read/place.ts'
import { fillYear } from '../bench/year/fill.ts'
import { afterwards } from '../support/afterwards.ts'
import { buildProgram } from '../support/cli.ts'
import { runInside } from '../support/cli-inside.ts'
import { answersOf, linesOf } from '../support/lake-answers.ts'
import { readIndex, serve } from '../support/lake-folder.ts'
import { temporaryFolder, testDatabaseUrl } from '../support/postgres.ts'

const extent = { until: new Date('2026-06-01T12:00Z'), days: 2, guilds: 4, territories: 20, items: 60, seed: 1 }
const options = { clock: systemClock, program: 'test', keepMs: 0, onProgress: () => {} }
let folder: string
let closed: string
let expected: Record<string, string[]>

beforeAll(async () => {
  await buildProgram()
  const db = await openServer(await testDatabaseUrl())
  afterwards(() => db.close())
  await fillYear(db, extent)
  folder = join(await temporaryFolder(), 'lake')
  closed = join(await temporaryFolder(), 'closed')
  await exportLake(db, folder, { ...options, people: true })
  await exportLake(db, closed, { ...options, people: false })
  expected = await answersOf(db)
})

test('every question about a lake has the answer of Postgres', async () => {
  expect(await lakeQuestions()).toEqual(Object.keys(expected).sort())
  for (const [name, lines] of Object.entries(expected)) {
    const rows = await askLake(openPlace(folder), name, { limit: 1_000_000, maxBytes: 0 })
    expect([name, lines.length]).not.toEqual([name, 0])
    expect([name, linesOf(rows.map((row) => Object.values(row)))]).toEqual([name, lines])
  }
})

test('a question about a lake in which nothing of that was recorded yet has no rows', async () => {
  const db = await openServer(await testDatabaseUrl())
  afterwards(() => db.close())
  const fresh = join(await temporaryFolder(), 'fresh')
  await exportLake(db, fresh, { ...options, people: true })
  for (const name of await lakeQuestions())
    expect([name, await askLake(openPlace(fresh), name, { limit: 10, maxBytes: 0 })]).toEqual([name, []])
  // Others wrote this index: what it calls types is no SQL, and a table of another schema is none of ours.
  const { sha256: _, ...index } = JSON.parse(await readFile(join(fresh, 'index.json'), 'utf8'))
  const crafted = { ...index.tables['game.world_hour'], world: 'integer, other integer' }
  const tables = { ...index.tables, 'game.world_hour': crafted, 'other.world_hour': { hour: 'bigint' } }
  await writeFile(join(fresh, 'index.json'), JSON.stringify({ ...index, tables }))
  expect(await askLake(openPlace(fresh), 'worlds-by-hour', { limit: 10, maxBytes: 0 })).toEqual([])
})

test('wynnsync lake query needs no database, names its questions, and says what a lake has not', async () => {
  const run = (...args: string[]) => runInside(['lake', 'query', ...args])
  const shown = await run(folder, 'who-takes-from-whom', '--json', '--limit', '3')
  expect([shown.code, JSON.parse(shown.out).length]).toEqual([0, 3])
  expect(shown.err).toContain('the first 3 rows; --limit 0 for all')
  const whole = await run(folder, 'who-takes-from-whom', '--json', '--limit', '0')
  expect(whole).toEqual(await run(folder, 'who-takes-from-whom', '--json'))
  expect(JSON.parse(whole.out).length).toBeGreaterThan(3)
  const { out } = await run('--help')
  for (const name of await lakeQuestions()) expect(out).toContain(name)
  expect(await run(folder, 'hold')).toMatchObject({ code: 2, err: expect.stringContaining('did you mean holds') })
  expect(await run(closed, 'members-rises')).toMatchObject({ code: 2, err: expect.stringContaining('--people') })
  expect(await run(join(folder, 'none'), 'holds')).toMatchObject({
    code: 2,
    err: expect.stringContaining('there is no folder'),
  })
})

test('a lake behind a web server is answered from files that are what its index says, up to --max-bytes', async () => {
  const url = await serve(join(folder, '..'))
  const run = (...args: string[]) => runInside(['lake', 'query', url, 'holds', '--json', ...args])
  expect(await run()).toEqual(await runInside(['lake', 'query', folder, 'holds', '--json']))
  expect(await run('--max-bytes', '10')).toMatchObject({
    code: 2,
    err: expect.stringContaining('--max-bytes allows 10'),
  })
  const file = (await readIndex(folder))?.files.find(({ table }) => table === 'game.territory_hold')
  const path = join(folder, file?.path ?? '')
  const bytes = await readFile(path)
  bytes[(bytes.length / 2) | 0] = ~(bytes[(bytes.length / 2) | 0] ?? 0)
  await writeFile(path, bytes)
  expect(await run()).toMatchObject({ code: 1, out: '', err: expect.stringContaining('SHA-256') })
  // Parquet would give another value.
  const err = expect.stringMatching(`${folder}: ${file?.path}: its SHA-256 is not .*; copy the lake there again`)
  expect(await runInside(['lake', 'query', folder, 'holds', '--json'])).toMatchObject({ code: 1, out: '', err })
})
