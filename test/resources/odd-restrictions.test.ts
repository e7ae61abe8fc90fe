import { describe, expect, test } from 'vitest'
import { isPublic, restrictionsOf, restrictionVocabulary } from '../../src/api/schemas/people/restrictions.ts'
import { guildBody, guildId, openMember, playerId, syncGuild } from '../support/guild-answers.ts'
import { profile, syncPlayer } from '../support/player-answers.ts'
import { worldOf } from '../support/world.ts'

const everything = [...restrictionVocabulary].sort()

describe('a restriction', () => {
  test.each([undefined, null, false, 'public', 'PUBLIC '])('is none where its value is %j', (value) => {
    expect(isPublic(value)).toBe(true)
    expect(restrictionsOf({ restrictions: { onlineStatus: value } })).toEqual([])
    expect(restrictionsOf({ restrictions: value })).toEqual([])
  })

  test.each([
    true,
    'Private',
    'true',
    'false',
    'no',
    '',
    0,
    1,
    Number.NaN,
    [],
    ['public'],
    {},
    { enabled: true },
    { enabled: false },
  ])('hides where its value is %j', (value) => {
    expect(restrictionsOf({ restrictions: { onlineStatus: value } })).toEqual(['onlineStatus'])
  })

  test.each(['online_status', 'onlineStatus', 'OnlineStatus', 'ONLINE_STATUS', 'online-status'])(
    'is the same spelled %s, as a field and in a list',
    (name) => {
      expect(restrictionsOf({ restrictions: { [name]: true } })).toEqual(['onlineStatus'])
      expect(restrictionsOf({ restrictions: [name] })).toEqual(['onlineStatus'])
    },
  )

  test.each(['Private', 1, true, [1], [{ rule: 'onlineStatus' }]])(
    'hides everything where all of them are %j',
    (sent) => {
      expect(restrictionsOf({ restrictions: sent })).toEqual(everything)
    },
  )

  test.each([
    ['lists', `${'['.repeat(5000)}${']'.repeat(5000)}`],
    ['maps', `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`],
  ])('hides where its value is %s in each other, thousands of them', (_what, text) => {
    expect(restrictionsOf({ restrictions: { onlineStatus: JSON.parse(text) } })).toEqual(['onlineStatus'])
    expect(restrictionsOf({ restrictions: [JSON.parse(text)] })).toEqual(everything)
  })
})

describe('what a response says to be restricted in a form that nobody knows', () => {
  const world = worldOf('server')
  const odd = ['Private', 1, 'true', { enabled: true }]

  test.each(odd)('is not shown at once, and is drift: %j', async (value) => {
    const hidden = {
      online: true,
      server: 'EU1',
      lastJoin: '09:00',
      restrictions: { onlineStatus: value },
    }
    await syncPlayer(world, 1, profile(1, hidden), '10:00')
    expect(await world.rows('select online, world, last_join from game.player_status')).toEqual([[null, null, null]])
    expect(await world.rows('select restricted from analytics.player')).toEqual([[['onlineStatus']]])
    const member = { 2: { rank: 'owner' }, 1: { online: true, server: 'EU1', restrictions: { online_status: value } } }
    await syncGuild(world, guildBody('a', member), '10:00')
    expect(
      await world.rows(`select online, server from game.member_presence where player_uuid = '${playerId(1)}'`),
    ).toEqual([[null, null]])
    expect(await world.rows('select resource, kind, path from sync.drift order by 1')).toEqual([
      ['guilds', 'retyped_field', '/members/*/*/restrictions/*'],
      ['players', 'retyped_field', '/restrictions/*'],
    ])
  })

  test('removes what it hides once another response confirms it', async () => {
    await syncPlayer(world, 1, profile(1, { playtime: 5 }), '10:00')
    for (const at of ['11:00', '12:00'])
      await syncPlayer(world, 1, profile(1, { playtime: undefined, restrictions: { mainAccess: 'Private' } }), at)
    expect(await world.rows('select from game.player_counter')).toEqual([])
  })

  test('removes nothing, however often it comes, where it names no rule', async () => {
    await syncPlayer(world, 1, profile(1, { playtime: 5 }), '10:00')
    for (const at of ['11:00', '12:00', '13:00', '19:00'])
      await syncPlayer(world, 1, profile(1, { playtime: 5, restrictions: 'Private' }), at)
    expect(await world.rows('select value from game.player_counter')).toEqual([[5]])
    expect(await world.rows('select restricted from analytics.player')).toEqual([[everything]])
  })

  test.each([0, '0', 'False ', 'no', '', [], {}, { enabled: false }])(
    'removes nothing where its value, %j, says false in another way, and removes what another rule surely hides',
    async (value) => {
      const shown = (mainAccess: unknown, rules: object = {}) =>
        profile(1, { playtime: 5, lastJoin: '09:00', restrictions: { mainAccess, onlineStatus: false, ...rules } })
      const counters = () => world.rows('select counter, value, observed_at from game.player_counter')
      const status = async () => (await world.rows('select last_join from game.player_status'))[0]
      await syncPlayer(world, 1, shown(false), '10:00')
      await syncPlayer(world, 1, shown(value), '11:00')
      for (const at of ['12:00', '13:00', '19:00']) await syncPlayer(world, 1, shown(value, { onlineStatus: true }), at)
      expect(await world.rows('select restricted, playtime_hours from analytics.player')).toEqual([
        [['mainAccess', 'onlineStatus'], null],
      ])
      expect([await counters(), await status()]).toEqual([[['playtime', 5, '10:00']], [null]])
      const actions = 'select distinct field_group from sync.privacy_action'
      expect(await world.rows(actions)).toEqual([['onlineStatus']])
      const hidden = profile(1, { restrictions: { mainAccess: true } })
      await syncPlayer(world, 1, hidden, '20:00')
      expect(await counters()).toHaveLength(1)
      await syncPlayer(world, 1, hidden, '21:00')
      expect(await counters()).toEqual([])
    },
  )
})

describe('a restriction of a member', () => {
  const world = worldOf('server')
  const rules = () => world.rows(`select field_group, told_by from sync.privacy_restriction order by 1, 2`)
  const hides = { restrictions: { online_status: true } }
  const ofA = `guilds/${guildId('a')}`

  test('stays when the member leaves the guild, and when one response lacks the member', async () => {
    await syncGuild(world, guildBody('a', { 2: { rank: 'owner' }, 1: hides }), '10:00')
    for (const at of ['10:10', '10:20', '10:30']) {
      await syncGuild(world, guildBody('a', { 2: { rank: 'owner' } }), at)
      expect(await rules()).toEqual([['onlineStatus', ofA]])
    }
    for (const at of ['11:00', '11:10'])
      await syncGuild(world, guildBody('a', { 2: { rank: 'owner' }, 1: openMember }), at)
    expect(await rules()).toEqual([])
  })

  test('ends in the next guild once that one shows the member openly and the former one does not have the member', async () => {
    await syncGuild(world, guildBody('a', { 2: { rank: 'owner' }, 1: hides }), '10:00')
    const inB = guildBody('b', { 3: { rank: 'owner' }, 1: openMember })
    for (const at of ['10:05', '10:15', '10:25']) await syncGuild(world, inB, at)
    expect(await rules()).toEqual([['onlineStatus', ofA]])
    for (const at of ['10:30', '10:40']) await syncGuild(world, guildBody('a', { 2: { rank: 'owner' } }), at)
    for (const at of ['10:45', '10:55']) await syncGuild(world, inB, at)
    expect(await rules()).toEqual([])
  })
})
