import { describe, expect, test } from 'vitest'
import { articleVocabulary } from '../../src/api/schemas/articles.ts'
import { itemVocabulary } from '../../src/api/schemas/items.ts'
import { abilityTrees } from '../../src/resources/ability-trees/index.ts'
import { articles } from '../../src/resources/articles/index.ts'
import { aspects } from '../../src/resources/aspects/index.ts'
import { camps } from '../../src/resources/camps/index.ts'
import { classes } from '../../src/resources/classes/index.ts'
import { gatheringNodes } from '../../src/resources/gathering-nodes/index.ts'
import { latestNews } from '../../src/resources/latest-news/index.ts'
import { lootPools } from '../../src/resources/loot-pools/index.ts'
import { mapMarkers } from '../../src/resources/map-markers/index.ts'
import { quests } from '../../src/resources/quests/index.ts'
import { raids } from '../../src/resources/raids/index.ts'
import { videos } from '../../src/resources/videos/index.ts'
import { worldEvents } from '../../src/resources/world-events/index.ts'
import type { AnswerHook } from '../../src/sandbox/index.ts'
import type { Resource } from '../../src/sync/declare/resource.ts'
import { canonicalJson, sha256 } from '../../src/sync/normalize/hash.ts'
import type { RunResult } from '../../src/sync/run/run-result.ts'
import { kindsOfPart } from '../support/postgres.ts'
import { documentedExample, hasRecordings, recordedFolder } from '../support/recorded.ts'
import { instantOf, type SyncOptions, worldOf } from '../support/world.ts'

const all = [
  ...[lootPools, raids, camps, worldEvents, quests, mapMarkers, gatheringNodes],
  ...[classes, abilityTrees, aspects, articles, videos, latestNews],
]

describe.each(['live', 'documented'] as const)('the content of the world in the %s dialect', (dialect) => {
  const world = worldOf('server', { sandbox: { dialect } })

  test.each(all.map((resource) => [resource.name, resource] as const))(
    '%s loads whole, and the same again changes nothing',
    async (_name, resource) => {
      expect(await world.syncNow(resource)).toMatchObject({ status: 'ok', quarantined: 0, rejected: 0 })
      const before = await world.rowCounts()
      await world.clock.advance(resource.cacheSeconds * 1000 + 1000)
      expect(await world.syncNow(resource)).toMatchObject({ inserted: 0, changed: 0, closed: 0, quarantined: 0 })
      // More events are announced by now, and more comments written.
      const grows = ['game.world_event_occurrence', 'game.news_comments']
      const games = Object.fromEntries(
        Object.entries(await world.rowCounts()).filter(
          ([table]) => table.startsWith('game.') && !grows.includes(table),
        ),
      )
      expect(before).toMatchObject(games)
      expect(await world.rows('select * from sync.drift')).toEqual([])
    },
  )
})

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

