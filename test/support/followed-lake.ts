import { join } from 'node:path'
import { beforeEach, expect } from 'vitest'
import type { Database } from '../../src/db/database.ts'
import { exportLake } from '../../src/lake/export.ts'
import { type Imported, importLake } from '../../src/lake/import/import.ts'
import { followingTables, takenTables } from '../../src/lake/import/taken-tables.ts'
import { openPlace } from '../../src/lake/read/place.ts'
import { guilds } from '../../src/resources/guilds/index.ts'
import { items } from '../../src/resources/items/index.ts'
import { onlinePlayers } from '../../src/resources/online-players/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { setExpectedInterval } from '../../src/sync/ledger/gaps.ts'
import { guildBody, place, syncGuild } from './guild-answers.ts'
import { different, linesOf } from './lake-folder.ts'
import { onlineBody, syncOnline } from './player-answers.ts'
import { temporaryFolder } from './postgres.ts'
import { instantOf, type World, worldOf } from './world.ts'

/** An item whose identification follows its level. */
export const material = (name: string, level: number) => ({
  internalName: name,
  type: 'material',
  requirements: { level },
  identifications: { damage: { min: level, raw: level, max: level + 1 } },
})

/** A database that exports a lake, one that follows it, and an empty one. */
export function followedLake() {
  const theirs = worldOf('server')
  const follower = worldOf('server')
  const fresh = worldOf('server')
  const onProgress = () => {}
  /** Where the lake is that is written and followed. */
  const lake = { folder: '' }

  beforeEach(async () => {
    lake.folder = join(await temporaryFolder(), 'lake')
    for (const { db } of [theirs, follower])
      for (const { name } of [territories, onlinePlayers, items, guilds])
        await setExpectedInterval(db, {
          resource: name,
          everySeconds: 600,
          setBy: 'start',
          at: new Date(instantOf('07:00')),
        })
  })

  async function exported(world: World = theirs): Promise<void> {
    const options = { clock: world.clock, program: 'test', people: true, keepMs: 0, onProgress }
    await exportLake(world.db, lake.folder, options)
  }

  async function take(world: World): Promise<Imported> {
    if (world.clock.now() < theirs.clock.now()) await world.clock.advanceTo(theirs.clock.now())
    return await importLake(world.db, openPlace(lake.folder), { clock: world.clock, maxBytes: 1e9, onProgress })
  }

  async function follow(world = follower): Promise<Imported> {
    const done = await take(world)
    expect(done.refused).toEqual([])
    // Rows that are refused, such as those of the future, would keep the rest of their table as it was.
    expect(done.tables.filter(({ refused }) => refused > 0)).toEqual([])
    return done
  }

  /** Everything that the lake's database does from 08:00 on, and a first import. */
  async function begin(): Promise<void> {
    await observe('08:00', { Oak: place('a', '07:00'), Elm: place('b', '07:30') }, 1)
    await observe('08:10', { Oak: place('c', '08:05'), Elm: place('b', '07:30') }, 2)
    await observe('08:20', { Oak: place('c', '08:05'), Elm: place('d', '08:15') }, 3)
    for (const at of ['08:30', '08:40', '08:50']) await observe(at, { Oak: place('c', '08:05') }, 4)
    await exported()
    await follow()
  }

  async function observe(at: string, places: object, nth: number): Promise<void> {
    await theirs.sync(territories, places, at)
    await theirs.sync(items, [material('Ash', nth), material('Fir', 1), material('Yew', 1)], at)
    await syncOnline(theirs, onlineBody({ EU1: [1, nth], EU2: [9] }), at)
    await syncGuild(theirs, guildBody('a', { 1: { rank: 'owner', contributed: nth }, 2: {} }, { level: nth }), at)
  }

  /** What an empty database gets of the lake, and what the one that follows it has. */
  async function expectSame(db: Database = follower.db): Promise<void> {
    await follow(fresh)
    expect(await differences(db, fresh.db)).toEqual([])
  }

  const levels = () =>
    follower.rows(`select level, valid_from, valid_until from game.item where internal_name = 'Ash' order by 2`)

  return { theirs, follower, fresh, lake, exported, take, follow, begin, observe, expectSame, levels }
}

/** Tables that are not the same, with some of the rows. */
async function differences(one: Database, other: Database): Promise<unknown[]> {
  const found: unknown[] = []
  const taken = takenTables.flatMap((each) => [each.table, ...('parts' in each ? each.parts : [])])
  for (const table of [...taken, ...followingTables]) {
    const lines = different(await linesOf(one, table), await linesOf(other, table))
    if (lines.some((list) => list.length > 0)) found.push([table, ...lines])
  }
  return found
}
