import { afterEach, describe, expect, test } from 'vitest'
import { createTransport, type Lane, type Transport } from '../../src/api/http/transport.ts'
import type { BudgetStore } from '../../src/api/rate-limit/budget-store.ts'
import { type Clock, seededRandom } from '../../src/base/clock.ts'
import type { Database } from '../../src/db/database.ts'
import { openServer } from '../../src/db/server/server.ts'
import { type SandboxOptions, startSandbox } from '../../src/sandbox/index.ts'
import { accountOf, databaseBudget } from '../../src/sync/run/database-budget-store.ts'
import { startServer } from '../api/server.ts'
import { createLimiter } from '../api/server-limits.ts'
import { type SteppedClock, steppedClock } from '../api/stepped-clock.ts'
import { testDatabase, testDatabaseUrl } from '../support/postgres.ts'

const MINUTE = 60_000
const start = Date.parse('2026-05-30T12:00:07Z')
const closers: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** One connection per client: as separate as processes. The embedded database has only one for all. */
async function databases(kind: Database['kind'], count: number): Promise<Database[]> {
  if (kind === 'embedded') return Array<Database>(count).fill(await testDatabase('embedded'))
  const url = await testDatabaseUrl()
  const opened = await Promise.all(Array.from({ length: count }, () => openServer(url)))
  closers.push(() => Promise.all(opened.map((db) => db.close())))
  return opened
}

/** A clock that says how many sleep on it. */
function counted(clock: Clock) {
  let asleep = 0
  const sleep: Clock['sleep'] = async (ms, signal) => {
    asleep++
    try {
      await clock.sleep(ms, signal)
    } finally {
      asleep--
    }
  }
  return { now: clock.now, sleep, asleep: () => asleep }
}

/** Several clients with one budget, and when nothing is under way but what waits for the clock. */
function openClients(url: string, dbs: readonly Database[], clock: SteppedClock, options: { token?: string }) {
  let changing = 0
  let answered = 0
  const busy = async <T>(work: Promise<T>): Promise<T> => {
    changing++
    try {
      return await work
    } finally {
      changing--
    }
  }
  const transports = dbs.map((db): Transport => {
    const store = databaseBudget(db, { account: accountOf(url, options.token), clock })
    const budget: BudgetStore = {
      change: (bucket, step) => busy(store.change(bucket, step)),
      bucketOf: (route) => busy(store.bucketOf(route)),
      bucketsNear: (route) => busy(Promise.resolve(store.bucketsNear?.(route) ?? [])),
      learn: (route, bucket) => busy(store.learn(route, bucket)),
    }
    const onRequest = () => {
      answered++
    }
    const transport = createTransport({ baseUrl: url, clock, random: seededRandom(1), budget, onRequest, ...options })
    closers.push(transport.close)
    return transport
  })
  const sent = () => transports.reduce((sum, transport) => sum + transport.requestsSent(), 0)
  return { transports, isQuiet: (sleeping: number) => changing === 0 && sent() - answered === sleeping }
}

/** Every lane in a client of its own for some minutes: live polls every ten seconds, and two that never have enough. */
async function compete(transports: readonly Transport[], clock: SteppedClock, until: number): Promise<number[]> {
  const [live, ...others] = transports
  const late: number[] = []
  const over = new AbortController()
  const get = (lane: Lane) => ({ method: 'GET' as const, route: `/guild/${lane}`, path: `/guild/${lane}`, lane })
  const polls = async () => {
    while (clock.now() < until && live !== undefined) {
      const wanted = clock.now()
      const { receivedAt } = await live.send(get('live'))
      late.push(receivedAt - wanted)
      await clock.sleep(wanted + 10_000 - clock.now())
    }
    over.abort(new Error('the test is over'))
  }
  const hungry = async (transport: Transport, lane: Lane) => {
    while (!over.signal.aborted) await transport.send({ ...get(lane), signal: over.signal }).catch(() => undefined)
  }
  const lanes = others.map(
    (transport, index) => ({ transport, lane: index % 2 === 0 ? 'refresh' : 'backfill' }) as const,
  )
  await Promise.all([polls(), ...lanes.flatMap(({ transport, lane }) => [1, 2, 3].map(() => hungry(transport, lane)))])
  return late
}

/** Requests that were let through in each full minute. */
function perMinute(requests: readonly { at: number; path: string }[], until: number): Record<string, number>[] {
  const minutes = new Map<number, Record<string, number>>()
  for (const { at, path } of requests) {
    const minute = Math.floor(at / MINUTE)
    const counts = minutes.get(minute) ?? { all: 0 }
    minutes.set(minute, { ...counts, all: (counts.all ?? 0) + 1, [path]: (counts[path] ?? 0) + 1 })
  }
  const full = [...minutes].filter(([minute]) => (minute + 1) * MINUTE <= until)
  return full.map(([, counts]) => counts)
}

const cases: [Database['kind'], 'guest' | 'token', NonNullable<SandboxOptions['resetForm']>][] = [
  ['server', 'guest', 'delta'],
  ['server', 'token', 'epoch'],
  ['server', 'guest', 'absent'],
  ['embedded', 'guest', 'delta'],
]

describe('several clients that share a budget', () => {
  test.each(cases)('%s database, %s, reset header %s: no 429, full windows, live polls at once', async (...given) => {
    const [kind, who, resetForm] = given
    const clock = steppedClock(start)
    const served = counted(clock)
    const tokens = ['made-up']
    const sandbox = await startSandbox({ clock: served, resetForm, tokens, game: false, latencyMs: 150 })
    closers.push(sandbox.close)
    for (const lane of ['live', 'refresh', 'backfill']) sandbox.setAnswer(`/guild/${lane}`, () => ({ body: {} }))
    const dbs = await databases(kind, 4)
    const clients = openClients(sandbox.url, dbs, clock, who === 'token' ? { token: 'made-up' } : {})
    const full = kind === 'server' ? 3 : 2
    const until = start + (full + 0.2) * MINUTE
    const late = await clock.playOut(compete(clients.transports, clock, until), () => clients.isQuiet(served.asleep()))

    const limit = who === 'token' ? 120 : 50
    expect(sandbox.requests.filter(({ status }) => status !== 200)).toEqual([])
    const minutes = perMinute(sandbox.requests, until)
    expect(minutes).toHaveLength(full)
    for (const { all } of minutes.slice(1)) expect(all).toBeGreaterThanOrEqual(Math.floor(0.98 * limit))
    for (const counts of minutes) expect(counts['/guild/live']).toBeGreaterThanOrEqual(5)
    // The way of one request that opened the window, a look whether it is over, and the poll's own way.
    expect(Math.max(...late)).toBeLessThanOrEqual(150 + 200 + 150)
  })

  test('headers missing: each full minute has what is assumed, and no more', async () => {
    const clock = steppedClock(start)
    const served = counted(clock)
    const limiter = createLimiter({ clock, limit: 50, reset: 'none' })
    const requests: { at: number; path: string }[] = []
    const server = await startServer(async ({ url }) => {
      requests.push({ at: clock.now(), path: url })
      const reply = limiter.count()
      await served.sleep(150)
      return reply
    })
    closers.push(server.close)
    const clients = openClients(server.url, await databases('server', 3), clock, {})
    const until = start + 3.2 * MINUTE
    await clock.playOut(compete(clients.transports, clock, until), () => clients.isQuiet(served.asleep()))
    expect(limiter.refusals()).toBe(0)
    const minutes = perMinute(requests, until).slice(1)
    expect(minutes).toHaveLength(2)
    for (const { all } of minutes) expect(all).toBeGreaterThanOrEqual(49)
  })
})
