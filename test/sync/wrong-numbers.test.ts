import { describe, expect, test } from 'vitest'
import { guildList } from '../../src/resources/guild-list/index.ts'
import { items } from '../../src/resources/items/index.ts'
import { leaderboards } from '../../src/resources/leaderboards/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { worldEvents } from '../../src/resources/world-events/index.ts'
import { lastAccepted } from '../../src/sync/ledger/ledger.ts'
import { answerGuild, guildBody, guildId, place, playerId, syncGuild, syncGuilds } from '../support/guild-answers.ts'
import { onlineBody, syncOnline } from '../support/player-answers.ts'
import { item, worldOf } from '../support/world.ts'

const numbers = (from: number, count: number) => Array.from({ length: count }, (_, nth) => from + nth)
const owner = { 1: { rank: 'owner' } }

describe('one wrong number', () => {
  const world = worldOf('server')

  test.each([2_000_000_000, -2_000_000_000, -1000])(
    'of members online (%i) keeps no guild from its turn',
    async (online) => {
      const named = (letter: string) => [guildId(letter), { name: `Guild ${letter}`, prefix: letter }]
      await world.sync(guildList, Object.fromEntries(['a', 'b'].map(named)), '10:00')
      await syncGuild(world, guildBody('a', owner, { online }), '10:10')
      for (const letter of ['a', 'b']) await answerGuild(world, guildBody(letter, owner), '20 10:00')
      expect(await syncGuilds(world, { limit: 2 })).toMatchObject({ status: 'ok', requests: 2 })
      expect(
        await world.rows(`select count(*)::int from sync.work_item where resource = 'guilds' and weight < 1`),
      ).toEqual([[0]])
    },
  )

  test('of two for one thing counts for nothing, whatever the latest is, however often it comes', async () => {
    const ore = (stored: number) => ({ type: 'ORE', generation: 10, baseGeneration: 5, stored, limit: 9 })
    const map = (...resources: object[]) => ({ Oak: place('a', '08:00', { resources }), Fir: place('b', '08:00') })
    const stored = () => world.rows('select observed_at, stored from game.territory_resource order by 1')
    await world.sync(territories, map(ore(3)), '10:00')
    for (const [nth, at] of ['10:01', '10:02', '10:03'].entries()) {
      const fir = place('b', '08:00', { hq: nth % 2 === 0 })
      await world.sync(territories, { ...map(ore(3), ore(9)), Fir: fir }, at)
      expect(await stored()).toEqual([['10:00', 3]])
    }
    const ranks = (...ratings: number[]) =>
      guildBody('a', owner, {
        seasonRanks: Object.fromEntries(ratings.map((rating, nth) => [`${'0'.repeat(nth)}31`, { rating }])),
      })
    for (const [at, body] of [
      ['11:00', ranks(100)],
      ['11:10', ranks(100, 700)],
      ['11:20', ranks(100, 700)],
    ] as const)
      await syncGuild(world, body, at)
    expect(await world.rows('select rating, observed_at from game.guild_season')).toEqual([[100, '11:00']])
  })

  test('as a place of a leaderboard makes no board of millions of places', async () => {
    const entry = (nth: number) => ({
      uuid: playerId(nth),
      name: `Player${nth}`,
      score: 1000 - nth,
      metaScore: 1,
      previousRanking: 1,
    })
    const board = (...places: number[]) =>
      Object.fromEntries(places.map((place) => [String(place), entry(place % 1000)]))
    world.sandbox.setAnswer('/leaderboards/types', () => ({ body: ['warsCompletion'] }))
    world.sandbox.setAnswer('/leaderboards/warsCompletion', () => ({ body: board(1, 2, 9_999_999) }))
    expect(await world.syncNow(leaderboards)).toMatchObject({ quarantined: 1 })
    expect(await world.rows('select max(place) from game.leaderboard_place')).toEqual([[2]])
  })

  test('as the time of a world event is no occurrence', async () => {
    const event = (schedule: string) => [{ internalName: 'abcdef01', name: 'Event', schedule }]
    for (const [at, schedule] of [
      ['10:00', '2026-06-01T11:00:00Z'],
      ['10:05', '1999-12-31T10:07:00Z'],
      ['10:10', '2099-06-01T10:07:00Z'],
      ['10:15', '2026-06-01T11:00:00Z'],
    ] as const)
      await world.sync(worldEvents, event(schedule), at)
    const occurrences = `select at from analytics.world_event_schedule('1970-01-01', '2200-01-01')`
    expect(await world.rows(occurrences)).toEqual([['11:00']])
  })

  test.each([1e19, 1e30, -1e19])(
    'of what a member contributed (%d) costs this value, and no view',
    async (contributed) => {
      await syncGuild(world, guildBody('a', { 1: { rank: 'owner', contributed: 5, wars: 1 } }), '10:00')
      const wrong = guildBody('a', { 1: { rank: 'owner', contributed, wars: 2 } })
      expect(await syncGuild(world, wrong, '10:10')).toMatchObject({ quarantined: 1 })
      expect(await world.rows('select path, reason from sync.quarantine')).toEqual([
        [expect.stringContaining('/contributed'), expect.stringContaining('must be a number up to 2^53')],
      ])
      const asked = `select contributed::int from analytics.guild_member`
      expect(await world.rows(asked)).toEqual([[5]])
      expect(
        await world.rows(
          `select count(*)::int from analytics.member_contribution('${guildId('a')}', '2026-06-01', '2026-06-02')`,
        ),
      ).toEqual([[1]])
    },
  )

  test.each([1e19, 1e30])('that an earlier program stored (%d) is unknown, and costs no view', async (contributed) => {
    await syncGuild(world, guildBody('a', { 1: { rank: 'owner', contributed: 5 }, 2: { contributed: 6 } }), '10:00')
    await syncGuild(world, guildBody('a', { 1: { rank: 'owner', contributed: 7 }, 2: { contributed: 9 } }), '10:10')
    await world.db.query(`update game.member_counter set value = ${contributed} where value = 9`)
    expect(await world.rows('select contributed from analytics.guild_member order by username')).toEqual([[7], [null]])
    const rises = `select username, contributed from analytics.member_contribution('${guildId('a')}', '2026-06-01', '2026-06-02')`
    expect(await world.rows(`${rises} order by username`)).toEqual([
      ['Player1', 7],
      ['Player2', null],
    ])
  })

  test('of a field that the program does not know, or reads in no column, is in quarantine with its path, and nowhere as another one', async () => {
    const sent = item('Ash', { novel: 'A', fine: 4, deep: { list: ['B'] }, identifications: { rawX: 'C' } })
    const body = JSON.stringify([sent, ...['Elm', 'Oak', 'Yew'].map((name) => item(name))])
    const numbered = body.replace('"A"', '9007199254740993').replace('"B"', '1e400').replace('"C"', '-1e19')
    expect(await world.sync(items, numbered, '10:00')).toMatchObject({ status: 'partial', inserted: 4, quarantined: 3 })
    expect(await world.rows(`select document::text, extra::text from game.item where internal_name = 'Ash'`)).toEqual([
      [expect.not.stringMatching(/\d{9}|novel|list|rawX/), '{"fine": 4}'],
    ])
    expect(await world.rows('select path from sync.quarantine order by 1')).toEqual([
      ['/deep'],
      ['/identifications/rawX'],
      ['/novel'],
    ])
  })

  test('of an unknown field of a member or a guild costs that field', async () => {
    const big = 2 ** 60
    const body = guildBody('a', { 1: { rank: 'owner', novel: big }, 2: {} }, { novel: big })
    expect(await syncGuild(world, body, '10:00')).toMatchObject({ quarantined: 2 })
    expect(await world.rows('select count(*)::int, count(extra)::int from game.guild_member')).toEqual([[2, 0]])
    expect(await world.rows('select count(*)::int, count(extra)::int from game.guild')).toEqual([[1, 0]])
  })

  test('that makes a statement fail behind its first rows leaves the next statement of the session whole', async () => {
    await world.sync(items, [item('Bow')], '10:00')
    for (let times = 0; times < 5; times++) {
      const failing = 'select 10 / (900 - nth) from generate_series(1, 1000) nth'
      await expect(world.db.query(failing)).rejects.toThrow(/division by zero/)
      expect(await lastAccepted(world.db, 'items')).toBeDefined()
      await expect(world.db.values(failing)).rejects.toThrow(/division by zero/)
      expect(await world.db.values('select 1 where false')).toEqual([])
      await expect(world.db.values(failing)).rejects.toThrow(/division by zero/)
      expect(await world.db.values('select nth from generate_series(1, 3) nth')).toEqual([[1], [2], [3]])
    }
  })

  test('of worlds does not keep out all later lists, of which every third one has a player whose world is null', async () => {
    const time = (minute: number) => `${10 + Math.floor(minute / 60)}:${String(minute % 60).padStart(2, '0')}`
    const good = (minute: number) =>
      onlineBody({
        EU1: numbers(1, 20),
        EU2: numbers(101, 20),
        NA1: numbers(201, 20 + (minute % 2)),
        ...(minute % 3 === 0 ? { '-': [900] } : {}),
      })
    await syncOnline(world, good(1), time(1))
    const names = Object.fromEntries(numbers(1, 61).map((nth) => [playerId(nth), `Player${nth}`]))
    await syncOnline(world, { total: 61, players: names }, time(2))
    for (let minute = 3; minute < 10; minute++) await syncOnline(world, good(minute), time(minute))
    expect(await syncOnline(world, good(10), time(10))).toMatchObject({ rejected: 0 })
    expect(await world.rows('select listed from game.online_sample order by observed_at desc limit 1')).toEqual([[60]])
  })
})
