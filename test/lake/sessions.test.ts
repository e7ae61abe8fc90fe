import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../src/db/database.ts'
import { exportLake } from '../../src/lake/export.ts'
import { importLake } from '../../src/lake/import/import.ts'
import { openPlace } from '../../src/lake/read/place.ts'
import { onlinePlayers } from '../../src/resources/online-players/index.ts'
import { setExpectedInterval } from '../../src/sync/ledger/gaps.ts'
import { playerId } from '../support/guild-answers.ts'
import { onlineBody, syncOnline } from '../support/player-answers.ts'
import { temporaryFolder, testDatabase } from '../support/postgres.ts'
import { instantOf, openWorld, type World } from '../support/world.ts'

const minute = 60_000
/** Who is listed in each minute from 10:00 on. Player 2 logs out and back in, player 4 stays on from the first import on. */
const lists = [[1, 2], [1, 2], [1, 4], [2, 4], [2, 3, 4], [3, 4], [2, 4], [4]]
const players = [1, 2, 3, 4].map(playerId)
const at = (nth: number) => new Date(instantOf('10:00') + nth * minute).toISOString().slice(11, 16)

describe('sessions of a lake', () => {
  let source: Database
  let world: World
  let folder: string
  beforeAll(async () => {
    source = await testDatabase('server')
    folder = join(await temporaryFolder(), 'lake')
    world = await openWorld(source, {}, instantOf('09:59'))
    await expectMinutes(source)
  })

  const observe = async (nth: number, who: World = world) => {
    const done = await syncOnline(who, onlineBody({ EU1: lists[nth] ?? [] }), at(nth))
    expect(done).toMatchObject({ status: expect.stringMatching(/^(ok|unchanged)$/) })
  }

  async function exported(): Promise<string> {
    const clock = world.clock
    await exportLake(source, folder, { clock, program: 'test', people: true, keepMs: 0, onProgress: () => {} })
    return folder
  }

  const imported = async (db: Database) => {
    const done = await importLake(db, openPlace(folder), { clock: world.clock, maxBytes: 1e9, onProgress: () => {} })
    expect(done.refused).toEqual([])
    return done
  }

  test('are ended by a later import, and by the first sync after it', async () => {
    const db = await testDatabase('server')
    for (const nth of [0, 1, 2]) await observe(nth)
    await exported()
    await imported(db)
    expect(await sessionsOf(db)).toEqual(await sessionsOf(source))
    expect((await sessionsOf(db)).length).toBe(3)
    for (const nth of [3, 4, 5]) await observe(nth)
    await exported()
    await imported(db)
    expect(await sessionsOf(db)).toEqual(await sessionsOf(source))
    expect((await sessionsOf(db)).length).toBe(5)
    const own = await openWorld(db, {}, world.clock.now())
    for (const nth of [6, 7]) {
      await observe(nth)
      await observe(nth, own)
    }
    expect(await sessionsOf(db)).toEqual(await sessionsOf(source))
    for (const player of players) expect(await playtimeOf(db, player)).toEqual(await playtimeOf(source, player))
  })

  test('are not imported beside responses of this database, and playtime of that day is not known', async () => {
    const db = await testDatabase('server')
    await expectMinutes(db)
    const own = await openWorld(db, {}, instantOf('12:00'))
    await syncOnline(own, onlineBody({ EU1: [1] }), '12:00')
    await syncOnline(own, onlineBody({ EU1: [1] }), '12:01')
    const before = await sessionsOf(db)
    expect(await playtimeOf(db, playerId(1))).toMatchObject([{ seconds_estimate: expect.any(Number) }])
    await exported()
    const { tables } = await imported(db)
    expect(tables.find(({ table }) => table === 'game.player_listing')).toMatchObject({ taken: 0 })
    expect(await sessionsOf(db)).toEqual(before)
    expect(await playtimeOf(db, playerId(1))).toMatchObject([
      { seconds_min: null, seconds_max: null, seconds_estimate: null },
    ])
  })

  test('of this database are those that its own responses show, whatever another one saw between them', async () => {
    const dbs = [await testDatabase('server'), await testDatabase('server')] as const
    await exported()
    for (const [nth, db] of dbs.entries()) {
      await expectMinutes(db)
      const first = await openWorld(db, {}, instantOf('10:00'))
      await syncOnline(first, onlineBody({ EU1: [1] }), '10:00')
      const before = await sessionsOf(db)
      if (nth === 0) expect((await imported(db)).tables.length).toBeGreaterThan(0)
      expect(await sessionsOf(db)).toEqual(before)
      const then = await openWorld(db, {}, instantOf('12:02'))
      await syncOnline(then, onlineBody({ EU1: [4] }), '12:03')
    }
    expect(await sessionsOf(dbs[0])).toHaveLength(2)
    expect(await sessionsOf(dbs[0])).toEqual(await sessionsOf(dbs[1]))
  })
})

const expectMinutes = (db: Database) =>
  setExpectedInterval(db, {
    resource: onlinePlayers.name,
    everySeconds: 60,
    setBy: 'start',
    at: new Date(instantOf('09:59')),
  })

const sessionsOf = (db: Database) =>
  db.query('select * from analytics.player_session order by player_uuid, listed_from')

const playtimeOf = (db: Database, player: string) =>
  db.query(`select * from analytics.player_playtime($1, '2026-06-01Z', '2026-06-02Z')`, [player])
