import { describe, expect, test } from 'vitest'
import { available, opensAt } from '../../src/api/rate-limit/budget.ts'
import { emptyBudget } from '../../src/api/rate-limit/budget-state.ts'
import { expireReservations, observe } from '../../src/api/rate-limit/budget-window.ts'
import { at, bucket, opened, reading } from './one-budget.ts'

/** What a server says whose window always ends in five seconds. */
const inFive = (seconds: number, left: number) => ({ ...reading(seconds, left), resetAt: at(seconds + 5) })

describe('RateLimit-Reset', () => {
  /** Windows one after the other, whose first answers leave so many; each is over after six seconds. */
  function windows(lefts: readonly number[], every = 6) {
    const budget = bucket()
    for (const [nth, left] of lefts.entries()) {
      const second = nth * every
      budget.complete(budget.take(second), inFive(second, left), second)
    }
    return budget
  }

  test('is not believed for an hour once two windows in a row went on counting where the one before had ended', () => {
    const budget = windows([40, 38, 30])
    expect([budget.state.window?.latest, budget.available(13)]).toEqual([at(61), 30])
    const endOfOneAt = (seconds: number) =>
      observe(budget.state, inFive(seconds, 30), at(seconds), at(seconds), at(seconds)).window?.latest
    expect([endOfOneAt(3611.9), endOfOneAt(3612)]).toEqual([at(3661), at(3618)])
  })

  test('is not believed in a window without numbers either', () => {
    const budget = windows([40, 38, 30])
    budget.complete(budget.take(61), { ...inFive(61, 1), remaining: null }, 61)
    expect(budget.state.window?.latest).toBe(at(121))
  })

  test.each([
    ['one window went on counting', [40, 38], 6, 12],
    ['one in between began with as many as the one before left', [40, 38, 38, 30], 6, 24],
    ['each began a minute after the one before', [40, 38, 30], 66, 138],
  ])('is believed where %s', (_name, lefts, every, end) => {
    expect(windows(lefts, every).state.window?.latest).toBe(at(end))
  })

  test('is judged by the first answer of a window, not by each', () => {
    const budget = windows([40, 39])
    for (const second of [7, 8])
      budget.complete(budget.take(second), { ...reading(second, 45 - second), resetAt: at(11) }, second)
    expect(budget.state.window?.latest).toBe(at(12))
  })

  test('is not judged by what our own count left', () => {
    const budget = bucket()
    budget.complete(budget.take(0), null, 0)
    for (const [second, left] of [
      [61, 40],
      [67, 39],
    ] as const)
      budget.complete(budget.take(second), inFive(second, left), second)
    expect(budget.state.window?.latest).toBe(at(73))
  })
})

describe('the end of a window', () => {
  const endOf = ({ state }: ReturnType<typeof bucket>) => [state.window?.earliest, state.window?.latest]

  test('is known the more closely the more answers came', () => {
    const budget = opened(10)
    expect(endOf(budget)).toEqual([at(59), at(61)])
    budget.observe({ ...reading(30, 9), resetAt: at(59.5) }, 30, 30)
    expect(endOf(budget)).toEqual([at(59), at(60.5)])
    budget.observe({ ...reading(31, 8), resetAt: at(60.2) }, 31, 31)
    expect(endOf(budget)).toEqual([at(59.2), at(60.5)])
    budget.observe({ ...reading(32, 7), resetAt: at(58.2) }, 32, 32)
    expect([...endOf(budget), budget.available(32)]).toEqual([at(59.2), at(59.2), 7])
  })

  test('is put right by the answer to a request that left after the window had opened', () => {
    const told = { ...reading(1, 9), resetAt: at(30) }
    const [before, after] = [opened(10), opened(10)]
    before.observe(told, -0.001, 1)
    expect([...endOf(before), before.available(1)]).toEqual([at(59), at(61), 10])
    after.observe(told, 0, 1)
    expect([...endOf(after), after.available(1)]).toEqual([at(28), at(31), 9])
  })

  test('is that of the minute without a reset, and of the next where the answer came in that', () => {
    const budget = bucket()
    budget.complete(budget.take(59), { ...reading(59, 20), resetAt: null, resetSlack: 0 }, 61)
    expect(endOf(budget)).toEqual([at(59), at(121)])
  })
})

