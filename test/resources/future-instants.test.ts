import { describe, expect, test } from 'vitest'
import { territories } from '../../src/resources/territories/index.ts'
import { answerGuild, guildBody, guildId, place, syncGuild, syncGuilds } from '../support/guild-answers.ts'
import { profile, syncPlayer } from '../support/player-answers.ts'
import { kindsOfLongTests } from '../support/postgres.ts'
import { worldOf } from '../support/world.ts'

const owner = { rank: 'owner' }

/** The same guild, its members without the time at which they joined. */
function withoutJoined(body: object): object {
  const text = JSON.stringify(body, (name, value: unknown) => (name === 'joined' ? null : value))
  return JSON.parse(text) as object
}

const events = 'select event, username from analytics.membership_event order by observed_at, event'

describe.each(kindsOfLongTests)('on the %s database', (kind) => {
  const world = worldOf(kind)
  const { rows, sync } = world
  const actions = () => rows('select guard, action, reason from sync.guard_action order by at')

  describe('an acquired that lies in the future', () => {
    const reason = 'acquired lies in the future in 1 record (Oak); ignored'

    test('is ignored: the owner that two show is taken since the first, and the next capture is not missed', async () => {
      await sync(territories, { Oak: place('a', '08:00') }, '10:00')
      expect(await sync(territories, { Oak: place('b', '30 12:00') }, '10:01')).toMatchObject({ events: 0 })
      expect(await actions()).toContainEqual(['clock', 'ignored', reason])
      const second = await sync(territories, { Oak: place('b', '30 12:00') }, '10:01:10')
      expect(second).toMatchObject({ status: 'ok', events: 1 })
      await sync(territories, { Oak: place('c', '10:01:30') }, '10:02')
      await sync(territories, { Oak: place('c', '10:01:30') }, '10:03')
      expect(
        await rows('select guild_name, acquired, valid_from, valid_until from game.territory_hold order by 3'),
      ).toEqual([
        ['Guild a', '08:00', '08:00', '10:01'],
        ['Guild b', null, '10:01', '10:01:30'],
        ['Guild c', '10:01:30', '10:01:30', 'infinity'],
      ])
      expect(
        await rows('select to_guild_name, captured_at from analytics.territory_capture order by captured_at'),
      ).toEqual([
        ['Guild b', '10:01'],
        ['Guild c', '10:01:30'],
      ])
    })

    test('of the same owner changes nothing, and is reported with what else came', async () => {
      await sync(territories, { Oak: place('a', '08:00') }, '10:00')
      expect(await sync(territories, { Oak: place('a', '30 12:00') }, '10:01')).toMatchObject({ events: 0 })
      expect(await sync(territories, { Oak: place('a', '08:00') }, '10:02')).toMatchObject({ events: 0 })
      expect(await rows('select guild_name, acquired, valid_until from game.territory_hold')).toEqual([
        ['Guild a', '08:00', 'infinity'],
      ])
      expect(await actions()).toEqual([['clock', 'ignored', reason]])
    })

    test('by less than two minutes does not keep its owner from losing the territory a moment later', async () => {
      await sync(territories, { Oak: place('a', '08:00') }, '10:00')
      await sync(territories, { Oak: place('b', '10:02') }, '10:01')
      await sync(territories, { Oak: place('c', '10:01:30') }, '10:01:40')
      expect(await rows(`select guild_name from game.territory_hold where valid_until = 'infinity'`)).toEqual([
        ['Guild c'],
      ])
      expect(await actions()).toEqual([])
    })
  })

  describe('an acquired up to two minutes after its own response', () => {
    /** Rows that contradict themselves, or are ahead of what was seen. */
    const contradictions = `
      select territory, valid_from from game.territory_hold where acquired > valid_from or valid_until <= valid_from or valid_from > observed_at
       union all select territory, captured_at from game.territory_capture where captured_at > observed_at or captured_at > held_from
       union all select territory, held_from from analytics.territory_hold where held_until < held_from or acquired > held_from
       union all select territory, captured_at from analytics.territory_capture where captured_at > observed_at`
    const holds = () =>
      rows('select guild_name, acquired, valid_from, valid_until from game.territory_hold order by valid_from')
    const captures = () => rows('select to_guild_name, captured_at, observed_at from game.territory_capture order by 2')

    test('dates the capture by the response, and by no later one', async () => {
      await sync(territories, { Oak: place('a', '08:00') }, '10:00')
      await sync(territories, { Oak: place('b', '10:02') }, '10:01')
      for (const at of ['10:01:30', '10:03'])
        expect(await sync(territories, { Oak: place('b', '10:02') }, at)).toMatchObject({ events: 0 })
      expect(await holds()).toEqual([
        ['Guild a', '08:00', '08:00', '10:01'],
        ['Guild b', '10:01', '10:01', 'infinity'],
      ])
      expect(await captures()).toEqual([['Guild b', '10:01', '10:01']])
      expect(await rows(contradictions)).toEqual([])
    })

    test('leaves a hold that ends before it was captured by the clock of the game no negative time', async () => {
      await sync(territories, { Oak: place('a', '08:00') }, '10:00')
      await sync(territories, { Oak: place('b', '10:02') }, '10:01')
      await sync(territories, { Oak: place('c', '10:01:30') }, '10:01:40')
      await sync(territories, { Oak: place('d', '10:03') }, '10:01:50')
      expect((await holds()).map(([guild, , from]) => [guild, from])).toEqual([
        ['Guild a', '08:00'],
        ['Guild b', '10:01'],
        ['Guild c', '10:01:30'],
        ['Guild d', '10:01:50'],
      ])
      expect(await rows(contradictions)).toEqual([])
    })

    test('makes no second capture of a hold that comes back', async () => {
      await sync(territories, { Oak: place('a', '08:00') }, '10:00')
      await sync(territories, { Oak: place('b', '10:02') }, '10:01')
      await sync(territories, { Oak: place('c', '10:02:05') }, '10:01:10')
      for (const at of ['10:01:20', '10:01:30', '10:02:30', '10:04'])
        await sync(territories, { Oak: place('b', '10:02') }, at)
      expect((await captures()).filter(([guild]) => guild === 'Guild b')).toEqual([['Guild b', '10:01', '10:01']])
      expect(await rows(contradictions)).toEqual([])
    })

    test('of the first response begins with it', async () => {
      await sync(territories, { Oak: place('a', '10:01') }, '10:00')
      expect(await holds()).toEqual([['Guild a', '10:00', '10:00', 'infinity']])
      expect(await rows(contradictions)).toEqual([])
    })
  })

  test('nobody joined after the response that shows it', async () => {
    await syncGuild(world, guildBody('a', { 1: owner }), '10:00')
    await syncGuild(world, guildBody('a', { 1: owner, 2: { joined: '10:06' } }), '10:05')
    expect(await rows('select event, at, observed_at from analytics.membership_event')).toEqual([
      ['joined', '10:05', '10:05'],
    ])
  })

  describe('joined', () => {
    const members = `select username, joined, valid_until from game.guild_member order by username, valid_from`
    const whole = guildBody('a', { 1: owner, 2: { joined: '09:00' } })
    const both = [
      ['Player1', '00:00', 'infinity'],
      ['Player2', '09:00', 'infinity'],
    ]

    test('in the future is ignored, like one that is left out, and names nobody', async () => {
      await syncGuild(world, whole, '10:00')
      await syncGuild(world, guildBody('a', { 1: owner, 2: { joined: '30 12:00' } }), '10:10')
      await syncGuild(world, whole, '10:20')
      expect(await rows(members)).toEqual(both)
      expect(await rows(events)).toEqual([])
      expect(await actions()).toEqual([['clock', 'ignored', 'joined lies in the future in 1 record; ignored']])
    })

    test('that one response leaves out is neither leaving nor joining', async () => {
      const without = withoutJoined(whole)
      await syncGuild(world, whole, '10:00')
      expect(await syncGuild(world, without, '10:10')).toMatchObject({ events: 0 })
      expect(await syncGuild(world, without, '10:20')).toMatchObject({ status: 'unchanged' })
      expect(await syncGuild(world, whole, '10:30')).toMatchObject({ events: 0 })
      expect(await rows(members)).toEqual(both)
      expect(await rows(events)).toEqual([])
    })

    test('that comes with a later response only is no event either, and a promotion without it is one', async () => {
      await syncGuild(world, withoutJoined(whole), '10:00')
      await syncGuild(world, whole, '10:10')
      const promoted = withoutJoined(guildBody('a', { 1: owner, 2: { rank: 'chief' } }))
      await syncGuild(world, promoted, '10:20')
      expect(await rows(events)).toEqual([['promoted', 'Player2']])
    })

    test('left out by the response after one that lacked the member ends nothing', async () => {
      await syncGuild(world, whole, '10:00')
      await syncGuild(world, guildBody('a', { 1: owner }), '10:10')
      const back = withoutJoined(whole)
      await syncGuild(world, back, '10:20')
      expect(await rows(events)).toEqual([])
      expect(await rows(members)).toEqual(both)
    })
  })

  describe.each(['1970-01-01T00:00:00Z', '2012-12-31T23:59:59Z', '0002-01-01T00:00:00Z'])(
    'an instant before the game began (%s)',
    (early) => {
      const reasonOf = (place: string) => `${place}; ignored`
      const shown = { ...place('b', null), acquired: early }

      test('is no beginning of a hold: one begins with the response that first shows it', async () => {
        await sync(territories, { Oak: shown, Elm: place('a', '08:00') }, '10:00')
        await sync(territories, { Oak: place('a', '10:00:05'), Elm: shown }, '10:00:10')
        for (const at of ['10:00:20', '10:00:30'])
          await sync(territories, { Oak: place('a', '10:00:05'), Elm: shown }, at)
        expect(
          await rows(
            'select territory, guild_name, acquired, valid_from, valid_until from game.territory_hold order by 1, 4',
          ),
        ).toEqual([
          ['Elm', 'Guild a', '08:00', '08:00', '10:00:10'],
          ['Elm', 'Guild b', null, '10:00:10', 'infinity'],
          ['Oak', 'Guild b', null, '10:00', '10:00:05'],
          ['Oak', 'Guild a', '10:00:05', '10:00:05', 'infinity'],
        ])
        expect(await actions()).toContainEqual([
          'clock',
          'ignored',
          reasonOf('acquired lies before the game began in 1 record (Oak)'),
        ])
      })

      test('is no joining, and the spell is one once its beginning is sent', async () => {
        const of = (joined: string, contributed: number) => {
          const guild = guildBody('a', { 1: owner, 2: { username: 'Bob', joined: '10:03', contributed } })
          return JSON.parse(JSON.stringify(guild).replace('2026-06-01T10:03:00.000Z', joined)) as object
        }
        await syncGuild(world, guildBody('a', { 1: owner }), '10:00')
        await syncGuild(world, of(early, 5), '10:05')
        await syncGuild(world, of(early, 7), '10:15')
        for (const [at, contributed] of [
          ['10:25', 8],
          ['10:35', 9],
        ] as const)
          await syncGuild(world, of('2026-06-01T10:03:00.000Z', contributed), at)
        expect(await rows('select event, username, at, observed_at from analytics.membership_event')).toEqual([
          ['joined', 'Bob', '10:05', '10:05'],
        ])
        expect(
          await rows(
            `select contributed from analytics.member_contribution('${guildId('a')}', '2026-06-01', '2026-06-02') where username = 'Bob'`,
          ),
        ).toEqual([[9]])
        expect(await actions()).toContainEqual([
          'clock',
          'ignored',
          reasonOf('joined lies before the game began in 1 record'),
        ])
      })
    },
  )

  test('a lastJoin of a profile that lies in the future is ignored, and the rest of the profile is loaded', async () => {
    await syncPlayer(world, 1, profile(1, { online: true, server: 'EU1', lastJoin: '30 12:00' }), '10:00')
    await syncPlayer(world, 1, profile(1, { online: true, server: 'EU1', lastJoin: '09:00' }), '10:05')
    expect(await rows('select online, world, last_join from game.player_status order by observed_at')).toEqual([
      [true, 'EU1', null],
      [true, 'EU1', '09:00'],
    ])
    expect(await actions()).toEqual([['clock', 'ignored', 'lastJoin lies in the future in 1 record; ignored']])
  })

  const impossible = [
    '1970-01-01T00:00:00.000Z',
    '0002-01-01T00:00:00Z',
    '9999-12-31T23:59:59Z',
    '2026-06-01T10:10:00Z',
  ]

  test.each(impossible)('the founding of a guild and the first login of a player at %s cost just that', async (at) => {
    const odd = [
      guildBody('a', { 1: owner }, { created: at }),
      profile(1, { firstJoin: at, nickname: 'Nick' }),
    ] as const
    await syncGuild(world, odd[0], '10:00')
    await syncPlayer(world, 1, odd[1], '10:00')
    expect(await rows('select name, created_at from analytics.guild')).toEqual([['Guild a', null]])
    expect(await rows('select nickname, first_join from game.player')).toEqual([['Nick', null]])
    const kept = `select left(extra ->> 'created', 19) from game.guild union all select left(extra ->> 'firstJoin', 19) from game.player`
    expect((await rows(kept)).flat()).toEqual([at.slice(0, 19), at.slice(0, 19)])
    expect(await rows('select from sync.quarantine')).toEqual([])
    const right = '2026-06-01T09:00:00.000Z'
    await syncGuild(world, guildBody('a', { 1: owner }, { created: right }), '10:20')
    await syncPlayer(world, 1, profile(1, { firstJoin: right, nickname: 'Nick' }), '10:20')
    expect(await rows('select created_at from analytics.guild')).toEqual([['09:00']])
    expect(await rows('select first_join from analytics.player')).toEqual([['09:00']])
  })

  test('a transfer needs a response of the day before that still showed the player in the other guild', async () => {
    const there = guildBody('a', { 1: owner, 3: {} })
    await syncGuild(world, there, '01 10:00')
    await syncGuild(world, guildBody('b', { 2: owner }), '01 10:00')
    await syncGuild(world, guildBody('b', { 2: owner, 3: { joined: '04 11:00' } }), '04 11:05')
    expect(await rows(events)).toEqual([['joined', 'Player3']])
    await syncGuild(world, guildBody('c', { 4: owner }), '04 11:10')
    await syncGuild(world, guildBody('c', { 4: owner, 3: { joined: '05 09:00' } }), '05 09:05')
    // It needs the end of the other membership, too.
    const ofThird = events.replace('order', "where guild_name = 'Guild c' order")
    expect(await rows(ofThird)).toEqual([['joined', 'Player3']])
    for (const at of ['05 09:15', '05 09:25']) await syncGuild(world, guildBody('b', { 2: owner }), at)
    expect(await rows(ofThird)).toEqual([
      ['joined', 'Player3'],
      ['transferred', 'Player3'],
    ])
  })

  test('a run whose responses were all stale says so', async () => {
    await syncGuild(world, guildBody('a', { 1: owner }), '10:00')
    await syncGuild(world, guildBody('a', { 1: owner, 2: {} }), '10:20')
    await answerGuild(world, guildBody('a', { 1: owner }), '10:10')
    expect(await syncGuilds(world, { keys: [guildId('a')] })).toMatchObject({ status: 'stale', events: 0 })
    expect(await rows(`select status, count(*) from sync.run group by 1 order by 1`)).toEqual([
      ['ok', 2],
      ['stale', 1],
    ])
  })
})
