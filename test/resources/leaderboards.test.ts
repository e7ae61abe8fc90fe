import { describe, expect, test } from 'vitest'
import { leaderboards } from '../../src/resources/leaderboards/index.ts'
import { onBoards } from '../../src/resources/personal.ts'
import { purge } from '../../src/sync/privacy/person.ts'
import { playerId } from '../support/guild-answers.ts'
import { confirmPlayer, profile } from '../support/player-answers.ts'
import { kindsAtNight } from '../support/postgres.ts'
import { whereStored } from '../support/private-player.ts'
import { headersOf, instantOf, type World, worldOf } from '../support/world.ts'

const uuid = (nth: number) => `00000000-0000-4000-8000-${String(nth).padStart(12, '0')}`
const guild = (nth: number, score: number, more: object = {}) => ({
  uuid: uuid(nth),
  name: `Guild ${nth}`,
  prefix: `G${nth}`,
  score,
  metaScore: score * 1000,
  previousRanking: 1,
  ...more,
})
const player = (nth: number, score: number, more: object = {}) => ({
  uuid: uuid(nth),
  name: `Player${nth}`,
  score,
  metaScore: score * 1000,
  previousRanking: 1,
  restricted: false,
  ...more,
})
const hidden = (score: number) => ({ name: 'redacted', uuid: 'redacted', score, metaScore: 1, restricted: true })
const byPlace = (entries: readonly unknown[]) =>
  Object.fromEntries(entries.map((entry, nth) => [String(nth + 1), entry]))

/** The API has one board, which speaks for `at`; it is synced. */
async function syncBoard(world: World, type: string, body: unknown, at: string) {
  await world.clock.advanceTo(instantOf(at))
  const headers = headersOf(instantOf(at), 600)
  world.sandbox.setAnswer('/leaderboards/types', () => ({ body: [type], headers }))
  world.sandbox.setAnswer(`/leaderboards/${type}`, () => ({ body, headers }))
  return await world.syncNow(leaderboards, { raw: world.raw ?? false })
}

const at = (type: string, instant: string) =>
  `select place, entity, name, score, observed_at, reason from analytics.leaderboard_at('${type}', '2026-06-01T${instant}:00Z')`
const history = (type: string, entity: string, from = '00:00', to = '23:59') =>
  `select at, place, score, delta from analytics.leaderboard_history('${type}', '${entity}',
     '2026-06-01T${from}:00Z', '2026-06-01T${to}:00Z')`

describe.each(['live', 'documented'] as const)('leaderboards in the %s dialect', (dialect) => {
  const world = worldOf('server', { sandbox: { dialect, game: { guilds: 90, players: 300 } } })

  test('load all, and the same again changes nothing', async () => {
    const first = await world.syncNow(leaderboards)
    expect(first).toMatchObject({ status: 'ok', quarantined: 0, rejected: 0 })
    const types = (await world.api.leaderboards.types()).read()
    expect(await world.rows('select type from game.leaderboard order by 1')).toEqual(
      types.toSorted().map((one) => [one]),
    )
    const counts = await world.rowCounts()
    expect(await world.syncNow(leaderboards)).toMatchObject({
      inserted: 0,
      changed: 0,
      events: 0,
    })
    expect((await world.rowCounts())['game.leaderboard_place']).toBe(counts['game.leaderboard_place'])
    expect(await world.rows('select * from sync.drift')).toEqual([])
    for (const type of types) {
      const places = (await world.api.leaderboards.get(type)).read()
      const shown = await world.rows(`select place, name from analytics.leaderboard_at('${type}')`)
      expect(shown).toEqual(places.map(({ position, name }) => [position, name === 'redacted' ? null : name]))
    }
  })
})

