import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Lane } from '../../src/api/request.ts'
import { effort } from '../support/effort.ts'
import { type Seen, type Simulation, simulate } from './budget-simulation.ts'

const total = (minute: Readonly<Record<Lane, number>>) => minute.live + minute.refresh + minute.backfill
const busiest = ({ minutes }: Seen) => Math.max(...minutes.map(total))

/** Requests per minute, without the first one. */
const used = ({ minutes }: Seen) =>
  minutes.slice(1).reduce((sum, minute) => sum + total(minute), 0) / (minutes.length - 1)

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

describe('several processes with one budget', () => {
  test('never overdraw, however late and out of order answers come, and whoever is killed', () => {
    const killEvery = fc.oneof(fc.constant(null), fc.double({ min: 0.1, max: 3, noNaN: true }))
    fc.assert(
      fc.property(anything, killEvery, (given, mean) => {
        expect(busiest(simulate({ ...given, killEvery: mean }))).toBeLessThanOrEqual(given.limit)
      }),
      { numRuns: runs, seed: 5 },
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
      { numRuns: runs, seed: 6 },
    )
  })

  test('lose little more than what the killed ones had reserved', () => {
    fc.assert(
      fc.property(swift, fc.double({ min: 1, max: 5, noNaN: true }), (given, killEvery) => {
        const seen = simulate({ ...given, killEvery })
        const lost = seen.lost.slice(1).reduce((sum, one) => sum + one, 0) / (given.minutes - 1)
        expect(used(seen) + lost).toBeGreaterThanOrEqual(0.95 * given.limit)
      }),
      { numRuns: runs, seed: 7 },
    )
  })

  test.each(forms)('let live polls go at once beside endless refreshes and backfills (reset: %s)', (reset) => {
    const seen = simulate({ ...usual, reset })
    expect(seen.waits.length).toBeGreaterThan(110)
    // The way there and back of one request that goes first into a window, and a look whether it is over.
    expect(Math.max(...seen.waits)).toBeLessThan(700)
  })

  test('give one of five requests to a backfill that waits behind endless refreshes', () => {
    for (const minute of simulate(usual).minutes.slice(1)) {
      expect(minute.backfill).toBeGreaterThanOrEqual(8)
      expect(minute.backfill).toBeLessThanOrEqual(11)
    }
  })
})
