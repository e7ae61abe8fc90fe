import { describe, expect, test } from 'vitest'
import { guilds } from '../../src/resources/guilds/index.ts'
import { resources } from '../../src/resources/index.ts'
import { items } from '../../src/resources/items/index.ts'
import { onlinePlayers } from '../../src/resources/online-players/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { compactCoverage } from '../../src/sync/coverage/compact.ts'
import type { Resource } from '../../src/sync/declare/resource.ts'
import { setExpectedInterval } from '../../src/sync/ledger/gaps.ts'
import { guildBody, guildId, place, playerId, syncGuilds } from '../support/guild-answers.ts'
import { onlineBody, profile, syncPlayer } from '../support/player-answers.ts'
import { kindsOfPart } from '../support/postgres.ts'
import { contentOf, instantOf, item, type SyncOptions, worldOf } from '../support/world.ts'

const day = 86_400_000
const year = 365 * day
const paths = new Map<string, string>([
  [items.name, '/item/database'],
  [territories.name, '/guild/list/territory'],
  [onlinePlayers.name, '/player'],
])

describe.each(kindsOfPart)('a wrong clock on the %s database', (kind) => {
  const world = worldOf(kind)
  const { rows } = world

  /** The server's clock is ahead of ours by so much (ms); `sent` also in its Date header. */
  async function answer(path: string, body: unknown, at: string, by: number, sent = by): Promise<void> {
    const instant = instantOf(at)
    if (instant > world.clock.now()) await world.clock.advanceTo(instant)
    const text = (ms: number) => new Date(ms).toUTCString()
    const headers = { 'Cache-Control': 'max-age=10', Expires: text(instant + by + 10_000), Date: text(instant + sent) }
    world.sandbox.setAnswer(path, () => ({ headers, body }))
  }
  async function sync(resource: Resource, body: unknown, at: string, by = 0, options: SyncOptions = {}) {
    await answer(paths.get(resource.name) ?? '', body, at, by)
    const run = await world.syncNow(resource, options)
    if (run.status === 'failed') throw new Error(run.error)
    return run
  }
  const actions = () => rows(`select action from sync.guard_action where guard = 'clock' order by at, action`)
  const some = (...names: string[]) => names.map((name) => item(name))
  const current = () => rows(`select internal_name from game.item where valid_until = 'infinity' order by 1`)

  test('in the headers of one response: its Date says otherwise, so it is rejected and blocks nothing', async () => {
    await sync(items, some('Ash'), '10:00')
    const body = some('Ash', 'Elm')
    for (const [by, status] of [
      [9 * day, 'rejected'],
      [-9 * day, 'stale'],
      [-56 * year, 'rejected'],
    ] as const) {
      await answer('/item/database', body, '11:00', by, 0)
      expect(await world.syncNow(items)).toMatchObject({ status, inserted: 0 })
    }
    expect(await sync(items, some('Ash', 'Fir'), '12:00')).toMatchObject({ status: 'ok', inserted: 1 })
    expect(await rows(`select observed_at from sync.run where observed_at > '2026-06-02'`)).toEqual([])
  })

  test('of one old copy after a pause: what was shown before stays', async () => {
    const [one, two] = [1, 2].map((levelRequirement) => [item('Bow', { levelRequirement }), item('Axe')])
    await world.sync(items, one, '01 10:00')
    // The program was off, and the first response after it says that it is two days old.
    await world.clock.advanceTo(instantOf('06 10:00'))
    await world.sync(items, one, '04 10:00')
    for (const at of ['06 11:30', '06 13:00', '06 14:30']) await world.sync(items, two, at)
    expect(await world.versions()).toEqual([
      ['Axe', '10:00', 'infinity'],
      ['Bow', '10:00', '06 11:30'],
      ['Bow', '06 11:30', 'infinity'],
    ])
    expect(await actions()).toEqual([])
  })

  test('of one old copy of a player whose ledger is compacted: older versions and samples stay', async () => {
    await setExpectedInterval(world.db, { resource: 'players', everySeconds: 120, setBy: 'sync', at: new Date(0) })
    await syncPlayer(world, 2, profile(2), '01 00:00')
    for (const of of ['01', '02', '03'])
      for (const hour of ['01', '05', '09'])
        await syncPlayer(
          world,
          1,
          profile(1, { playtime: Number(of) * 100 + Number(hour), rank: `R${of}` }),
          `${of} ${hour}:00`,
        )
    await syncPlayer(world, 2, profile(2, { rank: 'X' }), '03 18:00')
    await world.clock.advanceTo(instantOf('20 00:00'))
    await compactCoverage(world.db, { before: new Date(instantOf('13 00:00')), resources })
    await syncPlayer(world, 1, profile(1, { playtime: 900, rank: 'R03' }), '18 00:00')
    for (const at of ['20 00:10', '20 00:20'])
      await syncPlayer(world, 1, profile(1, { playtime: 1000, rank: 'R03' }), at)
    const kept = await rows(
      `select (select count(*)::int from game.player where player_uuid = '${playerId(1)}'),
              (select count(*)::int from game.player_counter where player_uuid = '${playerId(1)}' and observed_at < '2026-06-10Z')`,
    )
    expect(kept).toEqual([[3, 9]])
  })

  test('of the first response: before the game began there is nothing to observe', async () => {
    expect(await sync(items, some('Ash'), '10:00', -56 * year)).toMatchObject({ status: 'rejected' })
    expect(await world.versions()).toEqual([])
    expect(await sync(items, some('Ash'), '11:00')).toMatchObject({ status: 'ok', inserted: 1 })
    expect(await actions()).toEqual([['rejected']])
  })

  test('in one record: two responses that agree give the hold back, and nothing is captured', async () => {
    const right = { Oak: place('a', '08:00'), Elm: place('b', '09:55') }
    const holders = () =>
      rows(`select territory, guild_prefix from game.territory_hold where valid_until = 'infinity' order by 1`)
    const captures = () => rows('select territory, to_guild_name from game.territory_capture order by 1, captured_at')
    await sync(territories, right, '10:00')
    // Both territories under each other's name.
    await sync(territories, { Oak: right.Elm, Elm: right.Oak }, '10:01')
    const wrong = [['Oak', 'Guild b']]
    expect(await captures()).toEqual(wrong)

    expect(await sync(territories, right, '10:02')).toMatchObject({ status: 'unchanged' })
    expect(await actions()).toContainEqual(['pending'])
    // One that agrees with what is stored begins anew.
    await sync(territories, { ...right, Oak: right.Elm }, '10:03')
    await sync(territories, right, '10:04')
    expect(await holders()).toEqual([
      ['Elm', 'bbb'],
      ['Oak', 'bbb'],
    ])
    await sync(territories, right, '10:05')
    expect(await holders()).toEqual([
      ['Elm', 'bbb'],
      ['Oak', 'aaa'],
    ])
    expect((await actions()).at(-1)).toEqual(['given up'])
    expect(await captures()).toEqual(wrong)
    expect(await rows('select from sync.claim')).toEqual([])
    expect(await sync(territories, right, '10:06')).toMatchObject({ status: 'unchanged' })
    await sync(territories, { ...right, Oak: place('c', '10:06') }, '10:07')
    expect(await captures()).toEqual([...wrong, ['Oak', 'Guild c']])
  })

  test('for one response: a jump of days is rejected, and the next good response is taken as ever', async () => {
    await sync(items, some('Ash'), '10:00')
    expect(await sync(items, some('Ash', 'Elm'), '11:00', 5 * day)).toMatchObject({ status: 'rejected', inserted: 0 })
    expect(await sync(items, some('Ash', 'Elm'), '11:00', 5 * day)).toMatchObject({ status: 'rejected' })
    expect(await sync(items, some('Ash', 'Fir'), '12:00')).toMatchObject({ status: 'ok', inserted: 1 })
    expect(await actions()).toEqual([['rejected'], ['rejected']])
  })

  test('for two responses that agree: what they showed is given up when the clock is right again', async () => {
    await sync(items, some('Ash', 'Elm'), '10:00')
    await sync(items, some('Ash', 'Elm'), '10:30')
    const before = await contentOf(world.db)
    await sync(items, some('Ash', 'Fir'), '11:00', 5 * day)
    expect(await sync(items, some('Ash', 'Fir'), '11:10', 5 * day)).toMatchObject({ status: 'ok', inserted: 1 })
    expect(await sync(items, some('Ash', 'Fir'), '12:10', 5 * day)).toMatchObject({ status: 'ok', closed: 1 })
    expect(await current()).toEqual([['Ash'], ['Fir']])
    expect(await sync(items, some('Ash', 'Elm'), '13:00')).toMatchObject({
      status: 'unchanged',
      observedAt: '2026-06-01T13:00:00.000Z',
    })
    expect(await contentOf(world.db)).toEqual(before)
    expect(await actions()).toEqual([['rejected'], ['accepted after agreement'], ['given up']])
    expect(await rows(`select count(*) from sync.run where status = 'rejected'`)).toEqual([[3]])
    expect(await sync(items, some('Ash', 'Elm', 'Oak'), '13:10')).toMatchObject({ status: 'ok', inserted: 1 })
    expect(await world.versions()).toContainEqual(['Elm', '10:00', 'infinity'])
  })

  test('for the first response, ahead: given up when two later ones agree, or at once with --accept', async () => {
    for (const accept of [false, true]) {
      await world.db.query('truncate game.item cascade')
      await world.db.query('truncate sync.run, sync.guard_action')
      const hour = accept ? '20' : '10'
      expect(await sync(items, some('Ash', 'Old'), `${hour}:00`, 9 * day)).toMatchObject({ status: 'ok', inserted: 2 })
      if (!accept) expect(await sync(items, some('Ash'), '10:10')).toMatchObject({ status: 'stale' })
      expect(await sync(items, some('Ash'), `${hour}:20`, 0, { accept })).toMatchObject({ status: 'ok', inserted: 1 })
      expect(await world.versions()).toEqual([['Ash', `${hour}:20`, 'infinity']])
      expect(await actions()).toEqual(accept ? [['given up']] : [['pending'], ['given up']])
    }
  })

  test('for the first response, behind: history does not begin there when two later ones agree', async () => {
    expect(await sync(items, some('Ash', 'Old'), '10:00', -3 * year)).toMatchObject({ status: 'ok' })
    expect(await sync(items, some('Ash'), '10:10')).toMatchObject({ status: 'rejected' })
    expect(await sync(items, some('Ash'), '10:20')).toMatchObject({ status: 'ok', inserted: 1 })
    expect(await world.versions()).toEqual([['Ash', '10:20', 'infinity']])
    expect(await actions()).toEqual([['pending'], ['given up']])
  })

  test.each([
    ['a year behind', -year],
    ['a year ahead', year],
  ])(
    'of this machine, which the server is %s of: what goes on at its pace is taken, a jump is not',
    async (_name, by) => {
      const names = ['Ash']
      for (const at of ['10:00', '11:00', '13:00']) {
        names.push(at)
        expect(await sync(items, some(...names), at, by)).toMatchObject({ status: 'ok' })
      }
      expect(await sync(items, some('Ash'), '14:00', by + 5 * day)).toMatchObject({ status: 'rejected' })
      expect(await sync(items, some(...names, 'Fir'), '15:00', by)).toMatchObject({ status: 'ok', inserted: 1 })
      expect(await actions()).toEqual([['rejected']])
    },
  )

  test('of a server that runs fast: its own pace is learned', async () => {
    const status: string[] = []
    for (const [nth, at] of ['10:00', '10:10', '10:20', '10:30', '10:40'].entries())
      status.push((await sync(items, some('Ash', at), at, nth * 30 * day)).status)
    expect(status).toEqual(['ok', 'rejected', 'ok', 'ok', 'ok'])
  })

  test('never lets an older copy give up what this machine agreed with', async () => {
    await sync(items, some('Ash'), '10:00')
    await sync(items, some('Ash', 'Elm'), '20:00')
    for (const [at, by] of [
      ['20:10', -8],
      ['20:20', -8],
      ['20:40', -8],
    ] as const)
      expect(await sync(items, some('Ash'), at, by * 3_600_000)).toMatchObject({ status: 'stale' })
    expect(await current()).toEqual([['Ash'], ['Elm']])
    expect(await actions()).toEqual([])
  })

  test('in territories: holds, captures, and samples are as before', async () => {
    const stored = (amount: number) => ({
      resources: [{ type: 'ORE', generation: 1, baseGeneration: 1, stored: amount, limit: 9 }],
    })
    const mine = { Oak: place('a', '08:00', stored(1)), Elm: place('b', '09:00', stored(2)) }
    const taken = { Oak: place('c', '10:03', stored(5)), Elm: place('b', '09:00', stored(2)) }
    await sync(territories, mine, '10:00')
    await sync(territories, mine, '10:01')
    const before = await contentOf(world.db)
    await sync(territories, taken, '10:04', 3 * day)
    expect(await sync(territories, taken, '10:05', 3 * day)).toMatchObject({ status: 'ok', events: 1 })
    expect(await sync(territories, mine, '10:06')).toMatchObject({ status: 'unchanged' })
    expect(await contentOf(world.db)).toEqual(before)
    expect(await sync(territories, { ...mine, Oak: place('d', '10:07', stored(7)) }, '10:08')).toMatchObject({
      events: 1,
    })
    expect(await rows('select to_guild_name, captured_at from analytics.territory_capture')).toEqual([
      ['Guild d', '10:07'],
    ])
  })

  test('in the list of who is online: listings that began are gone, and that ended go on', async () => {
    const online = onlineBody({ WC1: [1, 2], WC2: [3] })
    await sync(onlinePlayers, online, '10:00')
    await sync(onlinePlayers, online, '10:01')
    const before = await contentOf(world.db)
    const other = onlineBody({ WC2: [1, 4], WC3: [5] })
    for (const at of ['10:02', '10:03', '10:04', '10:05']) await sync(onlinePlayers, other, at, 4 * day)
    expect(await rows('select count(*) from game.player_hop')).toEqual([[1]])
    expect(await sync(onlinePlayers, online, '10:06')).toMatchObject({ status: 'unchanged' })
    expect(await contentOf(world.db)).toEqual(before)
  })

  const hops = () => rows('select from_world, to_world, earliest, latest from game.player_hop')

  test('in the list of who is online: whose world it did not name is where they were', async () => {
    const between = onlineBody({ WC1: [2], WC2: [3], '-': [1] })
    await sync(onlinePlayers, onlineBody({ WC1: [1, 2], WC2: [3] }), '10:00')
    for (const at of ['10:01', '10:02', '10:03', '10:04']) await sync(onlinePlayers, between, at, 4 * day)
    for (const at of ['10:05', '10:06']) await sync(onlinePlayers, onlineBody({ WC1: [2], WC2: [1, 3] }), at)
    expect(await hops()).toEqual([['WC1', 'WC2', '10:00', '10:05']])
  })

  test('in the list of who is online: who moved after a response without their world is between two again', async () => {
    const moved = onlineBody({ WC1: [2], WC2: [1, 3] })
    await sync(onlinePlayers, onlineBody({ WC1: [1, 2], WC2: [3] }), '10:00')
    await sync(onlinePlayers, onlineBody({ WC1: [2], WC2: [3], '-': [1] }), '10:01')
    for (const at of ['10:02', '10:03', '10:04', '10:05']) await sync(onlinePlayers, moved, at, 4 * day)
    expect(await rows('select earliest from game.player_hop')).toEqual([['10:00']])
    for (const at of ['10:06', '10:07']) await sync(onlinePlayers, moved, at)
    expect(await hops()).toEqual([['WC1', 'WC2', '10:00', '10:06']])
  })

  test('in a worklist: the guild, its members and its samples are as before, and the key is asked on', async () => {
    const path = `/guild/uuid/${guildId('a')}`
    const body = (players: Parameters<typeof guildBody>[1], level: number) => guildBody('a', players, { level })
    const run = async (at: string, by: number, given: object) => {
      await answer(path, given, at, by)
      return await syncGuilds(world, { keys: [guildId('a')] })
    }
    const whole = body({ 1: { rank: 'owner' }, 2: {} }, 5)
    await run('10:00', 0, whole)
    await run('10:05', 0, whole)
    const before = await gameOf()
    const wrong = body({ 1: { rank: 'owner' }, 3: {} }, 7)
    expect(await run('10:10', 6 * day, wrong)).toMatchObject({ rejected: 1, events: 0 })
    expect(await run('10:15', 6 * day, wrong)).toMatchObject({ status: 'ok' })
    await run('10:20', 6 * day, wrong)
    expect(await rows(`select count(*) from game.guild_member where valid_until < 'infinity'`)).toEqual([[1]])
    expect(await run('10:25', 0, whole)).toMatchObject({ status: 'unchanged', rejected: 0 })
    expect(await gameOf()).toEqual(before)
    expect(await rows('select observed_at, gone_at from sync.work_item')).toEqual([['10:25', null]])
    expect(await actions()).toEqual([['rejected'], ['accepted after agreement'], ['given up']])
    expect(guilds.name).toBe('guilds')
  })

  async function gameOf() {
    const content = await contentOf(world.db)
    return Object.fromEntries(Object.entries(content).filter(([table]) => table.startsWith('game.')))
  }
})
