import { describe, expect, test } from 'vitest'
import { items } from '../../src/resources/items/index.ts'
import { leaderboards } from '../../src/resources/leaderboards/index.ts'
import { onlinePlayers } from '../../src/resources/online-players/index.ts'
import { seasons } from '../../src/resources/seasons/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { worldEvents } from '../../src/resources/world-events/index.ts'
import type { Resource, Worklist } from '../../src/sync/declare/resource.ts'
import { guildBody, guildId, type MemberFields, place, playerId, syncGuild } from '../support/guild-answers.ts'
import { onlineBody, syncOnline } from '../support/player-answers.ts'
import { kindsAtNight } from '../support/postgres.ts'
import { wrongRows } from '../support/verified.ts'
import { headersOf, instantOf, item, worldOf } from '../support/world.ts'

const owner = { rank: 'owner' }
/** `10:00` and so many minutes. */
const minutes = (nth: number) => new Date(instantOf('10:00') + nth * 60_000).toISOString().slice(11, 16)

/** An edge of the API whose clock is off by so many ms, with a copy that is so many seconds old. */
interface Edge {
  readonly skew?: number
  readonly age?: number
  readonly path?: string
}

describe.each(kindsAtNight)('responses that come by turns, on the %s database,', (kind) => {
  const world = worldOf(kind)
  const { rows, sync } = world
  const membershipEvents = () =>
    rows('select event, username from analytics.membership_event order by observed_at, event')
  const captures = () => rows('select to_guild_name, captured_at, not_before from analytics.territory_capture')

  async function syncFrom(resource: Resource | Worklist, body: unknown, at: string, { skew = 0, age = 0, path }: Edge) {
    await world.clock.advanceTo(instantOf(at))
    const now = world.clock.now() + skew
    const { cacheSeconds } = resource
    const expires = { Expires: new Date(now + (cacheSeconds - age) * 1000).toUTCString() }
    const headers = { ...headersOf(now, cacheSeconds), ...expires, Age: String(age) }
    world.sandbox.setAnswer(path ?? resource.route, () => ({ headers, body }))
    return await world.syncNow(resource, { clock: 'both' })
  }

  test('lose and find members of a guild: nobody left, and nobody joined', async () => {
    const all = Object.fromEntries(Array.from({ length: 12 }, (_, nth) => [nth + 1, nth === 0 ? owner : {}]))
    const few = Object.fromEntries(Object.entries(all).slice(0, 4))
    for (let nth = 0; nth < 8; nth++) await syncGuild(world, guildBody('a', nth % 2 ? few : all), minutes(nth * 10))
    expect(await membershipEvents()).toEqual([])
    expect(await rows('select count(*)::int from game.guild_member')).toEqual([[12]])
    expect(await rows('select from sync.claim where times > 1')).toEqual([])
  })

  const ranks = (rank: string, promoted: readonly number[]) =>
    guildBody('a', {
      1: owner,
      2: {},
      3: {},
      4: {},
      5: {},
      6: {},
      ...Object.fromEntries(promoted.map((n) => [n, { rank }])),
    })

  test.each([
    [1, [2]],
    [3, [2]],
    [2, [2, 3, 4, 5, 6]],
  ])('show an old rank and a new one, %i in a row: members %j were promoted once', async (inRow, promoted) => {
    const truth = ranks('captain', promoted)
    const showsNew = (nth: number) => nth >= 12 || Math.floor(nth / inRow) % 2 === 1
    for (let nth = 0; nth < 20; nth++)
      await syncGuild(world, showsNew(nth) ? truth : ranks('recruit', promoted), minutes(nth * 10))
    expect(await membershipEvents()).toEqual(promoted.map((one) => ['promoted', `Player${one}`]))
    const first = minutes(inRow * 10)
    expect(await rows(`select distinct valid_from from game.guild_member where rank = 'captain'`)).toEqual([[first]])
    expect(await rows('select from sync.claim')).toEqual([])
  })

  test('show an old rank for longer than the new one, and the new one again: the rank changed three times', async () => {
    for (const [nth, rank] of ['recruit', 'captain', 'recruit', 'recruit', 'recruit', 'captain', 'captain'].entries())
      await syncGuild(world, ranks(rank, [2]), minutes(nth * 10))
    expect(await membershipEvents()).toEqual([
      ['promoted', 'Player2'],
      ['demoted', 'Player2'],
      ['promoted', 'Player2'],
    ])
  })

  test.each<[string, (nth: number) => MemberFields]>([
    ['has given more', (nth) => ({ contributed: 100 * nth })],
    [
      'has a later login',
      (nth) => ({ lastJoin: `2026-06-01T${minutes(nth * 10 - 1)}:00Z`, online: true, server: 'EU1' }),
    ],
  ])('show ranks by turns, and in each one member %s than before: the rank changed each time', async (_what, news) => {
    const shown = ['recruit', 'captain', 'recruit', 'captain', 'captain', 'recruit']
    for (const [nth, rank] of shown.entries())
      await syncGuild(world, guildBody('a', { 1: owner, 2: { rank }, 3: news(nth) }), minutes(nth * 10))
    const found = await rows('select to_rank, observed_at from analytics.membership_event order by observed_at')
    expect(found).toEqual([
      ['captain', '10:10'],
      ['recruit', '10:20'],
      ['captain', '10:30'],
      ['recruit', '10:50'],
    ])
    expect(await rows('select from sync.claim')).toEqual([])
  })

  test('show ranks by turns, of which the older ones count what others counted hours ago: it changed once', async () => {
    for (let nth = 0; nth < 14; nth++) {
      const [rank, made] = nth % 2 === 0 ? ['recruit', nth - 12] : ['captain', nth]
      const member = { contributed: 5000 + 100 * made }
      await syncGuild(world, guildBody('a', { 1: owner, 2: { rank }, 3: member }), minutes(nth * 10))
    }
    for (let nth = 14; nth < 16; nth++)
      await syncGuild(
        world,
        guildBody('a', { 1: owner, 2: { rank: 'captain' }, 3: { contributed: 9000 } }),
        minutes(nth * 10),
      )
    const found = await rows('select to_rank, observed_at from analytics.membership_event order by observed_at')
    expect(found).toEqual([['captain', '10:10']])
    expect(await rows('select from sync.claim')).toEqual([])
  })

  const login = (at: string) => ({ 3: { lastJoin: `2026-06-01T${at}Z` } })
  const given = (contributed: number, joined = '08:00') => ({ 3: { contributed, joined } })
  const hides = { restrictions: { online_status: true } }
  test.each<[string, readonly Readonly<Record<number, MemberFields>>[]]>([
    ['one who left since had given more', [given(10), {}, given(20), {}]],
    ['one who joined again since had given more', [given(10), given(1, '09:30'), given(20), given(2, '09:30')]],
    ['one who hides it since was there later', [login('09:00:00'), { 3: hides }, login('09:40:00'), { 3: hides }]],
    [
      'a login has fractions of a second',
      [login('09:00:00.250'), login('09:59:01'), login('09:59:01.500'), login('09:59:01')],
    ],
    ['one was not there before', [{}, {}, given(20), {}]],
    [
      'a number is higher that also falls',
      [3, 1, 9, 1].map((wars) => ({ 3: { contributed: 5, globalData: { wars } } })),
    ],
  ])('show ranks by turns, and in the late copy %s: the rank changed once', async (_what, others) => {
    const shown = ['recruit', 'captain', 'recruit', 'captain', 'captain', 'captain', 'captain']
    for (const [nth, rank] of shown.entries())
      await syncGuild(world, guildBody('a', { 1: owner, 2: { rank }, ...others[Math.min(nth, 3)] }), minutes(nth * 10))
    const found = await rows(
      `select to_rank, observed_at from analytics.membership_event where event in ('promoted', 'demoted')`,
    )
    expect(found).toEqual([['captain', '10:10']])
  })

  test('show an old rank again after hours: it waits for an hour, and verify finds that right', async () => {
    const shown = ['recruit', 'recruit', ...Array(18).fill('captain'), ...Array(9).fill('recruit')]
    const waiting: unknown[] = []
    for (const [nth, rank] of shown.entries()) {
      await syncGuild(world, ranks(rank, [2]), minutes(nth * 10))
      if (nth >= 20) waiting.push([await rows('select max(times) from sync.claim'), await wrongRows(world.db)])
    }
    expect(waiting).toEqual([1, 2, 3, 4, 5, 6, null, null, null].map((times) => [[[times]], []]))
    expect((await membershipEvents()).map(([event]) => event)).toEqual(['promoted', 'demoted'])
  })

  test('show an old rank, and then a third one: nothing is pending any more', async () => {
    for (const [nth, rank] of ['recruit', 'captain', 'recruit', 'chief', 'chief'].entries())
      await syncGuild(world, ranks(rank, [2]), minutes(nth * 10))
    expect(await rows('select event, to_rank from analytics.membership_event order by observed_at')).toEqual([
      ['promoted', 'captain'],
      ['demoted', 'recruit'],
      ['promoted', 'chief'],
    ])
    expect(await rows('select from sync.claim')).toEqual([])
  })

  test('name another player by a name: nobody left, and the other one joined once', async () => {
    for (let nth = 0; nth < 6; nth++)
      await syncGuild(world, guildBody('a', { 9: owner, [nth % 2 ? 2 : 1]: { username: 'Same' } }), minutes(nth * 10))
    expect(await membershipEvents()).toEqual([['joined', 'Same']])
    expect(await rows(`select count(*)::int from game.guild_member where valid_until = 'infinity'`)).toEqual([[3]])
  })

  test('have a guild by its old and its new name: it holds its territory all the time', async () => {
    const map = (name: string) => ({
      Oak: place('a', '08:00', { guild: { uuid: guildId('a'), name, prefix: name.slice(0, 3) } }),
    })
    for (let nth = 0; nth < 6; nth++) await sync(territories, map(nth % 2 ? 'Old' : 'New'), minutes(nth))
    expect(await captures()).toEqual([])
    expect(await rows('select valid_from, valid_until from game.territory_hold')).toEqual([['08:00', 'infinity']])
  })

  const oak = (letter: string, since: string) => ({ Oak: place(letter, since), Elm: place('a', '08:00') })
  const [before, after] = [oak('a', '08:00'), oak('b', '10:04')]
  const edgeOf = (nth: number) => ({ skew: nth % 2 ? 600_000 : -600_000, age: nth % 2 ? 5 : 8 })

  test('come from two edges whose clocks differ by twenty minutes: each is dated by this machine', async () => {
    const statuses: string[] = []
    for (let nth = 0; nth < 12; nth++) {
      const run = await syncFrom(territories, nth < 6 ? before : after, minutes(nth), edgeOf(nth))
      statuses.push(run.status)
    }
    const same = Array(5).fill('unchanged')
    expect(statuses).toEqual(['ok', ...same, 'ok', ...same])
    expect(await captures()).toEqual([['Guild b', '10:04', '10:03:52']])
    expect(await rows(`select action, reason from sync.guard_action where guard = 'clock' order by reason`)).toEqual([
      ['accepted', expect.stringContaining('10 minutes ahead')],
      ['accepted', expect.stringContaining('10 minutes behind')],
    ])
  })

  test('show an old and a new map from two such edges: the capture happened once, and stays', async () => {
    await sync(territories, before, minutes(0))
    for (let nth = 6; nth < 14; nth++) await syncFrom(territories, nth % 2 ? before : after, minutes(nth), edgeOf(nth))
    for (let nth = 14; nth < 17; nth++) await syncFrom(territories, after, minutes(nth), {})
    expect(await captures()).toEqual([['Guild b', '10:04', '10:00']])
    expect(
      await rows(`select valid_from, valid_until from game.territory_hold where territory = 'Oak' order by 1`),
    ).toEqual([
      ['08:00', '10:04'],
      ['10:04', 'infinity'],
    ])
  })

  test('are copies of one board with other ages: a place that one cache window lacks is not empty', async () => {
    const entry = (nth: number) => ({
      uuid: playerId(nth),
      name: `Player${nth}`,
      score: 40 - nth,
      metaScore: 1,
      previousRanking: 1,
    })
    const board = (...numbers: number[]) => Object.fromEntries(numbers.map((nth) => [String(nth), entry(nth)]))
    const path = '/leaderboards/warsCompletion'
    world.sandbox.setAnswer('/leaderboards/types', () => ({ body: ['warsCompletion'] }))
    const places = `select place from game.leaderboard_place where reason is null order by 1`
    const play = (nth: number, body: object, age: number) => syncFrom(leaderboards, body, minutes(nth), { age, path })
    await play(0, board(1, 2, 3), 0)
    for (const [nth, age] of [
      [20, 0],
      [22, 120],
      [25, 300],
      [29, 540],
    ] as const)
      await play(nth, board(1, 2), age)
    expect((await rows(places)).flat()).toEqual([1, 2, 3])
    await play(40, board(1, 2, 3), 0)
    await play(60, board(1, 2), 0)
    await play(80, board(1, 2, 3), 0)
    expect((await rows(places)).flat()).toEqual([1, 2, 3])
    expect(await rows('select from sync.claim')).toEqual([])
  })

  test('are copies of one list of seasons with other ages: what is older is stale', async () => {
    const season = (srPerWar: number) => ({
      1: { initDate: '2026-01-01T00:00:00Z', endDate: '2026-08-01T00:00:00Z', srPerWar },
    })
    const statuses: string[] = []
    for (const [nth, rating, age] of [
      [0, 1, 0],
      [2, 1, 120],
      [12, 2, 0],
      [13, 1, 300],
      [14, 2, 120],
      [15, 1, 420],
    ] as const)
      statuses.push((await syncFrom(seasons, season(rating), minutes(nth), { age })).status)
    expect(statuses).toEqual(['ok', 'unchanged', 'ok', 'stale', 'unchanged', 'stale'])
    expect(await rows('select sr_per_war from game.season order by valid_from')).toEqual([[1], [2]])
  })

  /** Polls get the copies of two caches by turns, which ask half a window apart; `truth` is what the API says so many seconds after 10:00. */
  async function fromTwoCaches(
    resource: Resource | Worklist,
    truth: (second: number) => unknown,
    { every, polls, path }: { readonly every: number; readonly polls: number; readonly path?: string },
  ) {
    const { cacheSeconds } = resource
    const statuses = new Set<string>()
    for (let nth = 0; nth < polls; nth++) {
      const now = nth * every
      const offset = nth % 2 ? cacheSeconds / 2 : 0
      const made = Math.floor((now - offset) / cacheSeconds) * cacheSeconds + offset
      const at = new Date(instantOf('10:00') + now * 1000).toISOString().slice(11, 19)
      const edge = { age: now - made, ...(path === undefined ? {} : { path }) }
      statuses.add((await syncFrom(resource, truth(made), at, edge)).status)
    }
    return [...statuses].sort()
  }

  test('are copies of one map of two caches: what is older is stale, and a place is captured once', async () => {
    const truth = (second: number) => (second < 37 ? oak('a', '08:00') : oak('b', '10:00:36'))
    expect(await fromTwoCaches(territories, truth, { every: 4, polls: 20 })).toEqual(['ok', 'stale', 'unchanged'])
    expect(await captures()).toEqual([['Guild b', '10:00:36', expect.any(String)]])
    expect(await rows('select from sync.claim')).toEqual([])
  })

  test('are copies of one list of players of two caches: who left, left once, and so it is of worlds', async () => {
    const all = onlineBody({ EU1: [1, 2, 3], EU2: [4, 5, 6] })
    const truth = (second: number) => (second < 100 ? all : onlineBody({ EU1: [1, 2], EU2: [4, 5, 6], EU3: [7] }))
    await fromTwoCaches(onlinePlayers, truth, { every: 11, polls: 20 })
    expect(await rows('select event, world from analytics.world_lifecycle')).toEqual([['up', 'EU3']])
    expect(
      await rows('select count(*)::int, count(*) filter (where is_open)::int from analytics.player_session'),
    ).toEqual([[7, 6]])
    expect(await rows('select from game.player_hop')).toEqual([])
  })

  test('are copies of one list of events of two caches: a start that moves is one start', async () => {
    const event = { name: 'Hold', internalName: 'hold', difficulty: 'HARD', level: 30, lore: 'Text', length: 'SHORT' }
    const truth = (second: number) => [
      { ...event, schedule: `2026-06-01T${second < 700 ? '10:50' : '10:40'}:00+00:00` },
    ]
    await fromTwoCaches(worldEvents, truth, { every: 70, polls: 20 })
    expect(await rows('select starts_at from game.world_event_occurrence')).toEqual([['10:40']])
    expect(await rows('select from sync.claim')).toEqual([])
  })

  test('are copies of one board of two caches: who overtakes another does so once', async () => {
    const entry = (nth: number, score: number) => ({
      uuid: playerId(nth),
      name: `Player${nth}`,
      score,
      metaScore: 1,
      previousRanking: 1,
    })
    const truth = (second: number) =>
      second < 3000 ? { 1: entry(1, 50), 2: entry(2, 40) } : { 1: entry(2, 60), 2: entry(1, 50) }
    world.sandbox.setAnswer('/leaderboards/types', () => ({ body: ['warsCompletion'] }))
    await fromTwoCaches(leaderboards, truth, { every: 370, polls: 16, path: '/leaderboards/warsCompletion' })
    expect(await rows('select name, score from game.leaderboard_place where place = 1 order by observed_at')).toEqual([
      ['Player1', 50],
      ['Player2', 60],
    ])
  })

  test('show all players on other worlds: no session ends, and no world goes down', async () => {
    const [one, other] = [
      onlineBody({ EU1: [1, 2, 3], EU2: [4, 5, 6] }),
      onlineBody({ EU1: [4, 5, 6], EU2: [1, 2, 3] }),
    ]
    for (let nth = 0; nth < 8; nth++) await syncOnline(world, nth % 2 ? other : one, minutes(nth))
    expect(await rows('select count(*)::int, bool_and(is_open) from analytics.player_session')).toEqual([[6, true]])
    expect(await rows('select from analytics.world_lifecycle')).toEqual([])
  })

  /** The item database in pages of 20, whose count says `count`; each page begins `shift` records too early. */
  async function syncPages(hours: number, names: readonly string[], { count = names.length, shift = 0 } = {}) {
    await world.clock.advanceTo(instantOf('10:00') + hours * 4_000_000)
    const pages = Math.ceil(names.length / 20)
    world.sandbox.setAnswer('/item/database', ({ query }) => {
      const page = Number(query.get('page') ?? 1)
      const from = Math.max(0, (page - 1) * 20 - (page > 1 ? shift : 0))
      const results = names.slice(from, from + 20).map((name) => item(name))
      const [prev, next] = [page > 1 ? page - 1 : null, page < pages ? page + 1 : null]
      const controller = { count, current_count: results.length, pages, prev, current: page, next }
      return { headers: headersOf(world.clock.now(), 60), body: { controller, results } }
    })
    return (await world.syncNow(items)).status
  }

  const names = Array.from({ length: 60 }, (_, nth) => `thing ${nth}`)
  const all = { count: 60 }

  test.each<[string, (nth: number) => Promise<string>, string]>([
    ['lack a page', (nth) => syncPages(nth, nth % 2 ? names.slice(0, 40) : names), 'unchanged'],
    ['lack a page, and count all', (nth) => syncPages(nth, nth % 2 ? names.slice(0, 40) : names, all), 'partial'],
    ['count too few', (nth) => syncPages(nth, names, nth % 2 ? { count: 10 } : {}), 'partial'],
    ['count too many', (nth) => syncPages(nth, names, nth % 2 ? { count: 1e9 } : {}), 'partial'],
    ['repeat records on the next page', (nth) => syncPages(nth, names, nth % 2 ? { shift: 3 } : {}), 'partial'],
  ])('are pages of all items that %s: no item goes, and none comes', async (_what, play, status) => {
    const statuses: string[] = []
    for (let nth = 0; nth < 7; nth++) statuses.push(await play(nth))
    expect(new Set(statuses.filter((_, nth) => nth % 2))).toEqual(new Set([status]))
    expect(statuses[0]).toBe('ok')
    expect(statuses.at(-1)).toBe('unchanged')
    expect(await rows(`select count(*)::int, min(valid_until) from game.item`)).toEqual([[60, 'infinity']])
    expect(await rows('select from analytics.item_change')).toEqual([])
  })
})
