import { describe, expect, test } from 'vitest'
import { guildList } from '../../src/resources/guild-list/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import {
  guildBody,
  guildId,
  type MemberFields,
  place,
  playerId,
  syncGuild,
  syncGuilds,
} from '../support/guild-answers.ts'
import { onlineBody, profile, syncOnline, syncPlayer } from '../support/player-answers.ts'
import { kindsOfLongTests } from '../support/postgres.ts'
import { instantOf, worldOf } from '../support/world.ts'

const [a, b] = ['a', 'b'].map(guildId)
const at = (time: string, day = '01') => `timestamptz '2026-06-${day}T${time}Z'`

describe.each(kindsOfLongTests)('guilds that change, end or hide, on the %s database,', (kind) => {
  const world = worldOf(kind)
  const { rows } = world
  const guild = (letter: string, players: Readonly<Record<number, MemberFields>>, when: string, fields = {}) =>
    syncGuild(world, guildBody(letter, players, fields), when)
  /** From now on the API knows no such guild; it is asked once. */
  const gone = async (letter: string, when: string) => {
    await world.clock.advanceTo(instantOf(when))
    const body = { error: 'NotFound', detail: 'There is none.', code: 404 }
    world.sandbox.setAnswer(`/guild/uuid/${guildId(letter)}`, () => ({ status: 404, body }))
    await syncGuilds(world, { keys: [guildId(letter)] })
  }

  test('a guild that takes another name is one guild, called as it was at the time', async () => {
    const named = (name: string) => ({ guild: { uuid: a, name, prefix: name.slice(0, 3).toUpperCase() } })
    await world.sync(guildList, { [String(a)]: { name: 'Before', prefix: 'BEF' } }, '09:59')
    await world.sync(
      territories,
      { Oak: { ...place('a', '08:00'), ...named('Before') }, Elm: place('b', '09:00') },
      '10:00',
    )
    await guild('a', { 1: { rank: 'owner' } }, '10:01', { name: 'Before' })
    await world.sync(
      territories,
      { Oak: { ...place('a', '08:00'), ...named('After') }, Elm: place('b', '09:00') },
      '11:00',
    )
    await guild('a', { 1: { rank: 'owner' }, 2: { joined: '10:30' } }, '11:01', { name: 'After' })
    await world.sync(guildList, { [String(a)]: { name: 'After', prefix: 'AFT' } }, '11:02')
    await world.sync(
      territories,
      { Oak: { ...place('a', '11:30'), ...named('After') }, Elm: { ...place('a', '11:31'), ...named('After') } },
      '12:00',
    )
    // A name is no capture, and the hold keeps the one under which it was first seen.
    expect(
      await rows('select territory, guild_name, guild_prefix, held_from from analytics.territory_hold order by 1, 4'),
    ).toEqual([
      ['Elm', 'Guild b', 'bbb', '09:00'],
      ['Elm', 'After', 'AFT', '11:31'],
      ['Oak', 'Before', 'BEF', '08:00'],
      ['Oak', 'After', 'AFT', '11:30'],
    ])
    expect(
      await rows(
        `select territory, from_guild_name, to_guild_name, is_recapture from analytics.territory_capture order by 1`,
      ),
    ).toEqual([
      ['Elm', 'Guild b', 'After', false],
      ['Oak', 'Before', 'After', true],
    ])
    expect(
      await rows(
        `select attacker_uuid, attacker, defender, captures from analytics.capture_matrix(${at('10:00')}, ${at('13:00')}) order by 3`,
      ),
    ).toEqual([
      [a, 'After', 'Before', 1],
      [a, 'After', 'Guild b', 1],
    ])
    expect(await rows('select event, guild_name from analytics.membership_event')).toEqual([['joined', 'After']])
    expect(await rows('select name, prefix from analytics.guild')).toEqual([['After', 'AFT']])
    expect(
      await rows(`select valid_from, valid_until, guild_name from analytics.player_biography('${playerId(1)}')`),
    ).toEqual([['10:01', null, 'Before']])
  })

  test('a guild that disbanded and was founded again under its name is another guild', async () => {
    const map = (letter: string, since: string) => ({
      Oak: { ...place(letter, since), guild: { uuid: guildId(letter), name: 'Phoenix', prefix: 'PHX' } },
    })
    const phoenix = { name: 'Phoenix', prefix: 'PHX' }
    await world.sync(guildList, { [String(a)]: phoenix }, '09:59')
    await world.sync(territories, map('a', '08:00'), '10:00')
    await guild('a', { 1: { rank: 'owner', contributed: 500 }, 2: {} }, '10:01', phoenix)
    await gone('a', '10:10')
    await world.sync(territories, { Oak: place(null, null) }, '10:11')
    await gone('a', '10:20')
    await guild('b', { 1: { rank: 'owner', joined: '10:25', contributed: 3 } }, '10:30', phoenix)
    for (const when of ['10:59', '12:00']) await world.sync(guildList, { [String(b)]: phoenix }, when)
    await world.sync(territories, map('b', '10:40'), '11:00')
    await guild('b', { 1: { rank: 'owner', joined: '10:25', contributed: 8 } }, '12:30', phoenix)

    expect(await rows('select guild_uuid, name from analytics.guild')).toEqual([[b, 'Phoenix']])
    expect(await rows('select guild_uuid, player_uuid from analytics.guild_member')).toEqual([[b, playerId(1)]])
    expect(
      await rows(
        `select event, at, guild_uuid, guild_name, player_uuid, other_guild_uuid from analytics.membership_event order by 5, 1`,
      ),
    ).toEqual([
      ['left', '10:10', a, 'Phoenix', playerId(1), b],
      ['left', '10:10', a, 'Phoenix', playerId(2), null],
    ])
    expect(
      await rows(
        `select attacker_uuid, defender_uuid, captures from analytics.capture_matrix(${at('00:00')}, ${at('13:00')})`,
      ),
    ).toEqual([[b, null, 1]])
    expect(await rows('select guild_uuid, held_from, held_until from analytics.territory_hold order by 2')).toEqual([
      [a, '08:00', '10:11'],
      [b, '10:40', null],
    ])
    const given = (key = '') =>
      rows(
        `select player_uuid, contributed from analytics.member_contribution('${key}', ${at('10:00')}, ${at('13:00')})`,
      )
    expect(await given(a)).toEqual([
      [playerId(1), 0],
      [playerId(2), 0],
    ])
    // Who joined within gave all of it within.
    expect(await given(b)).toEqual([[playerId(1), 8]])
    expect(
      await rows(
        `select guild_uuid, valid_from, valid_until from analytics.player_biography('${playerId(1)}') order by 2`,
      ),
    ).toEqual([
      [a, '10:01', '10:10'],
      [b, '10:30', null],
    ])
    expect(await rows(`select count(*) from analytics.member_activity('${a}', ${at('12:00')})`)).toEqual([[0]])
  })

  test('who hides is in the numbers of the guild and of the service, and in no answer about the person', async () => {
    const hides = { restrictions: { onlineStatus: true, mainAccess: true } }
    await guild('a', { 1: { rank: 'owner', online: true }, 2: { ...hides, contributed: 4 } }, '10:00', { online: 2 })
    await syncOnline(world, onlineBody({ EU1: [1] }, 1), '10:00:10')
    await syncOnline(world, onlineBody({ EU1: [1] }, 1), '10:01')
    await guild('a', { 1: { rank: 'owner', online: true }, 2: { ...hides, contributed: 9 } }, '10:05', { online: 2 })
    await syncPlayer(world, 2, profile(2, hides), '10:06')
    const interval = `${at('10:00')}, ${at('11:00')}`
    expect(await rows(`select online_avg from analytics.guild_online_heatmap('${a}', ${interval})`)).toEqual([[2]])
    expect(await rows('select online, online_listed, hidden from analytics.guild')).toEqual([[2, 1, 1]])
    expect(await rows(`select total_avg, hidden_avg from analytics.online_total(${interval}, '1 hour')`)).toEqual([
      [2, 1],
    ])
    expect(
      await rows(
        `select username, status, reason from analytics.member_activity('${a}', ${at('10:30')}) where status = 'unknown'`,
      ),
    ).toEqual([['Player2', 'unknown', 'hides whether online']])
    expect(await rows(`select username, online, restricted from analytics.guild_member where online is null`)).toEqual([
      ['Player2', null, ['mainAccess', 'onlineStatus']],
    ])
    expect(
      await rows(
        `select username, delta, quality from analytics.member_counter('${a}', 'wars', ${interval}) where username = 'Player2'`,
      ),
    ).toEqual([['Player2', null, 'unknown']])
    // What was given to the guild is not hidden.
    expect(
      await rows(
        `select username, contributed from analytics.member_contribution('${a}', ${interval}) where contributed > 0`,
      ),
    ).toEqual([['Player2', 5]])
    expect(await rows(`select * from analytics.player_session where player_uuid = '${playerId(2)}'`)).toEqual([])
    const [played] = await rows(
      `select seconds_min, seconds_max from analytics.player_playtime('${playerId(2)}', ${at('10:00:10')}, ${at('10:01')})`,
    )
    expect(played).toEqual([0, 50])
  })
})
