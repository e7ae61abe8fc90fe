import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createClient } from '../../src/api/client.ts'
import { type Clock, seededRandom, virtualClock } from '../../src/base/clock.ts'
import { type Database, isBeforeOthers } from '../../src/db/database.ts'
import { resourcesNamed } from '../../src/resources/index.ts'
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts'
import type { RunResult } from '../../src/sync/run/run-result.ts'
import { runSchedule } from '../../src/sync/schedule/schedule.ts'
import { clockTicker, type Ticker } from '../../src/sync/schedule/ticker.ts'
import { countPending, letPass } from '../support/pending.ts'
import { testDatabase } from '../support/postgres.ts'

const start = Date.parse('2026-06-01T10:00:05Z')

/** Runs the named resources by their schedules for some minutes of virtual time. */
async function watched(
  names: readonly string[],
  minutes: number,
  {
    schedule = {},
    onTransaction,
    prepare,
    ticker = clockTicker,
  }: {
    ticker?: (clock: Clock) => Ticker
    schedule?: Record<string, string>
    onTransaction?: (clock: Clock) => Promise<void>
    prepare?: (sandbox: Sandbox, clock: Clock) => void
  } = {},
) {
  const pending = countPending()
  const clock = virtualClock(start, { auto: true, idleMs: 1, busy: pending.busy })
  const watchedDb = pending.watch(await testDatabase('server'))
  const transaction: Database['transaction'] = async (...given) => {
    await onTransaction?.(clock)
    return await watchedDb.transaction(...given)
  }
  const db = onTransaction ? Object.assign(Object.create(watchedDb) as Database, { transaction }) : watchedDb
  const sandbox = await startSandbox({
    clock: pending.answering(clock),
    game: { guilds: 30, players: 100, territories: 40 },
  })
  prepare?.(sandbox, clock)
  const api = createClient({ baseUrl: sandbox.url, clock, random: seededRandom(1), onRequest: pending.answered })
  onTestFinished(async () => {
    pending.stop()
    await api.close()
    await sandbox.close()
  })
  const runs: (RunResult & { readonly at: number })[] = []
  const log: string[] = []
  const lines = (_fields: object, message: string) => void log.push(message)
  const stopping = new AbortController()
  const guards = { plausibleShare: 0.5, absences: 2, zeroShare: 0.25, accept: false }
  const engine = {
    db,
    api,
    clock,
    program: 'test',
    guards,
    log: { debug: lines, info: lines, warn: lines, error: lines },
  }
  const running = runSchedule(engine, {
    scheduled: resourcesNamed(names).map((resource) => ({
      resource,
      expression: schedule[resource.name] ?? resource.schedule,
    })),
    ticker: ticker(clock),
    random: seededRandom(2),
    concurrency: 4,
    stopping: stopping.signal,
    signal: new AbortController().signal,
    onRun: (result) => runs.push({ ...result, at: clock.now() }),
  })
  await letPass(clock, minutes * 60_000)
  stopping.abort()
  await running
  return { runs, log, db, sandbox, clock }
}

const seconds = (runs: readonly { readonly at: number }[]) => runs.map(({ at }) => (at - start) / 1000)

/** In which minute after 10:00 each run ended. Between two of them this clock may jump by a second more than it should. */
const minutes = (runs: readonly { readonly at: number }[]) => seconds(runs).map((at) => Math.floor((at + 6) / 60))

