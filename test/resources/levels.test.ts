import { describe, expect, test } from 'vitest'
import { readConfig } from '../../src/base/config.ts'
import { camps } from '../../src/resources/camps/index.ts'
import { latestNews } from '../../src/resources/latest-news/index.ts'
import { lootPools } from '../../src/resources/loot-pools/index.ts'
import { raids } from '../../src/resources/raids/index.ts'
import type { Resource } from '../../src/sync/declare/resource.ts'
import { replay } from '../../src/sync/replay/replay.ts'
import { runResource } from '../../src/sync/run/run-resource.ts'
import { engineOn } from '../support/archive.ts'
import { kindsOfPart, temporaryFolder } from '../support/postgres.ts'
import { contentOf, headersOf, instantOf, worldOf } from '../support/world.ts'

const amounts: Readonly<Record<string, number>> = { null: 1, 80: 8, 106: 10 }

describe.each(kindsOfPart)('rewards by level on the %s database', (kind) => {
  const world = worldOf(kind)

  /** The API has two pools, whose rewards depend on the level; they are synced with these levels. */
  async function sync(
    levels: readonly number[],
    at: string,
    { factor = 1, raw = false, names = ['mill', 'vault'], hasOdd = false, ofLevel = {} } = {},
  ) {
    await world.clock.advanceTo(instantOf(at))
    world.sandbox.setAnswer('/map/loot-pools', ({ query }) => ({
      headers: headersOf(instantOf(at), 60),
      body: [
        ...names.map((name) => ({
          internalName: name,
          name,
          type: 'RAID',
          rewards: [
            { name: 'Coin', type: 'CURRENCY', amount: factor * (amounts[`${query.get('level')}`] ?? 0), always: true },
          ],
        })),
        // It does not say its key.
        ...(hasOdd ? [{ name: 'odd' }] : []),
      ],
      ...(query.has('level') ? ofLevel : {}),
    }))
    return await runResource(lootPools, { ...engineOn(world, world.db, raw), levels })
  }
  const current = () =>
    world.rows(`select internal_name, level, amount from game.loot_pool_reward join game.loot_pool pool using (internal_name, level, valid_from)
                 where pool.valid_until = 'infinity' order by 1, 2`)

  test('are versions of their own, and questions are about the own level', async () => {
    expect(await sync([106, 80], '10:00')).toMatchObject({ status: 'ok', requests: 3, inserted: 6 })
    expect(await sync([106, 80], '11:00')).toMatchObject({ status: 'unchanged', requests: 3 })
    expect(await sync([106, 80], '12:00', { factor: 2 })).toMatchObject({ changed: 6, inserted: 0 })
    expect(await current()).toEqual([
      ['mill', 0, 2],
      ['mill', 80, 16],
      ['mill', 106, 20],
      ['vault', 0, 2],
      ['vault', 80, 16],
      ['vault', 106, 20],
    ])
    expect(await world.rows(`select pool, amount from analytics.loot_pool_at('2026-06-01T11:30:00Z')`)).toEqual([
      ['mill', 1],
      ['vault', 1],
    ])
  })

  test('of a level that is not asked for are not lacking in a list that is not whole', async () => {
    await sync([106], '10:00')
    for (const at of ['11:00', '12:00', '13:00']) await sync([], at, { hasOdd: true, names: ['mill'] })
    expect(await world.rows('select key, from_at, until_at from sync.unread order by 1')).toEqual([
      ['vault/0', '11:00', null],
    ])
  })

  test('of a level that is not asked for any more have not ended', async () => {
    await sync([106], '10:00')
    for (const at of ['11:00', '12:00', '13:00', '14:00']) await sync([], at)
    expect(await world.rows(`select count(*) from game.loot_pool where valid_until < 'infinity'`)).toEqual([[0]])
    for (const at of ['15:00', '16:00', '17:00', '18:00']) await sync([106], at, { names: ['mill'] })
    expect(await current()).toEqual([
      ['mill', 0, 1],
      ['mill', 106, 10],
    ])
  })

  test.each<[string, object]>([
    ['refused', { status: 400, body: { error: 'InvalidQueryParamsError', detail: 'level' } }],
    ['empty', { body: [] }],
  ])('that are %s for a level keep the others going, and end nothing', async (_what, ofLevel) => {
    await sync([106, 80], '10:00')
    for (const [nth, at] of ['11:00', '12:00', '13:00', '14:00'].entries())
      await sync([106, 80], at, { factor: nth + 2, ofLevel })
    expect(await current()).toEqual([
      ['mill', 0, 5],
      ['mill', 80, 8],
      ['mill', 106, 10],
      ['vault', 0, 5],
      ['vault', 80, 8],
      ['vault', 106, 10],
    ])
    const unread = await world.rows('select key from sync.unread where until_at is null order by 1')
    expect(unread).toEqual([['mill/106'], ['mill/80'], ['vault/106'], ['vault/80']])
  })

  test('are replayed for the levels that were asked for then', async () => {
    await sync([], '10:00', { raw: true })
    await sync([106], '11:00', { raw: true })
    await sync([106], '12:00', { raw: true, factor: 3 })
    const before = await contentOf(world.db)
    await replay(engineOn(world, world.db, false), { resources: [lootPools], swap: true })
    expect((await contentOf(world.db))['game.loot_pool_reward']).toEqual(before['game.loot_pool_reward'])
    expect(await current()).toContainEqual(['mill', 106, 30])
  })
})

describe('the levels of the configuration', () => {
  const world = worldOf('server', { sandbox: { game: false } })

  test.each([lootPools, raids, camps, latestNews].map((resource) => [resource.name, resource as Resource] as const))(
    'cost %s a request each, if it knows levels',
    async (_name, resource) => {
      const run = await runResource(resource, { ...engineOn(world, world.db, false), levels: [106] })
      expect(run).toMatchObject({ status: 'ok', quarantined: 0, requests: resource === latestNews ? 1 : 2 })
    },
  )

  test('are at most five whole numbers', async () => {
    const folder = await temporaryFolder()
    const read = (text: string) => readConfig({}, { WYNNSYNC_LEVELS: text }, folder).levels
    expect([read(''), read('106'), read('106, 80,106')]).toEqual([[], [106], [106, 80]])
    for (const wrong of ['high', '0', '-1', '1.5', '1000', '1,2,3,4,5,6'])
      expect(() => read(wrong)).toThrow('WYNNSYNC_LEVELS: must be at most five combat levels')
  })
})
