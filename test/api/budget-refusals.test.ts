import { describe, expect, test } from 'vitest'
import { block } from '../../src/api/rate-limit/budget.ts'
import { emptyBudget } from '../../src/api/rate-limit/budget-state.ts'
import { at, bucket, opened, reading } from './one-budget.ts'

const wait = (seconds: number, contradictsHeaders = false) => ({ wait: seconds * 1000, contradictsHeaders })

/** A budget whose request of second 5 was refused at second 6, for ten seconds. */
function refused() {
  const budget = opened(40)
  budget.refuse(budget.take(5), wait(10), 6)
  return budget
}

/** The room shortly before an instant, and then. */
const about = (budget: ReturnType<typeof bucket>, seconds: number) => [
  budget.available(seconds - 0.001),
  budget.available(seconds),
]

describe('a 429', () => {
  test('closes the bucket for as long as it asks for', () => {
    const budget = refused()
    expect(budget.opensAt(6)).toBe(at(16))
    expect(about(budget, 16)).toEqual([0, 1])
  })

  test('that comes again after a short wait closes it until the next minute', () => {
    const budget = refused()
    budget.refuse(budget.take(16), wait(10), 17)
    expect(about(budget, 60)).toEqual([0, 1])
    expect(budget.state.resetDistrustedUntil).toBe(at(17 + 3600))
  })

  test('that comes again is believed where it asks for a quarter of a minute', () => {
    const budget = refused()
    budget.refuse(budget.take(16), wait(15), 17)
    expect(about(budget, 32)).toEqual([0, 1])
    expect(budget.state.resetDistrustedUntil).toBe(0)
  })

  test('of a request that left before the wait was over says nothing new', () => {
    const budget = opened(40)
    const [first, other] = [budget.take(5), budget.take(5)]
    budget.refuse(first, wait(10), 6)
    budget.refuse(other, wait(5), 7)
    expect(about(budget, 16)).toEqual([0, 1])
  })

  test('is a first one again after an answer', () => {
    const budget = refused()
    budget.complete(budget.take(16), reading(16, 30), 16)
    budget.refuse(budget.take(17), wait(5), 18)
    expect(about(budget, 23)).toEqual([0, 1])
  })

  test('is not a first one again after a request that brought no answer', () => {
    const budget = refused()
    budget.complete(budget.take(16), null, 17, false)
    budget.refuse(budget.take(19), wait(5), 20)
    expect(about(budget, 60)).toEqual([0, 1])
  })

  test.each([
    ['the next minute', 1, 60],
    ['what it asks for, where that is later', 120, 126],
  ])('that contradicts its headers closes the bucket until %s', (_name, seconds, end) => {
    const budget = opened(40)
    budget.refuse(budget.take(5), wait(seconds, true), 6)
    expect(about(budget, end)).toEqual([0, 1])
    expect(budget.state.resetDistrustedUntil).toBe(at(6 + 3600))
  })
})

describe('a block', () => {
  test('is not made shorter by another', () => {
    const budget = opened(40)
    budget.block(20, 5)
    budget.block(10, 6)
    expect(budget.opensAt(6)).toBe(at(20))
  })

  test('that is over already changes nothing', () => {
    const budget = opened(40)
    budget.block(5, 5)
    expect(budget.available(5)).toBe(40)
  })

  test('ends the window, which was over at the later of the two ends', () => {
    const closed = { ...emptyBudget, closedAt: at(61) }
    expect(block(closed, at(70), at(60.5)).closedAt).toBe(at(70))
    expect(block(closed, at(60.8), at(60.5)).closedAt).toBe(at(61))
  })

  test('is over at its end, and nothing is to be waited for then', () => {
    const budget = bucket()
    budget.block(9, 5)
    expect([budget.opensAt(5), budget.opensAt(9)]).toEqual([at(9), null])
    expect([budget.remaining(8.999), budget.remaining(9)]).toEqual([0, null])
  })

  test('is followed by a window when a request from before brings numbers after it', () => {
    const budget = opened(40)
    const late = budget.take(5)
    budget.block(9, 5)
    budget.complete(late, reading(9, 30), 9)
    expect(budget.available(9)).toBe(30)
  })

  test('is followed by our own count when a request from before is answered without headers after it, not within', () => {
    const room = (seconds: number) => {
      const budget = opened(40)
      const late = budget.take(5)
      budget.block(9, 5)
      budget.complete(late, null, seconds)
      return budget.available(10)
    }
    expect([room(6), room(10)]).toEqual([1, 48])
  })
})
