import { describe, expect, test } from 'vitest'
import { createClient } from '../../src/api/client.ts'
import { seededRandom } from '../../src/base/clock.ts'
import { readOverview } from '../../src/cli/commands/status/status-command.ts'
import { guildBody, type MemberFields, playerId, syncGuild } from '../support/guild-answers.ts'
import { profile, syncPlayer, syncPlayers } from '../support/player-answers.ts'
import { kindsOfLongTests } from '../support/postgres.ts'
import {
  closed,
  fullProfile,
  profilesHiding,
  restrictionsIn,
  secrets,
  showEverything,
  whereStored,
} from '../support/private-player.ts'
import { headersOf, instantOf, type World, worldOf } from '../support/world.ts'

const hidden = { ...profilesHiding.mainAccess?.(), restrictions: { mainAccess: true } }
const numbers = (count: number) => Array.from({ length: count }, (_, nth) => nth + 1)

describe.each(kindsOfLongTests)('restrictions on the %s database', (kind) => {
  const world = Object.assign(worldOf(kind), { raw: true })
  const { rows } = world
  const { pending, actions, guards, count } = restrictionsIn(world)

  test('of one response remove nothing; another copy of it counts for nothing; one of another window confirms', async () => {
    await showEverything(world)
    const before = await count('game.player_counter')
    expect(await syncPlayer(world, 1, hidden, '10:00')).toMatchObject({ status: 'ok' })
    expect(await pending()).toEqual([['mainAccess', true, false, '10:00']])
    await syncPlayer(world, 1, hidden, '10:01')
    expect(await pending()).toEqual([['mainAccess', true, false, '10:00']])
    expect([await count('game.player_counter'), await actions(), await guards()]).toEqual([before, [], []])
    expect(await rows('select playtime_hours, restricted from analytics.player')).toEqual([[null, ['mainAccess']]])
    await syncPlayer(world, 1, hidden, '10:10')
    expect(await pending()).toEqual([['mainAccess', false, false, '10:00']])
    expect(await whereStored(world.db, secrets.mainAccess)).toEqual([])
    expect(await actions()).toEqual([['mainAccess', 'anonymize']])
  })

  test.each([
    ['ahead', { came: '10:00', dated: '10:00' }, { came: '10:00:20', dated: '02 08:00' }],
    ['behind, after a pause', { came: '02 10:00', dated: '09:00' }, { came: '02 10:00:20', dated: '02 10:00:20' }],
  ])('are confirmed by no copy twenty seconds later, when one clock is %s', async (_name, one, other) => {
    const shown = profile(1, { playtime: 12, globalData: { wars: 5 } })
    const counters = () => rows(`select counter, value, observed_at from game.player_counter order by 1, 3`)
    await syncPlayer(world, 1, shown, '08:00')
    const before = await counters()
    expect(before).toContainEqual(['wars', 5, '08:00'])
    for (const { came, dated } of [one, other]) {
      await world.clock.advanceTo(instantOf(came))
      const headers = headersOf(instantOf(dated), 120)
      world.sandbox.setAnswer(`/player/${playerId(1)}`, () => ({ headers, body: closed(1) }))
      await syncPlayers(world, { keys: [playerId(1)] })
    }
    expect((await pending()).map(([group, isPending]) => [group, isPending])).toEqual([['mainAccess', true]])
    expect([await counters(), await actions()]).toEqual([before, []])
    for (const at of ['02 10:10', '02 10:20', '02 10:30']) await syncPlayer(world, 1, shown, at)
    expect(await counters()).toEqual(expect.arrayContaining(before))
    expect([await pending(), await actions()]).toEqual([[], []])
  })

  /** The API answers about these players at an instant, by a clock that stands still at `dated`. */
  async function syncDated(bodies: readonly object[], at: string, dated: string) {
    await world.clock.advanceTo(instantOf(at))
    const headers = headersOf(instantOf(dated), 120)
    for (const [nth, body] of bodies.entries())
      world.sandbox.setAnswer(`/player/${playerId(nth + 1)}`, () => ({ headers, body }))
    const both: World = Object.assign(Object.create(world), { trusts: 'both' })
    return await syncPlayers(both, { keys: bodies.map((_, nth) => playerId(nth + 1)) })
  }

  test('hide at once although the clock of the response is refused, and remove nothing, however often it comes', async () => {
    await showEverything(world)
    const stored = await whereStored(world.db, secrets.mainAccess)
    for (const at of ['11:30', '11:40', '15:00', '23:00'])
      expect(await syncDated([hidden], at, '10:00')).toMatchObject({ rejected: 1 })
    expect(await pending()).toEqual([['mainAccess', true, false, '11:30']])
    expect(await rows('select playtime_hours, restricted from analytics.player')).toEqual([[null, ['mainAccess']]])
    expect(await whereStored(world.db, secrets.mainAccess)).toEqual(stored)
    expect(await actions()).toEqual([])
    for (const at of ['23:10', '23:20']) await syncPlayer(world, 1, fullProfile(), at)
    expect([await pending(), await rows('select playtime_hours from analytics.player')]).toEqual([[], [[70001]]])
    await syncDated([hidden], '02 10:00', '10:00')
    for (const at of ['02 10:10', '02 10:20']) await syncPlayer(world, 1, hidden, at)
    expect(await whereStored(world.db, secrets.mainAccess)).toEqual([])
  })

  test('of many at once are held also where the clock of their responses stands still', async () => {
    const five = numbers(5)
    const bodies = five.map((number) => profile(number, { playtime: 12, globalData: { wars: number } }))
    await syncDated(bodies, '09:00', '09:00')
    const before = await count('game.player_counter')
    const hides = five.map((number) => profile(number, { restrictions: { mainAccess: true } }))
    await syncDated(hides, '11:30', '10:00')
    expect(await rows('select distinct is_pending, is_held from sync.privacy_restriction')).toEqual([[true, true]])
    for (const at of ['11:40', '11:50', '12:00']) await syncDated(hides, at, at)
    expect([await count('game.player_counter'), await actions()]).toEqual([before, []])
  })

  test('of a response about another player than the one that was asked for hide nothing', async () => {
    await showEverything(world)
    const other = { ...profile(2, { restrictions: { mainAccess: true } }) }
    expect(await syncDated([other], '10:00', '10:00')).toMatchObject({ rejected: 1 })
    expect(await pending()).toEqual([])
  })

  test('of a guild hide at once although its list of members contradicts its total', async () => {
    await showEverything(world)
    const { members, ...guild } = guildOf({ restrictions: { main_access: true } }) as { members: object }
    const flawed = { ...guild, members: { ...members, total: 13 } }
    expect(await syncGuild(world, flawed, '10:00')).toMatchObject({ rejected: 1 })
    expect(await rows('select distinct is_pending from sync.privacy_restriction')).toEqual([[true]])
  })

  test.each(['anonymize', 'delete'] as const)(
    'that responses say by turns hide all the time and remove nothing, until two in a row show the player (%s)',
    async (policy) => {
      await showEverything(world)
      const kept = await whereStored(world.db, secrets.mainAccess)
      const sync = (body: object, at: string) => syncPlayer(world, 1, body, at, 404, policy)
      const shown = () => rows('select playtime_hours, first_join is null from analytics.player')
      for (const at of ['10:00', '10:20', '10:40']) {
        await sync(hidden, at)
        // The other cache, and a copy of the same cache window.
        for (const later of [at.replace(/0$/, '8'), at.replace(/0$/, '8:30')]) {
          await sync(fullProfile(), later)
          expect([later, await pending(), await shown()]).toEqual([
            later,
            [['mainAccess', true, false, '10:00']],
            [[null, true]],
          ])
        }
      }
      expect(await whereStored(world.db, secrets.mainAccess)).toEqual(expect.arrayContaining(kept))
      await sync(fullProfile(), '10:50')
      expect([await pending(), await actions(), await shown()]).toEqual([[], [], [[70001, false]]])
      expect(await rows(`select kind from sync.claim where resource = 'players/restrictions'`)).toEqual([])
      for (const at of ['11:00', '11:10']) await sync(hidden, at)
      expect(await actions()).toEqual(policy === 'delete' ? [['everything', 'delete']] : [['mainAccess', 'anonymize']])
      expect([await pending(), await whereStored(world.db, secrets.mainAccess)]).toEqual([
        [['mainAccess', false, false, '11:00']],
        [],
      ])
    },
  )

  const member = { globalData: { wars: 3 } }
  const guildOf = (fields: MemberFields) =>
    guildBody('a', Object.fromEntries(numbers(12).map((number) => [number, fields])))

  test('of many members in one response are held', async () => {
    await syncGuild(world, guildOf(member), '09:00')
    const before = await count('game.member_counter')
    const restricted = guildOf({ restrictions: { main_access: true } })
    expect(await syncGuild(world, restricted, '10:00')).toMatchObject({ status: 'rejected' })
    await syncGuild(world, restricted, '10:10')
    expect(await count('game.member_counter')).toBe(before)
    expect(await guards()).toContainEqual(['mass-restriction', 'pending'])
    expect(await rows('select distinct is_held from sync.privacy_restriction')).toEqual([[true]])
  })

  test('that hide nothing that is kept are no mass', async () => {
    await syncGuild(world, guildOf(member), '09:00')
    const restricted = guildOf({ ...member, restrictions: { guild_high_ranked_access: true } })
    for (const at of ['10:00', '10:10'])
      expect(await syncGuild(world, restricted, at)).toMatchObject({ status: expect.not.stringMatching('rejected') })
    expect([await guards(), await actions()]).toEqual([[], []])
    expect(await rows('select distinct is_pending from sync.privacy_restriction')).toEqual([[false]])
  })
})

