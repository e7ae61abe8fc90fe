import { describe, expect, test } from 'vitest'
import { camps } from '../../src/resources/camps/index.ts'
import { lootPools } from '../../src/resources/loot-pools/index.ts'
import { raids } from '../../src/resources/raids/index.ts'
import { worldEvents } from '../../src/resources/world-events/index.ts'
import { canonicalJson, sha256 } from '../../src/sync/normalize/hash.ts'
import { kindsOfPart } from '../support/postgres.ts'
import { instantOf, worldOf } from '../support/world.ts'

const reward = { name: 'Pale Coin', type: 'CURRENCY', amount: 2, always: true }
const rare = { name: 'Old Bow', type: 'ITEM', amount: 1, always: false, tier: 'MYTHIC', shiny: true }
const pool = (rewards: unknown[]) => ({ name: 'The Vault', internalName: 'vault', type: 'RAID', rewards })
const other = { name: 'The Mill', internalName: 'mill1', type: 'CAMP', rewards: [reward] }

const event = (schedule: string | null, more: object = {}) => ({
  name: 'Hold the Mill',
  internalName: '0a0b0c0d',
  lore: 'Text',
  difficulty: 'HARD',
  level: 30,
  length: 'SHORT',
  rewardPerLevel: null,
  requirements: [{ type: 'COMBAT_LEVEL', value: 25 }],
  location: [{ event: { x: 1, y: 2.5, z: 3 }, spawn: { x: 4, y: 5, z: 6 }, reward: null, radius: 10, spawnRadius: 30 }],
  schedule,
  ...more,
})

