import { describe, expect, test } from 'vitest'
import { guildBody, playerId, syncGuild } from '../support/guild-answers.ts'
import { profile, syncPlayer, syncPlayers } from '../support/player-answers.ts'
import { kindsOfLongTests } from '../support/postgres.ts'
import { headersOf, instantOf, worldOf } from '../support/world.ts'

const numbers = [1, 2, 3, 4, 5, 6]
const open = (number: number) => profile(number, { playtime: 100 + number, characters: {} })

describe.each(kindsOfLongTests)('a restriction on the %s database', (kind) => {
  const world = Object.assign(worldOf(kind), { raw: true })
  const { rows } = world
  const hides = { mainAccess: true, onlineStatus: true }
  const shown = { playtime: 7, online: true, server: 'EU1', lastJoin: '09:00', characters: {} }
  const hidden = { online: false, server: null, characters: {}, restrictions: hides }
  const rules = () => rows('select field_group, is_pending from sync.privacy_restriction order by 1')
  const stored = () =>
    rows(`select counter, value from game.player_counter where counter = 'playtime'
           union all select 'online', count(*)::int from game.player_status where online is not null`)
  const view = () => rows('select playtime_hours, online, world, restricted from analytics.player')
  const masked = [[null, null, null, ['mainAccess', 'onlineStatus']]]

  test('that one odd response shows hides at once, removes nothing, and ends with the next two that name it', async () => {
    await syncPlayer(world, 1, profile(1, shown), '10:00')
    await syncPlayer(world, 1, profile(1, hidden), '10:10')
    expect(await view()).toEqual(masked)
    await syncPlayer(world, 1, profile(1, shown), '10:20')
    expect(await view()).toEqual(masked)
    await syncPlayer(world, 1, profile(1, shown), '10:30')
    expect(await view()).toEqual([[7, true, 'EU1', []]])
    expect(await rows('select from sync.claim')).toEqual([])
  })

  test('that every other response lifts removes nothing, and hides all the time', async () => {
    await syncPlayer(world, 1, profile(1, shown), '10:00')
    for (let nth = 0; nth < 20; nth++) {
      await syncPlayer(world, 1, profile(1, nth % 2 === 0 ? hidden : shown), `${11 + Math.floor(nth / 2)}:${nth % 2}0`)
      expect(await view()).toEqual(masked)
    }
    expect(await rows(`select value from game.player_counter where counter = 'playtime'`)).toEqual([[7]])
    expect(await rows('select from sync.privacy_action')).toEqual([])
  })

  const lacking: [string, unknown][] = [
    ['have no restrictions', undefined],
    ['have null instead', null],
    ['name no rule', {}],
    ['name other rules', { characterListAccess: false }],
    ['have null for its rules', { mainAccess: null, onlineStatus: null }],
    ['have an empty list instead', []],
  ]

  test.each(lacking)('that is confirmed stays for a month while responses %s', async (_name, restrictions) => {
    await syncPlayer(world, 1, profile(1, shown), '10:00')
    for (const at of ['10:10', '10:20']) await syncPlayer(world, 1, profile(1, hidden), at)
    expect(await stored()).toEqual([['online', 0]])
    for (let day = 2; day <= 30; day += 4)
      for (const fields of [shown, { ...hidden, playtime: 8 }])
        await syncPlayer(
          world,
          1,
          profile(1, { ...fields, restrictions }),
          `${String(day).padStart(2, '0')} ${fields === shown ? '10' : '20'}:00`,
        )
    expect([await rules(), await stored(), await view()]).toEqual([
      [
        ['mainAccess', false],
        ['onlineStatus', false],
      ],
      [['online', 0]],
      masked,
    ])
    await syncPlayer(world, 1, profile(1, shown), '30 22:00')
    expect([await view(), await stored()]).toEqual([masked, [['online', 0]]])
    await syncPlayer(world, 1, profile(1, shown), '30 22:01')
    expect(await view()).toEqual(masked)
    await syncPlayer(world, 1, profile(1, shown), '30 22:10')
    expect(await view()).toEqual([[7, true, 'EU1', []]])
    expect([await rules(), await rows('select from sync.claim')]).toEqual([[], []])
  })

  test.each(lacking)(
    'that is pending stays pending while responses %s, and nothing is lost',
    async (_name, restrictions) => {
      await syncPlayer(world, 1, profile(1, shown), '10:00')
      await syncPlayer(world, 1, profile(1, hidden), '10:10')
      for (const at of ['11:00', '12:00', '02 12:00']) {
        await syncPlayer(world, 1, profile(1, { ...shown, restrictions }), at)
        expect(await view()).toEqual(masked)
      }
      for (const at of ['02 13:00', '02 13:10']) await syncPlayer(world, 1, profile(1, shown), at)
      expect(await view()).toEqual([[7, true, 'EU1', []]])
    },
  )

  test('of members stays while the guild names it no more, for one member as for all', async () => {
    const of = (restrictions: unknown) => {
      const member = { online: true, server: 'EU1', globalData: { wars: 5 }, restrictions }
      return guildBody('a', { 1: { rank: 'owner', ...member }, 2: member, 3: member })
    }
    const online = () => rows('select online, server from analytics.guild_member')
    for (const at of ['10:00', '10:10']) await syncGuild(world, of({ main_access: true, online_status: true }), at)
    for (const [nth, [, restrictions]] of lacking.entries()) {
      await syncGuild(world, of(restrictions), `${11 + nth}:00`)
      await syncGuild(world, of(restrictions), `${11 + nth}:30`)
      expect(await online()).toEqual(Array(3).fill([null, null]))
    }
    expect(await rows(`select from game.member_counter where counter = 'wars'`)).toEqual([])
    const nothing = { main_access: false, online_status: false }
    await syncGuild(world, of(nothing), '20:00')
    expect(await online()).toEqual(Array(3).fill([null, null]))
    await syncGuild(world, of(nothing), '20:10')
    expect(await online()).toEqual(Array(3).fill([true, 'EU1']))
  })

  test('of all players at once, then named by none, hides them all and removes nothing', async () => {
    const ask = async (at: string, body: (number: number) => object) => {
      const when = instantOf(at)
      await world.clock.advanceTo(when)
      for (const one of numbers)
        world.sandbox.setAnswer(`/player/${playerId(one)}`, () => ({ headers: headersOf(when, 120), body: body(one) }))
      await syncPlayers(world, { keys: numbers.map(playerId) })
    }
    const sums = () => rows(`select count(*)::int, count(playtime_hours)::int from analytics.player`)
    await ask('10:00', open)
    await ask('11:00', (one) => profile(one, hidden))
    for (const at of ['12:00', '18:00', '05 12:00']) {
      await ask(at, (one) => ({ ...open(one), restrictions: undefined }))
      expect(await sums()).toEqual([[6, 0]])
    }
    for (const at of ['05 13:00', '05 13:10']) await ask(at, open)
    expect(await sums()).toEqual([[6, 6]])
    expect(await rows('select from sync.privacy_action')).toEqual([])
  })

  test('that follows from refusals ends with two profiles that are shown, whatever they name', async () => {
    await syncPlayer(world, 1, profile(1, shown), '10:00')
    for (const at of ['10:10', '10:20']) await syncPlayer(world, 1, null, at, 403)
    expect(await rules()).toEqual([['mainAccess', false]])
    const old = profile(1, { ...shown, restrictions: undefined })
    await syncPlayer(world, 1, old, '11:00')
    expect((await view())[0]?.[0]).toBe(null)
    await syncPlayer(world, 1, old, '11:10')
    expect((await view())[0]?.[0]).toBe(7)
  })

  test('that follows from refusals hides on while a profile is shown and refused by turns', async () => {
    await syncPlayer(world, 1, profile(1, shown), '10:00')
    for (const at of ['10:10', '10:20']) await syncPlayer(world, 1, null, at, 403)
    for (let hour = 11; hour < 23; hour++) {
      await syncPlayer(world, 1, profile(1, shown), `${hour}:00`)
      expect([hour, (await view())[0]?.[0]]).toEqual([hour, null])
      await syncPlayer(world, 1, null, `${hour}:30`, 403)
    }
    for (const at of ['23:00', '23:10']) await syncPlayer(world, 1, profile(1, shown), at)
    expect((await view())[0]?.[0]).toBe(7)
  })

  test('ends at once where a person accepts the response', async () => {
    for (const at of ['10:00', '10:10']) await syncPlayer(world, 1, profile(1, hidden), at)
    await world.clock.advanceTo(instantOf('11:00'))
    const headers = headersOf(instantOf('11:00'), 120)
    world.sandbox.setAnswer(`/player/${playerId(1)}`, () => ({ headers, body: profile(1, shown) }))
    await syncPlayers(world, { keys: [playerId(1)] }, 'anonymize', true)
    expect(await view()).toEqual([[7, true, 'EU1', []]])
  })
})
