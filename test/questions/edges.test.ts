import { describe, expect, test } from 'vitest'
import { seasons } from '../../src/resources/seasons/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { setExpectedInterval as expectEvery } from '../../src/sync/ledger/gaps.ts'
import { guildBody, guildId, type MemberFields, place, playerId, syncGuild } from '../support/guild-answers.ts'
import { onlineBody, syncOnline } from '../support/player-answers.ts'
import { kindsOfLongTests } from '../support/postgres.ts'
import { worldOf } from '../support/world.ts'

const [a, _b] = ['a', 'b'].map(guildId)
const at = (time: string, day = '01') => `timestamptz '2026-06-${day}T${time}Z'`

describe.each(kindsOfLongTests)('at the edges, on the %s database,', (kind) => {
  const world = worldOf(kind)
  const { rows } = world
  const guild = (letter: string, players: Readonly<Record<number, MemberFields>>, when: string, fields = {}) =>
    syncGuild(world, guildBody(letter, players, fields), when)

  describe('an interval holds its beginning and not its end:', () => {
    test('of a list of who is online at 10:00 and 10:01', async () => {
      await syncOnline(world, onlineBody({ EU1: [1, 2] }, 1), '10:00')
      await syncOnline(world, onlineBody({ EU1: [1, 2, 3] }, 0), '10:01')
      const total = (from: string, to: string) =>
        rows(`select total_avg, total_max, hidden_avg from analytics.online_total(${at(from)}, ${at(to)}, '1 minute')`)
      expect(await total('10:00', '10:01')).toEqual([[3, 3, 1]])
      // The last answer holds for the 30 seconds that it is cached.
      expect(await total('10:01', '10:02')).toEqual([[3, 3, 0]])
      expect(await total('09:59', '10:00')).toEqual([[null, null, null]])
      const peak = (from: string, to: string) =>
        rows(`select online_avg, online_max from analytics.world_peak(${at(from)}, ${at(to)})`)
      expect(await peak('10:00', '10:01')).toEqual([[2, 2]])
      expect(await peak('10:00', '10:02')).toEqual([[(2 * 60 + 3 * 30) / 90, 3]])
      expect(await peak('09:00', '10:00')).toEqual([])
      const played = (from: string, to: string) =>
        rows(`select seconds_min from analytics.player_playtime('${playerId(1)}', ${at(from)}, ${at(to)})`)
      expect(await played('10:00', '10:01')).toEqual([[60]])
      expect(await played('10:00:10', '10:00:40')).toEqual([[30]])
      expect(await played('10:01', '10:02')).toEqual([[0]])
      // A period without any time has no row, also where it lies in an hour or a day.
      for (const [from, to] of [
        ['10:00:10', '10:00:10'],
        ['10:00:40', '10:00:10'],
      ] as const) {
        expect([await played(from, to), await total(from, to), await peak(from, to)]).toEqual([[], [], []])
        expect(await rows(`select hour from analytics.coverage('online-players', ${at(from)}, ${at(to)})`)).toEqual([])
      }
    })

    test('of answers about a guild at 10:00 and 11:00, and of who joined at 10:30', async () => {
      await guild('a', { 1: { rank: 'owner', globalData: { wars: 5 } } }, '10:00', { online: 2 })
      const newcomer = { joined: '10:30', globalData: { wars: 1 } }
      await guild('a', { 1: { rank: 'owner', globalData: { wars: 7 } }, 2: newcomer }, '11:00', { online: 9 })
      const heat = (from: string, to: string) =>
        rows(`select hour, online_max from analytics.guild_online_heatmap('${a}', ${at(from)}, ${at(to)})`)
      expect(await heat('10:00', '11:00')).toEqual([[10, 2]])
      expect(await heat('11:00', '11:01')).toEqual([[11, 9]])
      expect([await heat('11:00:30', '11:00:30'), await heat('11:00:30', '11:00:10')]).toEqual([[], []])
      const risen = (from: string, to: string) =>
        rows(
          `select username, delta, quality from analytics.member_counter('${a}', 'wars', ${at(from)}, ${at(to)}) order by 1`,
        )
      for (const from of ['10:00', '10:00:01'])
        expect(await risen(from, '11:00')).toEqual([
          ['Player1', 2, 'exact'],
          ['Player2', 0, 'at_least'],
        ])
      expect(await risen('10:00:01', '10:59:59')).toEqual([['Player1', null, 'unknown']])
      expect(await risen('11:00', '11:01')).toEqual([
        ['Player1', 0, 'exact'],
        ['Player2', 0, 'exact'],
      ])
      const joined = (from: string, to: string) =>
        rows(`select joined from analytics.member_retention('${a}', ${at(from)}, ${at(to)})`)
      expect(await joined('10:30', '10:31')).toEqual([[1]])
      expect(await joined('10:00', '10:30')).toEqual([])
      const members = (when: string) =>
        rows(`select username from analytics.member_activity('${a}', ${at(when)}) order by 1`)
      expect(await members('10:59:59')).toEqual([['Player1']])
      expect(await members('11:00')).toEqual([['Player1'], ['Player2']])
    })
  })

  test('an open hold goes on for ever; over a gap the game itself tells when it began', async () => {
    await world.sync(territories, { Oak: place('a', '08:00'), Elm: place(null, null) }, '10:00')
    await world.sync(territories, { Oak: place('b', '12:00'), Elm: place(null, null) }, '15:00')
    const owner = (when: string) => rows(`select guild_name from analytics.territory_owner_at('Oak', ${when})`)
    // Nobody looked from 10:00 to 15:00, and yet it is known.
    expect(await owner(at('11:59:59'))).toEqual([['Guild a']])
    expect(await owner(at('12:00'))).toEqual([['Guild b']])
    expect(await owner(at('23:00'))).toEqual([['Guild b']])
    expect(await rows(`select territory, guild_name from analytics.map_at(${at('23:00')})`)).toEqual([
      ['Elm', null],
      ['Oak', 'Guild b'],
    ])
    const counted = (from: string, until: string) =>
      rows(
        `select guild_name, territories from analytics.guild_territory_count(${from}, ${until}, interval '12 hours')`,
      )
    expect(await counted(at('15:00'), at('15:01'))).toEqual([['Guild b', 1]])
    expect(await counted(`timestamptz '2030-01-01Z'`, `timestamptz '2030-01-02Z'`)).toEqual([])
  })

  test('time that nobody held a place counts for nobody, in counts and in the rating of a season', async () => {
    await expectEvery(world.db, { resource: 'territories', everySeconds: 3600, setBy: 'sync', at: new Date(0) })
    const season = { territoryHoldingSrPerHour: 100, srPerWar: 10, initDate: '2026-06-01T10:00:00Z' }
    await world.sync(seasons, { 30: { ...season, endDate: '2026-07-01T10:00:00Z' } }, '09:00')
    await world.sync(territories, { Oak: place('a', '08:00') }, '10:00')
    for (const when of ['11:00', '12:00']) await world.sync(territories, { Oak: place(null, null) }, when)
    await world.sync(territories, { Oak: place('b', '12:30') }, '13:00')
    expect(
      await rows('select guild_name, holding_estimate, coverage from analytics.season_rating(30) order by 1'),
    ).toEqual([
      ['Guild a', 100, 1],
      ['Guild b', 50, 1],
    ])
    expect(
      await rows(
        `select at, guild_name from analytics.guild_territory_count(${at('10:00')}, ${at('13:00')}, interval '1 hour')`,
      ),
    ).toEqual([['10:00', 'Guild a']])
  })
})
