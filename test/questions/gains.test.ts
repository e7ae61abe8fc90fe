import { beforeEach, describe, expect, test } from 'vitest'
import { sqlState } from '../../src/db/sql-errors.ts'
import { guildBody, guildId, playerId, syncGuild } from '../support/guild-answers.ts'
import { confirmPlayer, profile, syncPlayer } from '../support/player-answers.ts'
import { kindsAtNight } from '../support/postgres.ts'
import { instantOf, timeOf, worldOf } from '../support/world.ts'

/*
 * Gains worked out by hand: a guild and players that are asked for every ten minutes for some time, then not for hours.
 */

const guild = guildId('a')
const one = playerId(1)
const character = '11111111-0000-4000-8000-000000000001'
const other = '11111111-0000-4000-8000-000000000002'

const times = (from: string, count: number) =>
  Array.from({ length: count }, (_, nth) => timeOf(new Date(instantOf(from) + nth * 600_000)))

const instantOfDay = (day: string) => new Date(`${day}T00:00:00Z`)

describe.each(kindsAtNight)('on the %s database', (kind) => {
  const world = worldOf(kind)
  const instant = (at: string) => new Date(instantOf(at)).toISOString()

  const gained = async (kindOf: string, counter: string, entity: string, from: string, to: string) =>
    await world.db.values(
      `select gained, at_most, quality, round(coverage::numeric, 2)::float8 from analytics.gained($1, $2, $3, $4, $5)`,
      [kindOf, counter, entity, instant(from), instant(to)],
    )
  const timeline = async (counter: string, from: string, to: string, step: string) =>
    await world.db.values(
      `select to_char(at at time zone 'UTC', 'HH24:MI'), value, gained, quality, round(coverage::numeric, 2)::float8
         from analytics.timeline('guild', $1, 'aaa', $2, $3, $4::text::interval)`,
      [counter, instant(from), instant(to), step],
    )
  const refusal = async (text: string) =>
    await world.db.query(`select * from analytics.${text}`).then(
      () => 'answered',
      (error: unknown) => `${sqlState(error)} ${error instanceof Error ? error.message : ''}`,
    )

  describe('a guild', () => {
    // Watched 10:00 .. 11:00 and 14:00 .. 15:00.
    const wars = [10, 10, 12, 12, 15, 15, 15, 30, 30, 31, 31, 31, 34, 34]
    const online = [3, 3, 5, 5, 2, 2, 2, 9, 9, 9, 1, 1, 1, 1]
    beforeEach(async () => {
      for (const [nth, at] of [...times('10:00', 7), ...times('14:00', 7)].entries())
        await syncGuild(world, guildBody('a', { 1: { rank: 'owner' } }, { wars: wars[nth], online: online[nth] }), at)
    })

    test('gained what responses show that lie close around both borders', async () => {
      expect(await gained('guild', 'wars', guild, '10:05', '10:45')).toEqual([[5, 5, 'exact', 1]])
      expect(await gained('guild', 'wars', 'Guild a', '10:10', '10:30')).toEqual([[2, 2, 'exact', 1]])
      // Both borders are watched, and what lies between came in between.
      expect(await gained('guild', 'wars', 'aaa', '10:05', '14:35')).toEqual([[21, 21, 'exact', 0.33]])
    })

    test('gained at least what responses within show, and at most what those around show', async () => {
      expect(await gained('guild', 'wars', guild, '12:00', '14:30')).toEqual([[1, 16, 'at_least', 0.2]])
      expect(await gained('guild', 'wars', guild, '10:15', '13:00')).toEqual([[3, 20, 'at_least', 0.27]])
      // Nothing is known of the time before the first response, nor after the last.
      expect(await gained('guild', 'wars', guild, '09:00', '10:45')).toEqual([[5, null, 'at_least', 0.43]])
      expect(await gained('guild', 'wars', guild, '14:15', '18:00')).toEqual([[3, null, 'at_least', 0.2]])
      expect(await gained('guild', 'wars', guild, '11:30', '13:30')).toEqual([[null, null, 'unknown', 0]])
    })

    test('has differences of what goes up and down, and no bounds of them', async () => {
      expect(await gained('guild', 'online', guild, '10:05', '10:45')).toEqual([[-1, -1, 'exact', 1]])
      expect(await gained('guild', 'online', guild, '12:00', '14:35')).toEqual([[null, null, 'unknown', 0.23]])
    })

    test('develops step by step, and nothing of a gap is in one of them', async () => {
      expect(await timeline('wars', '10:00', '15:00', '30 minutes')).toEqual([
        ['10:00', 10, 2, 'exact', 1],
        ['10:30', 12, 3, 'exact', 1],
        ['11:00', 15, 0, 'at_least', 0],
        ...['11:30', '12:00', '12:30', '13:00'].map((at) => [at, null, null, 'unknown', 0]),
        ['13:30', null, 0, 'at_least', 0],
        ['14:00', 30, 1, 'exact', 1],
        ['14:30', 31, 3, 'exact', 1],
      ])
      expect((await timeline('online', '10:00', '10:20', '10 minutes')).map((row) => row.slice(1, 3))).toEqual([
        [3, 0],
        [3, 2],
      ])
    })

    test('that did not send a counter is unknown, neither 0 nor as before', async () => {
      await syncGuild(world, guildBody('a', { 1: { rank: 'owner' } }, { wars: null }), '15:10')
      await syncGuild(world, guildBody('a', { 1: { rank: 'owner' } }, { wars: null }), '15:20')
      expect(await gained('guild', 'wars', guild, '15:05', '15:20')).toEqual([[null, null, 'unknown', 0]])
      expect(await gained('guild', 'wars', guild, '14:25', '15:15')).toEqual([[3, null, 'at_least', 0.7]])
      expect((await timeline('wars', '15:10', '15:20', '5 minutes')).map((row) => row[1])).toEqual([null, null])
      await syncGuild(world, guildBody('a', { 1: { rank: 'owner' } }, { wars: 40 }), '15:30')
      expect(await gained('guild', 'wars', guild, '14:25', '15:30')).toEqual([[9, 9, 'exact', 0.54]])
      expect(await gained('guild', 'wars', guild, '15:02', '15:30')).toEqual([[0, 6, 'at_least', 0]])
    })

    test('has members with gains of their own, as member_counter says them', async () => {
      for (const [nth, at] of times('02 10:00', 7).entries()) {
        const members = {
          1: { rank: 'owner', contributed: 100 + nth * 10, globalData: { wars: nth } },
          // Joins while it is watched, so that all of it is of then on.
          ...(nth < 2 ? {} : { 2: { joined: '02 10:15', contributed: nth * 5, globalData: { wars: 50 } } }),
        }
        await syncGuild(world, guildBody('a', members), at)
      }
      const own = async (counter: string, player: string) =>
        await gained('member', counter, `aaa/${player}`, '02 10:05', '02 10:45')
      expect(await own('contributed', 'Player1')).toEqual([[40, 40, 'exact', 1]])
      // No response shows a member before joining.
      expect(await own('contributed', playerId(2))).toEqual([[20, 20, 'exact', 0.63]])
      expect(await own('wars', 'player1')).toEqual([[4, 4, 'exact', 1]])
      for (const counter of ['contributed', 'wars'])
        for (const number of [1, 2]) {
          const [said] = await world.db.values(
            `select delta, at_most, quality from analytics.member_counter($1, $2, $3, $4) where player_uuid = $5`,
            [guild, counter, instant('02 10:05'), instant('02 10:45'), playerId(number)],
          )
          expect((await own(counter, playerId(number)))[0]?.slice(0, 3)).toEqual(said)
        }
      const top = await world.db.values(
        `select place, entity, name, gained, quality from analytics.top_gained('member', 'contributed', $1, $2)`,
        [instant('02 10:05'), instant('02 10:45')],
      )
      expect(top).toEqual([
        [1, `${guild}/${one}`, 'Player1', 40, 'exact'],
        [2, `${guild}/${playerId(2)}`, 'Player2', 20, 'exact'],
      ])
      const steps = await world.db.values(
        `select gained, quality from analytics.timeline('member', 'contributed', $1, $2, $3, '20 minutes')`,
        [`${guild}/${one}`, instant('02 10:00'), instant('02 11:00')],
      )
      expect(steps).toEqual(Array(3).fill([20, 'exact']))
    })

    test('has a best day, week and month, by what is certain', async () => {
      // The first day ends in a gap, and begins before the first response.
      expect(await world.db.values(`select * from analytics.best('guild', 'wars', 'aaa')`)).toEqual([
        ['day', instantOfDay('2026-06-01'), 24, 'at_least', null],
        ['week', instantOfDay('2026-06-01'), 24, 'at_least', null],
        ['month', instantOfDay('2026-06-01'), 24, 'at_least', null],
      ])
      await syncGuild(world, guildBody('a', { 1: { rank: 'owner' } }, { wars: 40 }), '02 23:50')
      await syncGuild(world, guildBody('a', { 1: { rank: 'owner' } }, { wars: 41 }), '03 00:00')
      await syncGuild(world, guildBody('a', { 1: { rank: 'owner' } }, { wars: 71 }), '03 00:10')
      await syncGuild(world, guildBody('a', { 1: { rank: 'owner' } }, { wars: 72 }), '04 00:00')
      expect(
        await world.db.values(`select period, from_time, gained, quality from analytics.best('guild', 'wars', 'aaa')`),
      ).toEqual([
        ['day', instantOfDay('2026-06-03'), 31, 'exact'],
        ['week', instantOfDay('2026-06-01'), 62, 'at_least'],
        ['month', instantOfDay('2026-06-01'), 62, 'at_least'],
      ])
    })

    test('is among others in the order of what is certain', async () => {
      for (const [nth, at] of times('10:00', 4).entries()) {
        await syncGuild(world, guildBody('b', { 1: { rank: 'owner' } }, { wars: 3 * nth }), at)
        await syncGuild(world, guildBody('c', { 1: { rank: 'owner' } }, { wars: 100 }), at)
      }
      const top = async (from: string, to: string, n: number) =>
        await world.db.values(
          `select place, name, gained, quality, at_most from analytics.top_gained('guild', 'wars', $1, $2, $3)`,
          [instant(from), instant(to), n],
        )
      expect(await top('10:05', '10:25', 10)).toEqual([
        [1, 'Guild b', 6, 'exact', 6],
        [2, 'Guild a', 2, 'exact', 2],
      ])
      expect(await top('10:05', '10:25', 1)).toEqual([[1, 'Guild b', 6, 'exact', 6]])
      expect(await top('10:05', '14:35', 1_000_000_000)).toEqual([
        [1, 'Guild a', 21, 'exact', 21],
        [2, 'Guild b', 6, 'at_least', null],
      ])
      expect(await top('10:05', '14:35', 0)).toEqual([])
      expect(await refusal(`top_gained('guild', 'warz', '2026-06-01', '2026-06-02', 5)`)).toMatch(/^22023 no counter/)
    })

    test('says of the first how they were found: one that began again between two instants may be missing', async () => {
      for (const letter of ['b', 'c', 'e'] as const)
        for (const [nth, at] of times('10:00', 7).entries())
          await syncGuild(world, guildBody(letter, { 1: { rank: 'owner' } }, { wars: 20 * nth }), at)
      const top = async (n: number) =>
        await world.db.values(`select place, gained, found_by from analytics.top_gained('guild', 'wars', $1, $2, $3)`, [
          instant('09:59'),
          instant('12:00'),
          n,
        ])
      // All of the four are worked out, or the first three alone.
      expect(await top(1)).toEqual([[1, 120, 'instants']])
      expect(await top(10)).toEqual([...Array(3).fill([1, 120, 'all']), [4, 5, 'all']])
    })

    test('was the first to reach a number after the last response that shows less', async () => {
      await syncGuild(world, guildBody('b', { 1: { rank: 'owner' } }, { wars: 30 }), '15:10')
      await syncGuild(world, guildBody('c', { 1: { rank: 'owner' } }, { wars: 5 }), '15:10')
      await syncGuild(world, guildBody('c', { 1: { rank: 'owner' } }, { wars: null }), '15:20')
      await syncGuild(world, guildBody('c', { 1: { rank: 'owner' } }, { wars: 31 }), '15:30')
      const first = async (value: number, n: number) =>
        await world.db.values(
          `select place, name, to_char(at at time zone 'UTC', 'HH24:MI'), to_char(not_before at time zone 'UTC', 'HH24:MI')
             from analytics.first_to('guild', 'wars', $1, $2)`,
          [value, n],
        )
      expect(await first(20, 9)).toEqual([
        [1, 'Guild a', '14:00', '11:00'],
        [2, 'Guild b', '15:10', null],
        [3, 'Guild c', '15:30', '15:10'],
      ])
      expect(await first(10, 1)).toEqual([[1, 'Guild a', '10:00', null]])
      expect(await first(1000, 9)).toEqual([])
    })

    test('is asked with a kind, a counter and a name that there are; else it is said what there is', async () => {
      const period = `'2026-06-01', '2026-06-02'`
      expect(await refusal(`gained('gild', 'wars', 'aaa', ${period})`)).toMatch(/^22023 kind must be one of guild, /)
      expect(await refusal(`gained('guild', 'warz', 'aaa', ${period})`)).toMatch(
        /^22023 no counter of kind guild is called warz: there are hidden, level, members, online, .*wars/,
      )
      expect(await refusal(`gained('guild', 'wars', 'zzz', ${period})`)).toBe('22023 guild not found: zzz')
      expect(await refusal(`gained('character', 'xp', 'Player1', ${period})`)).toMatch(
        /^22023 entity of kind character must be player\/character/,
      )
      await syncGuild(world, guildBody('b', { 1: { rank: 'owner' } }, { prefix: 'aaa' }), '15:40')
      expect(await refusal(`gained('guild', 'wars', 'aaa', ${period})`)).toBe(
        `22023 several guilds have or had the name aaa: ${guild} (Guild a [aaa]), ${guildId('b')} (Guild b [aaa]); use a uuid`,
      )
    })

    test('has its numbers in the list of counters, each with a unit and a meaning', async () => {
      const rows = await world.db.values(
        `select counter, unit, entities::int, meaning from analytics.counter where kind = 'guild' and counter in ('wars', 'xp_percent') order by 1`,
      )
      expect(rows).toEqual([
        ['wars', 'wars', 1, "Wars by the guild's own count. NULL: the API did not send it."],
        ['xp_percent', 'percent', 1, 'Percent of the way to the next level.'],
      ])
      const columns = await world.db.values(
        `select count(*)::int from analytics.counter one where one.kind = 'guild'
            and exists (select from analytics.counter_series('guild', $1, null, one.counter, 'infinity', 'infinity') known where known.value is not null)`,
        [guild],
      )
      // Each numeric column of game.guild_sample.
      expect(columns).toEqual([[9]])
    })
  })

  describe('a player', () => {
    const body = (wars: number, fishing: number | null, fields: object = {}) =>
      profile(1, {
        globalData: { wars, totalLevel: 100 },
        characters: {
          [character]: {
            type: 'ARCHER',
            nickname: 'Bowman',
            level: 20,
            xp: wars * 100,
            gamemode: [],
            professions: fishing === null ? {} : { fishing: { level: fishing, xpPercent: (wars * 10) % 100 } },
          },
          [other]: { type: 'MAGE', level: 1, xp: 0, gamemode: [] },
        },
        ...fields,
      })

    test('gained in counters of all characters, of one, and in a profession', async () => {
      for (const [nth, at] of times('10:00', 7).entries()) await syncPlayer(world, 1, body(nth, 10 + nth), at)
      expect(await gained('player', 'wars', 'player1', '10:05', '10:45')).toEqual([[4, 4, 'exact', 1]])
      expect(await gained('character', 'xp', 'Player1/bowman', '10:05', '10:45')).toEqual([[400, 400, 'exact', 1]])
      expect(await gained('character', 'xp', `${one}/${other}`, '10:05', '10:45')).toEqual([[0, 0, 'exact', 1]])
      expect(await gained('profession', 'fishing', 'Player1/archer', '10:05', '10:45')).toEqual([[4, 4, 'exact', 1]])
      expect(await gained('profession', 'fishing.xpPercent', 'Player1/archer', '10:05', '10:45')).toEqual([
        [40, 40, 'exact', 1],
      ])
      const [row] = await world.db.values(
        `select entity, name from analytics.gained('character', 'xp', 'Player1/Bowman', '2026-06-01Z', '2026-06-02Z')`,
      )
      expect(row).toEqual([`${one}/${character}`, 'Player1/Bowman'])
      const kinds = await world.db.values(
        `select kind, counter, unit from analytics.counter where kind <> 'guild' order by kind, counter collate "C"`,
      )
      expect(kinds).toEqual([
        ['character', 'xp', 'experience points'],
        ['player', 'totalLevel', 'levels'],
        ['player', 'wars', 'wars'],
        ['profession', 'fishing', 'levels'],
        ['profession', 'fishing.xpPercent', 'percent'],
      ])
    })

    test('who hides is unknown, from the first response on that says so', async () => {
      for (const [nth, at] of times('10:00', 4).entries()) await syncPlayer(world, 1, body(nth, 10 + nth), at)
      expect(await gained('player', 'wars', one, '10:05', '10:25')).toEqual([[2, 2, 'exact', 1]])
      const mine = `${one}/${character}`
      const of = async () => [
        ...(await gained('player', 'wars', one, '10:05', '10:25')),
        ...(await gained('character', 'xp', mine, '10:05', '10:25')),
        ...(await gained('profession', 'fishing', mine, '10:05', '10:25')),
      ]
      const hides = (rules: object) => profile(1, { restrictions: { ...body(1, 1).restrictions, ...rules } })
      await syncPlayer(world, 1, hides({ mainAccess: true, characterDataAccess: true }), '10:40')
      const unknown = [null, null, 'unknown', 0]
      expect(await of()).toEqual([unknown, [200, 200, 'exact', 1], unknown])
      await confirmPlayer(world, 1, hides({ mainAccess: true, characterListAccess: true }), '11:00')
      expect(await of()).toEqual([unknown, unknown, unknown])
      expect(
        await world.db.values(
          `select count(*)::int from analytics.timeline('player', 'wars', $1, '2026-06-01Z', '2026-06-02Z', '1 hour')
            where value is not null or gained is not null`,
          [one],
        ),
      ).toEqual([[0]])
    })

    test('whose counter dipped is not counted twice, and one that began again is counted anew', async () => {
      for (const [nth, wars] of [50, 60, 5, 61, 70, 3, 4, 9].entries())
        await syncPlayer(world, 1, body(wars, 1), times('10:00', 8)[nth] ?? '')
      expect(await gained('player', 'wars', one, '10:05', '10:45')).toEqual([[20, null, 'clamped', 1]])
      expect(await gained('player', 'wars', one, '10:05', '11:10')).toEqual([[26, null, 'reset', 1]])
      expect(await gained('player', 'wars', one, '10:52', '11:10')).toEqual([[6, 6, 'exact', 1]])
    })
  })
})
