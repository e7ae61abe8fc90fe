import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { effort } from '../../support/effort.ts'
import { type OwnPostgres, startBinaries } from '../../support/postgres-binaries.ts'
import { seedsOf } from '../../support/seeds.ts'
import { wrongRows } from '../../support/verified.ts'
import { inventedEvents, wrongMap, wrongTombstones } from './bad-day/contradictions.ts'
import { recordDeliveredFacts } from './bad-day/delivered-facts.ts'
import { type Environment, openEnvironment } from './bad-day/environment.ts'
import { coverageTotals, missingGaps, pausesWithoutGap, polledResources } from './bad-day/gap-checks.ts'
import { leftovers } from './bad-day/leftovers.ts'
import { runDay } from './bad-day/run-day.ts'
import { unsupportedRows } from './bad-day/unsupported-rows.ts'
import { acceptedOutOfOrder, invalidVersions } from './bad-day/version-checks.ts'

const MINUTE = 60_000
const minutes = effort.badMinutes
/** Minutes without failures at the end: by then the leases of killed processes have expired. */
const calm = 6
/** Requests a minute and bucket. */
const limit = 20

describe.each(seedsOf(import.meta.filename))(
  'start, three crontab lines and a backfill while everything fails (seed %i)',
  (seed) => {
    const delivered = recordDeliveredFacts()
    const unhandled: unknown[] = []
    const noteRejection = (reason: unknown) => void unhandled.push(reason)
    let postgres: OwnPostgres | undefined
    let environment: Environment

    beforeAll(
      async () => {
        process.on('unhandledRejection', noteRejection)
        // A crash loses the budget's last moment, which is written asynchronously: milliseconds here, as simulated time runs fast.
        postgres = await startBinaries({ keeps: true, more: ['wal_writer_delay=10ms'] })
        environment = await openEnvironment(postgres, { limit, seed, onDelivered: delivered.add })
        await runDay(environment, { seed, minutes, calm })
      },
      (minutes + calm) * 60_000,
    )
    afterAll(async () => {
      process.off('unhandledRejection', noteRejection)
      await environment?.close()
      await postgres?.stop()
    })

    test('store only what a delivered response says', async () => {
      expect(await unsupportedRows(environment.db, delivered)).toEqual([])
    })

    test('store no event, holder or tombstone that contradicts the true history of the game', async () => {
      const { db, sandbox } = environment
      expect(await inventedEvents(db, sandbox.history())).toEqual([])
      expect(await wrongMap(db, sandbox.history())).toEqual([])
      expect(await wrongTombstones(db, sandbox.url)).toEqual([])
    })

    test('keep versions in order, and accept no response after a later one', async () => {
      expect(await invalidVersions(environment.db)).toEqual([])
      expect(await acceptedOutOfOrder(environment.db)).toEqual([])
    })

    test.each(polledResources)(
      'record every time without $resource as a gap, and count it as missed',
      async (polled) => {
        const { db } = environment
        const responses = delivered.responsesOf(polled.path)
        expect(await missingGaps(db, polled, responses)).toEqual([])
        expect(await pausesWithoutGap(db, polled)).toEqual([])
        const { sum, accepted, intervals, missed, inGaps, undelivered } = await coverageTotals(db, polled, responses)
        expect(sum?.observed).toBe(accepted)
        expect(Math.abs((sum?.expected ?? 0) - intervals)).toBeLessThan(intervals / 500)
        expect(Math.abs((sum?.missed ?? 0) - missed)).toBeLessThanOrEqual(2)
        expect(inGaps).toBeGreaterThanOrEqual(undelivered)
      },
    )

    test('leave a database that is whole', async () => {
      expect(await wrongRows(environment.db)).toEqual([])
    })

    test('leave no lease, lock, reservation or session behind, and no rejection unhandled', async () => {
      expect(await leftovers(environment.db, environment.clock.now())).toEqual([])
      expect(unhandled).toEqual([])
    })

    test('send no more requests a minute than the limit', () => {
      const windows = new Map<string, number>()
      for (const { at, bucket } of environment.proxy.requests) {
        const window = `${bucket} ${new Date(Math.floor(at / MINUTE) * MINUTE).toISOString()}`
        windows.set(window, (windows.get(window) ?? 0) + 1)
      }
      expect([...windows].filter(([, count]) => count > limit)).toEqual([])
    })
  },
)
