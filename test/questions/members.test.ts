import { describe, expect, test } from 'vitest'
import { guildBody, guildId, type MemberFields, playerId, syncGuild, syncGuilds } from '../support/guild-answers.ts'
import { kindsOfLongTests } from '../support/postgres.ts'
import { worldOf } from '../support/world.ts'

const guild = guildId('a')
const at = (time: string, day = '01') => `timestamptz '2026-06-${day}T${time}Z'`

describe.each(kindsOfLongTests)('questions about members on the %s database', (kind) => {
  const world = worldOf(kind)
  const sync = (players: Readonly<Record<number, MemberFields>>, when: string) =>
    syncGuild(world, guildBody('a', players), when)

  describe('7: who is inactive', () => {
    const lastJoin = '2026-06-10T09:00:00Z'
    const activity = (when: string) =>
      world.rows(
        `select username, rank, last_seen, round(days_inactive::numeric, 1), status, reason
           from analytics.member_activity('${guild}', ${when}) order by username`,
      )

    test('active, inactive and unknown, each with its reason', async () => {
      await sync(
        {
          1: { rank: 'owner', online: true, server: 'EU1', lastJoin },
          2: { lastJoin: '2026-06-02T10:00:00Z' },
          3: { restrictions: { online_status: true } },
          4: {},
        },
        '10 10:00',
      )
      expect(await activity(at('10:00', '12'))).toEqual([
        ['Player1', 'owner', '10 10:00', 2, 'active', null],
        ['Player2', 'recruit', '02 10:00', 10, 'inactive', null],
        ['Player3', 'recruit', null, null, 'unknown', 'hides whether online'],
        ['Player4', 'recruit', null, null, 'unknown', 'never seen online, and the API gives no last login'],
      ])
    })

    test('who was seen online was there until the last answer that said so, not until the one days later', async () => {
      const online = { online: true, server: 'EU1', lastJoin }
      await sync({ 1: { rank: 'owner', ...online } }, '10 10:00')
      await sync({ 1: { rank: 'chief', ...online } }, '10 10:30')
      await sync({ 1: { rank: 'chief', lastJoin } }, '18 09:00')
      expect(await activity(at('12:00', '18'))).toEqual([
        ['Player1', 'chief', '10 10:30', expect.closeTo(8.1), 'inactive', null],
      ])
    })

    test('as of an earlier moment nothing later is known', async () => {
      await sync({ 1: { rank: 'owner', lastJoin: '2026-06-02T10:00:00Z' } }, '10 10:00')
      await sync(
        { 1: { rank: 'owner', online: true, lastJoin: '2026-06-10T11:00:00Z' }, 2: { joined: '10 10:30' } },
        '10 11:00',
      )
      expect(await activity(at('10:59', '10'))).toEqual([['Player1', 'owner', '02 10:00', 8, 'inactive', null]])
      expect(await activity(at('09:59', '10'))).toEqual([])
    })

    test('a guild that nobody asked about for a week tells nothing', async () => {
      await sync({ 1: { rank: 'owner', lastJoin: '2026-06-09T10:00:00Z' } }, '10 10:00')
      expect(await activity(at('10:00', '20'))).toEqual([
        ['Player1', 'owner', '09 10:00', 11, 'unknown', 'no response about the guild in the last seven days'],
      ])
    })

    test('nobody is inactive by a response that came before they had been away for seven days, or has no last login', async () => {
      const unknown = ['unknown', 'no response with a last login seven days after the player was last seen']
      const login = '2026-06-09T10:00:00Z'
      const online = { online: true, server: 'EU1' }
      await sync({ 1: { rank: 'owner', lastJoin: login }, 2: online }, '10 10:00')
      // Who logged in the day after is shown by no response.
      expect(await activity(at('09:00', '17'))).toMatchObject([
        ['Player1', 'owner', '09 10:00', 8, ...unknown],
        ['Player2', 'recruit', '10 10:00', expect.closeTo(7), 'active', null],
      ])
      await sync({ 1: { rank: 'owner', lastJoin: login }, 2: {} }, '17 11:00')
      expect(await activity(at('12:00', '17'))).toEqual([
        ['Player1', 'owner', '09 10:00', expect.closeTo(8.1), 'inactive', null],
        ['Player2', 'recruit', '10 10:00', expect.closeTo(7.1), ...unknown],
      ])
    })
  })

  describe('8: contribution', () => {
    const contribution = (from: string, to: string) =>
      world.rows(
        `select username, rank, contributed, round(share::numeric, 2), position, quality
           from analytics.member_contribution('${guild}', ${from}, ${to})`,
      )
    /** Player 1 through these values, ten minutes apart from 10:00 on; player 2 stands still. */
    const series = async (values: readonly number[]) => {
      for (const [nth, contributed] of values.entries())
        await sync({ 1: { rank: 'owner', contributed }, 2: { contributed: 50 } }, `10:${String(nth)}0`)
    }
    const whole = () => contribution(at('10:00'), at('10:35'))

    test.each([
      ['plain rises, from the first answer on', [100, 130, 150], 50, 'exact'],
      ['a dip to zero that comes back', [100, 0, 110], 10, 'clamped'],
      ['a dip of a little that is never made up', [100, 90, 95], 5, 'reset'],
      ['a dip that is made up later', [100, 90, 95, 120], 20, 'clamped'],
      ['a counter that begins again', [100, 120, 0, 30], 50, 'reset'],
      ['a counter that is doubled for a while', [100, 210, 105], 5, 'reset'],
      ['a counter that is doubled and goes on from where it was', [100, 210, 105, 215], 115, 'clamped'],
    ])('of %s', async (_name, values, contributed, quality) => {
      await series(values)
      expect(await whole()).toEqual([
        ['Player1', 'owner', contributed, 1, 1, quality],
        ['Player2', 'recruit', 0, 0, 2, 'exact'],
      ])
    })

    test('counts what was made between two responses, not what the one at its beginning shows', async () => {
      await series([100, 130, 150])
      expect(await contribution(at('10:10'), at('10:20'))).toEqual([
        ['Player1', 'owner', 20, 1, 1, 'exact'],
        ['Player2', 'recruit', 0, 0, 2, 'exact'],
      ])
      expect(await contribution(at('10:20'), at('10:21'))).toMatchObject([
        ['Player1', 'owner', 0, null, 1, 'exact'],
        {},
      ])
    })

    test('is a lower bound, without shares, where nothing was watched around a border', async () => {
      await series([100, 130, 150])
      for (const [from, to] of [
        ['09:00', '10:30'],
        ['10:00', '12:00'],
      ] as const)
        expect(await contribution(at(from), at(to))).toEqual([
          ['Player1', 'owner', 50, null, 1, 'at_least'],
          ['Player2', 'recruit', 0, null, 2, 'at_least'],
        ])
    })

    test('says the most it can be where a gap lies around a border', async () => {
      for (const [contributed, when] of [
        [100, '10:00'],
        [110, '10:10'],
        [400, '20 10:00'],
        [430, '20 10:10'],
        [900, '30 10:00'],
      ] as const)
        await sync({ 1: { rank: 'owner', contributed } }, when)
      const bounds = (from: string, to: string) =>
        world.rows(
          `select contributed, at_most, quality from analytics.member_contribution('${guild}', ${from}, ${to})`,
        )
      expect(await bounds(at('00:00', '10'), at('00:00', '25'))).toEqual([[30, 900 - 110, 'at_least']])
      expect(await bounds(at('00:00', '10'), at('00:00', '12'))).toEqual([[null, null, 'unknown']])
      expect(await bounds(at('10:00', '20'), at('10:10', '20'))).toEqual([[30, 30, 'exact']])
    })

    test('does not say the most of who came after a gap: another stay may lie in it', async () => {
      const owner = { rank: 'owner', contributed: 5 }
      for (const when of ['10:00', '10:10', '10:20', '20 10:00', '20 10:10']) await sync({ 1: owner }, when)
      for (const [contributed, when] of [
        [0, '20 10:20'],
        [30, '20 10:30'],
        [90, '20 14:00'],
      ] as const)
        await sync({ 1: owner, 2: { joined: '20 10:15', contributed } }, when)
      expect(
        await world.rows(
          `select username, contributed, at_most, quality
             from analytics.member_contribution('${guild}', ${at('10:05')}, ${at('12:00', '20')})`,
        ),
      ).toEqual([
        ['Player2', 30, null, 'at_least'],
        ['Player1', 0, 0, 'at_least'],
      ])
    })

    test('is exact again in an interval after the counter began again, however low it is still', async () => {
      await series([100, 120, 0, 30, 50])
      expect(await contribution(at('10:25'), at('10:50'))).toMatchObject([['Player1', 'owner', 50, 1, 1, 'exact'], {}])
    })

    test('is unknown, not zero, where there is no answer', async () => {
      await series([100, 130])
      expect(await contribution(at('10:11'), at('12:00'))).toEqual([
        ['Player1', 'owner', null, null, null, 'unknown'],
        ['Player2', 'recruit', null, null, null, 'unknown'],
      ])
    })

    test('counts all that who joined while we watched has given, and again from zero after coming back', async () => {
      const owner = { 1: { rank: 'owner' } }
      await sync(owner, '10:00')
      await sync({ ...owner, 2: { joined: '10:05', contributed: 40 } }, '10:10')
      await sync({ ...owner, 2: { joined: '10:05', contributed: 70 } }, '10:20')
      await sync({ ...owner, 2: { joined: '10:25', contributed: 5, rank: 'recruiter' } }, '10:30')
      for (const when of ['10:40', '10:50']) await sync(owner, when)
      expect(await contribution(at('10:05'), at('11:00'))).toEqual([
        ['Player2', 'recruiter', 75, 1, 1, 'exact'],
        ['Player1', 'owner', 0, 0, 2, 'exact'],
      ])
      expect(await contribution(at('10:45'), at('11:00'))).toEqual([['Player1', 'owner', 0, null, 1, 'exact']])
    })
  })

  test('9: of those who joined in a month, how many stayed; unknown while it cannot be known', async () => {
    const owner = { 1: { rank: 'owner' } }
    const staying = { joined: '02 10:00' }
    await sync(owner, '10:00')
    await sync({ ...owner, 2: staying, 3: { joined: '02 11:00' }, 4: { joined: '02 12:00' } }, '02 13:00')
    await sync({ ...owner, 2: staying, 3: { joined: '02 11:00' } }, '05 10:00')
    await sync({ ...owner, 2: staying, 3: { joined: '02 11:00' } }, '05 10:10')
    const retention = () =>
      world.rows(
        `select joined_in, joined, still_after_30d, still_after_90d
           from analytics.member_retention('${guild}', ${at('00:00')}, timestamptz '2026-07-01Z')`,
      )
    expect(await retention()).toEqual([['00:00', 3, null, null]])
    for (const day of ['20', '30'])
      await sync(
        { ...owner, 2: staying, 3: { joined: '02 11:00', rank: day === '20' ? 'chief' : 'captain' } },
        `${day} 10:00`,
      )
    await world.clock.advanceTo(Date.parse('2026-07-05T10:00:00Z'))
    const late = guildBody('a', { ...owner, 2: staying, 3: { joined: '02 11:00', rank: 'recruit' } })
    world.sandbox.setAnswer(`/guild/uuid/${guild}`, () => ({ body: late }))
    await syncGuilds(world, { keys: [guild] })
    expect(await retention()).toEqual([['00:00', 3, 2, null]])
  })

  test('now: every member, and every guild', async () => {
    await sync(
      {
        1: { rank: 'owner', online: true, server: 'EU1', contributed: 9 },
        2: { restrictions: { onlineStatus: true } },
      },
      '10:00',
    )
    expect(
      await world.rows(
        `select guild_uuid, player_uuid, username, rank, joined_at, contributed, online, restricted, observed_at
           from analytics.guild_member order by username`,
      ),
    ).toEqual([
      [guild, playerId(1), 'Player1', 'owner', '00:00', 9, true, [], '10:00'],
      [guild, playerId(2), 'Player2', 'recruit', '00:00', 0, null, ['onlineStatus'], '10:00'],
    ])
    expect(
      await world.rows(
        `select guild_uuid, name, prefix, level, xp_percent, members, online, territories, wars, created_at::text, observed_at
           from analytics.guild`,
      ),
    ).toEqual([[guild, 'Guild a', 'aaa', 10, 5, 2, 0, 0, 1, expect.stringContaining('2020-01-01'), '10:00']])
  })
})
