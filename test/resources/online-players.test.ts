import { describe, expect, test } from 'vitest'
import { setExpectedInterval as expectEvery } from '../../src/sync/ledger/gaps.ts'
import { playerId } from '../support/guild-answers.ts'
import { confirmPlayer, onlineBody, profile, syncOnline, syncPlayer } from '../support/player-answers.ts'
import { kindsOfLongTests } from '../support/postgres.ts'
import { contentOf, instantOf, worldOf } from '../support/world.ts'

describe.each(kindsOfLongTests)('who is online, on the %s database,', (kind) => {
  const world = worldOf(kind)
  const { rows, versions } = world
  const online = (at: string, who: Parameters<typeof onlineBody>[0], hidden?: number | null) =>
    syncOnline(world, onlineBody(who, hidden), at)
  const sessions = async () =>
    (
      await rows(
        `select player_uuid, world, login_earliest, login_latest, logout_earliest, logout_latest, is_open
           from analytics.player_session order by player_uuid, listed_from`,
      )
    ).map(([uuid, ...rest]) => [Number(String(uuid).slice(-2)), ...rest])
  const minutes = (from: number, to: number) =>
    Array.from({ length: (to - from) * 2 }, (_, half) => {
      const second = from * 60 + half * 30
      return `10:${String(Math.floor(second / 60)).padStart(2, '0')}:${String(second % 60).padStart(2, '0')}`
    })

  test('is baseline at first: nobody logs in, and no world comes up', async () => {
    expect(await online('10:00', { EU1: [1, 2], NA1: [3] })).toMatchObject({
      status: 'ok',
      records: 2,
      inserted: 2,
      events: 0,
    })
    expect(await sessions()).toEqual([
      [1, 'EU1', null, '10:00', null, null, true],
      [2, 'EU1', null, '10:00', null, null, true],
      [3, 'NA1', null, '10:00', null, null, true],
    ])
    expect(await rows('select world, event, at from analytics.world_lifecycle')).toEqual([])
    expect(await rows('select world, online from analytics.world order by 1')).toEqual([
      ['EU1', 2],
      ['NA1', 1],
    ])
  })

  test('shows logins, hops and logouts between two answers', async () => {
    await online('10:00', { EU1: [1] })
    await online('10:00:30', { EU1: [1, 2] })
    await online('10:01', { EU1: [1], EU2: [2] })
    expect(await online('10:01:30', { EU1: [1] })).toMatchObject({ events: 1 })
    expect(await sessions()).toEqual([
      [1, 'EU1', null, '10:00', null, null, true],
      [2, 'EU1', '10:00', '10:00:30', '10:01', '10:01:30', false],
    ])
    expect(await rows('select from_world, to_world, earliest, latest from game.player_hop')).toEqual([
      ['EU1', 'EU2', '10:00:30', '10:01'],
    ])
  })

  test('calls nobody offline who may be hidden', async () => {
    await online('10:00', { EU1: [1, 2] }, 1)
    await online('10:00:30', { EU1: [1] }, 2)
    await online('10:01', { EU1: [1, 3] }, 2)
    expect(await sessions()).toEqual([
      [1, 'EU1', null, '10:00', null, null, true],
      [2, 'EU1', null, '10:00', '10:00', null, null],
      [3, 'EU1', null, '10:01', null, null, true],
    ])
    expect(await rows('select reason from analytics.player_session order by player_uuid')).toEqual([
      ['may have been online before, hidden or unseen; listed by the latest response'],
      ['may have been online before, hidden or unseen; left the list, may be hidden'],
      ['may have been online before, hidden or unseen; listed by the latest response'],
    ])
    await online('10:01:30', { EU1: [1, 3] }, 0)
    expect((await sessions())[1]).toEqual([2, 'EU1', null, '10:00', '10:00', '10:01:30', false])
  })

  test('knows nothing of the hidden where the count is missing or contradicts the list', async () => {
    await online('10:00', { EU1: [1, 2, 3] }, null)
    await online('10:00:30', { EU1: [1, 3] }, -1)
    await online('10:01', { EU1: [1] }, null)
    expect(await rows('select observed_at, total, listed, hidden from game.online_sample order by 1')).toEqual([
      ['10:00', null, 3, null],
      ['10:00:30', null, 2, null],
      ['10:01', null, 1, null],
    ])
    expect((await sessions()).map((row) => row[5])).toEqual([null, null, null])
  })

  test('is not changed by an empty, older or repeated answer, or by one that lists nobody', async () => {
    await online('10:00', { EU1: [1, 2] })
    for (const at of ['10:00:30', '10:01']) await online(at, { EU1: [1, 2], EU2: [3] })
    const before = await contentOf(world.db)
    expect(await syncOnline(world, {}, '10:01:30')).toMatchObject({ status: 'rejected' })
    expect(await online('10:01:30', {}, 500)).toMatchObject({ status: 'rejected' })
    expect(await online('10:00', { EU1: [1, 2] })).toMatchObject({ status: 'stale' })
    expect(await online('10:01', { EU1: [1, 2], EU2: [3] })).toMatchObject({ status: 'unchanged' })
    expect(await online('10:01:30', { EU1: [1, 2], EU2: [3] })).toMatchObject({ status: 'unchanged' })
    expect(await contentOf(world.db)).toEqual(before)
  })

  test('logs nobody in or out over a gap; bounds are only wider', async () => {
    await online('10:00', { EU1: [1, 2] })
    await online('12:00', { EU1: [1], EU2: [3] })
    expect(await sessions()).toEqual([
      [1, 'EU1', null, '10:00', null, null, true],
      [2, 'EU1', null, '10:00', '10:00', '12:00', false],
      [3, 'EU2', '10:00', '12:00', null, null, true],
    ])
  })

  test('has one likely length of a session although others hide, to the second where a profile shows it', async () => {
    await online('10:00', { EU1: [1] }, 5)
    await online('10:00:30', { EU1: [1, 2, 3] }, 5)
    await online('10:01', { EU1: [1, 2] }, 5)
    await syncPlayer(world, 2, profile(2, { online: true, lastJoin: '10:00:11' }), '10:01:10')
    await online('10:01:30', { EU1: [1] }, 5)
    const columns = 'login_earliest, logout_latest, login_estimate, logout_estimate, seconds_estimate'
    expect(await rows(`select ${columns} from analytics.player_session order by player_uuid`)).toEqual([
      [null, null, '10:00', null, 90],
      ['10:00:11', null, '10:00:11', '10:01:10', 59],
      [null, null, '10:00:30', '10:00:30', 0],
    ])
  })

  const listOf = (
    numbers: readonly number[],
    more: object = {},
    total = numbers.length + Object.keys(more).length,
  ) => ({
    total,
    players: { ...Object.fromEntries(numbers.map((number) => [playerId(number), `EU${1 + (number % 3)}`])), ...more },
  })
  const all = Array.from({ length: 30 }, (_, nth) => nth + 1)
  const most = all.slice(1)

  test('rejects a list whose players are known by name: nobody is offline, and no world is empty', async () => {
    await syncOnline(world, listOf(all), '10:00')
    const before = await contentOf(world.db)
    const named = Object.fromEntries(all.map((number) => [`Player${number}`, `EU${1 + (number % 3)}`]))
    for (const at of ['10:00:30', '10:01', '10:01:30', '10:02'])
      expect(await syncOnline(world, listOf([], named), at)).toMatchObject({ status: 'rejected', quarantined: 0 })
    expect(await contentOf(world.db)).toEqual(before)
    expect(await syncOnline(world, listOf(all), '10:02:30')).toMatchObject({ status: 'unchanged' })
  })

  test('ends a session only when two responses lack the player, while a key of the list is no uuid', async () => {
    await syncOnline(world, listOf(all), '10:00')
    const body = listOf(most, { Somebody: 'EU2' })
    expect(await syncOnline(world, body, '10:00:30')).toMatchObject({ status: 'partial', quarantined: 1 })
    expect((await sessions())[0]).toEqual([1, 'EU2', null, '10:00', null, null, true])
    expect(await rows('select total, listed, hidden from game.online_sample order by observed_at')).toEqual([
      [30, 30, 0],
      [30, 30, null],
    ])
    expect(await rows('select world, online from game.world_sample')).toHaveLength(3)
    await syncOnline(world, body, '10:01')
    expect((await sessions())[0]).toEqual([1, 'EU2', null, '10:00', '10:00', null, null])
    expect(await rows('select * from sync.claim')).toEqual([])
  })

  test('keeps the session of a player whose key was no uuid once', async () => {
    await syncOnline(world, listOf(all), '10:00')
    await syncOnline(world, listOf(most, { Somebody: 'EU2' }), '10:00:30')
    await syncOnline(world, listOf(all), '10:01')
    expect((await sessions())[0]).toEqual([1, 'EU2', null, '10:00', null, null, true])
    expect(await rows('select * from sync.claim')).toEqual([])
    await syncOnline(world, listOf(most, { Somebody: 'EU2' }), '10:01:30')
    await syncOnline(world, listOf(most), '10:02')
    expect((await sessions())[0]).toEqual([1, 'EU2', null, '10:00', '10:01', '10:02', false])
  })

  test('does not name among what is pending who hides the status', async () => {
    await syncOnline(world, listOf(all), '10:00')
    await syncOnline(world, listOf(most, { Somebody: 'EU2' }), '10:00:30')
    expect(await rows('select kind, subject from sync.claim')).toEqual([['unlisted', playerId(1)]])
    for (const at of ['10:01', '10:11'])
      await syncPlayer(world, 1, profile(1, { restrictions: { onlineStatus: true } }), at)
    expect(await rows('select * from sync.claim')).toEqual([])
  })

  test('knows a uuid without dashes and in capitals', async () => {
    await syncOnline(world, listOf(all), '10:00')
    const other = { [playerId(1).replaceAll('-', '').toUpperCase()]: 'EU2' }
    expect(await syncOnline(world, listOf(most, other), '10:00:30')).toMatchObject({ status: 'unchanged' })
  })

  test.each([
    ['null', null],
    ['an object', {}],
    ['a list', []],
    ['true', true],
  ])('lowers the number on no world where that of a player is %s', async (_name, on) => {
    await syncOnline(world, listOf(all), '10:00')
    const placeless = Object.fromEntries([1, 2, 3, 4].map((number) => [playerId(number), on]))
    const status = on === null ? { status: 'partial', quarantined: 0 } : { status: 'partial', quarantined: 4 }
    expect(await syncOnline(world, listOf(all.slice(4), placeless), '10:00:30')).toMatchObject(status)
    expect(await rows('select world, online from analytics.world order by 1')).toEqual([
      ['EU1', 10],
      ['EU2', 10],
      ['EU3', 10],
    ])
    expect(await rows('select listed, hidden from game.online_sample')).toEqual([[30, 0]])
  })

  test.each([0, -5, 26])('does not believe a total of %d with thirty listed players', async (total) => {
    await syncOnline(world, listOf(all), '10:00')
    expect(await syncOnline(world, listOf(all, {}, total), '10:00:30')).toMatchObject({
      status: 'partial',
      quarantined: 1,
    })
    expect(await rows('select total, listed, hidden from game.online_sample order by observed_at')).toEqual([
      [30, 30, 0],
      [null, 30, null],
    ])
    expect(await rows("select reason from sync.quarantine where path = '/total'")).toHaveLength(1)
  })

  const hops = () =>
    rows('select from_world, to_world, earliest, latest from game.player_hop order by latest, from_world')

  test('counts a player without a world as listed, and no hop to or from nowhere', async () => {
    await online('10:00', { EU1: [1, 2] })
    await online('10:00:30', { EU1: [2], '-': [1] })
    expect(await hops()).toEqual([])
    expect(await online('10:01', { EU2: [1], EU1: [2] })).toMatchObject({ events: 1 })
    expect(await rows('select listed, hidden from game.online_sample')).toEqual([[2, 0]])
    expect(await hops()).toEqual([['EU1', 'EU2', '10:00', '10:01']])
    expect(await rows('select player_uuid, world, last_world from game.player_listing order by 1')).toEqual([
      [playerId(1), 'EU1', 'EU2'],
      [playerId(2), 'EU1', 'EU1'],
    ])
  })

  test('has one hop over responses that name no world, and none back to the same world', async () => {
    await online('10:00', { EU1: [1, 2], NA1: [3] })
    for (const at of ['10:01', '10:02'])
      expect(await online(at, { NA1: [3], '-': [1, 2] })).toMatchObject({
        status: 'partial',
        error: '2 of 3 listed players have no world (1 records came)',
        guarded: [],
      })
    expect(await rows('select distinct last_world, world_named_at from game.player_listing order by 1')).toEqual([
      ['EU1', '10:00'],
      ['NA1', null],
    ])
    expect(await online('10:03', { EU1: [2], NA1: [1, 3] })).toMatchObject({ events: 1 })
    await online('10:04', { NA1: [2, 3], AS1: [1] })
    expect(await hops()).toEqual([
      ['EU1', 'NA1', '10:00', '10:03'],
      ['EU1', 'NA1', '10:03', '10:04'],
      ['NA1', 'AS1', '10:03', '10:04'],
    ])
    expect(await rows('select world_named_at from game.player_listing where world_named_at is not null')).toEqual([])
  })

  test('has a world down from the first of two answers without it, and up from the first of two with it', async () => {
    await online('10:00', { EU1: [1], NA1: [2], AS1: [3] })
    await online('10:00:30', { EU1: [1], NA1: [2] })
    expect(await versions('world', 'world')).toContainEqual(['AS1', '10:00', 'infinity'])
    await online('10:01', { EU1: [1], NA1: [2] })
    await online('10:01:30', { EU1: [1], NA1: [2], AS1: [3] })
    expect(await rows('select event from analytics.world_lifecycle')).toEqual([['down']])
    await online('10:02', { EU1: [1], NA1: [2], AS1: [3] })
    expect(await rows('select world, event, at, not_before from analytics.world_lifecycle order by at')).toEqual([
      ['AS1', 'down', '10:00:30', '10:00'],
      ['AS1', 'up', '10:01:30', '10:01'],
    ])
    expect(await rows(`select observed_at, online from game.world_sample where world = 'AS1' order by 1`)).toEqual([
      ['10:00', 1],
      ['10:00:30', 0],
      ['10:01:30', 1],
    ])
  })

  test('learns from profiles, whenever they come, when exactly a login was and that somebody is offline', async () => {
    await online('10:00', { EU1: [9] }, 1)
    await online('10:01', { EU1: [1, 9] }, 1)
    await online('10:02', { EU1: [9] }, 2)
    await syncPlayer(world, 1, profile(1, { lastJoin: '10:00:41' }), '10:04')
    expect((await sessions())[0]).toEqual([1, 'EU1', '10:00:41', '10:00:41', '10:01', '10:04', false])
    await online('10:05', { EU1: [1, 9] }, 1)
    expect((await sessions())[1]).toEqual([1, 'EU1', '10:04', '10:05', null, null, true])
  })

  test('takes two listings for one session when there was no login in between', async () => {
    await online('10:00', { EU1: [1, 9] }, 0)
    await online('10:01', { EU1: [9] }, 1)
    await online('10:02', { EU2: [1], EU1: [9] }, 0)
    expect((await sessions()).filter(([player]) => player === 1)).toHaveLength(2)
    await syncPlayer(world, 1, profile(1, { online: true, lastJoin: '09:00' }), '10:03')
    expect((await sessions())[0]).toEqual([1, 'EU1', '09:00', '09:00', null, null, true])
    expect(await sessions()).toHaveLength(2)
  })

  test('takes one listing for two sessions when there was a login within', async () => {
    await online('10:00', { EU1: [9] })
    await online('10:01', { EU1: [1, 9] })
    await online('11:00', { EU1: [1, 9] })
    await syncPlayer(world, 1, profile(1, { online: true, lastJoin: '10:30' }), '11:01')
    expect((await sessions()).filter(([player]) => player === 1)).toEqual([
      [1, 'EU1', '10:00', '10:01', '10:01', '10:30', false],
      [1, 'EU1', '10:30', '10:30', null, null, true],
    ])
  })

  test('learns nothing from a profile that hides the status, and forgets what it knew', async () => {
    await online('10:00', { EU1: [1, 9] }, 1)
    await online('10:01', { EU1: [9] }, 2)
    const before = await sessions()
    const hides = { lastJoin: '09:00', restrictions: { onlineStatus: true } }
    await confirmPlayer(world, 1, profile(1, hides), '10:12')
    expect(await sessions()).toEqual(before.filter(([player]) => player !== 1))
    expect(await rows('select online, last_join from game.player_status')).toEqual([[null, null]])
  })

  test('answers how many there were, by the time that numbers held and somebody looked', async () => {
    await expectEvery(world.db, { resource: 'online-players', everySeconds: 30, setBy: 'sync', at: new Date(0) })
    // World EU1 has 2 players for 10 minutes, then 4 for 10 minutes, then nobody looks for 10 minutes, then 1.
    for (const at of minutes(0, 10)) await online(at, { EU1: [1, 2] }, 1)
    for (const at of minutes(10, 20)) await online(at, { EU1: [1, 2, 3, 4] }, 3)
    for (const at of minutes(30, 40)) await online(at, { EU1: [1] }, 0)
    const [from, to] = ['10:00', '11:00'].map((at) => `'${new Date(instantOf(at)).toISOString()}'`)
    const [total] = await rows(`select * from analytics.online_total(${from}, ${to}, '1 hour')`)
    const seconds = [600, 570 + 30, 600]
    const all = seconds.reduce((sum, one) => sum + one)
    expect(total).toEqual([
      '10:00',
      expect.closeTo((3 * 600 + 7 * 600 + 600) / all),
      7,
      expect.closeTo(2400 / all),
      0.5,
    ])
    const [peak] = await rows(`select * from analytics.world_peak(${from}, ${to})`)
    expect(peak).toEqual(['EU1', '10:00', expect.closeTo((2 * 600 + 4 * 600 + 600) / all), 4, 0.5])
    const steps = await rows(`select * from analytics.online_total(${from}, ${to}, '15 minutes')`)
    expect(steps.map(([at, average, most, , coverage]) => [at, average, most, coverage])).toEqual([
      ['10:00', expect.closeTo((3 * 600 + 7 * 300) / 900), 7, 1],
      ['10:15', expect.closeTo(7), 7, expect.closeTo(1 / 3)],
      ['10:30', expect.closeTo(1), 1, expect.closeTo(2 / 3)],
      ['10:45', null, null, 0],
    ])
    const played = async (number: number) =>
      (await rows(`select * from analytics.player_playtime('${playerId(number)}', ${from}, ${to})`)).map((row) =>
        row.slice(0, 3),
      )
    expect(await played(1)).toEqual([['2026-06-01', 570 + 600 + 570, expect.any(Number)]])
    expect(await played(3)).toEqual([['2026-06-01', 570, 600 + 1200]])
    // Listed before and after the time without responses: the likely session goes on.
    const likely = async (number: number) =>
      await rows(`select seconds_estimate from analytics.player_playtime('${playerId(number)}', ${from}, ${to})`)
    expect(await likely(1)).toEqual([[2370]])
    expect(await likely(3)).toEqual([[570]])
  })
})
