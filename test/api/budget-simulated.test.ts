import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Lane } from '../../src/api/http/request.ts'
import { effort } from '../support/effort.ts'
import { seedsOf } from '../support/seeds.ts'
import { type Seen, type Simulation, simulate } from './budget-simulation.ts'

const total = (minute: Readonly<Record<Lane, number>>) => minute.live + minute.refresh + minute.backfill
const busiest = ({ minutes }: Seen) => Math.max(...minutes.map(total))

/** Requests per minute, without the first one. */
const used = ({ minutes }: Seen) =>
  minutes.slice(1).reduce((sum, minute) => sum + total(minute), 0) / (minutes.length - 1)

const MINUTE = 60_000
const usual: Simulation = {
  seed: 1,
  limit: 50,
  reset: 'seconds, rounded down',
  lanes: ['live', 'refresh', 'backfill'],
  concurrency: 4,
  latency: 200,
  slow: 0,
  killEvery: null,
  minutes: 20,
}

const forms = ['seconds, rounded down', 'seconds, rounded up', 'epoch', 'absent', 'no headers'] as const
const lane = fc.constantFrom<Lane>('live', 'refresh', 'backfill')
const rough = {
  seed: fc.integer({ min: 1, max: 1e6 }),
  limit: fc.constantFrom(50, 120),
  reset: fc.constantFrom(...forms),
  // At least one of them always has work.
  lanes: fc
    .tuple(fc.constantFrom<Lane>('refresh', 'backfill'), fc.array(lane, { maxLength: 5 }))
    .map(([one, others]) => [one, ...others]),
  concurrency: fc.integer({ min: 2, max: 8 }),
  latency: fc.integer({ min: 1, max: 1500 }),
  slow: fc.constantFrom(0, 0.01, 0.05),
  killEvery: fc.constant(null),
  minutes: fc.constant(8),
}
/** Everything that a network may do. */
const anything: fc.Arbitrary<Simulation> = fc.record(rough)
/** A network that lets each process send more than the budget allows. */
const swift: fc.Arbitrary<Simulation> = fc.record({
  ...rough,
  latency: fc.integer({ min: 1, max: 400 }),
  slow: fc.constant(0),
})
const runs = effort.everyAnswer ? 1500 : 80

describe.each(seedsOf(import.meta.filename))('several processes with one budget (seed %i)', (seed) => {
  test('never overdraw, however late and out of order answers come, and whoever is killed', () => {
    const killEvery = fc.oneof(fc.constant(null), fc.double({ min: 0.1, max: 3, noNaN: true }))
    fc.assert(
      fc.property(anything, killEvery, (given, mean) => {
        expect(busiest(simulate({ ...given, killEvery: mean }))).toBeLessThanOrEqual(given.limit)
      }),
      { numRuns: runs, seed },
    )
  })

  test('use nearly all of every window while there is work', () => {
    fc.assert(
      fc.property(swift, (given) => {
        const seen = simulate(given)
        expect(busiest(seen)).toBeLessThanOrEqual(given.limit)
        // The first minute teaches the rhythm of the live polls.
        expect(used(seen)).toBeGreaterThanOrEqual(0.98 * given.limit)
      }),
      { numRuns: runs, seed },
    )
  })

  test('lose little more than what the killed ones had reserved', () => {
    fc.assert(
      fc.property(swift, fc.double({ min: 1, max: 5, noNaN: true }), (given, killEvery) => {
        const seen = simulate({ ...given, killEvery })
        const lost = seen.lost.slice(1).reduce((sum, one) => sum + one, 0) / (given.minutes - 1)
        expect(used(seen) + lost).toBeGreaterThanOrEqual(0.95 * given.limit)
      }),
      { numRuns: runs, seed },
    )
  })
})

describe('several processes with one budget', () => {
  test.each(forms)('let live polls go at once beside endless refreshes and backfills (reset: %s)', (reset) => {
    const seen = simulate({ ...usual, reset })
    expect(seen.waits.length).toBeGreaterThan(110)
    // The way there and back of one request that goes first into a window, and a look whether it is over.
    expect(Math.max(...seen.waits)).toBeLessThan(700)
  })

  test.each(forms)(
    'let live polls go at once that nothing announces, beside an endless backfill (reset: %s)',
    (reset) => {
      const lanes = ['backfill', 'backfill'] as const
      const seen = simulate({ ...usual, reset, lanes, minutes: 60, unannounced: 2.63 })
      expect(seen.unannounced.length).toBeGreaterThan(20)
      // Room that no poll took is released two seconds before the window can end; its end is known to two seconds.
      const early = seen.unannounced.filter(({ toEnd }) => toEnd > 4000 && toEnd < MINUTE - 2000)
      expect(early.length).toBeGreaterThan(15)
      expect(Math.max(...early.map(({ wait }) => wait))).toBeLessThan(700)
      expect(Math.max(...seen.unannounced.map(({ wait }) => wait))).toBeLessThan(5000)
      expect(used(seen)).toBeGreaterThanOrEqual(0.98 * usual.limit)
    },
  )

  test.each([
    ['a minute, polled each minute just after it began', MINUTE, { every: MINUTE - 150, after: 1200 }, 50],
    ['a minute, polled every five minutes', MINUTE, { every: 5 * MINUTE - 150, after: 30_000 }, 50],
    ['six seconds, polled every six', 6000, { every: 5850, after: 3000 }, 30],
    ['six seconds, polled every twelve', 6000, { every: 11_850, after: 4000 }, 30],
    ['six seconds, polled each minute', 6000, { every: MINUTE - 150, after: 2000 }, 30],
  ])('let the polls of a crontab go at once beside an endless backfill, in windows of %s', (_name, ...given) => {
    const [window, polls, limit] = given
    const seen = simulate({ ...usual, lanes: ['live', 'backfill'], window, polls, limit, minutes: 150 })
    expect(seen.waits.length).toBeGreaterThan(14)
    expect(Math.max(...seen.waits)).toBeLessThan(700)
    expect(used(seen)).toBeGreaterThanOrEqual(0.98 * limit)
  })

  test('give one of five requests to a backfill that waits behind endless refreshes', () => {
    for (const minute of simulate(usual).minutes.slice(1)) {
      expect(minute.backfill).toBeGreaterThanOrEqual(8)
      // What the window kept for live polls until its last seconds goes to whoever asks first.
      expect(minute.backfill).toBeLessThanOrEqual(12)
    }
  })
})
