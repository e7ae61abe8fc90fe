import { beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../../src/db/database.ts'
import { faultNames, type GameHistory } from '../../../src/sandbox/index.ts'
import type { RunResult } from '../../../src/sync/run/run-result.ts'
import { effort } from '../../support/effort.ts'
import { testDatabase } from '../../support/postgres.ts'
import { seedsOf } from '../../support/seeds.ts'
import { wrongRows } from '../../support/verified.ts'
import { acceptedAnswers, openScene, replay, type Scene, start, syncEverything } from './scene.ts'
import { factTables, rowsOf, standing } from './tables.ts'

const minute = 60_000
const every = 5 * minute
/** As far as clocks were off, and the longest that a copy lives. */
// A new world is there when two lists show it. What two profiles lift a restriction of, the next response about the guild gives.
const recovery = [75 * minute, 140 * minute, 141 * minute, 210 * minute]
/** No instant that an answer tells is further off than this. */
const skew = 10 * minute

describe.each(seedsOf(import.meta.filename))(`${effort.gameHours} hours of every fault at random (seed %i)`, (seed) => {
  let db: Database
  let twinDb: Database
  let history: GameHistory
  const runs: RunResult[] = []
  const met = new Set<string>()
  const rounds = effort.gameHours * 12
  const end = start + rounds * every

  beforeAll(async () => {
    db = await testDatabase('server')
    twinDb = await testDatabase('server')
    const scene = await openScene(db)
    await syncEverything(scene)
    scene.world.sandbox.setFaults('all:0.02', seed)
    for (let nth = 1; nth <= rounds; nth++) {
      await playTo(scene, start + nth * every)
      runs.push(...(await syncEverything(scene)))
    }
    for (const fault of Object.keys(scene.world.sandbox.faultsDone().byFault)) met.add(fault)
    scene.world.sandbox.setFaults(null)
    for (const [nth, later] of recovery.entries()) {
      await playTo(scene, end + later)
      const healed = await syncEverything(scene)
      const wrong = healed.filter(({ status }) => status !== 'ok' && status !== 'unchanged')
      if (nth === 1) expect(wrong).toEqual([])
    }
    history = scene.world.sandbox.history()
    const last = (await acceptedAnswers(scene, 'headers')).filter(({ at }) => at > end + skew)
    await scene.close()
    const twin = await openScene(twinDb)
    await replay(twin, last, [])
    await twin.close()
  }, 7_200_000)

  test('leaves a database that is whole', async () => {
    expect(await wrongRows(db)).toEqual([])
  })

  test('meets most of them, and every run ends with what a crontab can rely on', () => {
    expect(met.size).toBeGreaterThan(faultNames.length / 2)
    expect(runs.filter((run) => run.status === 'failed' && !run.temporary)).toEqual([])
    expect(runs.some((run) => run.status === 'ok')).toBe(true)
  })

  test('leaves standing what stands in a world without faults', async () => {
    for (const table of await factTables(db)) {
      const rows = await rowsOf(db, table)
      const [found, right] = [
        await standing(db, table, rows),
        await standing(twinDb, table, await rowsOf(twinDb, table)),
      ]
      const text = (row: object) => JSON.stringify(row)
      const there = new Set(found.map(text))
      expect([table, right.filter((row) => !there.has(text(row)))]).toEqual([table, []])
      // Samples of who is no longer there stay; what was ended does not stand.
      if (rows.some((row) => 'valid_until' in row)) expect([table, found.length]).toEqual([table, right.length])
    }
  })

  test('invents no capture and no loss', async () => {
    const held = new Set(history.holds.map(({ territory, guild, from }) => `${territory} ${guild} ${from}`))
    const captures = await db.query<{ territory: string; guild: string; at: Date; seen: Date }>(
      'select territory, to_guild_uuid::text as guild, captured_at as at, observed_at as seen from analytics.territory_capture',
    )
    expect(captures.length).toBeGreaterThan(0)
    const wrong = captures.filter(({ territory, guild, at, seen }) => {
      if (at.getTime() !== seen.getTime()) return !held.has(`${territory} ${guild} ${at.toISOString()}`)
      // It came without an instant, so it is dated by the answer: its guild holds it about then.
      return !history.holds.some(
        (hold) =>
          hold.territory === territory &&
          hold.guild === guild &&
          Date.parse(hold.from) < at.getTime() + skew &&
          (hold.until === null || Date.parse(hold.until) > at.getTime() - skew),
      )
    })
    expect(wrong).toEqual([])

    const losses = await db.query<{ territory: string; at: Date }>(
      'select territory, valid_from as at from game.territory_hold where guild_uuid is null',
    )
    const invented = losses.filter(({ territory, at }) =>
      history.holds.some(
        (hold) =>
          hold.territory === territory &&
          Date.parse(hold.from) < at.getTime() - skew &&
          (hold.until === null || Date.parse(hold.until) > at.getTime() + skew),
      ),
    )
    expect(invented).toEqual([])
  })

  test('records no join or leave that did not happen', async () => {
    const joined = new Set(history.memberships.map(({ guild, player, at }) => `${guild} ${player} ${at}`))
    const left = new Map<string, number[]>()
    for (const { guild, player, at, event, otherGuild } of history.memberships) {
      const from = event === 'transferred' ? otherGuild : guild
      left.set(`${from} ${player}`, [...(left.get(`${from} ${player}`) ?? []), Date.parse(at)])
    }
    const events = await db.query<{ event: string; guild: string; player: string; at: Date; seen: Date }>(
      `select event, guild_uuid::text as guild, player_uuid::text as player, at, observed_at as seen
         from analytics.membership_event where event in ('joined', 'left')`,
    )
    const wrong = events.filter(({ event, guild, player, at, seen }) => {
      if (event === 'joined') return !joined.has(`${guild} ${player} ${at.toISOString()}`)
      return !(left.get(`${guild} ${player}`) ?? []).some((one) => one < seen.getTime() + skew)
    })
    expect(wrong).toEqual([])
  })
})

/** A wait for the next window may have taken longer than to the next round. */
async function playTo({ world, ...scene }: Scene, instant: number): Promise<void> {
  if (instant > world.clock.now()) await scene.playTo(instant, [])
}
