import { setTimeout as delay } from 'node:timers/promises'
import { beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { startSandbox } from '../../src/sandbox/index.ts'
import { afterwards } from '../support/afterwards.ts'
import { buildProgram, runProgram, startProgram } from '../support/cli.ts'
import { testDatabaseUrl } from '../support/postgres.ts'

const windowMs = 8000
const limit = 8

beforeAll(buildProgram, 300_000)

/** Runs `sync territories` and returns how long its request waited, ms. */
async function poll(environment: Record<string, string>): Promise<number[]> {
  const { code, err } = await runProgram(['sync', 'territories', '--log-level', 'debug'], environment)
  expect(code, err).toBe(0)
  return [...err.matchAll(/ request .*waitMs=(\d+)/g)].map(([, waited]) => Number(waited))
}

test('the polls of a crontab leave at once, the first one too, beside a backfill of another process', {
  timeout: 120_000,
}, async () => {
  const sandbox = await startSandbox({
    clock: systemClock,
    windowSeconds: windowMs / 1000,
    limits: { guest: limit, token: limit },
    game: { guilds: 300, players: 300 },
  })
  afterwards(() => sandbox.close())
  const environment = { DATABASE_URL: await testDatabaseUrl(), WYNNSYNC_BASE_URL: sandbox.url }
  await runProgram(['sync', 'guild-list'], environment)
  const backfill = startProgram(['backfill', 'guilds'], environment)
  const asked = () => sandbox.requests.filter(({ path }) => path.startsWith('/guild/uuid/')).length
  while (asked() === 0) await delay(20)

  const waited: number[] = []
  // A third of the window later the backfill has asked for all it may.
  let at = Math.ceil(Date.now() / windowMs) * windowMs + 2500
  for (let nth = 0; nth < 3; nth++, at += windowMs) {
    await delay(at - Date.now())
    waited.push(...(await poll(environment)))
  }
  backfill.child.kill('SIGTERM')
  await backfill.finished

  expect(sandbox.requests.filter(({ status }) => status !== 200)).toEqual([])
  // One request each, which was not repeated.
  expect(waited).toHaveLength(3)
  expect(Math.max(...waited)).toBeLessThan(1500)
  // Beside them the backfill went on.
  expect(asked()).toBeGreaterThan(3 * (limit - 3))
})
