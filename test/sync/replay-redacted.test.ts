import { describe, expect, test } from 'vitest'
import { guilds } from '../../src/resources/guilds/index.ts'
import { onlinePlayers } from '../../src/resources/online-players/index.ts'
import { inProfiles } from '../../src/resources/personal.ts'
import { purge } from '../../src/sync/privacy/person.ts'
import { replay } from '../../src/sync/replay/replay.ts'
import { engineOn } from '../support/archive.ts'
import { guildBody, playerId, syncGuild } from '../support/guild-answers.ts'
import { confirmPlayer, onlineBody, profile, syncOnline } from '../support/player-answers.ts'
import { kindsOfLongTests } from '../support/postgres.ts'
import { contentOf, instantOf, worldOf } from '../support/world.ts'

/** Tables that count players and name none. */
const counting = ['game.world', 'game.world_sample', 'game.online_sample', 'game.guild', 'game.guild_sample']

describe.each(kindsOfLongTests)('a replay on the %s database, after players were removed from the archive,', (kind) => {
  const world = Object.assign(worldOf(kind), { raw: true })

  async function observed(): Promise<void> {
    await syncOnline(world, onlineBody({ EU1: [1, 2, 3], NA2: [4], AS3: [1 + 4] }, 2), '10:00')
    await syncOnline(world, onlineBody({ EU1: [2, 3], NA2: [4, 5] }, 2), '10:01')
    await syncOnline(world, onlineBody({ EU1: [1, 2, 3], '-': [4] }, 2), '10:02')
    const members = { 1: { online: true, server: 'EU1' }, 2: { rank: 'owner', online: true }, 3: { online: false } }
    await syncGuild(world, guildBody('a', members, { online: 2 }), '10:00')
    await syncGuild(
      world,
      guildBody('a', { ...members, 4: { restrictions: { online_status: true } } }, { online: 3 }),
      '10:10',
    )
  }
  const counts = async () => {
    const content = await contentOf(world.db)
    return Object.fromEntries(counting.map((table) => [table, content[table]]))
  }
  const replayed = () => replay(engineOn(world, world.db, false), { resources: [guilds, onlinePlayers], swap: true })
  const named = (number: number) =>
    world.rows(`select 'listing' from game.player_listing where player_uuid = '${playerId(number)}'
                union all select 'presence' from game.member_presence where online is not null and player_uuid = '${playerId(number)}'`)

  test.each([1, 4, 5])('keeps every count where player %i hides whether they are online', async (number) => {
    await observed()
    const before = await counts()
    expect(before['game.guild_sample']).toHaveLength(2)
    await confirmPlayer(world, number, profile(number, { restrictions: { onlineStatus: true } }), '10:30')
    expect(await counts()).toEqual(before)
    const { swapped, lost } = await replayed()
    expect({ swapped, lost }).toEqual({ swapped: true, lost: [] })
    expect(await counts()).toEqual(before)
    expect(await named(number)).toEqual([])
    expect(await named(2)).not.toEqual([])
  })

  test('keeps every count where players were purged, one after the other', async () => {
    await observed()
    const before = await counts()
    await confirmPlayer(world, 1, profile(1, { restrictions: { onlineStatus: true } }), '10:30')
    for (const number of [1, 3, 4])
      await world.db.transaction((sql) =>
        purge(sql, inProfiles, { playerUuid: playerId(number), at: new Date(instantOf('11:00')) }),
      )
    expect(await counts()).toEqual(before)
    expect((await replayed()).swapped).toBe(true)
    expect(await counts()).toEqual(before)
    for (const number of [1, 3, 4]) expect(await named(number)).toEqual([])
  })

  test('believes no such count that the API sends itself', async () => {
    const body = { ...onlineBody({ EU1: [1] }), 'wynnsync.redacted': { worlds: { EU1: 40 } } }
    await syncOnline(world, body, '10:00')
    const before = await counts()
    expect(await world.rows('select world, online from game.world_sample')).toEqual([['EU1', 1]])
    expect((await replayed()).swapped).toBe(true)
    expect(await counts()).toEqual(before)
  })
})
