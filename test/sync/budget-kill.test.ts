import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { type Clock, seededRandom, systemClock } from '../../src/base/clock.ts'
import { startSandbox } from '../../src/sandbox/index.ts'
import { type Running, startCommand } from '../support/cli.ts'
import { compileInto } from '../support/compiled.ts'
import { temporaryFolder, testDatabaseUrl } from '../support/postgres.ts'

/** Seconds of the API per real second; a window then takes five real seconds. */
const speed = 12
const MINUTE = 60_000
const limit = 50

/** A process that asks for as much as it gets. */
const hungry = `
import { createTransport } from './api/http/transport.js'
import { systemClock } from './base/clock.js'
import { openServer } from './db/server/server.js'
import { accountOf, databaseBudget } from './sync/run/database-budget-store.js'
const [url, databaseUrl, began, start, lane] = process.argv.slice(2)
const clock = {
  now: () => Math.round(Number(start) + (Date.now() - Number(began)) * ${speed}),
  sleep: (ms, signal) => systemClock.sleep(ms / ${speed}, signal),
}
const db = await openServer(databaseUrl)
const budget = databaseBudget(db, { account: accountOf(url, null), clock })
const transport = createTransport({ baseUrl: url, clock, budget, userAgent: 'a test' })
const ask = async () => {
  for (;;) await transport.send({ method: 'GET', route: '/guild/x', path: '/guild/x', lane })
}
await Promise.all([ask(), ask(), ask()])
`

const running = new Set<Running>()
const closers: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const { child } of running) child.kill('SIGKILL')
  await Promise.all([...running].map(({ finished }) => finished))
  for (const close of closers.splice(0).reverse()) await close()
})

/** The clock of all processes: it shows `start` at the real instant `began`. */
function sharedClock(began: number, start: number): Clock {
  return {
    now: () => Math.round(start + (systemClock.now() - began) * speed),
    sleep: (ms, signal) => systemClock.sleep(ms / speed, signal),
  }
}

test('processes that are killed at any instant never overdraw, and hold little of the budget back', async () => {
  const folder = await temporaryFolder()
  await compileInto(folder, [
    'api/http/transport.ts',
    'base/clock.ts',
    'db/server/server.ts',
    'sync/run/database-budget-store.ts',
  ])
  await writeFile(join(folder, 'hungry.js'), hungry)
  const databaseUrl = await testDatabaseUrl()
  const began = systemClock.now()
  const start = Math.ceil(began / MINUTE) * MINUTE
  const clock = sharedClock(began, start)
  const sandbox = await startSandbox({ clock, game: false, latencyMs: 100, limits: { guest: limit, token: limit } })
  closers.push(sandbox.close)
  sandbox.setAnswer('/guild/x', () => ({ body: {} }))
  const random = seededRandom(3)

  const open = (lane: string): Running => {
    const args = ['hungry.js', sandbox.url, databaseUrl, String(began), String(start), lane]
    const one = startCommand(process.execPath, args, {}, folder)
    running.add(one)
    return one
  }
  const lanes = ['refresh', 'refresh', 'backfill']
  const processes = lanes.map(open)
  let kills = 0
  const until = Math.ceil(clock.now() / MINUTE) * MINUTE + 2 * MINUTE
  while (clock.now() < until) {
    // Now and then just after a window has opened, when all of them are busy.
    const toWindow = (MINUTE - (clock.now() % MINUTE)) / speed
    await delay(random() < 0.5 ? toWindow + random() * 150 : 300 + random() * 700)
    const index = Math.floor(random() * processes.length)
    const victim = processes[index]
    if (victim === undefined) continue
    victim.child.kill('SIGKILL')
    const { code, err } = await victim.finished
    expect([code, err]).toEqual([null, ''])
    running.delete(victim)
    processes[index] = open(lanes[index] ?? 'refresh')
    kills++
  }

  const answered = sandbox.requests.filter(({ path }) => path === '/guild/x')
  expect(answered.filter(({ status }) => status !== 200)).toEqual([])
  const minutes = [until - 2 * MINUTE, until - MINUTE].map(
    (from) => answered.filter(({ at }) => at >= from && at < from + MINUTE).length,
  )
  // Each kill may keep three requests back for 90 s.
  for (const count of minutes) expect(count).toBeGreaterThanOrEqual(limit * 0.6)
  expect(kills).toBeGreaterThan(3)
})
