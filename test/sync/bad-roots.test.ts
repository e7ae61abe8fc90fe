import { describe, expect, test } from 'vitest'
import { guildBody, guildId, playerId, syncGuild } from '../support/guild-answers.ts'
import { profile, syncPlayer } from '../support/player-answers.ts'
import { kindsOfLongTests } from '../support/postgres.ts'
import { worldOf } from '../support/world.ts'

const character = playerId(901)
const nulKey = { 'a\0': 1 }

describe.each(kindsOfLongTests)('a profile with one bad value, on the %s database,', (kind) => {
  const world = worldOf(kind)
  const quarantine = () => world.rows('select key, path from sync.quarantine order by id')

  test.each<[string, object, string]>([
    ['an impossible date', { created: '2020-02-30T00:00:00.000Z' }, '/created'],
    ['NUL in its name', { name: 'Guild\0' }, '/name'],
    ['a banner that is text', { banner: 'x' }, '/banner'],
    ['a level that is text', { level: '5' }, '/level'],
    ['seasons in a list', { seasonRanks: [] }, '/seasonRanks'],
    ['NUL in the name of an unknown field', { odd: nulKey }, '/odd/a\uFFFD'],
    ['two bad values', { level: '5', banner: 'x' }, '/level'],
  ])('costs no member of the guild: %s', async (_what, bad, path) => {
    await syncGuild(world, guildBody('a', { 1: { rank: 'owner' }, 2: {}, 3: {} }), '10:00')
    const members = { 1: { rank: 'owner' }, 2: { rank: 'chief', contributed: 7 }, 4: {} }
    for (const at of ['10:10', '10:20'])
      expect(await syncGuild(world, guildBody('a', members, { wars: 9, ...bad }), at)).toMatchObject({
        status: 'partial',
        quarantined: 1,
        changed: 0,
        closed: 0,
      })
    expect(await quarantine()).toEqual([[guildId('a'), path]])
    expect(
      await world.rows(`select event, username from analytics.membership_event order by observed_at, username`),
    ).toEqual([
      ['promoted', 'Player2'],
      ['left', 'Player3'],
      ['joined', 'Player4'],
    ])
    expect(await world.rows(`select value from game.member_counter where value > 0`)).toEqual([[7]])
    expect(await world.rows('select name, valid_until from game.guild')).toEqual([['Guild a', 'infinity']])
    // What cannot be read is not null, and not zero.
    expect(await world.rows('select from game.guild_sample where level is null')).toEqual([])
    expect(await syncGuild(world, guildBody('a', members, { name: 'New' }), '10:30')).toMatchObject({
      status: 'ok',
      changed: 1,
    })
  })

  test('costs no member of a guild that was never seen before', async () => {
    const members = { 1: { rank: 'owner' }, 2: {} }
    const bad = guildBody('a', members, { level: '5' })
    expect(await syncGuild(world, bad, '10:00')).toMatchObject({ status: 'partial', inserted: 0, quarantined: 1 })
    expect(await world.rows('select count(*) from game.guild_member')).toEqual([[2]])
    expect(await syncGuild(world, guildBody('a', members), '10:10')).toMatchObject({ status: 'ok', inserted: 1 })
    expect(await world.rows('select count(*) from game.guild_member')).toEqual([[2]])
  })

  test('costs the whole response where it is the key', async () => {
    const bad = { ...guildBody('a', { 1: { rank: 'owner' } }), uuid: 'none' }
    expect(await syncGuild(world, bad, '10:00')).toMatchObject({ quarantined: 1, inserted: 0 })
    expect(await world.rows('select from game.guild_member')).toEqual([])
  })

  test.each<[string, object, string]>([
    ['NUL in its name', { username: 'a\0b' }, '/username'],
    ['an impossible date', { firstJoin: '2020-02-30T00:00:00.000Z' }, '/firstJoin'],
    ['a guild that is text', { guild: 'x' }, '/guild'],
    ['NUL in the name of an unknown field', { odd: nulKey }, '/odd/a\uFFFD'],
  ])('costs no character and no counter of the player: %s', async (_what, bad, path) => {
    const of = (level: number) => ({ [character]: { type: 'MAGE', level, gamemode: [] } })
    await syncPlayer(world, 1, profile(1, { playtime: 1, characters: of(3) }), '10:00')
    const next = profile(1, { playtime: 2, characters: of(4), ...bad })
    expect(await syncPlayer(world, 1, next, '10:10')).toMatchObject({ status: 'partial', quarantined: 1, changed: 0 })
    expect(await quarantine()).toEqual([[playerId(1), path]])
    expect(await world.rows(`select level from game.player_character where valid_until = 'infinity'`)).toEqual([[4]])
    expect(await world.rows('select value from game.player_counter order by 1')).toEqual([[1], [2]])
    expect(await world.rows('select username, valid_until from game.player')).toEqual([['Player1', 'infinity']])
  })

  test('ends no character where what the player hides cannot be read', async () => {
    const characters = { [character]: { type: 'MAGE', level: 3, gamemode: [] } }
    await syncPlayer(world, 1, profile(1, { characters }), '10:00')
    for (const at of ['10:10', '10:20', '10:30'])
      await syncPlayer(world, 1, profile(1, { characters: {}, restrictions: 'x' }), at)
    expect(await world.rows(`select valid_until from game.player_character`)).toEqual([['infinity']])
  })
})
