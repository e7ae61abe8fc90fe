import { describe, expect, test } from 'vitest'
import { territories } from '../../src/resources/territories/index.ts'
import {
  guildBody,
  guildId,
  type MemberFields,
  openMember,
  place,
  playerId,
  syncGuild,
} from '../support/guild-answers.ts'
import { profile, syncPlayer } from '../support/player-answers.ts'
import { kindsOfPart } from '../support/postgres.ts'
import { worldOf } from '../support/world.ts'

const stored = (type: string, amount: number) => {
  return { type, generation: 100, baseGeneration: 100, stored: amount, limit: 500 }
}
const character = (fields: object) => ({
  [playerId(9)]: {
    type: 'MAGE',
    level: 5,
    gamemode: [],
    wars: 3,
    professions: { fishing: { level: 2, xpPercent: 1 } },
    ...fields,
  },
})

describe.each(kindsOfPart)('what records list no more, in the %s database,', (kind) => {
  const world = worldOf(kind)
  const { rows } = world
  const samples = (at: string, ...oak: readonly string[]) =>
    world.sync(
      territories,
      {
        Oak: place('a', '08:00', { resources: oak.map((type) => stored(type, Number(at.slice(3)))) }),
        Elm: place('b', '08:00', { resources: [stored('WOOD', 1), stored('FISH', 2)] }),
      },
      at,
    )
  const storage = (territory: string, at: string) =>
    rows(
      `select resource, stored, reason from analytics.territory_storage('${territory}', '2026-06-01T${at}Z', '2026-06-01T${at}:01Z', '1 hour')`,
    )

  test('is unknown from the first of two responses on, for that territory alone, until it is listed again', async () => {
    await samples('10:00', 'WOOD', 'FISH')
    await samples('10:01', 'WOOD')
    expect(await storage('Oak', '10:01')).toEqual([
      ['FISH', 0, null],
      ['WOOD', 1, null],
    ])
    for (const at of ['10:02', '10:03']) await samples(at, 'WOOD')
    expect(
      await rows(
        `select observed_at, stored from game.territory_resource where territory = 'Oak' and resource = 'FISH' order by 1`,
      ),
    ).toEqual([
      ['10:00', 0],
      ['10:01', null],
    ])
    expect(await storage('Oak', '10:03')).toEqual([
      ['FISH', null, 'not sent'],
      ['WOOD', 3, null],
    ])
    expect(await storage('Elm', '10:03')).toEqual([
      ['FISH', 2, null],
      ['WOOD', 1, null],
    ])
    await samples('10:04', 'WOOD', 'FISH')
    expect((await storage('Oak', '10:04'))[0]).toEqual(['FISH', 4, null])
    expect(await rows('select subject, value from sync.claim')).toEqual([])
  })

  test('is unknown, too, of a territory that the list has no more, and of one whose record cannot be read', async () => {
    const others = Object.fromEntries([...'pqrstuvw'].map((letter) => [letter, place('b', '08:00')]))
    const sync = (at: string, oak: object) => world.sync(territories, { ...others, ...oak }, at)
    const whole = { Oak: place('a', '08:00', { resources: [stored('WOOD', 1)] }) }
    await sync('10:00', whole)
    for (const at of ['10:01', '10:02', '10:03']) await sync(at, { Oak: 'a tree' })
    expect(await storage('Oak', '10:03')).toEqual([['WOOD', null, 'not observed']])
    await sync('10:04', whole)
    expect(await storage('Oak', '10:03')).toEqual([['WOOD', 1, null]])
    for (const at of ['10:05', '10:06', '10:07']) await sync(at, {})
    expect(await storage('Oak', '10:04')).toEqual([['WOOD', 1, null]])
    expect(await storage('Oak', '10:07')).toEqual([['WOOD', null, 'not sent']])
  })

  test('stays as it was where every other response lists it, and where another takes its place it is unknown', async () => {
    for (const nth of [0, 1, 2, 3, 4, 5]) await samples(`10:0${nth}`, 'WOOD', ...(nth % 2 === 0 ? ['FISH'] : []))
    expect(await rows(`select count(*)::int from game.territory_resource where stored is null`)).toEqual([[0]])
    for (const at of ['10:06', '10:07']) await samples(at, 'WOOD', 'CROP')
    expect(await storage('Oak', '10:07')).toEqual([
      ['CROP', 7, null],
      ['FISH', null, 'not sent'],
      ['WOOD', 7, null],
    ])
  })

  test('of a guild and its members is unknown, but what a member hides has no row', async () => {
    const counted = (...raids: readonly string[]) => ({
      ...openMember,
      globalData: { wars: 1, raids: { total: 4, list: Object.fromEntries(raids.map((raid) => [raid, 2])) } },
    })
    const hidden = { restrictions: { ...openMember.restrictions, main_access: true } }
    const body = (ranking: object, one: MemberFields, two: MemberFields) =>
      guildBody('a', { 1: { rank: 'owner', ...one }, 2: two, 3: counted('old') }, { ranking, seasonRanks: {} })
    await syncGuild(world, body({ guildLevel: 7, guildWars: 9 }, counted('old', 'new'), counted('old')), '10:00')
    for (const at of ['10:10', '10:20', '10:30'])
      await syncGuild(world, body({ guildWars: 9 }, counted('new'), hidden), at)
    expect(await rows('select board, observed_at, position from game.guild_ranking order by 1, 2')).toEqual([
      ['guildLevel', '10:00', 7],
      ['guildLevel', '10:10', null],
      ['guildWars', '10:00', 9],
    ])
    const unknown = `select right(player_uuid::text, 1), counter, observed_at from game.member_counter where value is null`
    expect(await rows(unknown)).toEqual([['1', 'raids.list.old', '10:10']])
    const rise = (counter: string) =>
      rows(
        `select right(player_uuid::text, 1), delta, quality from analytics.member_counter('${guildId('a')}', '${counter}', '2026-06-01T10:15Z', '2026-06-01T10:25Z') order by 1`,
      )
    expect(await rise('wars')).toContainEqual(['1', 0, 'exact'])
    expect((await rise('raids.list.old')).filter(([player]) => player !== '2')).toEqual([
      ['1', null, 'unknown'],
      ['3', 0, 'exact'],
    ])
    expect(await rows(`select position from analytics.guild_ranking where board = 'guildLevel'`)).toEqual([[null]])
  })

  test('of a player and a character is unknown, but what the player hides has no row', async () => {
    const body = (fields: object, of: object) =>
      profile(1, {
        playtime: 7,
        globalData: { wars: 5, killedMobs: 8 },
        ranking: { wars: 3 },
        characters: character(of),
        ...fields,
      })
    await syncPlayer(world, 1, body({}, {}), '10:00')
    const other = body({ globalData: { wars: 5, mobsKilled: 8 }, ranking: {} }, { professions: {}, wars: null })
    for (const at of ['10:10', '10:20']) await syncPlayer(world, 1, other, at)
    const lacking = () =>
      rows(`select 'counter', counter, observed_at from game.player_counter where value is null
             union all select 'ranking', board, observed_at from game.player_ranking where position is null
             union all select 'character', counter, observed_at from game.character_counter where value is null
             union all select 'profession', profession, observed_at from game.character_profession where level is null order by 1`)
    const found = await lacking()
    expect(found).toEqual([
      ['character', 'wars', '10:10'],
      ['counter', 'killedMobs', '10:10'],
      ['profession', 'fishing', '10:10'],
      ['ranking', 'wars', '10:10'],
    ])
    const gained = `select gained, quality from analytics.gained('player', 'killedMobs', '${playerId(1)}', '2026-06-01T10:12Z', '2026-06-01T10:18Z')`
    expect(await rows(gained)).toEqual([[null, 'unknown']])
    const hides = { restrictions: { mainAccess: true }, globalData: undefined, ranking: undefined, playtime: undefined }
    for (const at of ['10:30', '10:40']) await syncPlayer(world, 1, body(hides, {}), at)
    expect((await lacking()).filter(([what]) => what !== 'character' && what !== 'profession')).toEqual([])
  })

  test('of a character that is deleted is unknown, until one with its uuid is there again', async () => {
    const other = { [playerId(8)]: { type: 'ARCHER', level: 1, gamemode: [] } }
    const at = async (when: string, characters: object) => await syncPlayer(world, 1, profile(1, { characters }), when)
    const gained = (kind: string, counter: string, from: string, to: string) =>
      rows(
        `select gained, quality from analytics.gained('${kind}', '${counter}', '${playerId(1)}/${playerId(9)}', '2026-06-01T${from}Z', '2026-06-01T${to}Z')`,
      )
    const both = async (from: string, to: string) => [
      await gained('character', 'wars', from, to),
      await gained('profession', 'fishing', from, to),
    ]
    const [unknown, none] = [[[null, 'unknown']], [[0, 'exact']]]
    for (const when of ['10:00', '10:10']) await at(when, { ...other, ...character({}) })
    expect(await both('10:02', '10:08')).toEqual([none, none])
    for (const when of ['10:20', '10:30', '10:40']) await at(when, other)
    expect(await both('10:22', '10:38')).toEqual([unknown, unknown])
    expect(await both('10:02', '10:08')).toEqual([none, none])
    for (const when of ['10:50', '11:00', '11:10']) await at(when, { ...other, ...character({ type: 'SHAMAN' }) })
    expect(await both('10:52', '11:08')).toEqual([none, none])
    expect(await both('10:22', '10:38')).toEqual([unknown, unknown])
    expect(
      await rows(
        `select type, valid_from, valid_until from game.player_character where character_uuid = '${playerId(9)}' order by 2`,
      ),
    ).toEqual([
      ['MAGE', '10:00', '10:20'],
      ['SHAMAN', '10:50', 'infinity'],
    ])
  })
})