describe.each(kindsOfLongTests)('restrictions of a guest on the %s database', (kind) => {
  const world = worldOf(kind, { sandbox: { tokens: ['a-token'] } })

  test('remove nothing that a token was shown, until the token is not shown it either', async () => {
    const { sandbox, clock } = world
    const clientOf = (token: string) => createClient({ baseUrl: sandbox.url, clock, random: seededRandom(1), token })
    const [api, expired] = [clientOf('a-token'), clientOf('expired')]
    const owner: World = Object.create(world, { api: { value: api } })
    // The API refuses the token with 401, and the client goes on as a guest.
    const guest: World = Object.create(world, { api: { value: expired } })
    const shown = profile(1, { playtime: 70001, globalData: { wars: 5 } })
    const closed = profile(1, { restrictions: { mainAccess: true } })
    const counters = async () => (await world.rows('select count(*)::int from game.player_counter'))[0]?.[0]
    const restriction = () =>
      world.rows('select is_pending, credential, needs_credential from sync.privacy_restriction')
    await syncPlayer(owner, 1, shown, '09:00')
    const before = await counters()
    expect(before).toBeGreaterThan(0)
    expect(await world.rows('select credential from sync.work_item')).toEqual([['token']])
    for (const at of ['10:00', '10:10', '13:00', '16:00']) await syncPlayer(guest, 1, closed, at)
    for (const at of ['16:10', '16:20', '16:30']) await syncPlayer(guest, 1, null, at, 403)
    expect([await counters(), await restriction()]).toEqual([before, [[true, 'guest', 'token']]])
    expect((await readOverview(world.db, clock.now())).restrictions).toMatchObject([
      { pending: 1, held: 0, needsToken: 1 },
    ])
    expect(await world.rows(`select guard, action from sync.guard_action`)).toEqual([['credential', 'pending']])
    expect(world.log.some((line) => line.includes('came as a guest'))).toBe(true)
    for (const at of ['17:00', '17:10']) await syncPlayer(owner, 1, shown, at)
    expect([await restriction(), await counters()]).toEqual([[], before])
    await syncPlayer(guest, 1, closed, '18:00')
    await syncPlayer(owner, 1, closed, '18:10')
    expect([await counters(), await restriction()]).toEqual([0, [[false, 'guest', 'token']]])
    await Promise.all([api.close(), expired.close()])
  })

  test('come as well where the API answers a token with the copy that guests get', async () => {
    const { sandbox, clock } = world
    const api = createClient({ baseUrl: sandbox.url, clock, random: seededRandom(1), token: 'a-token' })
    const owner: World = Object.create(world, { api: { value: api } })
    const shown = profile(1, { playtime: 70001, globalData: { wars: 5 } })
    const closed = profile(1, { restrictions: { mainAccess: true } })
    const counters = async () => (await world.rows('select count(*)::int from game.player_counter'))[0]?.[0]
    const syncCopy = async (at: string) => {
      await clock.advanceTo(instantOf(at))
      const headers = { ...headersOf(instantOf(at), 120), UserType: null, UserID: null }
      sandbox.setAnswer(`/player/${playerId(1)}`, () => ({ headers, body: closed }))
      await syncPlayers(owner, { keys: [playerId(1)] })
    }
    await syncPlayer(owner, 1, shown, '09:00')
    const before = await counters()
    for (const at of ['10:00', '10:10', '13:00']) await syncCopy(at)
    expect(await world.rows('select is_pending, credential, needs_credential from sync.privacy_restriction')).toEqual([
      [true, 'guest', 'token'],
    ])
    expect([await counters(), await world.rows('select credential from sync.work_item')]).toEqual([before, [['token']]])
    await syncPlayer(owner, 1, closed, '14:00')
    expect(await counters()).toBe(0)
    await api.close()
  })

  test('are confirmed as ever by responses to a token where none says whose it is', async () => {
    const { sandbox, clock } = world
    const api = createClient({ baseUrl: sandbox.url, clock, random: seededRandom(1), token: 'a-token' })
    const owner: World = Object.create(world, { api: { value: api } })
    const counters = async () => (await world.rows('select count(*)::int from game.player_counter'))[0]?.[0]
    for (const [at, isHidden] of [
      ['09:00', false],
      ['10:00', true],
      ['13:00', true],
    ] as const) {
      await clock.advanceTo(instantOf(at))
      const body = profile(
        1,
        isHidden ? { restrictions: { mainAccess: true } } : { playtime: 70001, globalData: { wars: 5 } },
      )
      const headers = { ...headersOf(instantOf(at), 120), UserType: null, UserID: null }
      sandbox.setAnswer(`/player/${playerId(1)}`, () => ({ headers, body }))
      await syncPlayers(owner, { keys: [playerId(1)] })
      expect((await counters()) === 0).toBe(at === '13:00')
    }
    expect(await world.rows('select is_pending, credential from sync.privacy_restriction')).toEqual([[false, 'token']])
    await api.close()
  })
})
