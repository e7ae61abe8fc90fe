import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { virtualClock } from '../../src/base/clock.ts'
import { createBuild, createPageCache, watchLateness } from '../../src/web/http/page-cache.ts'

test('a page is shown while its successor is made, unless it is too old', async () => {
  const clock = virtualClock(Date.UTC(2026, 5, 1))
  const cached = createPageCache<number>(clock, { sizeOf: () => 1 })
  let made = 0
  const get = () => cached('/map', async () => ++made)
  expect(await Promise.all([get(), get()])).toEqual([1, 1])
  await clock.advanceTo(clock.now() + 20_000)
  expect(await Promise.all([get(), get()])).toEqual([1, 1])
  await setImmediate()
  expect([await get(), made]).toEqual([2, 2])
  await clock.advanceTo(clock.now() + 61_000)
  expect(await Promise.all([get(), get()])).toEqual([3, 3])
  const fail = () => cached('/map', () => Promise.reject(new Error('no database')))
  await clock.advanceTo(clock.now() + 20_000)
  expect(await fail()).toBe(3)
  await setImmediate()
  expect(await fail()).toBe(3)
  await clock.advanceTo(clock.now() + 61_000)
  await expect(fail()).rejects.toThrow('no database')
  expect(await get()).toBe(4)
})

test('a page that was made before the clock was set back is too old', async () => {
  let now = Date.UTC(2026, 5, 1)
  const cached = createPageCache<number>({ now: () => now, sleep: async () => {} }, { sizeOf: () => 1 })
  let made = 0
  const get = () => cached('/map', async () => ++made)
  expect(await get()).toBe(1)
  now -= 3_600_000
  expect(await get()).toBe(2)
})

test('what is kept has a limit in bytes, and the oldest pages go first', async () => {
  const cached = createPageCache<string>(virtualClock(Date.UTC(2026, 5, 1)), {
    sizeOf: (page) => page.length,
    bytes: 10,
  })
  const made: string[] = []
  const get = (key: string) =>
    cached(key, async () => {
      made.push(key)
      return key.repeat(4)
    })
  for (const key of ['a', 'b', 'c', 'b', 'c', 'a']) await get(key)
  expect(made.join('')).toBe('abca')
})

test('a limit of the one who asks is not thrown to those who share the page', async () => {
  const clock = virtualClock(Date.UTC(2026, 5, 1))
  const cached = createPageCache<number>(clock, { sizeOf: () => 1 })
  const refuse = (): Promise<number> => {
    throw new Error('too many')
  }
  expect(() => cached('/', refuse)).toThrow('too many')
  expect(await cached('/', async () => 1)).toBe(1)
  await clock.advanceTo(clock.now() + 20_000)
  expect(await cached('/', refuse)).toBe(1)
})

/** Keeps this thread busy, so that its timers come late. */
async function block(ms: number, times: number): Promise<void> {
  for (let nth = 0; nth < times; nth++) {
    const until = performance.now() + ms
    while (performance.now() < until);
    await setImmediate()
  }
}

test('nothing is made while the timers of this thread come late, and what waited is a second later', async () => {
  const lateness = watchLateness()
  const build = createBuild({ lateness })
  const order: string[] = []
  const make = async () => order.push('made')
  await block(300, 5)
  expect(lateness()).toBeGreaterThan(100)
  const made = build(make)
  await block(100, 5)
  order.push('busy')
  // On a busy machine this thread itself may come late for a while.
  await made.catch(() => undefined)
  for (let tries = 0; lateness() > 100 && tries < 20; tries++) await sleep(1100)
  await build(make)
  expect(order.slice(0, 2)).toEqual(['busy', 'made'])
})

test('what waits for a thread that stays busy is refused after a second, and takes a place meanwhile', async () => {
  let late = 200
  const build = createBuild({ most: 1, lateness: () => late })
  const began = performance.now()
  const made = build(async () => 'made')
  expect(() => build(async () => 'made')).toThrow('Too many answers are being made')
  await expect(made).rejects.toThrow('Too many answers are being made')
  expect(performance.now() - began).toBeGreaterThan(900)
  late = 0
  expect(await build(async () => 'made')).toBe('made')
  late = 200
  const waited = build(async () => 'made')
  late = 0
  expect(await waited).toBe('made')
})

test('one moment without timers stops nothing', async () => {
  const lateness = watchLateness()
  await sleep(500)
  await block(400, 1)
  await sleep(200)
  expect(lateness()).toBeLessThan(100)
})