describe.each(kindsOfPart)('the content of the world on the %s database', (kind) => {
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

  test('counts quests, and says by how much the number changed', async () => {
    await world.sync(quests, { quests: 140 }, '10:00')
    await world.sync(quests, { quests: 143 }, '11:00')
    expect(await world.sync(quests, { quests: null }, '12:00')).toMatchObject({ quarantined: 1, closed: 0 })
    expect(await world.rows('select path, old_value, new_value from game.field_change')).toEqual([
      ['/quests', 140, 143],
    ])
  })

  test('tells markers of one name apart by their places, which come as texts', async () => {
    const marker = { name: 'Bank', icon: 'bank.png', x: '10', y: '64', z: '-20' }
    await world.sync(mapMarkers, [marker, { ...marker, x: '11' }, { ...marker, x: 12 }], '10:00')
    await world.sync(mapMarkers, [marker, { ...marker, x: '11', icon: 'vault.png' }, { ...marker, x: 12 }], '11:00')
    expect(await world.rows('select x, icon, valid_from from game.map_marker order by 1, 3')).toEqual([
      [10, 'bank.png', '10:00'],
      [11, 'bank.png', '10:00'],
      [11, 'vault.png', '11:00'],
      [12, 'bank.png', '10:00'],
    ])
  })

  test('quarantines a marker or node beyond the border of the world, and reads the next response as ever', async () => {
    const marker = { name: 'Bank', icon: 'bank.png', x: '10', y: '64', z: '-20' }
    const node = { x: 10, y: 64, z: -20, resource: 'OAK', type: 'NODE', level: 1, angle: 0 }
    for (const [resource, record] of [
      [mapMarkers, marker],
      [gatheringNodes, node],
    ] as const) {
      const others = [1, 2, 3].map((y) => ({ ...record, y }))
      await world.sync(resource, [record, ...others], '10:00')
      for (const [nth, x] of [2 ** 53, -1e39, 3e7 + 1, '', ' ', null].entries())
        expect(await world.sync(resource, [{ ...record, x }, ...others], `10:1${nth}`)).toMatchObject({
          quarantined: 1,
        })
      expect(await world.sync(resource, [record, ...others], '11:00')).toMatchObject({
        status: 'unchanged',
        quarantined: 0,
      })
      // What differs in noise alone is the same place.
      const [zero, noise] = [0, -1e-13].map((x) => [record, ...others, { ...record, x }])
      expect(await world.sync(resource, zero, '12:00')).toMatchObject({ inserted: 1, quarantined: 0 })
      expect(await world.sync(resource, noise, '12:10')).toMatchObject({ inserted: 0, closed: 0, quarantined: 0 })
    }
    const places = (table: string) => world.rows(`select distinct x from game.${table} order by 1`)
    expect([await places('map_marker'), await places('gathering_node')]).toEqual([
      [[0], [10]],
      [[0], [10]],
    ])
  })

  test('keeps abilities with their texts plain and as sent, and what one requires', async () => {
    expect(await world.syncNow(abilityTrees)).toMatchObject({ status: 'ok', quarantined: 0 })
    const [row] = await world.rows(
      `select class, kind, name_html like '<span%', name !~ '[<>&]', description !~ '<', ability_points is not null
         from game.ability where kind = 'ability' limit 1`,
    )
    expect(row).toEqual([expect.any(String), 'ability', true, true, true, true])
    expect(await world.rows('select distinct kind from game.ability order by 1')).toEqual([
      ['ability'],
      ['archetype'],
      ['connector'],
    ])
    const relations = await world.rows('select distinct relation from game.ability_link order by 1')
    expect(relations.flat()).toEqual(expect.arrayContaining(['family', 'link', 'requires']))
  })

  test('reads a map in the form of 2023 as that of today, and sets aside what is neither ability nor connector', async () => {
    await world.syncNow(abilityTrees)
    const nodes = (await world.api.abilities.map('mage')).read()
    const inCapitals = (value: unknown): unknown =>
      typeof value !== 'object' || value === null
        ? value
        : Object.fromEntries(
            Object.entries(value).map(([name, inside]) => {
              if (name === 'type') return ['TYPE', String(inside).toUpperCase()]
              if (name === 'page') return ['PAGE', String(inside)]
              return [name.toUpperCase(), name === 'family' || name === 'icon' ? inside : inCapitals(inside)]
            }),
          )
    // It was drawn for each pair of abilities, the last time as it is.
    const drawn = nodes.flatMap((node) =>
      node.type === 'connector'
        ? [{ ...node, meta: { ...node.meta, icon: 'less' }, family: [...(node.family ?? [])].slice(0, 1) }, node]
        : [node],
    )
    const odd = { TYPE: 'BRIDGE', COORDINATES: { X: 1, Y: 1 }, META: { PAGE: '1' }, FAMILY: [] }
    await world.clock.advance(3_601_000)
    world.sandbox.setAnswer('/ability/map/mage', () => ({ body: { pages: 7, map: [...drawn.map(inCapitals), odd] } }))
    expect(await world.syncNow(abilityTrees)).toMatchObject({
      ...{ status: 'partial', quarantined: 1, inserted: 0, changed: 0, closed: 0 },
    })
    expect(await world.rows('select key, path, reason from sync.quarantine')).toEqual([
      ['mage/connector/1 1 1', '/type', expect.stringContaining('is neither ability nor connector')],
    ])
  })

  test('takes no abilities of a class away when it comes without any', async () => {
    await world.syncNow(abilityTrees)
    const before = await world.rows(`select count(*) from game.ability where valid_until = 'infinity'`)
    await world.clock.advance(3_601_000)
    world.sandbox.setAnswer('/ability/tree/mage', () => ({ body: { archetypes: {}, pages: {} } }))
    world.sandbox.setAnswer('/ability/map/mage', () => ({ body: {} }))
    for (let nth = 0; nth < 3; nth++) {
      expect((await world.syncNow(abilityTrees)).status).not.toBe('ok')
      await world.clock.advance(3_601_000)
    }
    expect(await world.rows(`select count(*) from game.ability where valid_until = 'infinity'`)).toEqual(before)
  })

  const refused = (status: number) => () => ({ status, body: { error: 'NotFound', detail: 'no such thing' } })
  const current = async (table: string) =>
    (await world.rows(`select count(*) from game.${table} where valid_until = 'infinity'`))[0]?.[0] as number
  /** Syncs a resource every three hours, each time at another hour of its caches. */
  async function syncFor(resource: Resource, times: number, options: SyncOptions = {}): Promise<RunResult[]> {
    const runs: RunResult[] = []
    for (let nth = 0; nth < times; nth++) {
      await world.clock.advance(3 * 3_601_000)
      runs.push(await world.syncNow(resource, options))
    }
    return runs
  }

  test.each<[string, Resource, string, string, AnswerHook]>([
    ['a class without abilities', abilityTrees, 'ability', '/ability/tree/mage', refused(404)],
    ['a class whose ability map fails', abilityTrees, 'ability', '/ability/map/mage', refused(500)],
    ['a class whose ability map is empty', abilityTrees, 'ability', '/ability/map/mage', () => ({ body: {} })],
    ['a class whose aspects are refused', aspects, 'aspect', '/aspects/mage', refused(403)],
    ['a class without aspects', aspects, 'aspect', '/aspects/mage', () => ({ body: [] })],
    ['a class that is listed alone', classes, 'class', '/classes/mage', refused(404)],
    ['a type of articles that there is no more', articles, 'article', '/publisher/articles/list/blog', refused(404)],
  ])('records all the others while there is %s', async (_what, resource, table, path, answer) => {
    await world.syncNow(resource)
    const whole = await current(table)
    world.sandbox.setAnswer(path, answer)
    for (const run of await syncFor(resource, 4)) {
      expect(run).toMatchObject({ status: 'partial', closed: 0 })
      expect(run.error).toBeDefined()
    }
    expect(await current(table)).toBe(whole)
    // What is not shown any more is unknown.
    expect(await world.rows('select count(*) > 0 from sync.unread where until_at is null')).toEqual([[true]])
    world.sandbox.setAnswer(path, null)
    for (const run of await syncFor(resource, 2)) {
      expect(run).toMatchObject({ changed: 0, rejected: 0 })
      // By now another article may have come out, and an old one may be over.
      expect(run.status).toMatch(/^(ok|unchanged)$/)
    }
    expect(await world.rows('select count(*) from sync.unread where until_at is null')).toEqual([[0]])
  })

  test.each<[string, AnswerHook]>([
    ['is refused', refused(404)],
    ['fails', refused(500)],
    ['is empty', () => ({ body: {} })],
    ['is no object by name', () => ({ body: itemVocabulary.classRequirement.map((id) => ({ id })) })],
    ['has hundreds', () => ({ body: Object.fromEntries(Array.from({ length: 300 }, (_, nth) => [`c${nth}`, {}])) })],
  ])('records the classes that are known while their list %s', async (_what, answer) => {
    const whole = Object.fromEntries(itemVocabulary.classRequirement.map((name) => [name, { name }]))
    world.sandbox.setAnswer('/classes', () => ({ body: whole }))
    await world.syncNow(classes)
    const mage = await world.api.classes.get('mage')
    world.sandbox.setAnswer('/classes', answer)
    for (const lore of ['one', 'two']) {
      world.sandbox.setAnswer('/classes/mage', () => ({ body: { ...mage.body, lore } }))
      const [run] = await syncFor(classes, 1)
      expect(run).toMatchObject({ status: 'partial', changed: 1, closed: 0, error: expect.stringMatching(/classes/) })
    }
    expect(await current('class')).toBe(5)
    world.sandbox.setAnswer('/classes', () => ({ body: whole }))
    expect(await syncFor(classes, 1)).toMatchObject([{ status: 'unchanged', changed: 0 }])
  })

  test('fails where the list of classes fails with all the others', async () => {
    for (const one of ['', ...itemVocabulary.classRequirement.map((name) => `/${name}`)])
      world.sandbox.setAnswer(`/classes${one}`, refused(503))
    // What is down is not asked for each class.
    expect(await world.syncNow(classes)).toMatchObject({ status: 'failed', temporary: true })
    expect(new Set(world.sandbox.requests.map(({ path }) => path)).size).toBe(3)
  })

  test('records what there is from the first response on where a class is listed that has nothing yet', async () => {
    const list = Object.fromEntries([...itemVocabulary.classRequirement, 'monk'].map((name) => [name, { name }]))
    world.sandbox.setAnswer('/classes', () => ({ body: list }))
    world.sandbox.setAnswer('/aspects/monk', refused(404))
    expect(await world.syncNow(aspects)).toMatchObject({ status: 'partial', quarantined: 0 })
    expect(await current('aspect')).toBeGreaterThan(10)
  })

  test('leaves a class out that no path can have', async () => {
    const list = Object.fromEntries([...itemVocabulary.classRequirement, '..'].map((name) => [name, { name }]))
    world.sandbox.setAnswer('/classes', () => ({ body: list }))
    expect(await world.syncNow(aspects)).toMatchObject({ status: 'partial', requests: 6 })
  })

  test.each([
    [['archer', 'mage', 'shaman'], 0.5],
    [['mage'], 0.9],
  ])(
    'loads what comes without %j, which are more than is plausible, once three responses have shown as much',
    async (names, plausibleShare) => {
      await world.syncNow(aspects)
      const whole = await current('aspect')
      for (const name of names) world.sandbox.setAnswer(`/aspects/${name}`, refused(404))
      const runs = await syncFor(aspects, 4, { plausibleShare })
      expect(runs.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'partial', 'partial'])
      expect(await current('aspect')).toBe(whole)
    },
  )

  test('fails where all of it fails', async () => {
    for (const name of itemVocabulary.classRequirement) world.sandbox.setAnswer(`/aspects/${name}`, refused(503))
    expect(await world.syncNow(aspects)).toMatchObject({ status: 'failed', temporary: true })
    for (const name of itemVocabulary.classRequirement) world.sandbox.setAnswer(`/aspects/${name}`, refused(404))
    expect(await world.syncNow(aspects)).toMatchObject({ status: 'failed' })
  })

  test('has a version of an announcement for each edit, and its comments as samples', async () => {
    const item = { title: 'News', date: '2026-05-30', forumThread: 'https://example.com/1', author: 'a', comments: '3' }
    await world.sync(latestNews, [{ ...item, content: '<p>One &amp; two</p>' }], '10:00')
    await world.sync(latestNews, [{ ...item, comments: '5', content: '<p>One &amp; two</p>' }], '11:00')
    await world.sync(latestNews, [{ ...item, comments: 5, content: '<p>Three</p>' }], '12:00')
    expect(await world.rows('select valid_from, content from game.news order by 1')).toEqual([
      ['10:00', 'One & two'],
      ['12:00', 'Three'],
    ])
    expect(await world.rows('select observed_at, comments from game.news_comments order by 1')).toEqual([
      ['10:00', 3],
      ['11:00', 5],
    ])
  })

  test('leaves entities as they are that stand for what no database keeps', async () => {
    const item = {
      title: 'News',
      date: '2026-02-30T12:00:00Z',
      forumThread: 'https://example.com/2',
      author: 'a',
      comments: '1',
    }
    expect(await world.sync(latestNews, [{ ...item, content: 'a&#0;b&#xd800;c&#x41;' }], '10:00')).toMatchObject({
      status: 'ok',
      quarantined: 0,
    })
    expect(await world.rows('select content, published_at from game.news')).toEqual([['a&#0;b&#xd800;cA', null]])
  })

  test('asks for the classes that are known alone where thousands are listed', async () => {
    const names = Array.from({ length: 3000 }, (_, nth) => [`class${nth}`, { name: 'x', overallDifficulty: 1 }])
    world.sandbox.setAnswer('/classes', () => ({ body: Object.fromEntries(names) }))
    expect(await world.syncNow(aspects)).toMatchObject({ status: 'partial', requests: 6 })
  })

  test.each(['', '..', '\ud800'])(
    'tries again later where the class %j is listed, which no path can have',
    async (name) => {
      world.sandbox.setAnswer('/classes', () => ({ body: { [name]: { name: 'x', overallDifficulty: 1 } } }))
      const run = await world.syncNow(aspects)
      expect(run).toMatchObject({ status: 'failed', temporary: true, requests: 1 })
      expect(run.error).toContain('is listed as a class')
    },
  )

  test.skipIf(!hasRecordings)(
    'keeps the documented announcement, whose number of comments is the word string',
    async () => {
      const shown = documentedExample('latest-news.json')
      expect(await world.sync(latestNews, shown, '10:00')).toMatchObject({ inserted: 1, quarantined: 1 })
    },
  )

  test.skipIf(!hasRecordings)('loads what the documentation of the API shows', async () => {
    for (const [resource, example] of [
      [lootPools, 'map-loot-pools'],
      [raids, 'map-raids'],
      [camps, 'map-camps'],
      [worldEvents, 'map-world-events'],
      [quests, 'map-quests'],
      [mapMarkers, 'map-markers'],
      [gatheringNodes, 'map-gathering-nodes'],
      [videos, 'videos'],
    ] as const)
      expect([resource.name, await world.sync(resource, documentedExample(`${example}.json`), '10:00')]).toMatchObject([
        resource.name,
        { status: 'ok', quarantined: 0 },
      ])
    const [list, one, articleList] = ['classes', 'class', 'article-list'].map((name) =>
      documentedExample(`${name}.json`),
    ) as [Record<string, object>, { id: string }, object]
    world.sandbox.setAnswer('/classes', () => ({ body: { [one.id]: Object.values(list)[0] } }))
    world.sandbox.setAnswer(`/classes/${one.id}`, () => ({ body: one }))
    for (const type of articleVocabulary.type)
      world.sandbox.setAnswer(`/publisher/articles/list/${type}`, () => ({ body: articleList }))
    for (const resource of [classes, articles])
      expect([resource.name, await world.syncNow(resource)]).toMatchObject([
        resource.name,
        { status: 'ok', quarantined: 0 },
      ])
    expect(await world.rows('select count(*) from game.article union all select count(*) from game.class')).toEqual([
      [4],
      [1],
    ])
  })
})

describe('the recorded abilities and aspects', () => {
  const folder = recordedFolder('recordings')
  if (folder === undefined) return test.skip('were synced (skipped: recorded data absent)')
  const world = worldOf('server', { sandbox: { recordings: folder } })

  test.each([
    ['ability-trees', abilityTrees],
    ['aspects', aspects],
  ] as const)('%s load without quarantine', async (_name, resource) => {
    const names = ['archer', 'warrior', 'assassin', 'mage', 'shaman']
    world.sandbox.setAnswer('/classes', () => ({
      body: Object.fromEntries(names.map((name) => [name, { name, overallDifficulty: 1 }])),
    }))
    await world.clock.advanceTo(Date.UTC(2026, 7, 20))
    expect(await world.syncNow(resource)).toMatchObject({ quarantined: 0, status: 'ok' })
  })
})