describe('the scheduler', () => {
  test('asks for what is live as soon as the copy that it has expires, and not before', async () => {
    const { runs, sandbox } = await watched(['territories', 'online-players'], 3)
    const territories = runs.filter(({ resource }) => resource === 'territories')
    const gaps = seconds(territories).map((at, index, all) => at - (all[index - 1] ?? Number.NaN))
    expect(territories.length).toBeGreaterThanOrEqual(15)
    expect(gaps.slice(1).every((gap) => gap >= 8 && gap <= 13)).toBe(true)
    const online = runs.filter(({ resource }) => resource === 'online-players').length
    expect(online).toBeGreaterThanOrEqual(5)
    expect(online).toBeLessThanOrEqual(7)
    // Each request brought a copy that was new.
    expect(runs.filter(({ status }) => status === 'stale')).toEqual([])
    expect(sandbox.requests.filter(({ status }) => status !== 200)).toEqual([])
  })

  test('asks at once for a copy that has expired while the one before was loaded', async () => {
    const { sandbox } = await watched(['territories'], 4, { onTransaction: (clock) => clock.sleep(12_000) })
    const asked = sandbox.requests.map(({ at }) => at)
    const gaps = asked.slice(1).map((at, nth) => (at - (asked[nth] ?? at)) / 1000)
    // Most are loaded in one transaction.
    const [median = Number.NaN] = gaps.toSorted((a, b) => a - b).slice(Math.floor(gaps.length / 2))
    expect(median).toBeGreaterThan(12)
    expect(median).toBeLessThan(15)
  })

  test.each([
    ['territories', true],
    ['seasons', false],
  ])('loads what is live before others (%s: %s)', async (name, isFirst) => {
    const seen = new Set<boolean>()
    await watched([name], 1, { onTransaction: async () => void seen.add(isBeforeOthers()) })
    expect([...seen]).toEqual([isFirst])
  })

  test('keeps its own pace where each copy has expired when it comes', async () => {
    const { sandbox } = await watched(['territories'], 3, {
      prepare: (api, clock) =>
        api.setAnswer('/guild/list/territory', () => ({
          headers: { Expires: new Date(clock.now() - 1000).toUTCString() },
          body: {},
        })),
    })
    const asked = sandbox.requests.filter(({ path }) => path === '/guild/list/territory').length
    expect(asked).toBeGreaterThan(10)
    expect(asked).toBeLessThan(20)
  })

  test('asks once at the start and then by the schedule for what is not live', async () => {
    const { runs } = await watched(['seasons', 'item-sets'], 20, { schedule: { 'item-sets': '*/5 * * * *' } })
    expect(minutes(runs.filter(({ resource }) => resource === 'item-sets'))).toEqual([0, 5, 10, 15, 20])
    expect(runs.filter(({ resource }) => resource === 'seasons')).toHaveLength(1)
  })

  test('asks once, and says once, after a sleep in which it missed many ticks', async () => {
    const sleeping =
      (clock: Clock): Ticker =>
      (_name, _expression, _onTick, onMissed) => {
        const ending = new AbortController()
        const miss = () => {
          for (let minute = 0; minute < 480; minute++) onMissed(new Date(start + minute * 60_000))
        }
        clock.sleep(5 * 60_000, ending.signal).then(miss, () => undefined)
        return () => ending.abort()
      }
    const { runs, log } = await watched(['seasons'], 20, { ticker: sleeping })
    expect(minutes(runs)).toEqual([0, 5])
    expect(log.filter((line) => line.includes('missed'))).toHaveLength(1)
  })

  test('fetches what is not live one at a time, and lets nothing live wait for it', async () => {
    const [open, most] = [new Set<string>(), { whole: 0, all: 0 }]
    let askLive = () => {}
    const liveAsked = new Promise<void>((resolve) => {
      askLive = resolve
    })
    const names = ['seasons', 'item-sets', 'raids', 'camps', 'territories']
    const { runs } = await watched(names, 2, {
      prepare: (sandbox) => {
        for (const route of ['/guild/seasons', '/item/sets', '/map/raids', '/map/camps', '/guild/list/territory'])
          sandbox.setAnswer(route, async () => {
            open.add(route)
            most.all = Math.max(most.all, open.size)
            most.whole = Math.max(most.whole, [...open].filter((one) => one !== '/guild/list/territory').length)
            if (route === '/guild/list/territory') askLive()
            // A slow machine begins the live one later; where it waited for the others, it would not come.
            await Promise.race([liveAsked, sleep(5000)])
            await sleep(50)
            open.delete(route)
            return null
          })
      },
    })
    expect(most).toEqual({ whole: 1, all: 2 })
    expect(new Set(runs.map(({ resource, status }) => `${resource} ${status}`))).toEqual(
      new Set([...names.map((name) => `${name} ok`), 'territories unchanged']),
    )
  })

  test('takes a coarser schedule of a live resource at its word', async () => {
    const { runs } = await watched(['territories'], 11, { schedule: { territories: '*/5 * * * *' } })
    expect(minutes(runs)).toEqual([0, 5, 10])
  })

  test('works on guilds all the time, each at most once in two minutes', async () => {
    const { runs, sandbox } = await watched(['guild-list', 'guilds'], 7)
    const asked = sandbox.requests.filter(({ path }) => path.startsWith('/guild/uuid/'))
    const times = new Map<string, number[]>()
    for (const { path, at } of asked) times.set(path, [...(times.get(path) ?? []), at])
    expect(times.size).toBe(30)
    for (const mine of times.values()) {
      expect(mine.length).toBeGreaterThanOrEqual(2)
      for (const [index, at] of mine.slice(1).entries()) expect(at - (mine[index] ?? 0)).toBeGreaterThanOrEqual(120_000)
    }
    expect(runs.every(({ status }) => status !== 'failed')).toBe(true)
  })

  test('tries again after a failure, later and later, and keeps its pace when the service is back', async () => {
    const { runs, log } = await watched(['territories'], 10, {
      prepare: (sandbox, clock) => {
        sandbox.setAnswer('/guild/list/territory', () =>
          clock.now() < start + 6 * 60_000 ? { status: 502, body: '<html>bad gateway</html>' } : undefined,
        )
      },
    })
    const failed = runs.filter(({ status }) => status === 'failed')
    expect(failed.length).toBeGreaterThanOrEqual(4)
    expect(failed.length).toBeLessThanOrEqual(20)
    const after = runs.filter(({ at }) => at > start + 7 * 60_000)
    expect(after.length).toBeGreaterThanOrEqual(14)
    expect(after.every(({ status }) => status === 'ok' || status === 'unchanged')).toBe(true)
    expect(log.some((line) => line.includes('502'))).toBe(true)
  })

  test('asks again before the next tick when an answer was older than what is known', async () => {
    let asked = 0
    const { runs } = await watched(['seasons'], 8, {
      prepare: (sandbox, clock) => {
        // The clock of the API is nearly two minutes ahead in its first answer, and the second one is half a minute old.
        const inSeconds = (seconds: number) => new Date(clock.now() + seconds * 1000).toUTCString()
        const dates = () => {
          asked += 1
          if (asked === 1) return { Date: inSeconds(115), Expires: inSeconds(175) }
          return { Date: inSeconds(0), Expires: inSeconds(asked === 2 ? 30 : 60) }
        }
        sandbox.setAnswer('/guild/seasons', () => ({
          headers: { 'Cache-Control': 'max-age=60', ...dates() },
          body: { [asked]: { initDate: '2026-05-01T00:00:00.000Z', endDate: null } },
        }))
      },
      schedule: { seasons: '0,2 * * * *' },
    })
    expect(runs.map(({ status }) => status).slice(0, 2)).toEqual(['ok', 'stale'])
    expect(runs.at(-1)?.status).not.toBe('stale')
    expect(runs.length).toBeLessThan(12)
  })
})
