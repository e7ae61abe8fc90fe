import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { createApp, openDatabase } from '../../src/app/app.ts'
import { type Clock, systemClock } from '../../src/base/clock.ts'
import { readConfig } from '../../src/base/config.ts'
import { keepLake } from '../../src/cli/commands/start/start-lake.ts'
import { keepVerified } from '../../src/cli/commands/start/start-verify.ts'
import { lastVerification } from '../../src/sync/verify/verification.ts'
import { buildProgram } from '../support/cli.ts'
import { readIndex } from '../support/lake-folder.ts'
import { temporaryFolder, testDataDir } from '../support/postgres.ts'

beforeAll(buildProgram)

/** An embedded database as `start` has it open, with so many samples, and polls without a pause. */
async function polled(clock: Clock, samples: number) {
  const [dataDir, lake] = [await testDataDir(), join(await temporaryFolder(), 'lake')]
  const app = createApp(readConfig({ dataDir, logLevel: 'silent' }, { WYNNSYNC_LAKE: lake }), { clock })
  const db = await openDatabase(app, ['start'], { thread: true, shares: 'writes' })
  await db.query(
    `insert into game.world_sample (world, observed_at, online)
     select 'EU' || nth % 40, timestamptz '2026-03-01' + nth * interval '5 seconds', nth % 50 from generate_series(1, ${samples}) nth`,
  )
  const ending = new AbortController()
  let [polls, hasCopy] = [0, false]
  const polling = (async () => {
    for (; !ending.signal.aborted; polls++) {
      await db.transaction((sql) => sql.query('select count(*) from generate_series(1, 1000)'))
      hasCopy ||= existsSync(join(dataDir, 'reading')) && (await readdir(join(dataDir, 'reading'))).length > 0
      await systemClock.sleep(10)
    }
  })()
  onTestFinished(async () => {
    ending.abort()
    await polling
    await db.close()
  })
  const copies = () => readdir(join(dataDir, 'reading'))
  return { app, db, lake, ending, polls: () => polls, hasCopy: () => hasCopy, copies }
}

test('polls of the embedded database go on while start exports a lake, which it reads from a copy', async () => {
  const { app, db, lake, ending, polls, hasCopy, copies } = await polled(systemClock, 300_000)
  const [before, began] = [polls(), performance.now()]
  const keeping = keepLake(app, db, ending.signal)
  await expect.poll(async () => (await readIndex(lake))?.at, { timeout: 250_000 }).toBeDefined()
  const [count, took] = [polls() - before, performance.now() - began]
  ending.abort()
  await keeping
  const index = await readIndex(lake)
  expect(
    index?.files.filter(({ table }) => table === 'game.world_sample').reduce((sum, { rows }) => sum + rows, 0),
  ).toBe(300_000)
  expect(hasCopy()).toBe(true)
  expect(await copies()).toEqual([])
  // All the while, but when files are copied and where the machine is busy.
  expect(count).toBeGreaterThan(took / 300)
}, 300_000)

test('start verifies a copy of the embedded database', async () => {
  let ahead = 0
  const clock: Clock = {
    ...systemClock,
    now: () => systemClock.now() + ahead,
    sleep: async (ms, signal) => {
      const isLong = ms > 600_000
      if (isLong) ahead += ms
      await systemClock.sleep(isLong ? 100 : ms, signal)
    },
  }
  const { app, db, ending, hasCopy, copies } = await polled(clock, 1000)
  const verifying = keepVerified(app, db, ending.signal)
  await expect.poll(() => lastVerification(db), { timeout: 250_000 }).toMatchObject({ wrong: 0 })
  ending.abort()
  await verifying
  expect(hasCopy()).toBe(true)
  expect(await copies()).toEqual([])
}, 300_000)
