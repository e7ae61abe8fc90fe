import { describe, expect, test } from 'vitest'
import { createBudget } from '../../src/api/budget.ts'
import type { RateLimitReading } from '../../src/api/rate-limit.ts'

const minute = Date.parse('2026-05-30T12:00:00Z')
const at = (seconds: number) => minute + seconds * 1000

/** What the server says `seconds` into the minute, in whole seconds left. */
function reading(seconds: number, remaining: number | null, limit = 50): RateLimitReading {
  const left = 60 - Math.ceil(seconds % 60 || (seconds > 0 ? 60 : 0))
  return { bucket: 'GUILD', limit, remaining, resetAt: at(seconds) + left * 1000, resetSlack: 1000 }
}

const answered = (told: RateLimitReading | null, seconds: number) => ({
  reading: told,
  answered: true,
  receivedAt: at(seconds),
})

function opened(remaining: number, seconds = 0) {
  const budget = createBudget(50)
  const probe = budget.take(at(seconds))
  budget.settle(probe, answered(reading(seconds, remaining), seconds), at(seconds))
  return budget
}

describe('a budget', () => {
  test('lets one request go first, and no other until it is answered', () => {
    const budget = createBudget(50)
    expect(budget.available(at(0))).toBe(1)
    const probe = budget.take(at(0))
    expect(budget.available(at(0))).toBe(0)
    expect(budget.opensAt(at(0))).toBeNull()
    budget.settle(probe, answered(reading(1, 49), 1), at(1))
    expect(budget.available(at(1))).toBe(49)
  })

  test('lets another one go when the first brought no answer', () => {
    const budget = createBudget(50)
    budget.settle(budget.take(at(0)), { reading: null, answered: false, receivedAt: at(1) }, at(1))
    expect(budget.available(at(1))).toBe(1)
  })

  test('counts every request in flight and loses nothing when the answers are in', () => {
    const budget = opened(10)
    const tickets = Array.from({ length: 8 }, () => budget.take(at(1)))
    expect(budget.available(at(1))).toBe(2)
    tickets.forEach((ticket, index) => {
      budget.settle(ticket, answered(reading(2, 9 - index), 2), at(2))
      expect(budget.available(at(2))).toBe(2)
    })
  })

  test('answers out of order never raise what remains', () => {
    const budget = opened(10)
    const [one, two, three] = [budget.take(at(1)), budget.take(at(1)), budget.take(at(1))]
    budget.settle(three, answered(reading(2, 7), 2), at(2))
    expect(budget.available(at(2))).toBe(5)
    budget.settle(one, answered(reading(2, 9), 2), at(2))
    budget.settle(two, answered(reading(2, 8), 2), at(2))
    expect(budget.available(at(2))).toBe(7)
  })

  test('somebody else on the same address lowers it', () => {
    const budget = opened(40)
    budget.settle(budget.take(at(1)), answered(reading(1, 3), 1), at(1))
    expect(budget.available(at(1))).toBe(3)
  })

  test('after the window only one request goes out until its answer tells the new numbers', () => {
    const budget = opened(0, 30)
    expect(budget.available(at(30))).toBe(0)
    expect(budget.opensAt(at(30))).toBe(at(61))
    expect(budget.available(at(60.9))).toBe(0)
    expect(budget.available(at(61))).toBe(1)
    const probe = budget.take(at(61))
    expect(budget.available(at(61))).toBe(0)
    budget.settle(probe, answered(reading(61, 20), 61), at(61))
    expect(budget.available(at(61))).toBe(20)
  })

  test('a slow answer of the old window says nothing about the new one', () => {
    const budget = opened(50)
    const slow = budget.take(at(1))
    budget.settle(budget.take(at(59)), answered(reading(59, 0), 59), at(59))
    expect(budget.available(at(61))).toBe(1)
    const probe = budget.take(at(61))
    // Its headers were written at second 1, and it arrived at second 62 with "59 seconds left".
    budget.settle(slow, answered({ ...reading(1, 49), resetAt: at(62 + 59) }, 62), at(62))
    expect(budget.available(at(62))).toBe(0)
    budget.settle(probe, answered(reading(62, 5), 62), at(62))
    expect(budget.available(at(62))).toBe(5)
  })

  test('a slow answer within the window does not pass for a later window', () => {
    const budget = opened(50)
    const slow = budget.take(at(1))
    budget.settle(budget.take(at(20)), answered(reading(20, 1), 20), at(20))
    budget.settle(slow, answered({ ...reading(1, 49), resetAt: at(25 + 59) }, 25), at(25))
    expect(budget.available(at(25))).toBe(1)
    expect(budget.opensAt(at(25))).toBeLessThanOrEqual(at(61))
  })

  test('an answer of a later window replaces the old numbers before our own timer fires', () => {
    const budget = opened(0)
    budget.observe(reading(60.5, 42), at(60.4), at(60.5), at(60.5))
    expect(budget.available(at(60.5))).toBe(42)
  })

  test('a missing remaining counts one, and is not zero', () => {
    const budget = opened(10)
    budget.settle(budget.take(at(1)), answered(reading(1, null), 1), at(1))
    expect(budget.available(at(1))).toBe(9)
  })

  test('a failed request counts, since the server may have counted it', () => {
    const budget = opened(10)
    budget.settle(budget.take(at(1)), { reading: null, answered: false, receivedAt: at(2) }, at(2))
    expect(budget.available(at(2))).toBe(9)
  })

  test('without headers it counts its own requests per minute of the clock', () => {
    const budget = createBudget(5)
    for (let sent = 0; sent < 5; sent++) {
      expect(budget.available(at(10))).toBeGreaterThan(0)
      budget.settle(budget.take(at(10)), answered(null, 10), at(10))
    }
    expect(budget.available(at(10))).toBe(0)
    expect(budget.opensAt(at(10))).toBe(at(61))
    expect(budget.available(at(61))).toBe(1)
  })

  test('headers that come after all replace the assumption', () => {
    const budget = createBudget(5)
    budget.settle(budget.take(at(10)), answered(null, 10), at(10))
    budget.settle(budget.take(at(10)), answered(reading(10, 90, 120), 10), at(10))
    expect(budget.available(at(10))).toBe(90)
  })

  test('a block ends with one request, whatever was said before', () => {
    const budget = opened(40)
    const late = budget.take(at(5))
    budget.block(at(9), at(5))
    expect(budget.available(at(8))).toBe(0)
    expect(budget.opensAt(at(8))).toBe(at(9))
    budget.settle(late, answered(reading(6, 30), 6), at(6))
    expect(budget.available(at(8))).toBe(0)
    expect(budget.available(at(9))).toBe(1)
    const probe = budget.take(at(9))
    expect(budget.available(at(9))).toBe(0)
    budget.settle(probe, answered(reading(10, 12), 10), at(10))
    expect(budget.available(at(10))).toBe(12)
  })
})
