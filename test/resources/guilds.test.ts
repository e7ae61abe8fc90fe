import { describe, expect, test } from 'vitest'
import { guildBody, type MemberFields, openMember, playerId, syncGuild } from '../support/guild-answers.ts'
import { kindsOfLongTests } from '../support/postgres.ts'
import { worldOf } from '../support/world.ts'

const events = `select event, username, from_rank, to_rank, at, observed_at from analytics.membership_event order by 6, 5, 1 desc, 2`
const one = playerId(1)
const two = playerId(2)

type Members = Readonly<Record<number, MemberFields>>

describe.each(kindsOfLongTests)('guilds on the %s database', (kind) => {
  const world = worldOf(kind)
  const sync = (players: Members, at: string, fields: object = {}) =>
    syncGuild(world, guildBody('a', players, fields), at)
  const owner: Members = { 1: { rank: 'owner' } }

  test('reject a member list that is shorter than its own total until three agree, and lose no member by it', async () => {
    const all = { ...owner, 2: {}, 3: {} }
    await sync(all, '10:00')
    for (const at of ['10:05', '10:10', '10:15']) {
      const partial = guildBody('a', owner)
      const body = { ...partial, members: { ...('members' in partial ? Object(partial.members) : {}), total: 3 } }
      const rejected = at === '10:15' ? 0 : 1
      expect(await syncGuild(world, body, at)).toMatchObject({ rejected, closed: 0 })
    }
    expect(await world.rows(`select count(*) from game.guild_member where valid_until = 'infinity'`)).toEqual([[3]])
    expect(await world.rows('select status, count(*) from sync.observation group by 1 order by 1')).toEqual([
      ['ok', 1],
      ['partial', 1],
      ['rejected', 2],
    ])
  })

  test.each([3, '3'])('reject it also where the total is %j', async (total) => {
    await sync({ ...owner, 2: {}, 3: {} }, '10:00')
    const body = guildBody('a', owner) as { members: object }
    expect(await syncGuild(world, { ...body, members: { ...body.members, total } }, '10:05')).toMatchObject({
      rejected: 1,
    })
  })

  test.each([
    ['without a map of members', undefined],
    ['that is empty', { total: 0 }],
  ])('do not count the members of a guild %s', async (_name, members) => {
    await sync(owner, '10:00')
    for (const at of ['10:05', '10:10', '10:15', '10:20']) await sync(owner, at, { members })
    expect(
      await world.rows('select members, online_listed, hidden from game.guild_sample order by observed_at'),
    ).toEqual([
      [1, 0, 0],
      [null, null, null],
    ])
    expect(await world.rows('select members from analytics.guild')).toEqual([[null]])
    expect(await world.rows(`select count(*)::int from game.guild_member where valid_until = 'infinity'`)).toEqual([
      [1],
    ])
  })

  test.each([
    ['without members at all', { total: 0 }],
    ['whose members are no map', 'hidden'],
  ])('reject a guild %s', async (_name, broken) => {
    await sync(owner, '10:00')
    expect(await sync(owner, '10:05', { members: broken })).toMatchObject({ rejected: 1, closed: 0 })
  })

  test.each([
    ['a joining time that is none', { joined: undefined, contributed: 1 }, { joined: 'yesterday' }],
    ['a uuid that is none', {}, { uuid: 'nobody' }],
  ])('set a member aside with %s; the others go on, and that one is not absent', async (_name, _good, bad) => {
    const all = { ...owner, 2: {}, 3: {} }
    await sync(all, '10:00')
    for (const [at, rank] of [
      ['10:05', 'recruiter'],
      ['10:10', 'captain'],
      ['10:15', 'chief'],
    ] as const) {
      const body = guildBody('a', { ...owner, 3: { rank } })
      const broken = { Player2: { uuid: two, online: false, joined: '2026-06-01T00:00:00Z', contributed: 0, ...bad } }
      const placed = 'members' in body ? { ...Object(body.members), total: 3, recruit: broken } : {}
      expect(await syncGuild(world, { ...body, members: placed }, at)).toMatchObject({
        status: 'partial',
        quarantined: 1,
      })
    }
    expect(await world.rows(events.replace('order', "where event <> 'promoted' order"))).toEqual([])
    expect(await world.rows(events)).toHaveLength(3)
    expect(await world.rows('select count(*), min(path) from sync.quarantine')).toEqual([
      [1, expect.stringContaining('/members/recruit/Player2/')],
    ])
  })

  test.each([
    ['a last login that is none', { lastJoin: 'yesterday' }, '/members/*/*/lastJoin'],
    ['a counter that is text', { contributed: 'much' }, '/members/*/*/contributed'],
  ])('load a member with %s, without that value', async (_name, bad, path) => {
    const all = { ...owner, 2: { contributed: 5, ...bad } }
    expect(await sync(all, '10:00')).toMatchObject({ status: 'ok', quarantined: 0 })
    expect(await sync(all, '10:05')).toMatchObject({ status: 'unchanged' })
    expect(await world.rows(`select extra from game.guild_member where player_uuid = '${two}'`)).toEqual([[bad]])
    expect(await world.rows('select kind, path from sync.drift')).toEqual([['retyped_field', path]])
    expect(
      await world.rows(
        `select value from game.member_counter where player_uuid = '${two}' and counter = 'contributed'`,
      ),
    ).toEqual('contributed' in bad ? [] : [[5]])
  })

  test('believe neither place of a member who is in two', async () => {
    await sync({ ...owner, 2: {}, 3: {} }, '10:00')
    const body = guildBody('a', { ...owner, 3: {} })
    const again = { uuid: two, joined: '2026-06-01T00:00:00Z' }
    const placed = {
      ...Object('members' in body ? body.members : {}),
      total: 4,
      chief: { P: again },
      captain: { Q: again },
    }
    for (const at of ['10:05', '10:10', '10:15'])
      expect(await syncGuild(world, { ...body, members: placed }, at)).toMatchObject({
        status: 'partial',
        quarantined: 2,
      })
    expect(await world.rows(events)).toEqual([])
  })

  test.each([
    ['snake_case', { online_status: true, main_access: true }],
    ['camelCase', { onlineStatus: true, mainAccess: true }],
  ])(
    'know what a member hides in %s: offline is unknown then, and no sample says otherwise',
    async (_name, restrictions) => {
      const shown = { online: true, server: 'EU1', lastJoin: '2026-06-01T09:00:00Z', globalData: { wars: 5 } }
      await sync({ ...owner, 2: shown }, '10:00')
      await sync({ ...owner, 2: { online: false, server: null, lastJoin: null, restrictions } }, '10:05')
      await sync({ ...owner, 2: { online: false, server: null, lastJoin: null, restrictions } }, '10:10')
      expect(
        await world.rows(
          `select observed_at, online, server, last_join from game.member_presence where player_uuid = '${two}' order by 1`,
        ),
      ).toEqual([['10:10', null, null, null]])
      expect(
        await world.rows(
          `select counter, observed_at, value from game.member_counter where player_uuid = '${two}' order by 1`,
        ),
      ).toEqual([['contributed', '10:00', 0]])
      expect(
        await world.rows(`select online, restricted from analytics.guild_member where player_uuid = '${two}'`),
      ).toEqual([[null, ['mainAccess', 'onlineStatus']]])
      expect(await world.rows('select observed_at, online_listed, hidden from game.guild_sample order by 1')).toEqual([
        ['10:00', 1, 0],
        ['10:05', 0, 1],
      ])
    },
  )

  test('read members keyed by uuid as they read those keyed by name', async () => {
    await sync({ ...owner, 2: {} }, '10:00')
    const before = await world.rowCounts()
    const keyed = {
      total: 2,
      owner: {
        [one]: { username: 'Player1', online: false, server: null, joined: '2026-06-01T00:00:00.000Z', contributed: 0 },
      },
      recruit: {
        [two]: { username: 'Player2', online: false, server: null, joined: '2026-06-01T00:00:00.000Z', contributed: 0 },
      },
    }
    expect(await sync({}, '10:05', { members: keyed })).toMatchObject({ status: 'unchanged' })
    expect(await world.rowCounts()).toMatchObject({ 'game.guild_member': before['game.guild_member'] })
  })

  test('sample counters beyond 2^32 only when they change', async () => {
    const large = 4_831_234_567_891
    await sync(
      { ...owner, 2: { contributed: large, globalData: { guildRaids: { total: 3, list: { Nest: 3 } } } } },
      '10:00',
    )
    await sync(
      { ...owner, 2: { contributed: large, globalData: { guildRaids: { total: 4, list: { Nest: 4 } } } } },
      '10:05',
    )
    expect(
      await world.rows(
        `select counter, observed_at, value from game.member_counter where player_uuid = '${two}' order by 1, 2`,
      ),
    ).toEqual([
      ['contributed', '10:00', large],
      ['guildRaids.list.Nest', '10:00', 3],
      ['guildRaids.list.Nest', '10:05', 4],
      ['guildRaids.total', '10:00', 3],
      ['guildRaids.total', '10:05', 4],
    ])
    expect(await world.rows(`select contributed from analytics.guild_member where player_uuid = '${two}'`)).toEqual([
      [large],
    ])
  })

  test('keep whether a member has reached the aim of the week, until the member hides it', async () => {
    const weekly = (completed: boolean, streak: number) => ({
      1: { rank: 'owner', ...openMember, weekly: { completed, streak } },
    })
    await sync(weekly(false, 3), '10:00')
    await sync(weekly(true, 4), '11:00')
    await sync({ 1: { rank: 'owner', ...openMember, weekly: {} } }, '11:10')
    const kept = () =>
      world.rows(
        `select counter, value, observed_at from analytics.member_counter_sample where counter like 'weekly.%' order by 1, 3`,
      )
    expect(await kept()).toEqual([
      ['weekly.completed', 0, '10:00'],
      ['weekly.completed', 1, '11:00'],
      ['weekly.streak', 3, '10:00'],
      ['weekly.streak', 4, '11:00'],
    ])
    expect(await world.rows(`select analytics.is_level_only('member', 'weekly.completed')`)).toEqual([[true]])
    const restrictions = { ...openMember.restrictions, guild_high_ranked_access: true }
    for (const at of ['11:20', '11:30']) await sync({ 1: { rank: 'owner', restrictions } }, at)
    expect([await kept(), await world.rows('select distinct counter from game.member_counter')]).toEqual([
      [],
      [['contributed']],
    ])
  })

  test('keep ratings by season, places on boards and the banner in either spelling', async () => {
    const fields = {
      seasonRanks: { 0: { rating: 19_000_000, finalTerritories: 3 }, 31: { rating: 10, finalTerritories: 0 } },
      ranking: { guildLevel: 4 },
      banner: {
        base: 'WHITE',
        tier: 2,
        layers: [
          { colour: 'RED', pattern: 'CROSS' },
          { color: 'BLUE', pattern: 'BORDER' },
        ],
      },
    }
    await sync(owner, '10:00', fields)
    await sync(owner, '10:05', {
      ...fields,
      seasonRanks: { ...fields.seasonRanks, 31: { rating: 25, finalTerritories: 0 } },
    })
    expect(
      await world.rows('select season, observed_at, rating, final_territories from game.guild_season order by 1, 2'),
    ).toEqual([
      [0, '10:00', 19_000_000, 3],
      [31, '10:00', 10, 0],
      [31, '10:05', 25, 0],
    ])
    expect(await world.rows('select board, position from game.guild_ranking')).toEqual([['guildLevel', 4]])
    expect(await world.rows('select position, colour, pattern from game.guild_banner_layer order by 1')).toEqual([
      [0, 'RED', 'CROSS'],
      [1, 'BLUE', 'BORDER'],
    ])
    expect(await world.rows('select name, prefix, banner_tier, banner_structure from game.guild')).toEqual([
      ['Guild a', 'aaa', 2, null],
    ])
  })

  test('keep a rename of the guild as a version of its profile', async () => {
    await sync(owner, '10:00')
    await sync(owner, '10:05', { name: ' Guild A ', wars: null })
    expect(await world.rows('select name, valid_from, valid_until from game.guild order by 2')).toEqual([
      ['Guild a', '10:00', '10:05'],
      [' Guild A ', '10:05', 'infinity'],
    ])
    expect(await world.rows('select observed_at, wars from game.guild_sample order by 1')).toEqual([
      ['10:00', 1],
      ['10:05', null],
    ])
  })

  test('write nothing but the ledger for the same answer twice, and nothing for an older one', async () => {
    const now = { ...owner, 2: { rank: 'chief', contributed: 7 } }
    await sync({ ...owner, 2: {} }, '10:00')
    await sync(now, '10:10')
    const before = await world.rowCounts()
    expect(await sync(now, '10:10')).toMatchObject({ status: 'unchanged' })
    expect(await sync(now, '10:20')).toMatchObject({ status: 'unchanged' })
    expect(await sync({ ...owner, 3: {}, 4: {} }, '10:05')).toMatchObject({ inserted: 0, closed: 0 })
    expect(await world.rowCounts()).toEqual({
      ...before,
      'sync.run': (before['sync.run'] ?? 0) + 3,
      'sync.guard_action': 1,
      'sync.observation': (before['sync.observation'] ?? 0) + 3,
    })
    expect(
      await world.rows('select status from sync.observation order by received_at, observed_at desc'),
    ).toContainEqual(['stale'])
  })

  test('keep what nobody knew of the guild and of its members', async () => {
    await sync({ ...owner, 2: { mood: 'fine' } }, '10:00', { motto: 'onward' })
    expect(await world.rows('select extra from game.guild')).toEqual([[{ motto: 'onward' }]])
    expect(await world.rows(`select extra from game.guild_member where player_uuid = '${two}'`)).toEqual([
      [{ mood: 'fine' }],
    ])
  })
})
