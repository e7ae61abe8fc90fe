import { beforeEach, describe, expect, test } from 'vitest'
import { guilds } from '../../src/resources/guilds/index.ts'
import { items } from '../../src/resources/items/index.ts'
import { seasons } from '../../src/resources/seasons/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { guildBody, guildId, place, playerId, syncGuild, syncGuilds } from '../support/guild-answers.ts'
import { confirmPlayer, profile, syncPlayer } from '../support/player-answers.ts'
import { kindsAtNight } from '../support/postgres.ts'
import { fullProfile } from '../support/private-player.ts'
import { incomplete, instantOf, item, worldOf } from '../support/world.ts'

const rest = Object.fromEntries(['Ash', 'Elm', 'Fir', 'Yew', 'Box'].map((name) => [name, place('b', '09:00')]))
const good = { ...rest, Oak: place('a', '08:00') }
/** The whole record cannot be read. */
const bad = { ...rest, Oak: { guild: 7, acquired: 'yesterday' } }
/** Its guild alone cannot. */
const nameless = { ...rest, Oak: { ...place('a', '08:00'), guild: 'Guild a' } }
const many = ['Ash', 'Fir', 'Yew', 'Box', 'Bay'].map((name) => item(name))
const hiding = (rule: string, fields: object) =>
  fullProfile({ ...fields, restrictions: { ...profile(1).restrictions, [rule]: true } })
const iso = (time: string) => new Date(instantOf(time)).toISOString()

