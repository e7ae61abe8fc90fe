import { describe, expect, test } from 'vitest'
import { endingOf } from '../../src/api/http/attempts.ts'
import { emptyOutcome } from '../../src/api/http/outcome.ts'
import { available, complete, opensAt, reserve } from '../../src/api/rate-limit/budget.ts'
import { type BudgetState, emptyBudget, type Reservation } from '../../src/api/rate-limit/budget-state.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const start = Date.parse('2026-05-30T12:00:00Z')
const LIMIT = 50

interface Counted {
  readonly now: number
  /** Requests of the server's minute, this one included, and ms until it ends. */
  readonly used: number
  readonly left: number
  readonly isRefused: boolean
}

type Lie = (counted: Counted) => Readonly<Record<string, string | number>>

const truth = ({ used, left }: Counted) => ({
  'ratelimit-limit': LIMIT,
  'ratelimit-remaining': Math.max(0, LIMIT - used),
  'ratelimit-reset': Math.floor(left / SECOND),
})

/**
 * Asks as often as the budget lets it, four requests at a time, a server that counts per minute and sends wrong headers.
 * @param offset by how much the server's minutes begin later than ours, ms
 */
function play(lie: Lie, { minutes = 60, offset = 0 } = {}) {
  let state: BudgetState = emptyBudget
  const counts = new Map<number, number>()
  const flights: { at: number; reservation: Reservation; headers: Map<string, string>; status: number }[] = []
  const seen = { sent: 0, refused: 0, accepted: 0 }
  let now = start + 17 * SECOND
  const end = start + minutes * MINUTE
  for (let id = 0; now < end; ) {
    const made =
      flights.length < 4 && available(state, now, 'refresh') > 0
        ? reserve(state, { id: String(id++), lane: 'refresh', poll: null }, now)
        : null
    if (made !== null) state = made.state
    if (made?.result) {
      const arrives = now + 20
      const minute = Math.floor((arrives - offset) / MINUTE)
      const used = (counts.get(minute) ?? 0) + 1
      counts.set(minute, used)
      const isRefused = used > LIMIT
      seen.sent++
      seen[isRefused ? 'refused' : 'accepted']++
      const given = lie({ now: arrives, used, left: (minute + 1) * MINUTE + offset - arrives, isRefused })
      const headers = new Map(Object.entries(given).map(([name, value]) => [name, String(value)]))
      headers.set('date', new Date(arrives).toUTCString())
      flights.push({ at: now + 40, reservation: made.result, headers, status: isRefused ? 429 : 200 })
      now += 5
      continue
    }
    const next = flights.shift()
    if (next === undefined) {
      now = Math.max(now + 5, opensAt(state, now, 'refresh') ?? now + 200)
      continue
    }
    now = Math.max(now, next.at)
    const body = next.status === 429 ? { error: 'TooManyRequests', code: 429 } : {}
    const outcome = { ...emptyOutcome(now), status: next.status, headers: next.headers, body }
    state = complete(state, next.reservation, { ...endingOf(outcome, now), assumedLimit: LIMIT }, now)
  }
  return seen
}

const lies: readonly [string, Lie][] = [
  ['none', truth],
  ['RateLimit-Reset: 0', (counted) => ({ ...truth(counted), 'ratelimit-reset': 0 })],
  ['RateLimit-Reset: 1', (counted) => ({ ...truth(counted), 'ratelimit-reset': 1 })],
  ['RateLimit-Reset: 5', (counted) => ({ ...truth(counted), 'ratelimit-reset': 5 })],
  ['RateLimit-Reset: -1', (counted) => ({ ...truth(counted), 'ratelimit-reset': -1 })],
  [
    'a reset in the past',
    (counted) => ({ ...truth(counted), 'ratelimit-reset': Math.floor(counted.now / SECOND) - 90 }),
  ],
  ['RateLimit-Limit: 0', (counted) => ({ ...truth(counted), 'ratelimit-limit': 0 })],
  ['RateLimit-Limit: 0 alone', () => ({ 'ratelimit-limit': 0 })],
  ['negative RateLimit-Remaining', (counted) => ({ ...truth(counted), 'ratelimit-remaining': -1 })],
  ['RateLimit-Remaining that is no number', (counted) => ({ ...truth(counted), 'ratelimit-remaining': 'NaN' })],
  ['RateLimit-Remaining above the limit', (counted) => ({ ...truth(counted), 'ratelimit-remaining': 4000 })],
  ['RateLimit-Remaining that never falls', (counted) => ({ ...truth(counted), 'ratelimit-remaining': LIMIT - 1 })],
  [
    'Retry-After: 0',
    (counted) => (counted.isRefused ? { 'retry-after': 0 } : { ...truth(counted), 'ratelimit-reset': 0 }),
  ],
  [
    'Retry-After in the past',
    (counted) => ({ ...truth(counted), 'ratelimit-reset': 0, 'retry-after': new Date(start).toUTCString() }),
  ],
  [
    'Retry-After: 1',
    (counted) => ({ ...truth(counted), 'ratelimit-reset': 1, ...(counted.isRefused ? { 'retry-after': 1 } : {}) }),
  ],
]

describe.each([0, 23 * SECOND])(
  'a server that counts per minute, %i ms after ours, and sends wrong headers',
  (offset) => {
    test.each(lies)('is asked for all that it allows, and hardly beyond: %s', (_name, lie) => {
      const { refused, accepted } = play(lie, { offset, minutes: 180 })
      expect(refused).toBeLessThanOrEqual(3 * 4)
      expect(accepted).toBeGreaterThan(0.9 * 180 * LIMIT)
    })
  },
)
