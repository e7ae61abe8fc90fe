import { describe, expect, test } from 'vitest'
import { guildBody, playerId, syncGuild } from '../support/guild-answers.ts'
import { profile, syncPlayer } from '../support/player-answers.ts'
import { kindsOfLongTests } from '../support/postgres.ts'
import { worldOf } from '../support/world.ts'

const character = playerId(901)
const nulKey = { 'a\0': 1 }

describe.each(kindsOfLongTests)('a profile with one bad value, on the %s database,', (kind) => {
  const world = worldOf(kind)

  test.each<[string, object, object | null]>([
    ['an impossible date', { created: '2020-02-30T00:00:00.000Z' }, { created: '2020-02-30T00:00:00.000Z' }],
    ['a banner that is text', { banner: 'x' }, { banner: 'x' }],
    ['a level that is text', { level: '5' }, null],
    ['seasons in a list', { seasonRanks: [] }, null],
    ['NUL in the name of an unknown field', { odd: nulKey }, null],
    ['NUL in a part', { banner: { base: 'a\0b' } }, null],
    ['two bad values', { level: '5', banner: 'x' }, { level: '5', banner: 'x' }],
  ])('costs that value, and nothing else of the guild: %s', async (_what, bad, extra) => {
    await syncGuild(world, guildBody('a', { 1: { rank: 'owner' }, 2: {}, 3: {} }, bad), '10:00')
    const members = { 1: { rank: 'owner' }, 2: { rank: 'chief', contributed: 7 }, 4: {} }
    for (const at of ['10:10', '10:20'])
      expect(await syncGuild(world, guildBody('a', members, { wars: 9, ...bad }), at)).toMatchObject({ changed: 0 })
    expect(await world.rows('select name, valid_until from game.guild')).toEqual([['Guild a', 'infinity']])
    if (extra !== null) expect(await world.rows('select extra from game.guild')).toEqual([[extra]])
    expect(
      await world.rows(`select event, username from analytics.membership_event order by observed_at, username`),
    ).toEqual([
      ['promoted', 'Player2'],
      ['left', 'Player3'],
      ['joined', 'Player4'],
    ])
    expect(await world.rows(`select value from game.member_counter where value > 0`)).toEqual([[7]])
    // What cannot be read is not null, and not zero.
    expect(await world.rows('select from game.guild_sample where level is null')).toEqual([])
    expect(await syncGuild(world, guildBody('a', members, { name: 'New' }), '10:30')).toMatchObject({ status: 'ok' })
  })

  test('costs the whole response where it is the key', async () => {
    const bad = { ...guildBody('a', { 1: { rank: 'owner' } }), uuid: 'none' }
    expect(await syncGuild(world, bad, '10:00')).toMatchObject({ quarantined: 1, inserted: 0 })
    expect(await world.rows('select from game.guild_member')).toEqual([])
  })

  test.each<[string, object]>([
    ['an impossible date', { firstJoin: '2020-02-30T00:00:00.000Z' }],
    ['a guild that is text', { guild: 'x' }],
    ['an empty object for a rank', { supportRank: {} }],
    ['NUL in the name of an unknown field', { odd: nulKey }],
  ])('costs that value, and nothing else of the player: %s', async (_what, bad) => {
    const of = (level: number) => ({ [character]: { type: 'MAGE', level, gamemode: [] } })
    await syncPlayer(world, 1, profile(1, { playtime: 1, characters: of(3), ...bad }), '10:00')
    const next = profile(1, { playtime: 2, characters: of(4), ...bad })
    expect(await syncPlayer(world, 1, next, '10:10')).toMatchObject({ changed: 0 })
    expect(await world.rows(`select level from game.player_character where valid_until = 'infinity'`)).toEqual([[4]])
    expect(await world.rows('select value from game.player_counter order by 1')).toEqual([[1], [2]])
    expect(await world.rows('select username, valid_until from game.player')).toEqual([['Player1', 'infinity']])
    expect(await world.rows('select path from sync.drift union select path from sync.quarantine')).not.toEqual([])
  })

  test('ends no character where what the player hides cannot be read', async () => {
    const characters = { [character]: { type: 'MAGE', level: 3, gamemode: [] } }
    await syncPlayer(world, 1, profile(1, { characters }), '10:00')
    for (const at of ['10:10', '10:20', '10:30'])
      await syncPlayer(world, 1, profile(1, { characters: {}, restrictions: 'x' }), at)
    expect(await world.rows(`select valid_until from game.player_character`)).toEqual([['infinity']])
  })
})
