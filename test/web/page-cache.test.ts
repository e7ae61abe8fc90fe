import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { virtualClock } from '../../src/app/clock.ts'
import { createPageCache } from '../../src/web/http/page-cache.ts'

test('a page is shown while its successor is made, unless it is too old', async () => {
  const clock = virtualClock(Date.UTC(2026, 5, 1))
  const cached = createPageCache<number>(clock)
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
