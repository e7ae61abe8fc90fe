import { expect, test } from 'vitest'
import type { Lane } from '../../src/api/http/request.ts'
import { admit, LANES, type LaneLoad } from '../../src/api/rate-limit/bucket-queue.ts'
import { type BudgetState, emptyBudget, type Window } from '../../src/api/rate-limit/budget-state.ts'

const now = Date.parse('2026-05-30T12:00:30Z')
const end = now + 30_000
const window: Window = {
  limit: 50,
  remaining: 0,
  earliest: end - 1000,
  latest: end + 1000,
  openedAt: now,
  granted: { refresh: 0, backfill: 0 },
  sent: 0,
  assumed: false,
}
/** Both lanes are known to want requests, so that neither has to find out. */
const wanting: BudgetState = { ...emptyBudget, wantedUntil: { refresh: end, backfill: end } }
const left = (remaining: number): BudgetState => ({ ...wanting, window: { ...window, remaining } })

function loads(given: Partial<Record<Lane, Partial<LaneLoad>>>): Record<Lane, LaneLoad> {
  const load = (lane: Lane) => ({ waiting: 0, reserving: 0, recheckAt: Infinity, ...given[lane] })
  return { live: load('live'), refresh: load('refresh'), backfill: load('backfill') }
}

function limits(known: BudgetState | null, given: Parameters<typeof loads>[0]): number[] {
  const { lanes } = admit(known, loads(given), now)
  return LANES.map((lane) => lanes[lane].limit)
}

test('one request finds out what the budget is', () => {
  expect(limits(null, { live: { waiting: 3 }, backfill: { waiting: 3 } })).toEqual([1, 0, 0])
  expect(limits(null, { live: { waiting: 3, reserving: 1 } })).toEqual([1, 0, 0])
})

test('lanes are opened for as many as there is room for, the live one first', () => {
  expect(limits(left(2), { live: { waiting: 3 } })).toEqual([2, 0, 0])
  // A backfill wants its share of the other two.
  expect(limits(left(5), { live: { waiting: 3 }, refresh: { waiting: 9 } })).toEqual([3, 1, 0])
  expect(limits(left(30), { live: { waiting: 3 }, refresh: { waiting: 9 } })).toEqual([3, 9, 0])
  // What reserves already counts as gone.
  expect(limits(left(4), { live: { waiting: 3, reserving: 2 } })).toEqual([4, 0, 0])
})

test('a lane without waiting requests stays closed, so that a later one is decided about', () => {
  expect(limits(left(30), {})).toEqual([0, 0, 0])
})

test('a shut lane opens for one request when it is time to look again, and no alarm is set without requests', () => {
  expect(admit(left(0), loads({ live: { waiting: 2, recheckAt: now } }), now).lanes.live).toEqual({
    limit: 1,
    isRecheck: true,
  })
  expect(admit(left(0), loads({ live: { waiting: 2, recheckAt: now + 200 } }), now).decideAgainAt).toBe(now + 200)
  expect(admit(left(0), loads({ live: { waiting: 2 } }), now).decideAgainAt).toBe(window.latest)
  expect(admit(left(0), loads({}), now).decideAgainAt).toBe(Infinity)
})

test('a lane that is not known to want requests tries in vain once, so that the other leaves it some', () => {
  const known = { ...left(0), wantedUntil: { refresh: end, backfill: 0 } }
  expect(admit(known, loads({ backfill: { waiting: 2 } }), now).lanes.backfill).toEqual({ limit: 1, isRecheck: true })
})
