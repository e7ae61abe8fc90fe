import { expect, test } from 'vitest'
import { items } from '../../src/resources/items/index.ts'
import { item, worldOf } from '../support/world.ts'

const world = worldOf('server')
const kinds = () =>
  world.rows('select kind, items_changed, items_added, technical_changes from analytics.patch order by patch')
const named = (fields: (nth: number) => object) =>
  Array.from({ length: 30 }, (_, nth) => item(`item ${nth}`, { averageDps: nth, lore: `Lore ${nth}`, ...fields(nth) }))

test('a path that most records lose, get, spell otherwise or have as another type at once is a change of form', async () => {
  await world.sync(
    items,
    named(() => ({})),
    '01 10:00',
  )
  await world.sync(
    items,
    named((nth) => ({ averageDps: String(nth) })),
    '02 10:00',
  )
  await world.sync(
    items,
    named((nth) => ({ averageDps: String(nth), novel: nth })),
    '03 10:00',
  )
  await world.sync(
    items,
    named((nth) => ({ averageDps: String(nth), novel: nth, lore: `LORE ${nth}` })),
    '04 10:00',
  )
  expect(await kinds()).toEqual(Array(3).fill(['format', 0, 0, 30]))
})

test('other numbers of most items are a patch of the game, and so is a field of a few', async () => {
  await world.sync(
    items,
    named(() => ({})),
    '01 10:00',
  )
  await world.sync(
    items,
    named((nth) => ({ averageDps: nth + 1 })),
    '02 10:00',
  )
  await world.sync(
    items,
    named((nth) => ({ averageDps: nth + 1, ...(nth < 5 ? { quest: 'The Mill' } : {}) })),
    '03 10:00',
  )
  expect(await kinds()).toEqual([
    ['game', 30, 0, 0],
    ['game', 5, 0, 0],
  ])
})

test('icons, glyphs, markup and order are technical, and do not count beside changes of the game', async () => {
  const icon = (name: string) => ({ format: 'attribute', value: { id: 'minecraft:bow', name } })
  const before = { icon: icon('bow.a'), lore: 'Of <b>old</b>', majorIds: null }
  await world.sync(items, [item('bow', before), item('ring', { lore: 'Gold' })], '01 10:00')
  await world.sync(items, [item('bow', { ...before, icon: icon('bow.b') }), item('ring', { lore: 'Gold' })], '02 10:00')
  await world.sync(
    items,
    [item('bow', { ...before, icon: icon('bow.b'), lore: '\uE012Of old' }), item('ring', { lore: 'Gold' })],
    '03 10:00',
  )
  await world.sync(
    items,
    [item('bow', { ...before, icon: icon('bow.c'), lore: '\uE012Of old' }), item('ring', { lore: 'Silver' })],
    '04 10:00',
  )
  expect(await kinds()).toEqual([
    ['format', 0, 0, 1],
    ['format', 0, 0, 1],
    ['game', 1, 0, 1],
  ])
  const technical = (old: string, now: string) =>
    world.rows(`select analytics.is_technical('/parts', '${old}'::jsonb, '${now}'::jsonb)`)
  expect(await technical('["a", "b"]', '["b", "a"]')).toEqual([[true]])
  expect(await technical('["a", "a"]', '["a", "b"]')).toEqual([[false]])
  expect(await technical('"5 to 6"', '"5 to 7"')).toEqual([[false]])
  // Called for each of ten thousands of changes, it would take most of the time of a patch: it is written into what asks.
  const plan = await world.rows(
    'explain (verbose) select analytics.is_technical(path, old_value, new_value) from game.field_change',
  )
  expect(JSON.stringify(plan)).toContain('is_reordered(')
  expect(JSON.stringify(plan)).not.toContain('is_technical(')
})
