import { beforeEach, describe, expect, test } from 'vitest'
import { seasons } from '../../src/resources/seasons/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { setExpectedInterval as expectEvery } from '../../src/sync/ledger/gaps.ts'
import { guildBody, guildId, type MemberFields, place, syncGuild } from '../support/guild-answers.ts'
import { kindsOfPart } from '../support/postgres.ts'
import { worldOf } from '../support/world.ts'

const [a, b, c] = ['a', 'b', 'c'].map(guildId)
const at = (time: string, day = '01') => `timestamptz '2026-06-${day}T${time}Z'`

describe.each(kindsOfPart)('questions about guilds in numbers, on the %s database', (kind) => {
  const world = worldOf(kind)
  const { rows } = world

  describe('10: when a guild is online', () => {
    const sync = (online: number, when: string, letter = 'a') =>
      syncGuild(world, guildBody(letter, { 1: { rank: 'owner' } }, { online }), when)
    const heatmap = (from: string, to: string) =>
      rows(
        `select dow, hour, online_avg, online_max, round(coverage::numeric, 2)
           from analytics.guild_online_heatmap('${a}', ${from}, ${to})`,
      )

    test('each hour of the week has the average of its hours, and how many of them have an answer', async () => {
      // 1 June 2026 is a Monday. Two answers in its first hour count as one hour; the next Monday has one.
      await sync(2, '10:00')
      await sync(4, '10:30')
      await sync(4, '11:00')
      await sync(9, '08 10:59')
      await sync(50, '08 11:59', 'b')
      expect(await heatmap(at('10:00'), at('12:00'))).toEqual([
        [1, 10, 3, 4, 1],
        [1, 11, 4, 4, 1],
      ])
      const cells = await heatmap(at('10:30'), at('12:00', '08'))
      expect(cells).toHaveLength(168)
      expect(cells.filter((cell) => cell[2] !== null)).toEqual([
        [1, 10, (4 + 9) / 2, 9, 1],
        [1, 11, 4, 4, 0.5],
      ])
      expect(cells.at(-1)).toEqual([7, 23, null, null, 0])
    })

    test('an unchanged answer is an answer, and what has not come yet is not missing', async () => {
      await sync(3, '10:00')
      await sync(3, '10:50')
      await sync(3, '11:10')
      expect(await heatmap(at('11:00'), at('12:00'))).toEqual([[1, 11, 3, 3, 1]])
      const future = `'2126-06-03 10:00Z', '2126-06-03 11:00Z'`.split(', ').map((one) => `timestamptz ${one}`)
      expect(await heatmap(future[0] ?? '', future[1] ?? '')).toEqual([[1, 10, null, null, null]])
    })
  })

  test('each number of a guild is in its series as it is in its samples', async () => {
    const large = 2 ** 24 + 1
    await syncGuild(
      world,
      guildBody('a', { 1: { rank: 'owner' } }, { online: 3, wars: large, level: 77, xpPercent: 41 }),
      '10:00',
    )
    const columns = await rows(
      `select attname::text from pg_attribute where attrelid = 'game.guild_sample'::regclass and attnum > 0 and atttypid not in ('uuid'::regtype, 'timestamptz'::regtype)`,
    )
    for (const [column] of columns)
      expect([
        column,
        await rows(
          `select value from analytics.counter_series('guild', '${a}', null, '${column}', ${at('09:00')}, ${at('12:00')})`,
        ),
      ]).toEqual([column, await rows(`select ${column}::float8 from game.guild_sample`)])
    expect(await rows(`select wars from game.guild_sample`)).toEqual([[large]])
  })

  describe('5: what explains a rating', () => {
    const season = (fields: object = {}) => ({
      30: {
        territoryHoldingSrPerHour: 120,
        srPerWar: 40,
        initDate: '2026-06-01T10:00:00.000Z',
        endDate: '2026-06-01T18:00:00.000Z',
        ratingRewards: [],
        leaderboardRewards: [],
        ...fields,
      },
    })
    const guild = (letter: string, wars: number | null, rating: number | null, when: string) =>
      syncGuild(
        world,
        guildBody(
          letter,
          { [letter.charCodeAt(0)]: { rank: 'owner' } },
          { wars, seasonRanks: rating === null ? {} : { 30: { rating, finalTerritories: 1 } } },
        ),
        when,
      )
    const rating = (number = 30) => rows(`select * from analytics.season_rating(${number})`)
    beforeEach(async () => {
      await expectEvery(world.db, { resource: 'territories', everySeconds: 3600, setBy: 'sync', at: new Date(0) })
    })

    test('the last rating that a response gave, although a later one gives none', async () => {
      await guild('a', 100, 900, '10:00')
      await guild('a', 100, 1000, '10:10')
      const ended = { wars: 100, seasonRanks: { 30: { rating: null, finalTerritories: 3 } } }
      await syncGuild(world, guildBody('a', { 97: { rank: 'owner' } }, ended), '10:20')
      expect((await rating()).map((row) => row.slice(0, 3))).toEqual([[a, 'Guild a', 1000]])
    })

    test('hours held and wars fought in the season, as of the last answer about the guild', async () => {
      await world.sync(seasons, season(), '09:00')
      // Oak is a's from before the season until 12:30, then b's. Elm is c's all the time, who was never asked.
      const map = (owner: string, since: string) => ({ Oak: place(owner, since), Elm: place('c', '08:00') })
      await world.sync(territories, map('a', '08:00'), '09:00')
      await guild('a', 100, null, '09:30')
      for (const when of ['10:00', '11:00', '12:00']) await world.sync(territories, map('a', '08:00'), when)
      for (const when of ['13:00', '14:00']) await world.sync(territories, map('b', '12:30'), when)
      await guild('a', 103, 420, '14:00')
      await guild('b', 7, 200, '14:00')
      expect(await rating()).toEqual([
        [a, 'Guild a', 420, 2.5 * 120, 3 * 40, '14:00', 1, null],
        [b, 'Guild b', 200, 1.5 * 120, 0, '14:00', 1, 'wars before the first response about the guild are not known'],
        [c, 'Guild c', null, 4 * 120, null, '14:00', 1, 'no response has a rating; the API gives no wars'],
      ])
      // After the season nothing is added, and what nobody watched is told.
      await guild('a', 110, 500, '19:00')
      const [first] = await rating()
      expect(first?.slice(0, 7)).toEqual([a, 'Guild a', 500, 300, 120, '18:00', 5 / 8])
      expect(first?.[7]).toBe(
        'the map was not watched all the time; wars after the last response within the season are not known',
      )
    })

    test('a part of an hour is not rounded down twice', async () => {
      await world.sync(seasons, season(), '09:00')
      // 6 h 20 min at 120 an hour are 760 exactly; in hours they are a fraction without end.
      await world.sync(territories, { Oak: place('a', '08:00') }, '10:00')
      await world.sync(territories, { Oak: place('b', '16:20') }, '16:30')
      expect((await rating()).find(([uuid]) => uuid === a)?.[3]).toBe(760)
    })

    test('nothing is estimated where the season does not tell, or nobody knows it', async () => {
      await world.sync(seasons, season({ territoryHoldingSrPerHour: null, srPerWar: null }), '09:00')
      await world.sync(territories, { Oak: place('a', '08:00') }, '10:00')
      await guild('a', null, 420, '10:30')
      expect(await rating()).toEqual([
        [
          a,
          'Guild a',
          420,
          null,
          null,
          '10:30',
          1,
          'the API does not give the rates of the season; the API gives no wars',
        ],
      ])
      expect(await rating(29)).toEqual([])
    })
  })

  describe('13: what members did', () => {
    const sync = (players: Readonly<Record<number, MemberFields>>, when: string) =>
      syncGuild(world, guildBody('a', players), when)
    const counted = (wars: number | undefined, fields: MemberFields = {}) => ({
      ...fields,
      ...(wars === undefined ? { restrictions: { mainAccess: true } } : { globalData: { wars } }),
    })
    const counter = (from: string, to: string, name = 'wars') =>
      rows(`select username, delta, quality from analytics.member_counter('${a}', '${name}', ${at(from)}, ${at(to)})`)

    test('counts what rose while they were members, and says how sure that is', async () => {
      const later = { joined: '10:05' }
      await sync({ 1: counted(100, { rank: 'owner' }), 2: counted(50), 3: counted(undefined) }, '10:00')
      await sync({ 1: counted(104), 2: counted(0), 3: counted(undefined), 4: counted(900, later) }, '10:10')
      await sync({ 1: counted(104), 2: counted(53), 3: counted(undefined), 4: counted(902, later) }, '10:20')
      expect(await counter('10:00', '10:30')).toEqual([
        ['Player1', 4, 'exact'],
        ['Player2', 3, 'clamped'],
        ['Player4', 2, 'at_least'],
        ['Player3', null, 'unknown'],
      ])
      expect(await counter('10:10', '10:20')).toEqual([
        // From 0 to 53, after 50: what was counted before is not counted twice.
        ['Player2', 3, 'clamped'],
        ['Player4', 2, 'exact'],
        ['Player1', 0, 'exact'],
        ['Player3', null, 'unknown'],
      ])
      expect(await counter('09:00', '11:00')).toEqual([
        ['Player1', 4, 'at_least'],
        ['Player2', 3, 'at_least'],
        ['Player4', 2, 'at_least'],
        ['Player3', null, 'unknown'],
      ])
      expect((await counter('10:30', '11:00')).map((row) => row.slice(1))).toEqual([
        [null, 'unknown'],
        [null, 'unknown'],
        [null, 'unknown'],
        [null, 'unknown'],
      ])
    })

    test('counts on from the number with which somebody came back, also when it is the one of before', async () => {
      const owner = { 1: { rank: 'owner' } }
      await sync({ ...owner, 2: counted(50, { joined: '09:00' }) }, '10:00')
      for (const when of ['10:10', '10:20']) await sync(owner, when)
      await sync({ ...owner, 2: counted(50, { joined: '10:25' }) }, '10:30')
      await sync({ ...owner, 2: counted(55, { joined: '10:25' }) }, '10:40')
      expect((await counter('10:25', '10:50'))[0]).toEqual(['Player2', 5, 'at_least'])
      expect((await counter('10:35', '10:50'))[0]).toEqual(['Player2', 5, 'exact'])
    })

    test('counts what is counted since joining from zero, as the contribution does', async () => {
      await sync({ 1: { rank: 'owner', contributed: 10 } }, '10:00')
      await sync({ 1: { rank: 'owner', contributed: 30 }, 2: { joined: '10:05', contributed: 7 } }, '10:10')
      expect(await counter('10:00', '10:20', 'contributed')).toEqual([
        ['Player1', 20, 'exact'],
        ['Player2', 7, 'exact'],
      ])
      const contribution = `select username, contributed, quality from analytics.member_contribution('${a}', ${at('10:00')}, ${at('10:20')})`
      expect(await counter('10:00', '10:20', 'contributed')).toEqual(await rows(contribution))
    })
  })
})
