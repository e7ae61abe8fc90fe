import { describe, expect, test } from 'vitest'
import { guildList } from '../../src/resources/guild-list/index.ts'
import { itemMetadata } from '../../src/resources/item-metadata/index.ts'
import { items } from '../../src/resources/items/index.ts'
import { latestNews } from '../../src/resources/latest-news/index.ts'
import { raids } from '../../src/resources/raids/index.ts'
import { seasons } from '../../src/resources/seasons/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { videos } from '../../src/resources/videos/index.ts'
import { answerGuild, guildBody, guildId, place, playerId, syncGuild, syncGuilds } from '../support/guild-answers.ts'
import { kindsOfPart } from '../support/postgres.ts'
import { wrongRows } from '../support/verified.ts'
import { headersOf, item, worldOf } from '../support/world.ts'

describe.each(kindsOfPart)('a response that is not what was asked for, on the %s database,', (kind) => {
  const world = worldOf(kind)
  const { rows, sync } = world
  const names = Array.from({ length: 12 }, (_, nth) => `Thing ${nth}`)
  const claims = () => rows('select kind, subject from sync.claim')

  describe('about one key', () => {
    const owner = { 1: { rank: 'owner' }, 2: {} }
    const syncAs = async (key: string, body: object, at: string) => {
      await answerGuild(world, { uuid: key }, at)
      world.sandbox.setAnswer(`/guild/uuid/${key}`, () => ({ headers: headersOf(world.clock.now(), 120), body }))
      return await syncGuilds(world, { keys: [key] })
    }

    test.each<[string, object]>([
      ['is of another guild', guildBody('b', owner)],
      ['has no uuid', { ...guildBody('a', owner), uuid: null }],
      ['has a uuid that is none', { ...guildBody('a', owner), uuid: 'none' }],
      ['is an error', { status: 'maintenance' }],
    ])('confirms nothing of it, however often it comes, where it %s', async (_what, body) => {
      await syncGuild(world, guildBody('a', owner), '10:00')
      for (const at of ['10:10', '10:20', '10:30', '10:40', '02 10:00', '30 10:00'])
        expect(await syncAs(guildId('a'), body, at)).toMatchObject({ status: 'partial', rejected: 1, inserted: 0 })
      expect(await rows('select distinct observed_at from analytics.guild_member')).toEqual([['10:00']])
      expect(await rows('select guild_uuid from game.guild')).toEqual([[guildId('a')]])
      expect(await rows(`select count(*)::int from sync.observation where status <> 'rejected'`)).toEqual([[1]])
      expect(await syncGuild(world, guildBody('a', { ...owner, 3: {} }), '30 11:00')).toMatchObject({ status: 'ok' })
    })

    test('leaves a guild gone that is gone', async () => {
      await syncGuild(world, guildBody('a', owner), '10:00')
      for (const at of ['11:00', '12:00']) {
        await answerGuild(world, { uuid: guildId('a') }, at)
        const body = { error: 'NotFound', detail: 'no guild', code: 404 }
        const headers = headersOf(world.clock.now(), 120)
        world.sandbox.setAnswer(`/guild/uuid/${guildId('a')}`, () => ({ status: 404, headers, body }))
        await syncGuilds(world, { keys: [guildId('a')] })
      }
      const gone = 'select gone_at from sync.work_item'
      expect(await rows(gone)).toEqual([['11:00']])
      await syncAs(guildId('a'), guildBody('b', owner), '03 12:00')
      expect(await rows(gone)).toEqual([['11:00']])
    })
  })

  test('is no list of seasons where it is a leaderboard', async () => {
    const season = { initDate: '2026-05-01T00:00:00Z', endDate: '2026-08-01T00:00:00Z', srPerWar: 3 }
    await sync(seasons, { 1: season, 2: season }, '10:00')
    const entry = (nth: number) => ({ uuid: playerId(nth), name: `Player${nth}`, score: 5 })
    for (const at of ['11:00', '12:00', '13:00']) await sync(seasons, { 1: entry(1), 2: entry(2), 3: entry(3) }, at)
    expect(await rows('select season, sr_per_war, valid_until from game.season order by 1')).toEqual([
      [1, 3, 'infinity'],
      [2, 3, 'infinity'],
    ])
  })

  test('is no list of videos where it names leaderboards', async () => {
    await sync(videos, { 1: 'https://example.com/a' }, '10:00')
    for (const at of ['11:00', '12:00']) await sync(videos, { 1: 'guildLevel', 2: 'guildWars' }, at)
    expect(await rows('select address, valid_until from game.video')).toEqual([['https://example.com/a', 'infinity']])
  })

  test.each<[object]>([
    [{ error: { code: 500, message: 'Internal' } }],
    [{ errors: ['Internal'] }],
    [{ message: 'Service is down', retry: 30 }],
    [{ code: 500 }],
  ])('is no enumeration where it is an error in a form of its own, however long that lasts: %j', async (body) => {
    const lists = { filters: { tier: ['normal', 'rare'], majorIds: ['HAWKEYE'] } }
    await sync(itemMetadata, lists, '10:00')
    const state = await rows('select path, valid_from, valid_until from game.enumeration order by 1')
    for (const at of ['11:00', '14:00', '17:00', '20:00', '23:00'])
      expect(await sync(itemMetadata, body, at)).toMatchObject({ inserted: 0, closed: 0 })
    await sync(itemMetadata, lists, '02 10:00')
    expect(await rows('select path, valid_from, valid_until from game.enumeration order by 1')).toEqual(state)
  })

  test('invents no item where all keys are spelled otherwise once', async () => {
    await sync(
      items,
      names.map((name) => item(name)),
      '10:00',
    )
    const before = await world.versions()
    const other = names.map((name) => item(name.toLowerCase()))
    expect(await sync(items, other, '11:00')).toMatchObject({
      inserted: 0,
      guarded: expect.arrayContaining([
        { guard: 'plausibility', action: 'pending', reason: expect.stringContaining('new: 12 records of 12') },
      ]),
    })
    // The same cache window.
    await sync(items, other, '11:20')
    for (const at of ['12:00', '13:00'])
      expect(
        await sync(
          items,
          names.map((name) => item(name)),
          at,
        ),
      ).toMatchObject({ changed: 0 })
    expect(await world.versions()).toEqual(before)
    expect(await rows('select * from game.field_change')).toEqual([])
    expect(await claims()).toEqual([])
  })

  test('is believed from the second response on, since the first', async () => {
    await sync(
      items,
      names.map((name) => item(name)),
      '10:00',
    )
    const other = names.map((name) => item(name.toLowerCase()))
    for (const at of ['11:00', '12:10', '13:20']) await sync(items, other, at)
    expect(await rows('select valid_from, valid_until, count(*)::int from game.item group by 1, 2 order by 1')).toEqual(
      [
        ['10:00', '11:00', 12],
        ['11:00', 'infinity', 12],
      ],
    )
    expect(await claims()).toEqual([])
    expect(await rows(`select living from sync.run order by started_at desc limit 1`)).toEqual([[12]])
  })

  test('has changes of its new keys where their versions begin, also where they are back after days', async () => {
    const [first, other] = ['', 'x'].map((end) => names.map((name) => item(name + end)))
    const say = async (body: object[] = [], ...times: string[]) => {
      for (const at of times) await sync(items, body, at)
    }
    await say(first, '10:00', '11:00')
    await say(other, '12:00', '13:00')
    await say(first, '14:00', '15:00', '16:00')
    await say(other, '05 12:00', '05 13:00')
    const began = `select distinct to_char(changed_at, 'DD HH24:MI') from game.field_change where key like '%x' and old_value is null order by 1`
    expect(await rows(began)).toEqual([['01 12:00'], ['05 12:00']])
    expect(await rows(`select distinct valid_from from game.item where internal_name like '%x' order by 1`)).toEqual([
      ['12:00'],
      ['05 12:00'],
    ])
    expect(await wrongRows(world.db)).toEqual([])
  })

  test('brings no place, no hold and no stores where all territories are spelled otherwise once', async () => {
    const resources = [{ type: 'ORE', generation: 10, baseGeneration: 5, stored: 3, limit: 9 }]
    const map = (spell: (name: string) => string, letter = 'a') =>
      Object.fromEntries(names.map((name) => [spell(name), place(letter, '08:00', { resources })]))
    await sync(
      territories,
      map((name) => name),
      '10:00',
    )
    const count = async () => {
      const counts = await world.rowCounts()
      return Object.entries(counts).filter(([table]) => table.startsWith('game.'))
    }
    const before = await count()
    await sync(
      territories,
      map((name) => name.toUpperCase()),
      '10:01',
    )
    for (const at of ['10:02', '10:03'])
      await sync(
        territories,
        map((name) => name),
        at,
      )
    expect(await count()).toEqual(before)
    expect(await claims()).toEqual([])
    for (const at of ['11:00', '11:01', '11:02'])
      await sync(
        territories,
        map((name) => name.toUpperCase()),
        at,
      )
    expect(
      await rows(`select count(*)::int, min(valid_from) from game.territory where valid_until = 'infinity'`),
    ).toEqual([[12, '11:00']])
    expect(await rows(`select count(*)::int from game.territory_hold where valid_until = 'infinity'`)).toEqual([[12]])
  })

  test('is no list of raids where it is one of world events', async () => {
    const raid = (name: string) => ({
      internalName: name,
      name,
      type: 'RAID',
      rewards: [{ name: 'Coin', type: 'CURRENCY', amount: 1 }],
    })
    const all = ['one', 'two', 'three'].map(raid)
    await sync(raids, all, '10:00')
    const events = names.map((name) => ({ internalName: name, name, difficulty: 'HARD', level: 30, schedule: null }))
    await sync(raids, events, '10:30')
    // It is compared with the last list that was not doubted.
    for (const at of ['11:00', '11:30']) expect(await sync(raids, all, at)).toMatchObject({ status: 'unchanged' })
    expect(await claims()).toEqual([])
    expect(await world.versions('raid', 'internal_name')).toEqual(
      ['one', 'three', 'two'].map((name) => [name, '10:00', 'infinity']),
    )
  })

  test('is a list that was not read for long, of which most may be new', async () => {
    const note = (nth: number) => ({
      title: `News ${nth}`,
      date: '2026-05-30',
      forumThread: `https://example.com/${nth}`,
      author: 'a',
      content: 'x',
      comments: '1',
    })
    const list = (first: number) => Array.from({ length: 6 }, (_, nth) => note(first + nth))
    for (const [nth, day] of ['01', '08', '15'].entries())
      expect(await sync(latestNews, list(10 * nth), `${day} 10:00`)).toMatchObject({ inserted: 6 })
  })

  describe('of the list of guilds', () => {
    const listed = (fields: (letter: string) => object) =>
      Object.fromEntries([...'abcdef'].map((letter) => [guildId(letter), fields(letter)]))
    const whole = listed((letter) => ({ name: `Guild ${letter}`, prefix: letter }))
    const listings = () => rows('select name, prefix, valid_from, valid_until from game.guild_listing order by 1, 3')
    const unchanged = [...'abcdef'].map((letter) => [`Guild ${letter}`, letter, '10:00', 'infinity'])

    test.each<[string, (letter: string) => object]>([
      ['prefix', (letter) => ({ name: `Guild ${letter}` })],
      ['name', (letter) => ({ prefix: letter })],
    ])('without any %s for a month renames no guild', async (field, fields) => {
      await sync(guildList, whole, '10:00')
      for (const at of ['11:00', '12:30', '10 10:00', '28 10:00'])
        expect(await sync(guildList, listed(fields), at)).toMatchObject({ changed: 0 })
      expect(await rows('select field, from_at, until_at from sync.unsent')).toEqual([[`/${field}`, '11:00', null]])
      await sync(guildList, whole, '29 10:00')
      expect(await listings()).toEqual(unchanged)
      await sync(guildList, { ...whole, [guildId('a')]: { name: 'Other', prefix: 'o' } }, '29 12:00')
      expect((await listings()).filter(([name]) => name === 'Other')).toEqual([['Other', 'o', '29 12:00', 'infinity']])
    })

    test('keeps fields that the program does not know', async () => {
      await sync(
        guildList,
        listed((letter) => ({ name: `Guild ${letter}`, prefix: letter, level: 7 })),
        '10:00',
      )
      expect(await rows('select distinct extra from game.guild_listing')).toEqual([[{ level: 7 }]])
      expect(await rows('select kind, path from sync.drift')).toEqual([['unknown_field', '/level']])
    })
  })
})
