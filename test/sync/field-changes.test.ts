import { describe, expect, test } from 'vitest'
import { itemSets } from '../../src/resources/item-sets/index.ts'
import { items } from '../../src/resources/items/index.ts'
import { recipes } from '../../src/resources/recipes/index.ts'
import { kindsOfLongTests } from '../support/postgres.ts'
import { wrongRows } from '../support/verified.ts'
import { item, worldOf } from '../support/world.ts'

const recipe = (xp: number) => ({ internalName: 'Boots1-3', type: 'boots', skill: 'tailoring', xp })

describe.each(kindsOfLongTests)('the changes of fields on the %s database', (kind) => {
  const world = worldOf(kind)
  const { sync, rows } = world
  const changes = () =>
    rows(
      'select changed_at, internal_name, path, old_value, new_value, is_revert from analytics.item_change order by 1, 2, 3',
    )

  test('are none in the first answer', async () => {
    await sync(items, [item('Elm', { tier: 'rare' })], '10:00')
    expect(await changes()).toEqual([])
    expect(await rows('select * from analytics.patch')).toEqual([])
  })

  test('are named by the path to what differs, each once', async () => {
    const before = { tier: 'rare', base: { 'a/b~': 1, keep: 2, gone: 3 }, lore: 'old', requirements: { level: 1 } }
    const after = { base: { 'a/b~': 2, keep: 2 }, lore: null, requirements: { level: 1, strength: 4 } }
    await sync(items, [item('Elm', before), item('Oak')], '10:00')
    await sync(items, [item('Elm', after), item('Oak')], '11:00')
    await sync(items, [item('Elm', after), item('Oak')], '12:00')
    expect(await changes()).toEqual([
      ['11:00', 'Elm', '/base/a~1b~0', 1, 2, false],
      ['11:00', 'Elm', '/base/gone', 3, null, false],
      ['11:00', 'Elm', '/lore', 'old', null, false],
      ['11:00', 'Elm', '/requirements/strength', null, 4, false],
      ['11:00', 'Elm', '/tier', 'rare', null, false],
    ])
    expect(await rows('select path from game.field_change where new_value is null order by 1')).toEqual([
      ['/base/gone'],
      ['/tier'],
    ])
    expect(await rows(`select path from game.field_change where new_value = 'null'::jsonb`)).toEqual([['/lore']])
  })

  test('take an array as a whole, and a value that was an object on one side only', async () => {
    await sync(items, [item('Elm', { elements: ['air', 'fire'], identifications: { walkSpeed: 5 } })], '10:00')
    const range = { min: 1, raw: 5, max: 9 }
    await sync(items, [item('Elm', { elements: ['air', 'water'], identifications: { walkSpeed: range } })], '11:00')
    await sync(
      items,
      [item('Elm', { elements: ['water', 'air'], identifications: { walkSpeed: { ...range, min: 2 } } })],
      '12:00',
    )
    expect(await changes()).toEqual([
      ['11:00', 'Elm', '/elements', ['air', 'fire'], ['air', 'water'], false],
      ['11:00', 'Elm', '/identifications/walkSpeed', 5, range, false],
      ['12:00', 'Elm', '/elements', ['air', 'water'], ['water', 'air'], false],
      ['12:00', 'Elm', '/identifications/walkSpeed/min', 1, 2, false],
    ])
  })

  test('tell that an item appeared or disappeared, whole, under an empty path', async () => {
    const [elm, oak] = [item('Elm'), item('Oak', { tier: 'rare' })]
    await sync(items, [elm], '10:00')
    await sync(items, [elm, oak], '11:00')
    await sync(items, [elm], '12:00')
    await sync(items, [elm], '13:00')
    await sync(items, [elm, oak], '14:00')
    expect(await changes()).toEqual([
      ['11:00', 'Oak', '', null, oak, false],
      ['12:00', 'Oak', '', oak, null, true],
      ['14:00', 'Oak', '', null, oak, true],
    ])
  })

  test('are marked as reverts when a field flaps', async () => {
    for (const [at, level] of [
      ['10:00', 1],
      ['11:00', 2],
      ['12:00', 1],
      ['13:00', 3],
      ['14:00', 2],
      ['15:00', 3],
    ] as const) {
      await sync(items, [item('Elm', { requirements: { level } })], at)
    }
    expect((await changes()).map(([at, , , from, to, revert]) => [at, from, to, revert])).toEqual([
      ['11:00', 1, 2, false],
      ['12:00', 2, 1, true],
      ['13:00', 1, 3, false],
      ['14:00', 3, 2, false],
      ['15:00', 2, 3, true],
    ])
  })

  test('are no reverts across fields or items', async () => {
    await sync(items, [item('Elm', { powderSlots: 1, averageDps: 1 }), item('Oak', { powderSlots: 1 })], '10:00')
    await sync(items, [item('Elm', { powderSlots: 2, averageDps: 1 }), item('Oak', { powderSlots: 1 })], '11:00')
    await sync(items, [item('Elm', { powderSlots: 2, averageDps: 2 }), item('Oak', { powderSlots: 2 })], '12:00')
    expect((await changes()).every(([, , , , , revert]) => revert === false)).toBe(true)
  })

  test('carry the name players saw after the change, or before an item went', async () => {
    await sync(items, [item('Elm', { displayName: 'Old Elm' }), item('Oak', { displayName: 'Last Oak' })], '10:00')
    await sync(items, [item('Elm', { displayName: 'New Elm' })], '11:00')
    await sync(items, [item('Elm', { displayName: 'Newest Elm' })], '12:00')
    expect(
      await rows('select changed_at, internal_name, display_name, path from analytics.item_change order by 1, 2'),
    ).toEqual([
      ['11:00', 'Elm', 'New Elm', '/displayName'],
      ['11:00', 'Oak', 'Last Oak', ''],
      ['12:00', 'Elm', 'Newest Elm', '/displayName'],
    ])
  })

  test('within six hours, of items and recipes together, are one patch', async () => {
    const elm = (level: number) => item('Elm', { requirements: { level } })
    await sync(items, [elm(1), item('Oak')], '10:00')
    await sync(recipes, [recipe(1)], '10:00')
    await sync(items, [elm(2), item('Oak')], '11:00')
    await sync(recipes, [recipe(2)], '15:00')
    await sync(items, [elm(3), item('Oak'), item('Yew')], '20:00')
    await sync(recipes, [recipe(3)], '02 02:00')
    await sync(items, [elm(3), item('Yew')], '02 03:00')
    await sync(items, [elm(3), item('Yew')], '02 04:00')
    const counts = 'patch, started_at, ended_at, items_added, items_changed, items_removed, recipes_changed'
    expect(await rows(`select ${counts} from analytics.patch order by 1`)).toEqual([
      [1, '11:00', '20:00', 1, 1, 0, 1],
      [2, '02 02:00', '02 03:00', 0, 0, 1, 1],
    ])
    expect(await rows('select changed_at, patch, display_name, path from analytics.recipe_change order by 1')).toEqual([
      ['15:00', 1, 'Boots1-3', '/xp'],
      ['02 02:00', 2, 'Boots1-3', '/xp'],
    ])
    expect(await rows('select changed_at, patch from analytics.item_change order by 1, internal_name')).toEqual([
      ['11:00', 1],
      ['20:00', 1],
      ['20:00', 1],
      ['02 03:00', 2],
    ])
  })

  test('are written for every resource, but only those of items and recipes make a patch', async () => {
    const set = (value: number) => ({
      Grove: { internalName: 'grove', parts: ['Oak'], bonuses: { 1: { minor: { walkSpeed: value } } } },
    })
    await sync(itemSets, set(1), '10:00')
    await sync(itemSets, set(2), '11:00')
    expect(await rows('select resource, key, path, old_value, new_value from game.field_change')).toEqual([
      ['item-sets', 'Grove', '/bonuses/1/minor/walkSpeed', 1, 2],
    ])
    expect(await rows('select * from analytics.patch')).toEqual([])
  })

  test('are dated as the versions of known records that earlier responses showed', async () => {
    const sets = (parts: (name: string) => unknown) =>
      Object.fromEntries(
        Array.from({ length: 12 }, (_, nth) => `Grove ${nth}`).map((name) => [
          name,
          { internalName: name, parts: parts(name), bonuses: { 1: { minor: { walkSpeed: 1 } } } },
        ]),
      )
    const good = sets((name) => [`${name} Helmet`])
    const bad = sets(() => 'text')
    for (const at of ['10:00', '11:00']) await sync(itemSets, good, at)
    for (const at of ['12:00', '13:00', '14:00']) await sync(itemSets, bad, at)
    for (const at of ['15:00', '16:00', '17:00']) await sync(itemSets, good, at)
    expect(await wrongRows(world.db)).toEqual([])
    const began = `select distinct valid_from from game.item_set order by 1`
    expect(await rows(`select distinct changed_at from game.field_change order by 1`)).toEqual(
      (await rows(began)).slice(1),
    )
  })

  test('are what item_at and recipe_at show before and after', async () => {
    await sync(items, [item('Elm', { requirements: { level: 1 } })], '10:00')
    await sync(items, [item('Elm', { requirements: { level: 2 } })], '11:00')
    await sync(recipes, [recipe(1)], '10:00')
    await sync(recipes, [recipe(2)], '11:00')
    const at = (time: string) =>
      `select analytics.item_at('Elm', '2026-06-01 ${time}Z') #>> '{requirements,level}', analytics.recipe_at('Boots1-3', '2026-06-01 ${time}Z') ->> 'xp'`
    expect(await rows(at('09:59:59'))).toEqual([[null, null]])
    expect(await rows(at('10:00'))).toEqual([['1', '1']])
    expect(await rows(at('10:59:59.999999'))).toEqual([['1', '1']])
    expect(await rows(at('11:00'))).toEqual([['2', '2']])
    expect(await rows(`select analytics.item_at('Elm') #>> '{requirements,level}'`)).toEqual([['2']])
  })
})
