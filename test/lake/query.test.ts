import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../src/app/clock.ts'
import { openServer } from '../../src/db/server/server.ts'
import { exportLake } from '../../src/lake/export.ts'
import { askLake, lakeQuestions } from '../../src/lake/query.ts'
import { fillYear } from '../bench/year/fill.ts'
import { afterwards } from '../support/afterwards.ts'
import { buildProgram, runProgram } from '../support/cli.ts'
import { answersOf, linesOf } from '../support/lake-answers.ts'
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
}, 300_000)

test('every question about a lake has the answer of Postgres', { timeout: 120_000 }, async () => {
  expect(await lakeQuestions()).toEqual(Object.keys(expected).sort())
  for (const [name, lines] of Object.entries(expected)) {
    const rows = await askLake(folder, name, 1_000_000)
    expect([name, lines.length]).not.toEqual([name, 0])
    expect([name, linesOf(rows.map((row) => Object.values(row)))]).toEqual([name, lines])
  }
})

test('wynnsync lake query needs no database, names its questions, and says what a lake has not', async () => {
  const run = (...args: string[]) => runProgram(['lake', 'query', ...args])
  const shown = await run(folder, 'who-takes-from-whom', '--json', '--limit', '3')
  expect([shown.code, JSON.parse(shown.out).length]).toEqual([0, 3])
  const { out } = await run('--help')
  for (const name of await lakeQuestions()) expect(out).toContain(name)
  expect(await run(folder, 'hold')).toMatchObject({ code: 2, err: expect.stringContaining('did you mean holds') })
  expect(await run(closed, 'members-rises')).toMatchObject({ code: 2, err: expect.stringContaining('--people') })
  expect(await run(join(folder, 'none'), 'holds')).toMatchObject({
    code: 2,
    err: expect.stringContaining('no index.json'),
  })
})
