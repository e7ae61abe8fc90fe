import { describe, expect, test } from 'vitest'
import { leaderboards } from '../../src/resources/leaderboards/index.ts'
import { guildBody, guildId, openMember, playerId, syncGuild } from '../support/guild-answers.ts'
import { onlineBody, profile, syncOnline, syncPlayer } from '../support/player-answers.ts'
import { kindsOfLongTests } from '../support/postgres.ts'
import { worldOf } from '../support/world.ts'

const shown = {
  playtime: 7,
  firstJoin: '2014-11-11T00:00:00.000Z',
  online: true,
  server: 'EU1',
  lastJoin: '09:00',
  characters: {},
}

describe.each(kindsOfLongTests)('a NULL in a view has its reason beside it, on the %s database,', (kind) => {
  const world = worldOf(kind)
  const player = () => world.rows('select playtime_hours, first_join, online, restricted from analytics.player')
  const member = () => world.rows('select online, server, restricted from analytics.guild_member')
  const memberIs = (fields: object) => guildBody('a', { 1: { rank: 'owner', ...fields } })

  test('also when a guild says it of a player', async () => {
    await syncPlayer(world, 1, profile(1, shown), '10:00')
    expect(await player()).toEqual([[7, expect.anything(), true, []]])
    await syncGuild(world, memberIs({ restrictions: { main_access: true, online_status: true } }), '10:10')
    expect(await player()).toEqual([[null, null, null, ['mainAccess', 'onlineStatus']]])
    for (const at of ['10:20', '10:25']) await syncGuild(world, memberIs(openMember), at)
    await syncPlayer(world, 1, profile(1, shown), '10:30')
    expect(await player()).toEqual([[7, expect.anything(), true, []]])
  })

  test('also when the API refuses the profile', async () => {
    await syncPlayer(world, 1, profile(1, shown), '10:00')
    for (const at of ['10:10', '10:20']) await syncPlayer(world, 1, null, at, 403)
    expect(await player()).toEqual([[null, null, true, ['mainAccess']]])
  })

  test('also when the profile says it of a member', async () => {
    await syncGuild(world, memberIs({ online: true, server: 'EU1' }), '10:00')
    await syncPlayer(world, 1, profile(1, { restrictions: { onlineStatus: true } }), '10:10')
    expect(await member()).toEqual([[null, null, ['onlineStatus']]])
    const activity = `select status, reason from analytics.member_activity('${guildId('a')}', '2026-06-01 10:20Z')`
    expect(await world.rows(activity)).toEqual([['unknown', 'hides whether online']])
  })

  test('the time online of who hides it is unknown, not zero, before and after that is confirmed', async () => {
    const hides = profile(1, { online: undefined, server: undefined, restrictions: { onlineStatus: true } })
    const playtime = () =>
      world.rows(
        `select seconds_min, seconds_max from analytics.player_playtime('${playerId(1)}', '2026-06-01Z', '2026-06-01 12:00Z')`,
      )
    await syncPlayer(world, 1, profile(1, { online: true, server: 'EU1' }), '09:59')
    for (const at of ['10:00', '10:01', '10:02', '10:03']) await syncOnline(world, onlineBody({ EU1: [1] }), at)
    expect(await playtime()).toEqual([[180, expect.any(Number)]])
    await syncPlayer(world, 1, hides, '10:04')
    expect(await world.rows('select is_pending from sync.privacy_restriction')).toEqual([[true]])
    const pending = await playtime()
    await syncPlayer(world, 1, hides, '10:14')
    expect(await world.rows('select is_pending from sync.privacy_restriction')).toEqual([[false]])
    for (const [row] of [pending, await playtime()]) expect([row?.[0], Number(row?.[1]) >= 180]).toEqual([0, true])
  })

  test('the former guilds of who hides them, from the first response on, with or without a profile', async () => {
    const other = (players: Parameters<typeof guildBody>[1]) => guildBody('b', players)
    const guilds = (nth: number) =>
      world.rows(`select guild_uuid from analytics.player_biography('${playerId(nth)}') order by valid_from`)
    const moves = () =>
      world.rows(
        'select event, guild_uuid, username, other_guild_uuid from analytics.membership_event order by at, username, event',
      )
    const contributors = () =>
      world.rows(
        `select username from analytics.member_contribution('${a}', '2026-06-01 10:05Z', '2026-06-01 12:00Z') order by 1`,
      )
    const [a, b] = [guildId('a'), guildId('b')]
    const former = (nth: number) => ({ [nth]: { joined: '10:05' } })
    // Both were in guild a, and are in guild b; only the first one has a profile.
    await syncGuild(world, guildBody('a', { 9: { rank: 'owner' } }), '10:00')
    await syncGuild(world, other({ 8: { rank: 'owner' } }), '10:00')
    await syncGuild(world, guildBody('a', { 9: { rank: 'owner' }, ...former(1), ...former(2) }), '10:10')
    await syncPlayer(
      world,
      1,
      profile(1, { guild: { uuid: a, name: 'Guild a', prefix: 'aaa', rank: 'RECRUIT' } }),
      '10:12',
    )
    await syncGuild(world, guildBody('a', { 9: { rank: 'owner' } }), '10:20')
    await syncGuild(world, guildBody('a', { 9: { rank: 'owner' } }), '10:30')
    const members = (fields: object) =>
      other({ 8: { rank: 'owner' }, 1: { joined: '10:35', ...fields }, 2: { joined: '10:35', ...fields } })
    await syncGuild(world, members({}), '10:40')
    await syncPlayer(
      world,
      1,
      profile(1, { guild: { uuid: b, name: 'Guild b', prefix: 'bbb', rank: 'RECRUIT' } }),
      '10:42',
    )
    expect([await guilds(1), await guilds(2)]).toEqual([
      [[a], [b]],
      [[a], [b]],
    ])
    const active = () =>
      world.rows(`select username from analytics.member_activity('${a}', '2026-06-01 10:15Z') order by 1`)
    expect([await contributors(), await active()]).toEqual(Array(2).fill([['Player1'], ['Player2'], ['Player9']]))
    const all = await moves()
    expect(all.filter(([, guild]) => guild === a).length).toBe(4)
    expect(all.filter(([event, , , from]) => event === 'joined' && from === a).length).toBe(2)
    await syncGuild(world, members({ restrictions: { guildHistoryAccess: true } }), '10:50')
    expect(await world.rows('select distinct field_group, is_pending from sync.privacy_restriction')).toEqual([
      ['guildHistoryAccess', true],
    ])
    expect([await guilds(1), await guilds(2)]).toEqual([[[null], [b]], [[b]]])
    expect([await contributors(), await active()]).toEqual(Array(2).fill([['Player9']]))
    expect((await moves()).filter((move) => move.includes(a))).toEqual([])
    expect((await moves()).filter(([event]) => event === 'joined').length).toBe(2)
  })

  test('from the first response on, before another one confirms it and what is kept is removed', async () => {
    const counter = (name: string) =>
      world.rows(
        `select delta, quality from analytics.member_counter('${guildId('a')}', '${name}', '2026-06-01 10:05Z', '2026-06-01 10:25Z')`,
      )
    const wars = (amount: number) => memberIs({ contributed: amount, globalData: { wars: amount } })
    const evidence = () => world.rows('select online, told_by from analytics.player_evidence order by 2')
    const place = () =>
      world.rows(
        `select place, entity, name, reason from analytics.leaderboard_at('warsCompletion', '2026-06-01 12:00Z')`,
      )
    const ranks = () =>
      world.rows(
        `select at, place from analytics.leaderboard_history('warsCompletion', '${playerId(1)}', '2026-06-01Z', '2026-06-02Z')`,
      )
    const entry = { uuid: playerId(1), name: 'Player1', score: 5, metaScore: 1, previousRanking: 1, restricted: false }
    world.sandbox.setAnswer('/leaderboards/types', () => ({ body: ['warsCompletion'] }))
    world.sandbox.setAnswer('/leaderboards/warsCompletion', () => ({ body: { 1: entry } }))
    await world.syncNow(leaderboards)
    await syncPlayer(world, 1, profile(1, shown), '10:00')
    await syncGuild(world, wars(5), '10:00')
    await syncGuild(world, wars(9), '10:10')
    expect(await counter('wars')).toEqual([[4, 'exact']])
    expect(await evidence()).toEqual([
      [false, 'guild'],
      [true, 'player'],
    ])
    expect(await place()).toEqual([[1, playerId(1), 'Player1', null]])
    expect(await ranks()).toHaveLength(1)
    const hides = { restrictions: { mainAccess: true, onlineStatus: true } }
    await syncPlayer(world, 1, profile(1, hides), '10:20')
    expect(await world.rows('select distinct is_pending from sync.privacy_restriction')).toEqual([[true]])
    expect(await counter('wars')).toEqual([[null, 'unknown']])
    expect(await counter('contributed')).toEqual([[4, 'exact']])
    expect(await evidence()).toEqual([])
    // Of an instant before, too: what was seen then is to be removed.
    const before = `select last_seen, reason from analytics.member_activity('${guildId('a')}', '2026-06-01 10:15Z')`
    expect(await world.rows(before)).toEqual([[null, 'hides whether online']])
    expect(await place()).toEqual([[1, null, null, 'redacted']])
    expect(await ranks()).toEqual([])
    // It was a mistake: nothing is lost.
    for (const at of ['10:30', '10:40']) await syncPlayer(world, 1, profile(1, shown), at)
    expect([await counter('wars'), await place(), await ranks()]).toMatchObject([
      [[4, 'exact']],
      [[1, playerId(1), 'Player1', null]],
      [{ length: 2 }],
    ])
  })
})
