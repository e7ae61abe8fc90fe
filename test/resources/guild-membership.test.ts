import { afterEach, describe, expect, test } from 'vitest'
import { guildBody, guildId, type MemberFields, playerId, syncGuild } from '../support/guild-answers.ts'
import { kindsOfLongTests } from '../support/postgres.ts'
import { worldOf } from '../support/world.ts'

const members = `select player_uuid, username, rank, valid_from, valid_until from game.guild_member order by 1, 4`
const events = `select event, username, from_rank, to_rank, at, observed_at from analytics.membership_event order by 6, 5, 1 desc, 2`
const one = playerId(1)
const two = playerId(2)

type Members = Readonly<Record<number, MemberFields>>

describe.each(kindsOfLongTests)('memberships on the %s database', (kind) => {
  const world = worldOf(kind)
  const sync = (players: Members, at: string, fields: object = {}) =>
    syncGuild(world, guildBody('a', players, fields), at)
  const owner: Members = { 1: { rank: 'owner' } }

  // Whatever a test made happen: the same rows, from any instant on.
  afterEach(async () => {
    const other = await world.rows(
      `select since.at, row.* from (select distinct valid_from as at from game.guild_member union select '-infinity') since
        cross join lateral (
          (select 'not there', event::text from analytics.membership_event event where observed_at >= since.at
            except all select 'not there', event::text from analytics.membership_event_since(since.at) event)
          union all
          (select 'not true', event::text from analytics.membership_event_since(since.at) event
            except all select 'not true', event::text from analytics.membership_event event where observed_at >= since.at)) row`,
    )
    expect(other).toEqual([])
    // However few of the latest changes are read: what was first seen since then, and all of it in the end.
    const latest = await world.rows(
      `with change as (
         select row_number() over (order by at desc)::int as nth, at
           from (select valid_from as at from game.guild_member
                  union all select valid_until from game.guild_member where valid_until < 'infinity') changed)
       select nth, (select count(*)::int from analytics.membership_event_latest(nth)),
              (select count(*)::int from analytics.membership_event where observed_at >= change.at) from change`,
    )
    expect(latest.filter(([, found, wanted]) => found !== wanted)).toEqual([])
  })

  test('begin with the members there are, who did not just join', async () => {
    expect(await sync({ 1: { rank: 'owner' }, 2: { rank: 'captain' } }, '10:00')).toMatchObject({
      status: 'ok',
      events: 0,
    })
    expect(await world.rows(members)).toEqual([
      [one, 'Player1', 'owner', '10:00', 'infinity'],
      [two, 'Player2', 'captain', '10:00', 'infinity'],
    ])
    expect(await world.rows(events)).toEqual([])
  })

  test('tell who joined by the time the API gives, and who left after two answers without them, at the first', async () => {
    await sync(owner, '10:00')
    await sync({ ...owner, 2: { joined: '10:03' } }, '10:05')
    await sync(owner, '10:10')
    expect(await world.rows(events)).toEqual([['joined', 'Player2', null, 'recruit', '10:03', '10:05']])
    await sync(owner, '10:15')
    expect(await world.rows(events)).toEqual([
      ['joined', 'Player2', null, 'recruit', '10:03', '10:05'],
      ['left', 'Player2', 'recruit', null, '10:10', '10:10'],
    ])
  })

  test('have the same rank in whatever case it is sent, also where it was kept in another', async () => {
    const captain = (rank: string): Members => ({ 1: { rank: 'owner' }, 2: { rank } })
    await sync(captain('captain'), '10:00')
    await sync({ 1: { rank: 'Owner' }, 2: { rank: 'CAPTAIN' } }, '10:05')
    expect(await sync(captain('captain'), '10:10')).toMatchObject({ events: 0 })
    await sync(captain('Baron'), '10:15')
    expect((await world.rows(members)).map(([, , rank]) => rank)).toEqual(['owner', 'captain', 'baron'])
    await world.db.query(
      `update game.guild_member set rank = upper(rank), hash = '\\x00' where valid_until = 'infinity'`,
    )
    await sync(captain('baron'), '10:20', { level: 11 })
    expect((await world.rows(members)).map(([, , rank]) => rank)).toEqual([
      'OWNER',
      'owner',
      'captain',
      'BARON',
      'baron',
    ])
    expect(await world.rows(events)).toEqual([['demoted', 'Player2', 'captain', 'baron', '10:15', '10:15']])
  })

  test('do not lose a member that one answer lacks', async () => {
    const both = { ...owner, 2: {} }
    for (const [players, at] of [
      [both, '10:00'],
      [owner, '10:05'],
      [both, '10:10'],
      [owner, '10:15'],
      [both, '10:20'],
    ] as const)
      await sync(players, at)
    expect(await world.rows(events)).toEqual([])
    expect(await world.rows(`${members.replace('order', `where player_uuid = '${two}' order`)}`)).toEqual([
      [two, 'Player2', 'recruit', '10:00', 'infinity'],
    ])
  })

  test('count a copy that is served twice as one witness', async () => {
    await sync({ ...owner, 2: {} }, '10:00')
    await sync(owner, '10:05')
    await world.clock.advance(120_000)
    await syncGuild(world, guildBody('a', owner), '10:05')
    await syncGuild(world, guildBody('a', owner), '10:05')
    expect(await world.rows(events)).toEqual([])
  })

  test('take a moved time of joining for leaving and joining between two answers', async () => {
    await sync({ ...owner, 2: { rank: 'chief', joined: '09:00' } }, '10:00')
    await sync({ ...owner, 2: { joined: '10:02' } }, '10:05')
    expect(await world.rows(events)).toEqual([
      ['left', 'Player2', 'chief', null, '10:02', '10:05'],
      ['joined', 'Player2', null, 'recruit', '10:02', '10:05'],
    ])
  })

  test('know that who is back with another time of joining had left when an answer lacked the name', async () => {
    await sync({ ...owner, 2: { joined: '09:00' } }, '10:00')
    await sync(owner, '10:05')
    await sync({ ...owner, 2: { joined: '10:07' } }, '10:10')
    expect(await world.rows(events)).toEqual([
      ['left', 'Player2', 'recruit', null, '10:05', '10:05'],
      ['joined', 'Player2', null, 'recruit', '10:07', '10:10'],
    ])
    await sync(owner, '10:15')
    await sync({ ...owner, 2: { joined: '10:07' } }, '10:20')
    expect(await world.rows(events)).toHaveLength(2)
  })

  test('tell who came back after leaving, as a second membership', async () => {
    await sync({ ...owner, 2: { joined: '09:00' } }, '10:00')
    for (const at of ['10:05', '10:10']) await sync(owner, at)
    await sync({ ...owner, 2: { joined: '10:12' } }, '10:15')
    expect(await world.rows(events)).toEqual([
      ['left', 'Player2', 'recruit', null, '10:05', '10:05'],
      ['joined', 'Player2', null, 'recruit', '10:12', '10:15'],
    ])
  })

  test('take back a leaving when the member is there again with the same time of joining', async () => {
    await sync({ ...owner, 2: { joined: '09:00' } }, '10:00')
    for (const at of ['10:05', '10:10']) await sync(owner, at)
    await sync({ ...owner, 2: { joined: '09:00', rank: 'recruiter' } }, '10:15')
    expect(await world.rows(events)).toEqual([['promoted', 'Player2', 'recruit', 'recruiter', '10:15', '10:15']])
  })

  test('tell every change of rank, also back and forth within minutes, also to a rank that nobody knows', async () => {
    for (const [rank, at] of [
      ['recruit', '10:00'],
      ['recruiter', '10:05'],
      ['recruit', '10:07'],
      ['captain', '10:10'],
      ['archduke', '10:15'],
      ['chief', '10:20'],
    ] as const)
      await sync({ ...owner, 2: { rank } }, at)
    expect(await world.rows(events)).toEqual([
      ['promoted', 'Player2', 'recruit', 'recruiter', '10:05', '10:05'],
      ['demoted', 'Player2', 'recruiter', 'recruit', '10:07', '10:07'],
      ['promoted', 'Player2', 'recruit', 'captain', '10:10', '10:10'],
      ['demoted', 'Player2', 'captain', 'archduke', '10:15', '10:15'],
      ['promoted', 'Player2', 'archduke', 'chief', '10:20', '10:20'],
    ])
  })

  test('keep the names of a player who takes another, which is no leaving', async () => {
    await sync({ ...owner, 2: { username: 'Before' } }, '10:00')
    await sync({ ...owner, 2: { username: 'After' } }, '10:05')
    expect(
      await world.rows(`select username, valid_from from game.guild_member where player_uuid = '${two}' order by 2`),
    ).toEqual([
      ['Before', '10:00'],
      ['After', '10:05'],
    ])
    expect(await world.rows(events)).toEqual([])
  })

  test.each([
    ['asked before', '10:10', '10:15'],
    ['asked after', '10:20', '10:25'],
  ])('tell a transfer, the guild left being %s the guild joined', async (_name, firstMiss, secondMiss) => {
    await sync({ ...owner, 3: { rank: 'strategist', joined: '09:00' } }, '10:00')
    await syncGuild(world, guildBody('b', { 2: { rank: 'owner' } }), '10:01')
    const steps = [
      [firstMiss, () => sync(owner, firstMiss)],
      [secondMiss, () => sync(owner, secondMiss)],
      ['10:18', () => syncGuild(world, guildBody('b', { 2: { rank: 'owner' }, 3: { joined: '10:04' } }), '10:18')],
    ] as const
    for (const [, step] of [...steps].sort(([a], [b]) => (a < b ? -1 : 1))) await step()
    expect(
      await world.rows(
        'select event, guild_name, at, from_rank, to_rank, other_guild_uuid from analytics.membership_event order by event',
      ),
    ).toEqual([
      ['joined', 'Guild b', '10:04', null, 'recruit', guildId('a')],
      ['left', 'Guild a', firstMiss, 'strategist', null, guildId('b')],
      ['transferred', 'Guild b', '10:04', 'strategist', 'recruit', guildId('a')],
    ])
  })

  test('do not call it a transfer when somebody joins days after leaving, but tell where from', async () => {
    await sync({ ...owner, 3: { joined: '09:00' } }, '10:00')
    for (const at of ['10:10', '10:20']) await sync(owner, at)
    await syncGuild(world, guildBody('b', { 2: { rank: 'owner' } }), '10:30')
    await syncGuild(world, guildBody('b', { 2: { rank: 'owner' }, 3: { joined: '04 10:00' } }), '04 10:30')
    expect(
      await world.rows('select event, at, other_guild_uuid from analytics.membership_event order by event'),
    ).toEqual([
      ['joined', '04 10:00', guildId('a')],
      ['left', '10:10', guildId('b')],
    ])
  })
})
