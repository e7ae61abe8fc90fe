import { describe, expect, test } from 'vitest'
import { itemSets } from '../../src/resources/item-sets/index.ts'
import { items } from '../../src/resources/items/index.ts'
import { recipes } from '../../src/resources/recipes/index.ts'
import { kindsOfPart } from '../support/postgres.ts'
import { item, worldOf } from '../support/world.ts'

const names = ['Ash', 'Elm', 'Oak', 'Yew']
const all = names.map((name) => item(name))
const two = all.slice(0, 2)

describe.each(kindsOfPart)('an answer that is hard to believe, on the %s database,', (kind) => {
  const world = worldOf(kind)
  const { sync, versions, rows, rowCounts } = world
  const ledger = () =>
    rows(
      'select status, reason, observed_at, records, inserted, closed, rejected from sync.run order by started_at, observed_at',
    )

  test.each([
    ['[]', items, []],
    ['{}', items, {}],
    ['{}', recipes, {}],
    ['{}', itemSets, {}],
    ['an envelope without records', items, { controller: { count: 0, pages: 1, current: 1, next: null }, results: [] }],
  ])('is rejected when it is %s (%#)', async (_name, resource, body) => {
    expect(await sync(resource, body, '10:00')).toMatchObject({
      status: 'rejected',
      rejected: 1,
      inserted: 0,
      error: 'the response holds no records',
    })
    expect(await rowCounts()).toEqual({ 'sync.run': 1, 'sync.guard_action': 1 })
  })

  test('is rejected when it has shrunk, and history goes on with the next good one', async () => {
    await sync(items, all, '10:00', { plausibleShare: 0.9 })
    for (const at of ['11:00', '12:00']) {
      expect(await sync(items, two, at, { plausibleShare: 0.9 })).toMatchObject({ status: 'rejected', closed: 0 })
    }
    expect(await sync(items, [...all, item('Fir')], '14:00', { plausibleShare: 0.9 })).toMatchObject({
      status: 'ok',
      inserted: 1,
    })
    expect(await versions()).toEqual([
      ['Ash', '10:00', 'infinity'],
      ['Elm', '10:00', 'infinity'],
      ['Fir', '14:00', 'infinity'],
      ['Oak', '10:00', 'infinity'],
      ['Yew', '10:00', 'infinity'],
    ])
    const reason = '2 records where the last good response had 4; if that is right, sync with --accept'
    expect(await ledger()).toEqual([
      ['ok', null, '10:00', 4, 4, 0, 0],
      ['rejected', reason, '11:00', 2, 0, 0, 1],
      ['rejected', reason, '12:00', 2, 0, 0, 1],
      ['ok', null, '14:00', 5, 1, 0, 0],
    ])
  })

  test('is taken when a person accepts it, and still needs a second one before anything ends', async () => {
    const strict = { plausibleShare: 0.9 }
    await sync(items, all, '10:00', strict)
    expect(await sync(items, two, '11:00', { ...strict, accept: true })).toMatchObject({
      status: 'unchanged',
      closed: 0,
    })
    expect(await sync(items, two, '12:00', strict)).toMatchObject({ status: 'ok', closed: 2 })
    expect(await versions()).toContainEqual(['Oak', '10:00', '11:00'])
  })

  test('is taken empty when a person accepts that everything is gone', async () => {
    await sync(items, two, '10:00')
    await sync(items, [], '11:00', { accept: true })
    expect(await sync(items, [], '12:00', { accept: true })).toMatchObject({ status: 'ok', closed: 2 })
    expect(await versions()).toEqual([
      ['Ash', '10:00', '11:00'],
      ['Elm', '10:00', '11:00'],
    ])
  })

  test('is stale when it speaks for an earlier instant, and writes only that', async () => {
    await sync(items, two, '10:00')
    await sync(items, all, '12:00')
    const before = await rowCounts()
    const strange = [item('Ash', { requirements: { level: 3 }, novelty: 1 }), { type: 1 }]
    expect(await sync(items, strange, '11:00')).toMatchObject({
      status: 'stale',
      observedAt: '2026-06-01T11:00:00.000Z',
    })
    expect(await sync(items, two, '10:00')).toMatchObject({ status: 'stale' })
    expect(await rowCounts()).toEqual({ ...before, 'sync.run': 4, 'sync.guard_action': 2 })
    expect(await versions()).toHaveLength(4)
    const [, , stale] = await rows('select status, reason from sync.run order by started_at, observed_at desc')
    expect(stale).toEqual(['stale', 'response speaks for 2026-06-01T11:00:00.000Z, before 2026-06-01T12:00:00.000Z'])
  })

  test('is stale when it says something else for an instant that is known', async () => {
    await sync(items, two, '10:00')
    expect(await sync(items, all, '10:00')).toMatchObject({
      status: 'stale',
      error: 'another response for the same instant 2026-06-01T10:00:00.000Z was accepted before',
    })
    expect(await versions()).toHaveLength(2)
  })

  test('does not hide a good one that comes later but speaks for an instant in between', async () => {
    await sync(items, all, '10:00')
    await sync(items, [], '12:00')
    expect(await sync(items, [...all, item('Fir')], '11:00')).toMatchObject({ status: 'ok', inserted: 1 })
  })

  test('can be of one resource without touching another', async () => {
    await sync(items, all, '12:00')
    const set = { internalName: 'grove', parts: ['Oak', 'Elm'], bonuses: { 2: { minor: { walkSpeed: 5 } } } }
    expect(await sync(itemSets, { Grove: set }, '10:00')).toMatchObject({ status: 'ok' })
    expect(await versions('item_set', 'name')).toEqual([['Grove', '10:00', 'infinity']])
  })
})