describe.each(kindsAtNight)('a record that cannot be read, on the %s database,', (kind) => {
  const world = worldOf(kind)
  const { sync, rows } = world
  const holds = () =>
    rows(
      `select held_from, held_until, confirmed_until from analytics.territory_hold where territory = 'Oak' order by 1`,
    )
  const owner = (at: string) =>
    rows(`select guild_name, confirmed_until, reason from analytics.territory_owner_at('Oak', '${iso(at)}')`)
  const onMap = (at: string) =>
    rows(`select guild_name, reason from analytics.map_at('${iso(at)}') where territory = 'Oak'`)
  const spans = () => rows('select resource, key, from_at, until_at from sync.unread order by 1, 2, 3')

  test.each([
    ['as a whole', bad, ['territories', 'territories/holds']],
    ['in who holds it', nameless, ['territories/holds']],
  ] as const)('%s, is no territory that is held as before', async (_what, body, histories) => {
    for (const at of ['10:00', '10:01']) await sync(territories, good, at)
    await sync(territories, body, '10:02')
    // One response alone concludes nothing, and confirms nothing.
    expect(await holds()).toEqual([['08:00', null, '10:01']])
    expect(await owner('10:02')).toEqual([['Guild a', '10:01', null]])
    expect(await spans()).toEqual([])
    for (const at of ['10:03', '10:04', '20 10:00']) await sync(territories, body, at)
    expect(await spans()).toEqual(histories.map((name) => [name, 'Oak', '10:02', null]))
    expect(await holds()).toEqual([['08:00', null, '10:01']])
    expect(await owner('10:01')).toEqual([['Guild a', '10:01', null]])
    for (const at of ['10:02', '15 10:00', '20 10:00']) {
      expect(await owner(at)).toEqual([[null, '10:01', 'not observed']])
      expect(await onMap(at)).toEqual([[null, 'not observed']])
    }
    const counted = (to: string, step: string) =>
      rows(`select at, territories from analytics.guild_territory_count('${iso('10:00')}', '${iso(to)}', '${step}')
             where guild_uuid = '${guildId('a')}' order by 1`)
    expect(await counted('10:05', '1 minute')).toEqual([
      ['10:00', 1],
      ['10:01', 1],
    ])
    expect(await counted('04 10:00', '12 hours')).toEqual([['10:00', 1]])
    expect(await rows(`select guild_name, observed_at from analytics.territory where territory = 'Oak'`)).toEqual([
      [null, '10:01'],
    ])
    expect(await rows(`select distinct observed_at from analytics.territory where territory <> 'Oak'`)).toEqual([
      ['20 10:00'],
    ])
    expect(
      await rows(`select distinct confirmed_until from analytics.territory_hold where territory <> 'Oak'`),
    ).toEqual([['20 10:00']])
  })

  test('and has the same hold afterwards was held all along; with another one, until then is unknown', async () => {
    for (const at of ['10:00', '10:01']) await sync(territories, good, at)
    for (const at of ['10:02', '10:03', '11:00']) await sync(territories, bad, at)
    await sync(territories, good, '12:00')
    expect(await spans()).toEqual(['territories', 'territories/holds'].map((name) => [name, 'Oak', '10:02', '12:00']))
    expect(await owner('10:30')).toEqual([['Guild a', '12:00', null]])
    for (const at of ['12:01', '12:02', '13:00']) await sync(territories, bad, at)
    for (const at of ['14:00', '14:01']) await sync(territories, { ...rest, Oak: place('c', '13:30') }, at)
    expect(await owner('10:30')).toEqual([['Guild a', '12:00', null]])
    expect(await owner('13:00')).toEqual([[null, '12:00', 'not observed']])
    expect(await owner('13:45')).toEqual([['Guild c', '14:01', null]])
    expect(await holds()).toEqual([
      ['08:00', '13:30', '12:00'],
      ['13:30', null, '14:01'],
    ])
    expect(await rows('select * from sync.claim')).toEqual([])
  })

  test('and that one response shows so is none of two caches that come by turns', async () => {
    await sync(territories, good, '10:00')
    for (let nth = 1; nth < 9; nth++) await sync(territories, nth % 2 ? bad : good, `10:0${nth}`)
    expect(await spans()).toEqual([])
    expect(await owner('10:08')).toEqual([['Guild a', '10:08', null]])
    expect(await rows(`select times from sync.claim where kind = 'unread'`)).toEqual([])
  })

  test('shows no item, of which the last response that did is known, until one shows it otherwise', async () => {
    const elm = (level: number) => item('Elm', { requirements: { level } })
    const confirmed = () =>
      rows(
        `select level, valid_from, valid_until, confirmed_until from analytics.item_history where internal_name = 'Elm' order by 2`,
      )
    const level = async (at: string) =>
      (await rows(`select analytics.item_at('Elm', '${iso(at)}') #>> '{requirements,level}'`))[0]?.[0]
    for (const at of ['10:00', '11:10']) await sync(items, [elm(1), ...many], at)
    for (const at of ['12:20', '13:30', '14:40']) await sync(items, [item('Elm', { type: 7 }), ...many], at)
    expect(await rows(`select internal_name, observed_at from analytics.item order by 2, 1 limit 2`)).toEqual([
      ['Elm', '11:10'],
      ['Ash', '14:40'],
    ])
    expect([await level('12:00'), await level('12:20'), await level('14:40')]).toEqual(['1', null, null])
    // What a response lacks is not shown either.
    await sync(items, many, '15:50')
    expect(await rows(`select observed_at from analytics.item where internal_name = 'Elm'`)).toEqual([['11:10']])
    await sync(items, [elm(2), ...many], '17:00')
    expect(await confirmed()).toEqual([
      [1, '10:00', '17:00', '11:10'],
      [2, '17:00', 'infinity', '17:00'],
    ])
    expect([await level('12:00'), await level('14:40'), await level('17:00')]).toEqual(['1', null, '2'])
  })

  describe.each([
    ['a walk without one page', () => incomplete(many)],
    ['a list with a record that does not say its key', () => [...many, { type: 'material' }]],
  ] as const)('%s, for a month,', (_what, lacking) => {
    const all = [item('Elm'), ...many]
    const confirmed = () =>
      rows(
        `select internal_name, confirmed_until from analytics.item_history where internal_name in ('Ash', 'Elm') order by 1`,
      )

    test('confirms what it has and not what it may lack, which is unknown until a response has it', async () => {
      for (const at of ['10:00', '11:10']) await sync(items, all, at)
      await sync(items, lacking(), '12:20')
      expect(await confirmed()).toEqual([
        ['Ash', '12:20'],
        ['Elm', '11:10'],
      ])
      expect(await spans()).toEqual([])
      for (let day = 2; day <= 28; day++) await sync(items, lacking(), `${String(day).padStart(2, '0')} 10:00`)
      expect(await spans()).toEqual([['items', 'Elm', '12:20', null]])
      expect(await confirmed()).toEqual([
        ['Ash', '28 10:00'],
        ['Elm', '11:10'],
      ])
      const at = async (name: string) =>
        (await rows(`select analytics.item_at('${name}', '${iso('15 10:00')}') is not null`))[0]?.[0]
      expect([await at('Ash'), await at('Elm')]).toEqual([true, false])
      expect(await rows(`select valid_until from game.item where internal_name = 'Elm'`)).toEqual([['infinity']])
      await sync(items, all, '28 12:00')
      expect(await spans()).toEqual([['items', 'Elm', '12:20', '28 12:00']])
      expect([await at('Ash'), await at('Elm')]).toEqual([true, true])
      expect(await rows('select * from sync.claim')).toEqual([])
    })

    test('and once in a while says nothing', async () => {
      for (let hour = 10; hour < 20; hour++) await sync(items, hour % 2 ? lacking() : all, `${hour}:00`)
      expect(await spans()).toEqual([])
      await sync(items, all, '20:00')
      expect(await confirmed()).toEqual([
        ['Ash', '20:00'],
        ['Elm', '20:00'],
      ])
    })
  })

  test('is no other one than a member whom a list lacks that contradicts itself', async () => {
    const members = (...numbers: number[]) =>
      guildBody('a', { 1: { rank: 'owner' }, ...Object.fromEntries(numbers.map((number) => [number, {}])) })
    const flawed = members(3, 4, 5, 6)
    Object(flawed).members.total = 6
    for (const at of ['10:00', '10:10']) await syncGuild(world, members(2, 3, 4, 5, 6), at)
    for (const at of ['10:20', '10:30', '10:40', '10:50', '28 10:00']) await syncGuild(world, flawed, at)
    const known = (number: number) =>
      rows(
        `select valid_until, confirmed_until from analytics.guild_member_history where player_uuid = '${playerId(number)}'`,
      )
    // The first two were rejected.
    expect(await known(2)).toEqual([['infinity', '10:10']])
    expect(await known(3)).toEqual([['infinity', '28 10:00']])
  })

  test('is over with the hold of a territory that is gone', async () => {
    for (const at of ['10:00', '10:01']) await sync(territories, good, at)
    for (const at of ['10:02', '10:03']) await sync(territories, bad, at)
    for (const at of ['11:00', '11:01']) await sync(territories, rest, at)
    expect(await spans()).toEqual(['territories', 'territories/holds'].map((name) => [name, 'Oak', '10:02', '11:01']))
    expect(await holds()).toEqual([['08:00', '11:00', '10:01']])
  })

  describe('of a member in a list that contradicts itself,', () => {
    const members = (...numbers: number[]) =>
      guildBody('a', { 11: { rank: 'owner' }, ...Object.fromEntries(numbers.map((number) => [number, {}])) })
    const key = `${guildId('a')}/${playerId(1)}`
    beforeEach(async () => {
      const flawed = members(2, 3)
      Object(flawed).members.total = 4
      await syncGuild(world, members(1, 2, 3), '10:00')
      for (const at of ['10:10', '10:20', '10:30', '10:40']) await syncGuild(world, flawed, at)
      expect(await spans()).toEqual([['guilds/members', key, '10:30', null]])
    })

    test('is over with the guild', async () => {
      const guild = guildId('a')
      world.sandbox.setAnswer(`/guild/uuid/${guild}`, () => ({ status: 404, body: { error: 'NotFound' } }))
      for (const at of ['14:00', '15:00']) {
        await world.clock.advanceTo(instantOf(at))
        await syncGuilds(world, { keys: [guild] })
      }
      expect(await rows('select distinct valid_until from game.guild_member')).toEqual([['14:00']])
      expect(await spans()).toEqual([['guilds/members', key, '10:30', '14:00']])
    })

    test('is in no table once the player hides former guilds', async () => {
      for (const at of ['11:00', '11:10']) await syncGuild(world, members(2, 3), at)
      expect(await spans()).toEqual([['guilds/members', key, '10:30', '11:10']])
      await confirmPlayer(world, 1, hiding('guildHistoryAccess', { guild: null }), '16:00')
      expect(await spans()).toEqual([])
    })
  })

  test.each(['characterListAccess', 'huntedCharacterAccess'] as const)(
    'is in no table once it is that of a character whom %s hides',
    async (rule) => {
      const character = (number: number) => `${playerId(1)}/cccccccc-0000-4000-8000-00000000000${number}`
      const others = [1, 2].map((number) => ['players/characters', character(number), '11:00', null])
      await syncPlayer(world, 1, fullProfile(), '10:00')
      for (const at of ['11:00', '12:00']) await syncPlayer(world, 1, fullProfile({ characters: {} }), at)
      expect(await spans()).toEqual(others)
      await confirmPlayer(world, 1, hiding(rule, { characters: {} }), '16:00')
      expect(await spans()).toEqual(rule === 'characterListAccess' ? [] : others.slice(0, 1))
    },
  )

  test('is over with the version of a season that ends otherwise', async () => {
    const season = { initDate: '2026-01-01T00:00:00Z', endDate: '2026-08-01T00:00:00Z', srPerWar: 1 }
    const others = Object.fromEntries([2, 3, 4, 5, 6].map((nth) => [nth, season]))
    await sync(seasons, { 1: season, ...others }, '10:00')
    for (const at of ['11:00', '12:00']) await sync(seasons, { 1: 'soon', ...others }, at)
    expect(await spans()).toEqual([['seasons', '1', '11:00', null]])
    for (const at of ['13:00', '14:00']) await sync(seasons, others, at)
    expect(await spans()).toEqual([['seasons', '1', '11:00', '14:00']])
    expect(await rows(`select valid_until, confirmed_until from analytics.season_history where season = 1`)).toEqual([
      ['13:00', '10:00'],
    ])
    expect(await rows('select * from sync.claim')).toEqual([])
  })

  test('is a member of a guild who is known until then, while the others are confirmed', async () => {
    const members = () => guildBody('a', { 1: { rank: 'owner' }, 2: {}, 3: {}, 4: {}, 5: {}, 6: {} })
    const unreadable = members()
    Object(unreadable).members.recruit.Player2.joined = 'never'
    await syncGuild(world, members(), '10:00')
    for (const at of ['10:10', '10:20', '10:30']) await syncGuild(world, unreadable, at)
    const key = `${guildId('a')}/${playerId(2)}`
    expect(await spans()).toEqual([[`${guilds.name}/members`, key, '10:10', null]])
    expect(
      await rows(`select distinct on (player_uuid = '${playerId(2)}') confirmed_until from analytics.guild_member_history
                   order by player_uuid = '${playerId(2)}'`),
    ).toEqual([['10:30'], ['10:00']])
    await syncGuild(world, members(), '10:40')
    expect(await rows('select distinct confirmed_until from analytics.guild_member_history')).toEqual([['10:40']])
    expect(await rows('select * from sync.claim')).toEqual([])
  })
})
