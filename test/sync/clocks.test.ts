import { describe, expect, test } from 'vitest'
import { datesOf } from '../../src/api/http/response-headers.ts'
import { dateAfter, dateByClocks } from '../../src/sync/respond/clocks.ts'

const now = Date.parse('2026-06-01T12:00:00Z')
const minute = 60_000

/** A response of ten seconds ago by its own clock, which is ahead of this machine's by so much (ms). */
const dates = (clockSkew: number | null, oddHeaders: string[] = []) => {
  const observedAt = now + (clockSkew ?? 0) - 10_000
  return { observedFrom: observedAt - 5000, observedAt, clockSkew, oddHeaders }
}
const byApi = (skew: number) => ({ observedFrom: now + skew - 15_000, observedAt: now + skew - 10_000 })
const byMachine = byApi(0)

describe('where the clocks of the API and of this machine', () => {
  test.each([0, 2 * minute, -2 * minute])('agree within two minutes (%d ms), the instant is that of Date', (skew) => {
    expect(dateByClocks(dates(skew))).toEqual({ ...byApi(skew), dating: [] })
  })

  test.each([
    [2 * minute + 1, '2 minutes ahead of'],
    [-2 * minute - 1, '2 minutes behind'],
    [60 * minute, '60 minutes ahead of'],
    [-60 * minute, '60 minutes behind'],
    // Summer time in one of them, whole seconds, and a request that took a while.
    [60.5 * minute, '61 minutes ahead of'],
    [-60.5 * minute, '61 minutes behind'],
  ])('differ by up to an hour (%d ms), the instant is by the machine, and that is said', (skew, text) => {
    expect(dateByClocks(dates(skew))).toEqual({
      ...byMachine,
      dating: [
        {
          guard: 'clock',
          action: 'accepted',
          reason: `the API's clock is ${text} this machine's: dated by the latter`,
        },
      ],
    })
  })

  test.each([60.5 * minute + 1, -60.5 * minute - 1, 365 * 24 * 60 * minute])(
    'differ by more than an hour (%d ms), nothing is believed, unless a person says whose clock is right',
    (skew) => {
      expect(dateByClocks(dates(skew)).clockError).toContain('nothing is loaded until they agree within an hour')
      expect(dateByClocks(dates(skew), 'api')).toEqual({ ...byApi(skew), dating: [] })
      expect(dateByClocks(dates(skew), 'machine')).toEqual({ ...byMachine, dating: [] })
    },
  )

  test('cannot be compared, the machine decides; where only Date is trusted, nothing is believed', () => {
    expect(dateByClocks(dates(null))).toEqual({ ...byMachine, dating: [] })
    expect(dateByClocks(dates(null), 'machine')).toEqual({ ...byMachine, dating: [] })
    expect(dateByClocks(dates(null), 'api').clockError).toContain('no Date header')
  })

  test('agree on an instant before the game began, it is refused', () => {
    const at = (observedFrom: number) =>
      dateByClocks({ observedFrom, observedAt: observedFrom, clockSkew: 0, oddHeaders: [] }).clockError
    expect(at(Date.UTC(2013, 0, 1) - 1)).toContain('before the game began')
    expect(at(Date.UTC(2013, 0, 1))).toBeUndefined()
  })
})

test('each header that says what cannot be is named', () => {
  expect(dateByClocks(dates(0, ['Expires', 'Age'])).dating.map(({ guard, reason }) => [guard, reason])).toEqual(
    ['Expires', 'Age'].map((name) => [
      'header',
      `${name} says an age that the response cannot have; it counts as absent`,
    ]),
  )
})

describe('after a response that lies ahead', () => {
  const datedAfter = (last: number | undefined, skew = 0) => dateAfter({ ...dates(skew), dating: [] }, last, now)
  const isKept = (last: number | undefined, skew = 0) => datedAfter(last, skew).observedAt === dates(skew).observedAt

  test('of neither clock by more than two minutes, an older response is older', () => {
    expect([undefined, now, now + 2 * minute].map((last) => isKept(last))).toEqual([true, true, true])
    expect(isKept(now + 12 * minute, 10 * minute)).toBe(true)
    expect(isKept(now + 2 * minute, -10 * minute)).toBe(true)
  })

  test.each([
    [now + 2 * minute + 1, 0],
    [now + 12 * minute + 1, 10 * minute],
    [now + 2 * minute + 1, -10 * minute],
    [now + 10 * 365 * 24 * 60 * minute, 0],
  ])('of both clocks (%d, Date is %d ms ahead), order goes on from there', (last, skew) => {
    const { observedFrom, observedAt, dating } = datedAfter(last, skew)
    expect([observedFrom, observedAt]).toEqual([last + 1, last + 1])
    expect(dating.map(({ guard, action }) => [guard, action])).toEqual([['clock', 'accepted']])
  })

  test('a response whose clock is refused stays refused', () => {
    const refused = { ...dates(0), dating: [], clockError: 'wrong' }
    expect(dateAfter(refused, now + 60 * minute, now)).toEqual(refused)
  })
})

test('a response without Date is dated by this machine, minus its age', () => {
  const headers = new Map([['age', '30']])
  expect(dateByClocks(datesOf(headers, now)).observedAt).toBe(now - 30_000)
})