describe.each(kindsOfPart)('pools and events of the world on the %s database', (kind) => {
  const world = worldOf(kind)

  test('has a version of a pool for each week, whatever the order of its rewards', async () => {
    await world.sync(lootPools, [pool([reward, rare]), other], '10:00')
    await world.sync(lootPools, [other, pool([rare, reward])], '11:00')
    await world.sync(lootPools, [pool([reward]), other], '12:00')
    expect(await world.versions('loot_pool', 'internal_name')).toEqual([
      ['mill1', '10:00', 'infinity'],
      ['vault', '10:00', '12:00'],
      ['vault', '12:00', 'infinity'],
    ])
    expect(
      await world.rows(
        `select valid_from, position, reward_type, reward, tier, amount, shiny, always from game.loot_pool_reward
          where internal_name = 'vault' order by 1, 2`,
      ),
    ).toEqual([
      ['10:00', 0, 'CURRENCY', 'Pale Coin', null, 2, null, true],
      ['10:00', 1, 'ITEM', 'Old Bow', 'MYTHIC', 1, true, false],
      ['12:00', 0, 'CURRENCY', 'Pale Coin', null, 2, null, true],
    ])
  })

  test.each([lootPools, raids])(
    'lacks nothing of $name after a response in which every record was null',
    async (resource) => {
      const place = { level: 30, difficulty: 'HARD', requirements: [], location: { x: 1, y: 2, z: 3 } }
      const all = Array.from({ length: 9 }, (_, nth) => ({
        ...pool([reward]),
        internalName: `vault${nth}`,
        ...(resource === raids ? place : {}),
      }))
      for (const at of ['10:00', '10:10']) await world.sync(resource, all, at)
      const nulls = all.map(() => null)
      expect(await world.sync(resource, nulls, '10:20')).toMatchObject({ status: 'partial', quarantined: 9 })
      for (const at of ['10:30', '10:40', '10:50'])
        expect(await world.sync(resource, all, at)).toMatchObject({ status: 'unchanged' })
      expect(await world.rows('select field from sync.unsent')).toEqual([])
      expect(await world.rows('select kind, subject from sync.claim')).toEqual([])
    },
  )

  test('has a reward in the pool all along although one response leaves all rewards out', async () => {
    const without = { name: 'Vault', internalName: 'vault', type: 'CAMP' }
    const spans = () => world.rows('select reward, since, until from analytics.reward_span order by reward, since')
    const at = (time: string) =>
      world.rows(
        `select reward, since from analytics.loot_pool_at('${new Date(instantOf(time)).toISOString()}') order by 1`,
      )
    await world.sync(lootPools, [pool([reward, rare])], '10:00')
    await world.sync(lootPools, [without], '11:00')
    const all = [
      ['Old Bow', '10:00', 'infinity'],
      ['Pale Coin', '10:00', 'infinity'],
    ]
    expect(await spans()).toEqual(all)
    await world.sync(lootPools, [pool([reward, rare])], '12:00')
    expect(await spans()).toEqual(all)
    expect(await world.rows('select reward, times, is_current from analytics.reward_appearance order by 1')).toEqual([
      ['Old Bow', 1, true],
      ['Pale Coin', 1, true],
    ])
    expect(await at('11:30')).toEqual(all.map((one) => one.slice(0, 2)))
    for (const time of ['13:00', '14:00']) await world.sync(lootPools, [without], time)
    expect((await spans()).map(([, , until]) => until)).toEqual(['13:00', '13:00'])
    expect(await at('14:00')).toEqual([])
  })

  test.each([
    ['a text', 'soon'],
    ['a list with something in it that is no reward', [reward, 'soon']],
    ['a map by type', { ITEM: 'Old Bow' }],
  ])('knows no reward from the second response on where rewards of a pool are %s', async (_what, odd) => {
    const spans = () => world.rows('select reward, since, until from analytics.reward_span order by reward, since')
    const unread = { ...pool([]), rewards: odd }
    await world.sync(lootPools, [pool([reward, rare]), other], '10:00')
    const all = await spans()
    expect(await world.sync(lootPools, [unread, other], '11:00')).toMatchObject({ status: 'unchanged', changed: 0 })
    // The same cache window.
    await world.sync(lootPools, [unread, other], '11:01')
    expect(await spans()).toEqual(all)
    await world.sync(lootPools, [pool([reward, rare]), other], '11:30')
    await world.sync(lootPools, [unread, other], '12:00')
    expect(await spans()).toEqual(all)
    expect(await world.versions('loot_pool', 'internal_name')).toHaveLength(2)
    for (const time of ['13:00', '14:00', '15:00']) await world.sync(lootPools, [unread, other], time)
    expect(await spans()).toEqual([
      ['Old Bow', '10:00', '12:00'],
      ['Pale Coin', '10:00', 'infinity'],
      ['Pale Coin', '10:00', '12:00'],
    ])
    expect(await world.rows(`select valid_from, extra from game.loot_pool where extra is not null`)).toEqual([
      ['12:00', { rewards: odd }],
    ])
    expect(await world.rows('select * from sync.claim')).toEqual([])
    await world.sync(lootPools, [pool([rare]), other], '16:00')
    expect(
      await world.rows(`select reward from game.loot_pool_reward natural join game.loot_pool
        where internal_name = 'vault' and valid_until = 'infinity'`),
    ).toEqual([['Old Bow']])
  })

  test('keeps what else changed in a pool whose rewards cannot be read once, and forgets that with the pool', async () => {
    await world.sync(lootPools, [pool([reward, rare]), other], '10:00')
    await world.sync(lootPools, [{ ...pool([]), name: 'The Old Vault', rewards: 'soon' }, other], '11:00')
    expect(
      await world.rows(`select pool.valid_from, pool.name, reward.reward from game.loot_pool pool
         left join game.loot_pool_reward reward using (internal_name, level, valid_from)
        where internal_name = 'vault' order by 1, 3`),
    ).toEqual([
      ['10:00', 'The Vault', 'Old Bow'],
      ['10:00', 'The Vault', 'Pale Coin'],
      ['11:00', 'The Old Vault', 'Old Bow'],
      ['11:00', 'The Old Vault', 'Pale Coin'],
    ])
    for (const time of ['12:00', '13:00']) await world.sync(lootPools, [other], time)
    await world.sync(lootPools, [other], '02 13:00')
    expect(await world.rows('select * from sync.claim')).toEqual([])
  })

  test.each([
    [lootPools, 'loot_pool', 'CAMP'],
    [camps, 'camp', 'CAMP'],
    [raids, 'raid', 'RAID'],
  ] as const)(
    '$name: a record without rewards is the same as an earlier version of the program stored it',
    async (resource, table, type) => {
      const without = { name: 'The Vault', internalName: 'vault', type }
      await world.sync(resource, [without], '10:00')
      const stored = canonicalJson({ ...without, rewards: [] })
      await world.db.query(`update game.${table} set document = $1::jsonb, hash = $2`, [stored, sha256(stored)])
      await world.db.query('update sync.run set reload = true')
      expect(await world.sync(resource, [without], '11:00')).toMatchObject({ status: 'unchanged', changed: 0 })
      expect(await world.versions(table, 'internal_name')).toEqual([['vault', '10:00', 'infinity']])
      expect(await world.rows(`select document ? 'rewards' from game.${table}`)).toEqual([[false]])
    },
  )

  test('takes no pool away for an empty response, nor for one that lacks it once', async () => {
    await world.sync(lootPools, [pool([reward]), other], '10:00')
    expect(await world.sync(lootPools, [], '11:00')).toMatchObject({ rejected: 1, closed: 0 })
    await world.sync(lootPools, [other], '12:00')
    expect(await world.versions('loot_pool', 'internal_name')).toEqual([
      ['mill1', '10:00', 'infinity'],
      ['vault', '10:00', 'infinity'],
    ])
  })

  test('keeps when events happen apart from what they are', async () => {
    await world.sync(worldEvents, [event('2026-06-01T13:00:00+00:00')], '10:00')
    await world.sync(worldEvents, [event('2026-06-01T13:00:00+00:00')], '11:00')
    await world.sync(worldEvents, [event(null)], '12:00')
    // None of these is an instant for Postgres.
    for (const [nth, text] of ['soon', '2026-02-30T12:00:00+00:00', '1', '+275760-01-01T00:00:00Z'].entries())
      expect(await world.sync(worldEvents, [event(text)], `12:3${nth}`)).toMatchObject({
        status: 'unchanged',
        quarantined: 0,
      })
    expect(await world.versions('world_event', 'internal_name')).toEqual([['0a0b0c0d', '10:00', 'infinity']])
    expect(await world.rows('select internal_name, starts_at, announced_at from game.world_event_occurrence')).toEqual([
      ['0a0b0c0d', '13:00', '10:00'],
    ])
  })

  test('takes back a start that was still to come once two responses, a cache window apart, announce another one or none', async () => {
    const start = (hour: number) => `2026-06-01T${hour}:00:00+00:00`
    const moved = (body: string | null, at: string) => world.sync(worldEvents, [event(body)], at)
    const starts = () => world.rows('select starts_at, announced_at from game.world_event_occurrence order by 1')
    await moved(start(14), '10:00')
    await moved(start(16), '10:05')
    await moved(start(16), '10:05:30')
    expect(await starts()).toEqual([
      ['14:00', '10:00'],
      ['16:00', '10:05'],
    ])
    // One wrong response: the next one has the start again, and counting begins anew.
    await moved(start(14), '10:10')
    await moved(start(16), '10:15')
    expect(await starts()).toHaveLength(2)
    await moved(start(16), '10:20')
    expect(await starts()).toEqual([['16:00', '10:15']])
    // It is the next one: an earlier one shows that the later one was moved, and a later one nothing of one that has begun.
    await moved(start(15), '11:00')
    expect(await starts()).toHaveLength(2)
    for (const at of ['11:05', '11:10']) await moved(start(15), at)
    expect(await starts()).toEqual([['15:00', '11:00']])
    for (const at of ['15:01', '15:06', '15:11']) await moved(start(18), at)
    expect(await starts()).toEqual([
      ['15:00', '11:00'],
      ['18:00', '15:01'],
    ])
    // Without the field nothing is known, and an event that is about to begin may be announced no more.
    const { schedule: _none, ...withoutField } = event(null)
    for (const at of ['15:20', '15:30', '15:40']) await world.sync(worldEvents, [withoutField], at)
    for (const at of ['17:51', '17:55', '17:59']) await moved(null, at)
    expect(await starts()).toHaveLength(2)
    await moved(start(20), '18:05')
    await moved(null, '18:10')
    await moved(start(20), '18:15')
    await moved(null, '18:20')
    expect(await starts()).toEqual([
      ['15:00', '11:00'],
      ['18:00', '15:01'],
      ['20:00', '18:05'],
    ])
    await moved(null, '18:25')
    expect(await starts()).toEqual([
      ['15:00', '11:00'],
      ['18:00', '15:01'],
    ])
  })

  test.each([
    ['later', '10:24'],
    ['earlier', '10:18'],
  ])('does not believe one response, the last before the start, that announces it %s', async (_what, other) => {
    const announce = (time: string | null, at: string) =>
      world.sync(worldEvents, [event(time && `2026-06-01T${time}:00+00:00`)], at)
    const starts = () => world.rows('select starts_at, announced_at from game.world_event_occurrence order by 1')
    for (const at of ['10:00', '10:05', '10:10']) await announce('10:20', at)
    await announce(other, '10:17')
    expect(await starts()).toHaveLength(2)
    for (const at of ['10:25', '10:30']) await announce('12:00', at)
    expect(await starts()).toEqual([
      ['10:20', '10:00'],
      ['12:00', '10:25'],
    ])
    // The same of a start that two responses announced: it was moved.
    for (const at of ['11:40', '11:45']) await announce('12:30', at)
    for (const at of ['12:31', '12:36']) await announce('14:00', at)
    expect((await starts()).map(([start]) => start)).toEqual(['10:20', '12:30', '14:00'])
    expect(await world.rows('select * from sync.claim')).toEqual([])
  })

  test('keeps the start before where a response says nothing of the event after one that moved it', async () => {
    const announce = (time: string, at: string) =>
      world.sync(worldEvents, [event(`2026-06-01T${time}:00+00:00`), still], at)
    const still = event(null, { internalName: 'ffffffff' })
    const starts = () => world.rows('select starts_at from game.world_event_occurrence order by 1')
    for (const at of ['10:00', '10:05']) await announce('14:00', at)
    await announce('15:00', '10:10')
    await world.sync(worldEvents, [still], '10:15')
    expect(await starts()).toEqual([['14:00']])
    for (const at of ['10:20', '10:25']) await announce('15:00', at)
    expect(await starts()).toEqual([['15:00']])
  })

  test('takes back the next start of an event that is gone', async () => {
    const other = event(null, { internalName: 'ffffffff' })
    const starts = () => world.rows('select starts_at from game.world_event_occurrence')
    await world.sync(worldEvents, [event('2026-06-01T14:00:00+00:00'), other], '10:00')
    await world.sync(worldEvents, [other], '10:05')
    expect(await starts()).toEqual([['14:00']])
    await world.sync(worldEvents, [other], '10:10')
    expect(await starts()).toEqual([])
  })

  test('loads an event of which a field cannot be read, without that field', async () => {
    const bad = event(null, { internalName: 'ffffffff', location: 'here' })
    expect(await world.sync(worldEvents, [event(null), bad], '10:00')).toMatchObject({ inserted: 2, quarantined: 0 })
    expect(await world.rows('select extra from game.world_event where extra is not null')).toEqual([
      [{ location: 'here' }],
    ])
  })
})
