import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { effort } from '../support/effort.ts'
import { type OwnPostgres, startBinaries } from '../support/postgres-binaries.ts'
import { coverageSums, live, unledgered, untoldBlindTimes } from './bad-day/blind-times.ts'
import { brokenChains, takenTooLate } from './bad-day/order.ts'
import { play } from './bad-day/play.ts'
import { leftBehind } from './bad-day/remains.ts'
import { openTheatre, type Theatre } from './bad-day/theatre.ts'
import { unheardFacts } from './bad-day/unheard-facts.ts'
import { inventedEvents, wrongMap, wrongTombstones } from './bad-day/untrue-facts.ts'
import { createWitness } from './bad-day/witness.ts'

const MINUTE = 60_000
const minutes = effort.badMinutes
/** Leases of the dead are over after so long. */
const calm = 6
const limit = 20

describe.each(effort.seeds)(
  'start, three crontab lines and a backfill on a day when everything fails (seed %i)',
  (seed) => {
    const witness = createWitness()
    const unhandled: unknown[] = []
    const note = (reason: unknown) => void unhandled.push(reason)
    let postgres: OwnPostgres | undefined
    let theatre: Theatre

    beforeAll(
      async () => {
        process.on('unhandledRejection', note)
        postgres = await startBinaries({ keeps: true })
        theatre = await openTheatre(postgres, { limit, seed, tell: witness.hear })
        await play(theatre, { seed, minutes, calm })
      },
      (minutes + calm) * 60_000,
    )
    afterAll(async () => {
      process.off('unhandledRejection', note)
      await theatre?.close()
      await postgres?.stop()
    })

    test('leaves no fact that nobody told, and none that did not happen', async () => {
      expect(await unheardFacts(theatre.db, witness)).toEqual([])
      expect(await inventedEvents(theatre.db, theatre.sandbox.history())).toEqual([])
      expect(await wrongMap(theatre.db, theatre.sandbox.history())).toEqual([])
      expect(await wrongTombstones(theatre.db, theatre.sandbox.url)).toEqual([])
      expect(await brokenChains(theatre.db)).toEqual([])
      expect(await takenTooLate(theatre.db)).toEqual([])
    })

    test('knows when it was blind', async () => {
      const { db } = theatre
      for (const one of live) {
        const claims = witness.answersOf(one.path)
        expect([one.resource, await untoldBlindTimes(db, one, claims)]).toEqual([one.resource, []])
        expect([one.resource, await unledgered(db, one)]).toEqual([one.resource, []])
        const { sum, accepted, periods, missed, gaps, undelivered } = await coverageSums(db, one, claims)
        expect(sum?.observed).toBe(accepted)
        expect(Math.abs((sum?.expected ?? 0) - periods)).toBeLessThan(periods / 500)
        expect(Math.abs((sum?.missed ?? 0) - missed)).toBeLessThanOrEqual(2)
        expect(gaps).toBeGreaterThanOrEqual(undelivered)
      }
    })

    test('leaves nothing behind, and nothing unsaid', async () => {
      expect(await leftBehind(theatre.db, theatre.clock.now())).toEqual([])
      expect(unhandled).toEqual([])
    })

    test('asks for no more than is allowed', () => {
      const windows = new Map<string, number>()
      for (const { at, bucket } of theatre.door.visits) {
        const window = `${bucket} ${new Date(Math.floor(at / MINUTE) * MINUTE).toISOString()}`
        windows.set(window, (windows.get(window) ?? 0) + 1)
      }
      expect([...windows].filter(([, count]) => count > limit)).toEqual([])
    })
  },
)
