import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { seededRandom, systemClock } from '../../src/base/clock.ts'
import { RetryableError } from '../../src/base/errors.ts'
import type { Database } from '../../src/db/database.ts'
import { exportLake } from '../../src/lake/export.ts'
import { importLake } from '../../src/lake/import/import.ts'
import { openPlace } from '../../src/lake/read/place.ts'
import { guildList } from '../../src/resources/guild-list/index.ts'
import { guilds } from '../../src/resources/guilds/index.ts'
import { growingTables, resources } from '../../src/resources/index.ts'
import { onlinePlayers } from '../../src/resources/online-players/index.ts'
import { players } from '../../src/resources/players/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { purge } from '../../src/sync/privacy/person.ts'
import { replay } from '../../src/sync/replay/replay.ts'
import { maintain } from '../../src/sync/retention/maintain.ts'
import { readRetention } from '../../src/sync/retention/retention.ts'
import { verifyDatabase } from '../../src/sync/verify/verify.ts'
import { engineOn, syncOn } from '../support/archive.ts'
import { cutAt } from '../support/cut.ts'
import { migrateAll, temporaryFolder, testDatabase } from '../support/postgres.ts'
import { seedsOf } from '../support/seeds.ts'
import { wrongRows } from '../support/verified.ts'
import { openWorld, type World } from '../support/world.ts'

/*
 * Two of the works that change or read a whole database, of which the first is held after any of its statements while the second runs, or
 * ends there as a killed process does. At the end everything is verified, and both work again.
 */

const synced = [territories, guildList, onlinePlayers, guilds, players]
const start = Date.parse('2026-06-01T12:00:00Z')
const rounds = 6
/** The longest wait for the second while the first is held, ms: it may need a lock that the first has. */
const HELD = 400

type Work = (db: Database) => Promise<unknown>

class Killed extends Error {}

/** A database in which half an hour of a simulated game was recorded. */
async function recorded(db: Database, seed: number, from: number): Promise<World> {
  const world = await openWorld(db, { game: { guilds: 30, players: 90, territories: 30 }, seed, dialect: 'live' }, from)
  for (let step = 0; step < 3; step++) {
    await world.clock.advanceTo(from + step * 600_000)
    for (const resource of synced) await syncOn(engineOn(world, db, true), resource)
  }
  return world
}

async function closed(world: World): Promise<void> {
  await world.api.close()
  await world.sandbox.close()
  await world.db.close()
}

/** @param lake of another database */
async function worksOf(world: World, lake: string, random: () => number): Promise<Record<string, Work>> {
  const { clock } = world
  const out = join(await temporaryFolder(), 'lake')
  const people = await world.db.values('select distinct player_uuid from game.guild_member order by 1')
  const onProgress = () => {}
  if (!players.personal) throw new Error('players are people')
  const { personal } = players
  return {
    sync: async (db) => {
      await clock.advanceTo(clock.now() + 600_000)
      for (const resource of synced) await syncOn(engineOn(world, db, true), resource)
    },
    purge: (db) => {
      const playerUuid = String(people[Math.floor(random() * people.length)]?.[0])
      return db.transaction((sql) => purge(sql, personal, { playerUuid, at: new Date(clock.now()) }))
    },
    replay: (db) => replay(engineOn(world, db, false), { resources: synced, swap: true }),
    export: (db) => exportLake(db, out, { clock, program: 'test', people: true, keepMs: 0, onProgress }),
    import: (db) => importLake(db, openPlace(lake), { clock, maxBytes: 1e9, onProgress }),
    retention: (db) => {
      const now = new Date(clock.now() + 40 * 86_400_000)
      return maintain(db, { now, tables: growingTables, retention: readRetention('all=30d', []) })
    },
    migrate: (db) => migrateAll(db),
    verify: (db) => verifyDatabase(db, resources),
  }
}

/** That it waited for the other one in vain, was refused because of it, or was killed; everything else is a fault. */
function isExpected(error: unknown): boolean {
  return error instanceof RetryableError || error instanceof Killed
}

describe.each(seedsOf(import.meta.filename))('works that meet (seed %i)', (seed) => {
  test('leave a database that is whole, and both work again', async () => {
    const random = seededRandom(seed)
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
    const others = await recorded(await testDatabase('server'), seed + 1, start - 86_400_000)
    const lake = join(await temporaryFolder(), 'theirs')
    const options = { clock: others.clock, program: 'test', people: true, keepMs: 0, onProgress: () => {} }
    await exportLake(others.db, lake, options)
    await closed(others)
    for (let round = 0; round < rounds; round++) {
      const world = await recorded(await testDatabase('server'), seed, start)
      const works = await worksOf(world, lake, random)
      const [first, second] = [pick(Object.keys(works)), pick(Object.keys(works))]
      const isKilled = random() < 0.5
      const at = 1 + Math.floor(random() ** 2 * 200)
      const meeting = { seed, round, first, second, isKilled, at }
      const faults: unknown[] = []
      const noted = (work: Promise<unknown>) => work.catch((error) => void (isExpected(error) || faults.push(error)))
      let other: Promise<unknown> | undefined
      const begin = () => {
        other ??= noted(works[second]?.(world.db) ?? Promise.resolve())
        return other
      }
      const cut = cutAt(world.db, {
        at,
        act: async () => {
          if (isKilled) throw new Killed('killed')
          if (!other) await Promise.race([begin(), systemClock.sleep(HELD)])
        },
      })
      await noted(works[first]?.(cut) ?? Promise.resolve())
      await begin()
      expect({ ...meeting, faults, wrong: await wrongRows(world.db) }).toEqual({ ...meeting, faults: [], wrong: [] })
      for (const name of [first, second]) await works[name]?.(world.db)
      expect({ ...meeting, wrong: await wrongRows(world.db) }).toEqual({ ...meeting, wrong: [] })
      await closed(world)
    }
  })
})
