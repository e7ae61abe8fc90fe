import { expect, test } from 'vitest'
import { seededRandom } from '../../src/base/clock.ts'
import type { Database } from '../../src/db/database.ts'
import { growingTables } from '../../src/resources/index.ts'
import { maintain } from '../../src/sync/retention/maintain.ts'
import { guildId, playerId, syncGuilds } from '../support/guild-answers.ts'
import { chosenPart } from '../support/parts.ts'
import { testDatabase } from '../support/postgres.ts'
import { seedsOf } from '../support/seeds.ts'
import { type CounterName, type TrueCounters, trueCounters } from '../support/true-counters.ts'
import { headersOf, openWorld, type World } from '../support/world.ts'

/*
 * Rises of counters against the truth: what is called exact is what the responses around both borders show, which lie as close as is usual
 * for the guild; every lower bound is at most the truth, and every upper bound at least.
 */

const day = 86_400_000
const begin = Date.parse('2023-11-03T05:07:00Z')
const end = Date.parse('2026-05-28T00:00:00Z')
/** Twice the usual time between two responses of the history. */
const close = 21 * 60_000

interface Row {
  readonly player_uuid: string
  readonly gained: number | null
  readonly at_most: number | null
  readonly share: number | null
  readonly quality: string
}

const questions: Readonly<Record<CounterName, string>> = {
  contributed: `select player_uuid::text, contributed as gained, at_most, share, quality from analytics.member_contribution($1, $2, $3)`,
  wars: `select player_uuid::text, delta as gained, at_most, null as share, quality from analytics.member_counter($1, 'wars', $2, $3)`,
}

async function load(world: World, truth: TrueCounters): Promise<void> {
  const key = guildId('a')
  for (const at of truth.responses) {
    await world.clock.advanceTo(at)
    world.sandbox.setAnswer(`/guild/uuid/${key}`, () => ({ headers: headersOf(at, 120), body: truth.bodyAt(at) }))
    const { quarantined, rejected, records } = await syncGuilds(world, { keys: [key] })
    expect([quarantined, rejected, records]).toEqual([0, 0, 1])
  }
}

/** Borders at responses, a moment beside them, within a time of watching, and anywhere. */
function periodOf(random: () => number, { responses }: TrueCounters): readonly [number, number] {
  const instant = () => {
    const response = responses[Math.floor(random() * responses.length)] ?? begin
    const kind = random()
    if (kind < 0.2) return response
    if (kind < 0.3) return response + 1000
    if (kind < 0.4) return response - 1000
    if (kind < 0.5) return response - (response % day)
    if (kind < 0.8) return response + Math.floor(random() * close) - close / 2
    return Math.floor(begin - 20 * day + random() * (end - begin + 40 * day))
  }
  const [from = 0, to = 0] = [instant(), instant()].sort((a, b) => a - b)
  return [from, to === from ? from + 60_000 : to]
}

async function compare(
  db: Database,
  truth: TrueCounters,
  counter: CounterName,
  period: readonly [number, number],
  found: Record<string, number>,
): Promise<void> {
  const [from, to] = period
  const rows = await db.query<Row>(questions[counter], [guildId('a'), new Date(from), new Date(to)])
  const responses = truth.responsesWith(counter)
  const around = (at: number) => [responses.findLast((one) => one <= at), responses.find((one) => one >= at)] as const
  const [[base, afterFrom], [top, afterTo]] = [around(from), around(to)]
  for (const { player_uuid: uuid, gained, at_most: most, share, quality } of rows) {
    const player = truth.players.find(({ number }) => playerId(number) === uuid)?.number ?? 0
    const made = truth.rise(player, counter, from, to)
    const said = { player, counter, from: new Date(from), to: new Date(to), gained, most, quality, made }
    found[quality] = (found[quality] ?? 0) + 1
    if (quality === 'unknown') expect(said).toMatchObject({ gained: null })
    else if (quality === 'exact') {
      const gaps = [(afterFrom ?? from) - (base ?? 0), (afterTo ?? to) - (top ?? 0)]
      expect({ ...said, gaps, isClose: Math.max(...gaps) <= close }).toMatchObject({
        isClose: true,
        gained: truth.shownRise(player, counter, from, to),
        most: gained,
      })
    } else {
      expect(said).toMatchObject({ quality: 'at_least' })
      if ((gained ?? Number.POSITIVE_INFINITY) > made) expect({ ...said, isBound: false }).toEqual({})
    }
    if (quality !== 'exact' && most !== null) {
      found.most = (found.most ?? 0) + 1
      if (most < made) expect({ ...said, isBound: false }).toEqual({})
    }
    if (share !== null) {
      expect(rows.every((one) => one.quality === 'exact')).toBe(true)
      expect(share).toBeCloseTo((gained ?? 0) / rows.reduce((sum, one) => sum + (one.gained ?? 0), 0), 5)
    }
  }
}

test.each(seedsOf(import.meta.filename))(
  'no rise of a counter is a false fact, whoever watched when, seed %i',
  async (seed) => {
    const random = seededRandom(seed)
    const truth = trueCounters(random, begin, end, 4 + (seed % 5))
    const world = await openWorld(await testDatabase('server'), {}, begin)
    try {
      await load(world, truth)
      const found: Record<string, number> = {}
      const ask = async () => {
        for (let round = 0; round < 60; round++)
          for (const counter of ['contributed', 'wars'] as const)
            await compare(world.db, truth, counter, periodOf(random, truth), found)
      }
      await ask()
      // A new seed may draw none of some kind.
      for (const kind of chosenPart() === 'fresh' ? [] : ['exact', 'at_least', 'unknown', 'most'])
        expect([kind, found[kind]]).not.toEqual([kind, undefined])
      const tables = growingTables
      const now = new Date(end)
      await maintain(world.db, { now, tables, retention: new Map([['member_counter', { fine: 60 }]]) })
      await ask()
      await maintain(world.db, {
        now,
        tables,
        retention: new Map([
          ['member_counter', { fine: 60 }],
          ['ledger', { fine: 60 }],
        ]),
      })
      await ask()
    } finally {
      await world.api.close()
      await world.sandbox.close()
    }
  },
  300_000,
)