describe.each(kindsAtNight)('leaderboards on the %s database', (kind) => {
  const world = worldOf(kind)

  test('scores are counters: gained, who gained most, and who was first, as far as places show them', async () => {
    const board = 'guildSeason9'
    await syncBoard(world, board, byPlace([guild(1, 50), guild(2, 40), guild(3, 30)]), '10:00')
    await syncBoard(world, board, byPlace([guild(2, 70), guild(1, 60), guild(3, 30)]), '11:00')
    // Guild 3 is on no place from then on, and guild 4 is on one for the first time.
    await syncBoard(world, board, byPlace([guild(2, 80), guild(4, 75), guild(1, 60)]), '12:00')
    await syncBoard(world, board, byPlace([guild(3, 90), guild(2, 80), guild(4, 77)]), '13:00')
    await syncBoard(world, board, byPlace([guild(3, 90), guild(2, 85), guild(4, 79)]), '14:00')
    const period = `'2026-06-01T10:30:00Z', '2026-06-01T13:30:00Z'`
    const gained = async (entity: string) =>
      await world.rows(
        `select name, gained, at_most, quality from analytics.gained('leaderboard', '${board}', '${entity}', ${period})`,
      )
    expect(await gained('Guild 2')).toEqual([['Guild 2', 40, 40, 'exact']])
    expect(await gained(uuid(1))).toEqual([['Guild 1', 0, null, 'at_least']])
    // From the last response with it, before the gap in which it is not known.
    expect(await gained(uuid(3))).toEqual([['Guild 3', 60, 60, 'exact']])
    expect(await gained(uuid(4))).toEqual([['Guild 4', 2, null, 'at_least']])
    expect(
      await world.rows(
        `select place, name, gained, quality from analytics.top_gained('leaderboard', '${board}', ${period}, 2)`,
      ),
    ).toEqual([
      [1, 'Guild 3', 60, 'exact'],
      [2, 'Guild 2', 40, 'exact'],
    ])
    expect(
      await world.rows(
        `select value, gained, quality from analytics.timeline('leaderboard', '${board}', 'Guild 3',
           '2026-06-01T10:00:00Z', '2026-06-01T13:00:00Z', '1 hour')`,
      ),
    ).toEqual([
      [30, 0, 'exact'],
      // One response without it between two with it, which lie as close as borders must.
      [30, 0, 'exact'],
      [30, 60, 'exact'],
    ])
    expect(
      await world.rows(`select place, name, at, not_before from analytics.first_to('leaderboard', '${board}', 70, 9)`),
    ).toEqual([
      [1, 'Guild 2', '11:00', '10:00'],
      [2, 'Guild 4', '12:00', null],
      // Of who was not seen since, the last score from before.
      [3, 'Guild 3', '13:00', '10:00'],
    ])
    expect(
      await world.rows(`select counter, unit, entities from analytics.counter where kind = 'leaderboard'`),
    ).toEqual([[board, 'points', 3]])
  })

  test('leaderboard_at and leaderboard_history: who was where, and by how much the score rose', async () => {
    await syncBoard(world, 'guildSeason9', byPlace([guild(1, 50), guild(2, 40), guild(3, 30)]), '10:00')
    await syncBoard(world, 'guildSeason9', byPlace([guild(2, 70), guild(1, 60), guild(3, 30)]), '11:00')
    await syncBoard(world, 'guildSeason9', byPlace([guild(2, 80), guild(4, 75), guild(1, 60)]), '12:00')
    await syncBoard(world, 'guildSeason9', byPlace([guild(3, 90), guild(2, 80), guild(4, 75)]), '13:00')
    expect(await world.rows(at('guildSeason9', '09:59'))).toEqual([])
    expect(await world.rows(at('guildSeason9', '11:30'))).toEqual([
      [1, uuid(2), 'Guild 2', 70, '11:00', null],
      [2, uuid(1), 'Guild 1', 60, '11:00', null],
      [3, uuid(3), 'Guild 3', 30, '10:00', null],
    ])
    expect(await world.rows(history('guildSeason9', uuid(1)))).toEqual([
      ['10:00', 1, 50, null],
      ['11:00', 2, 60, 10],
      ['12:00', 3, 60, 0],
      ['13:00', null, null, null],
    ])
    const third = [
      ['10:00', 3, 30, null],
      ['12:00', null, null, null],
      ['13:00', 1, 90, 60],
    ]
    expect(await world.rows(history('guildSeason9', 'Guild 3'))).toEqual(third)
    expect(await world.rows(history('guildSeason9', uuid(3), '10:01', '13:00'))).toEqual(third.slice(1, 2))
    expect(await world.rows(history('guildSeason9', uuid(3), '12:01'))).toEqual(third.slice(2))
    expect(await world.rows(history('guildSeason9', 'Nobody'))).toEqual([])
    expect(await world.rows(`select count(*) from game.leaderboard_place`)).toEqual([[11]])
  })

  test('a board that counts from 0, or is in an envelope, moves no one', async () => {
    const entries = [player(1, 30), player(2, 20), player(3, 10)]
    await syncBoard(world, 'warsCompletion', byPlace(entries), '10:00')
    const counts = await world.rowCounts()
    await syncBoard(world, 'warsCompletion', Object.fromEntries(entries.entries()), '11:00')
    await syncBoard(world, 'warsCompletion', { results: byPlace(entries) }, '12:00')
    await syncBoard(world, 'warsCompletion', byPlace(entries), '13:00')
    for (const table of ['game.leaderboard', 'game.leaderboard_place'])
      expect((await world.rowCounts())[table]).toBe(counts[table])
    expect(await world.rows(`select place, name from analytics.leaderboard_at('warsCompletion')`)).toEqual(
      entries.map(({ name }, nth) => [nth + 1, name]),
    )
  })

  test('a run that changed places only is no unchanged one', async () => {
    await syncBoard(world, 'guildTerritories', byPlace([guild(1, 5), guild(2, 4)]), '10:00')
    const other = await syncBoard(world, 'guildTerritories', byPlace([guild(2, 9), guild(1, 8)]), '11:00')
    expect(other).toMatchObject({ status: 'ok', changed: 2 })
    const same = await syncBoard(world, 'guildTerritories', byPlace([guild(2, 9), guild(1, 8)]), '12:00')
    expect(same).toMatchObject({ status: 'unchanged' })
  })

  test('a place that two responses lack is empty from the first on, also when they are the same', async () => {
    await syncBoard(world, 'guildTerritories', byPlace([guild(1, 5), guild(2, 4)]), '10:00')
    await syncBoard(world, 'guildTerritories', byPlace([guild(1, 5)]), '11:00')
    expect((await world.rows(at('guildTerritories', '11:30'))).length).toBe(2)
    await syncBoard(world, 'guildTerritories', byPlace([guild(1, 5)]), '12:00')
    expect((await world.rows(at('guildTerritories', '11:30'))).length).toBe(1)
    expect(await world.rows(history('guildTerritories', uuid(2)))).toEqual([
      ['10:00', 2, 4, null],
      ['11:00', null, null, null],
    ])
    await syncBoard(world, 'guildTerritories', {}, '13:00')
    await syncBoard(world, 'guildTerritories', {}, '14:00')
    await syncBoard(world, 'guildTerritories', byPlace([guild(1, 5), guild(2, 4)]), '15:00')
    expect((await world.rows(at('guildTerritories', '14:30'))).map(([place]) => place)).toEqual([1])
    expect((await world.rows(history('guildTerritories', uuid(2)))).at(-1)).toEqual(['15:00', 2, 4, 0])
    expect(await world.rows(`select * from sync.claim`)).toEqual([])
  })

  test('all places of a board are empty once three responses over six hours have none, since the first', async () => {
    const board = byPlace([guild(1, 5), guild(2, 4)])
    const places = async (instant: string) => (await world.rows(at('guildWars', instant))).map(([place]) => place)
    await syncBoard(world, 'guildWars', board, '01:00')
    for (const instant of ['02:00', '02:20', '05:00', '07:50']) {
      await syncBoard(world, 'guildWars', {}, instant)
      expect(await places(instant)).toEqual([1, 2])
    }
    await syncBoard(world, 'guildWars', board, '07:55')
    for (const instant of ['08:10', '11:00']) await syncBoard(world, 'guildWars', [], instant)
    // What has no place that can be read is no board without a place.
    await syncBoard(world, 'guildWars', { data: board }, '14:20')
    expect(await places('14:20')).toEqual([1, 2])
    await syncBoard(world, 'guildWars', {}, '14:40')
    expect([await places('08:00'), await places('08:10'), await places('14:40')]).toEqual([[1, 2], [], []])
    expect(await world.rows('select * from sync.claim')).toEqual([])
    await syncBoard(world, 'guildWars', board, '15:00')
    expect(await places('15:00')).toEqual([1, 2])
  })

  test('who hides has no name, which is not an empty place', async () => {
    await syncBoard(world, 'playerContent', byPlace([player(1, 9), player(2, 8)]), '10:00')
    await syncBoard(world, 'playerContent', byPlace([hidden(9), player(2, 8)]), '11:00')
    expect(await world.rows(at('playerContent', '11:00'))).toEqual([
      [1, null, null, 9, '11:00', 'redacted'],
      [2, uuid(2), 'Player2', 8, '10:00', null],
    ])
    expect(await world.rows(history('playerContent', uuid(1)))).toEqual([
      ['10:00', 1, 9, null],
      ['11:00', null, null, null],
    ])
    await syncBoard(world, 'playerContent', {}, '12:00')
    await syncBoard(world, 'playerContent', byPlace([hidden(9), null]), '13:00')
    expect(await world.rows('select type, kind from game.leaderboard')).toEqual([['playerContent', 'player']])
  })

  test('hostile values cost their own places only', async () => {
    const good = byPlace([player(1, 9), player(2, 8), player(3, 7), player(4, 6)])
    await syncBoard(world, 'totalGlobalLevel', good, '10:00')
    const bad = {
      1: player(5, 1, { score: '12' }),
      2: player(6, 2, { name: 'a\0b' }),
      3: player(7, -4e90, { name: '\u001b[31m<b>\u202e' }),
      4: player(8, 3, { uuid: 'x' }),
      '04': player(9, 3),
      0: player(10, 3),
      '-1': player(11, 3),
      99999999999: player(12, 3),
      five: player(13, 3),
      6: null,
      7: player(14, 1, { name: 'n'.repeat(100_000) }),
      8: player(15, 1, { shoes: 3 }),
      9: player(16, 1e300),
    }
    expect(await syncBoard(world, 'totalGlobalLevel', bad, '11:00')).toMatchObject({ quarantined: 11, closed: 0 })
    expect(await world.rows(at('totalGlobalLevel', '11:00'))).toEqual([
      [1, uuid(5), 'Player5', null, '11:00', null],
      [2, uuid(6), 'a\uFFFDb', 2, '11:00', null],
      ...[3, 4, 6, 7].map((place) => [place, null, null, null, '11:00', 'unreadable']),
      [8, uuid(15), 'Player15', 1, '11:00', null],
      [9, null, null, null, '11:00', 'unreadable'],
    ])
    expect(await world.rows(`select path, example from sync.drift`)).toEqual([['/fields/*', 'shoes']])
    await syncBoard(world, 'totalGlobalLevel', good, '12:00')
    expect((await world.rows(at('totalGlobalLevel', '12:00'))).slice(0, 4)).toEqual(
      [1, 2, 3, 4].map((place) => [place, uuid(place), `Player${place}`, 10 - place, '12:00', null]),
    )
    expect((await world.rows(at('totalGlobalLevel', '10:30'))).length).toBe(4)
  })

  test('a board of 10,000 places loads, and so does the next', async () => {
    const many = byPlace(Array.from({ length: 10_000 }, (_, nth) => guild(nth + 1, 20_000 - nth)))
    await syncBoard(world, 'guildLevel', byPlace([guild(1, 5)]), '10:00')
    expect(await syncBoard(world, 'guildLevel', many, '11:00')).toMatchObject({ rejected: 0, quarantined: 0 })
    for (const hour of ['12:00', '13:00']) await syncBoard(world, 'guildLevel', byPlace([guild(1, 5)]), hour)
    expect((await world.rows(at('guildLevel', '11:00'))).length).toBe(10_000)
    expect((await world.rows(at('guildLevel', '12:00'))).length).toBe(1)
  })

  test('older boards rank by the number that their name says', async () => {
    const { score: _, ...old } = guild(1, 1, { level: 120, territories: 30, wars: 7 })
    for (const type of ['guildLevel', 'guildTerritories', 'guildWars']) await syncBoard(world, type, [old], '10:00')
    expect(await world.rows('select type, score from game.leaderboard_place order by 1')).toEqual([
      ['guildLevel', 120],
      ['guildTerritories', 30],
      ['guildWars', 7],
    ])
  })

  test('a list of boards that cannot be had, or is absurd, keeps no known board waiting', async () => {
    await syncBoard(world, 'guildLevel', byPlace([guild(1, 5)]), '10:00')
    await world.clock.advanceTo(instantOf('11:00'))
    const body = Array.from({ length: 3000 }, (_, nth) => `board${nth}`)
    world.sandbox.setAnswer('/leaderboards/types', () => ({ body }))
    expect(await world.syncNow(leaderboards)).toMatchObject({ requests: 2, unchanged: 1 })
    expect(await world.rows('select count(*) from sync.work_item')).toEqual([[1]])
  })

  test.each([400, 403, 404, 410])(
    'a list of boards that is refused with %i keeps no known board waiting',
    async (status) => {
      await syncBoard(world, 'guildLevel', byPlace([guild(1, 5)]), '10:00')
      await world.clock.advanceTo(instantOf('11:00'))
      world.sandbox.setAnswer('/leaderboards/types', () => ({
        status,
        body: { error: 'NotFound', detail: 'no such path' },
      }))
      expect(await world.syncNow(leaderboards)).toMatchObject({ status: 'partial', unchanged: 1 })
    },
  )

  test('a player on a board of guilds, as when two boards are exchanged, is removed like any other', async () => {
    await syncBoard(world, 'guildLevel', byPlace([guild(1, 9), player(2, 8)]), '10:00')
    expect(await whereStored(world.db, ['Player2'])).not.toEqual([])
    await world.db.transaction((sql) => purge(sql, onBoards, { playerUuid: uuid(2), at: new Date(instantOf('12:30')) }))
    expect(await whereStored(world.db, ['Player2', uuid(2)])).toEqual([])
  })

  test('what a purge removes leaves the place without a name, and nobody else seems to have had it', async () => {
    await syncBoard(world, 'playerContent', byPlace([player(1, 9), player(2, 8)]), '10:00')
    await syncBoard(world, 'playerContent', byPlace([player(2, 10), player(1, 9)]), '11:00')
    await syncBoard(world, 'playerContent', byPlace([player(3, 12), player(2, 10)]), '12:00')
    const removed = await world.db.transaction((sql) =>
      purge(sql, onBoards, { playerUuid: uuid(2), at: new Date(instantOf('12:30')) }),
    )
    expect(removed).toMatchObject([{ table: 'game.leaderboard_place', rows: 3 }])
    const named = await world.rows('select observed_at, place, name, score from game.leaderboard_place order by 1, 2')
    expect(named).toEqual([
      ['10:00', 1, 'Player1', 9],
      ['10:00', 2, null, 8],
      ['11:00', 1, null, 10],
      ['11:00', 2, 'Player1', 9],
      ['12:00', 1, 'Player3', 12],
      ['12:00', 2, null, 10],
    ])
    expect((await world.rows(at('playerContent', '11:00')))[0]?.at(-1)).toBe('removed for privacy')
  })

  test('a profile that hides takes the name off boards, archived ones too, and it stays away', async () => {
    const kept: World = Object.create(world, { raw: { value: true } })
    const secret = player(1, 9, { uuid: playerId(1), name: 'Whoever', characterUuid: uuid(77) })
    await syncBoard(kept, 'playerContent', byPlace([secret, player(2, 8)]), '10:00')
    await syncBoard(kept, 'playerContent', byPlace([player(2, 10), secret]), '11:00')
    const names = ['Whoever', uuid(77)]
    expect((await whereStored(world.db, names)).length).toBeGreaterThan(2)
    await confirmPlayer(kept, 1, profile(1, { restrictions: { main_access: true } }), '12:00')
    expect(await whereStored(world.db, names)).toEqual([])
    await syncBoard(kept, 'playerContent', byPlace([player(2, 11), secret]), '13:00')
    expect(await whereStored(world.db, names)).toEqual([])
    const named = await world.rows('select observed_at, place, name from game.leaderboard_place order by 1, 2')
    expect(named.filter(([, , name]) => name === 'Player2')).toEqual([
      ['10:00', 2, 'Player2'],
      ['11:00', 1, 'Player2'],
      ['13:00', 1, 'Player2'],
    ])
  })
})

describe('leaderboards of a guest', () => {
  const world = worldOf('server', { sandbox: { limits: { guest: 50, token: 120 } } })

  test('take a minute of the bucket in an hour, and all have their turn', async () => {
    const names = Array.from({ length: 80 }, (_, nth) => `board${nth}`)
    world.sandbox.setAnswer('/leaderboards/types', () => ({ body: names }))
    for (const name of names)
      world.sandbox.setAnswer(`/leaderboards/${name}`, () => ({ body: byPlace([player(1, 9)]) }))
    const first = await world.syncNow(leaderboards)
    expect(first.requests).toBeGreaterThan(40)
    expect(first.requests).toBeLessThanOrEqual(50)
    await world.clock.advance(3_600_000)
    expect((await world.syncNow(leaderboards)).requests).toBeLessThanOrEqual(50)
    expect(await world.rows('select count(*) from sync.work_item where observed_at is not null')).toEqual([[80]])
  })
})