describe('an answer', () => {
  test('opens the next window where it speaks of a later end, and this one can be over', () => {
    const said = (resetAt: number, seconds: number) => {
      const budget = opened(10)
      budget.observe({ ...reading(seconds, 40), resetAt }, seconds, seconds)
      return [budget.available(seconds), budget.state.window?.openedAt]
    }
    expect(said(at(62), 60)).toEqual([10, at(0)])
    expect(said(at(62) + 1, 60)).toEqual([40, at(60)])
    expect(said(at(119), 58.999)).toEqual([10, at(0)])
    expect(said(at(119), 59)).toEqual([40, at(59)])
  })

  test('says nothing where it may be of the window that is over', () => {
    const said = (resetAt: number, sent: number, seconds: number) => {
      const told = { ...reading(seconds, 20), resetAt }
      return observe(opened(10).state, told, at(sent), at(seconds), at(seconds)).window?.remaining
    }
    // That one was over at 61.
    expect(said(at(65), 59, 62)).toBeUndefined()
    expect(said(at(65) + 1, 59, 62)).toBe(20)
    expect(said(at(61), 60.999, 61)).toBeUndefined()
    expect(said(at(61), 61, 61)).toBe(20)
  })

  test('without a limit, or with another, changes the limit only where it names one', () => {
    const budget = opened(40)
    budget.observe({ ...reading(1, 39), limit: null }, 1, 1)
    expect([budget.state.window?.limit, budget.state.lastLimit]).toEqual([50, 50])
    budget.observe(reading(2, 38, 60), 2, 2)
    expect([budget.state.window?.limit, budget.state.lastLimit]).toEqual([60, 60])
  })

  test('without a limit tells what is left all the same', () => {
    const budget = bucket()
    budget.complete(budget.take(0), { ...reading(0, 7), limit: null }, 0)
    expect(budget.available(0)).toBe(7)
    budget.take(0)
    expect(budget.available(0)).toBe(6)
  })
})

describe('our own count', () => {
  test.each([
    ['has the first request where its answer has', 49],
    ['has only the others where the first answer has none', 50],
  ])('of a window whose headers never fall %s', (_name, left) => {
    const budget = opened(left)
    for (let sent = 1; sent < left; sent++) budget.complete(budget.take(1), reading(1, left), 1)
    expect(budget.available(1)).toBe(1)
    budget.complete(budget.take(1), reading(1, left), 1)
    expect(budget.available(1)).toBe(0)
  })

  test('without headers has what ended in silence in the same minute, once', () => {
    const left = (silent: number, seconds: number, times: number) => {
      const budget = bucket(5)
      const ticket = budget.take(silent)
      for (let time = 0; time < times; time++) budget.complete(ticket, null, silent, false)
      budget.complete(budget.take(seconds), null, seconds)
      return budget.available(seconds)
    }
    expect([left(10, 22, 1), left(10, 22, 2), left(50, 62, 1)]).toEqual([3, 3, 4])
  })

  test('without headers begins with the first answer, and has what ends in silence after it', () => {
    const budget = bucket(5)
    const [first, second] = [budget.take(10), budget.take(20)]
    budget.complete(first, null, 21, false)
    budget.complete(second, null, 21)
    expect(budget.available(21)).toBe(3)
    budget.complete(budget.take(21.001), null, 21.001, false)
    expect(budget.available(21.001)).toBe(2)
  })

  test('without headers has nothing of what was never sent', () => {
    const budget = bucket(5)
    budget.complete(budget.take(10), null, 10)
    for (let turn = 0; turn < 6; turn++) budget.release(budget.take(10), 10)
    expect(budget.available(10)).toBe(4)
  })

  test('without numbers is held against the last limit that was named', () => {
    const budget = bucket()
    budget.complete(budget.take(0), reading(0, null, 20), 0)
    expect(budget.available(0)).toBe(19)
    budget.complete(budget.take(1), null, 1)
    expect(budget.available(1)).toBe(18)
  })

  test('forgets after two minutes what ended in silence', () => {
    const silent = { ...emptyBudget, uncounted: [at(0)] }
    const left = (seconds: number) => expireReservations(silent, at(seconds)).uncounted
    expect([left(119.999), left(120)]).toEqual([[at(0)], []])
  })
})

describe('room comes by waiting', () => {
  test('when what a dead process had in flight lapses', () => {
    const budget = opened(2)
    budget.take(1)
    budget.complete(budget.take(61), reading(61, 1), 61)
    expect([budget.available(61), budget.opensAt(61), budget.available(91)]).toEqual([0, at(91), 1])
  })

  test('when a minute has passed since the first of those that fill it, in flight or ended in silence', () => {
    const inFlight = { id: 'a', lane: 'refresh', sentAt: at(5), until: at(95) } as const
    const state = { ...emptyBudget, lastLimit: 2, uncounted: [at(10)], reservations: [inFlight] }
    expect(opensAt(state, at(12), 'refresh')).toBe(at(65))
    expect([64.9, 65].map((second) => available(state, at(second), 'refresh'))).toEqual([0, 1])
  })
})
