import { describe, expect, test } from 'vitest'
import { items } from '../../src/resources/items/index.ts'
import { recipes } from '../../src/resources/recipes/index.ts'
import { onlineBody, syncOnline } from '../support/player-answers.ts'
import { kindsOfPart } from '../support/postgres.ts'
import { item, worldOf } from '../support/world.ts'

const odd = item('Elm', {
  novelty: { deep: [1, null, 'x'] },
  requirements: { level: 3, reputation: 9 },
  icon: {
    format: 'attribute',
    value: { id: 'minecraft:bow', name: 'bow', tint: 'red', customModelData: { rangeDispatch: [7] } },
  },
  droppedBy: [
    { name: 'Wolf', coords: null },
    { name: 'Bear', coords: [1, 2, 3, 4], chance: 0.5 },
  ],
  identifications: { walkSpeed: { min: 1, raw: 2, max: 3, curve: 'steep' } },
  'odd/name~': false,
})

describe.each(kindsOfPart)('what the API sends that nobody knew, on the %s database,', (kind) => {
  const world = worldOf(kind)
  const { sync, rows } = world
  const drift = () =>
    rows(
      'select kind, path, member, key, example, first_seen_at from sync.drift where kind like $$unknown%$$ order by kind, path, member',
    )

  test('is kept at every depth: in extra, in the place it stands, and in item_at', async () => {
    await sync(items, [odd, item('Oak')], '10:00')
    expect(await rows('select internal_name, extra from game.item order by 1')).toEqual([
      [
        'Elm',
        {
          novelty: { deep: [1, null, 'x'] },
          requirements: { reputation: 9 },
          icon: { value: { tint: 'red' } },
          droppedBy: { 1: { chance: 0.5 } },
          identifications: { walkSpeed: { curve: 'steep' } },
          'odd/name~': false,
        },
      ],
      ['Oak', null],
    ])
    const [[whole] = []] = await rows(`select analytics.item_at('Elm', '2026-06-01 10:00Z')`)
    const icon = { format: 'attribute', value: { id: 'minecraft:bow', name: 'bow', tint: 'red' } }
    expect(whole).toEqual({ ...odd, icon })
  })

  test('is reported once, under a path that is the same for all records', async () => {
    await sync(items, [odd], '10:00')
    const told = world.log.filter((line) => line.includes('does not know yet'))
    expect(told).toHaveLength(6)
    expect(await drift()).toEqual([
      ['unknown_field', '/droppedBy/*/chance', '', 'Elm', 0.5, '10:00'],
      ['unknown_field', '/icon/value/tint', '', 'Elm', 'red', '10:00'],
      ['unknown_field', '/identifications/*/curve', '', 'Elm', 'steep', '10:00'],
      ['unknown_field', '/novelty', '', 'Elm', { deep: [1, null, 'x'] }, '10:00'],
      ['unknown_field', '/odd~1name~0', '', 'Elm', false, '10:00'],
      ['unknown_field', '/requirements/reputation', '', 'Elm', 9, '10:00'],
    ])
    await sync(items, [odd, item('Oak', { novelty: 'another' })], '11:00')
    await sync(items, [item('Elm', { novelty: 5 }), item('Oak', { novelty: 'another' })], '12:00')
    expect(await drift()).toHaveLength(6)
    expect(world.log.filter((line) => line.includes('does not know yet'))).toHaveLength(6)
  })

  test('may stand around the records: it is told once, and its value may move', async () => {
    const list = (queue: unknown) => ({ ...onlineBody({ EU1: [1] }), queue })
    const run = await syncOnline(world, list({ '\0': 3 }), '10:00')
    expect(run).toMatchObject({ status: 'ok', quarantined: 0 })
    expect(await syncOnline(world, list(4), '10:01')).toMatchObject({ status: 'unchanged' })
    expect(await drift()).toEqual([['unknown_field', '/queue', '', '', { '\ufffd': 3 }, '10:00']])
  })

  test('may be an enum member: the text stays in its column, and each is reported once', async () => {
    const strange = item('Elm', {
      type: 'gadget',
      tier: 'cosmic',
      elements: ['air', 'void'],
      dropMeta: { type: ['raid', 'gift'] },
      requirements: { skills: ['cooking', 'juggling'] },
    })
    expect(await sync(items, [strange, item('Oak', { tier: 'cosmic' })], '10:00')).toMatchObject({
      status: 'ok',
      quarantined: 0,
    })
    expect(await rows('select type, tier from game.item order by internal_name')).toEqual([
      ['gadget', 'cosmic'],
      ['material', 'cosmic'],
    ])
    expect(await rows('select position, element from game.item_element order by 1')).toEqual([
      [0, 'air'],
      [1, 'void'],
    ])
    await sync(items, [strange, item('Oak', { tier: 'cosmic', level: 1 })], '11:00')
    expect((await drift()).filter(([kind]) => kind === 'unknown_member')).toEqual([
      ['unknown_member', '/dropMeta/type/*', 'gift', 'Elm', 'gift', '10:00'],
      ['unknown_member', '/elements/*', 'void', 'Elm', 'void', '10:00'],
      ['unknown_member', '/requirements/skills/*', 'juggling', 'Elm', 'juggling', '10:00'],
      ['unknown_member', '/tier', 'cosmic', 'Elm', 'cosmic', '10:00'],
      ['unknown_member', '/type', 'gadget', 'Elm', 'gadget', '10:00'],
    ])
  })

  test('is told apart by resource', async () => {
    await sync(items, [item('Elm', { novelty: 1 })], '10:00')
    const recipe = {
      internalName: 'Boots1-3',
      type: 'boots',
      skill: 'tailoring',
      novelty: 1,
      level: { minimum: 1, step: 2 },
    }
    await sync(recipes, [recipe], '10:00')
    expect(await rows('select resource, path from sync.drift order by 1, 2')).toEqual([
      ['items', '/novelty'],
      ['recipes', '/level/step'],
      ['recipes', '/novelty'],
    ])
  })

  test('does not touch the prototype of objects, and is not lost, when it is called __proto__', async () => {
    const json = '{"internalName":"Elm","type":"material","base":{"__proto__":{"min":1,"max":2,"raw":1,"curve":3}}}'
    await sync(items, [JSON.parse(json)], '10:00')
    expect(Reflect.has({}, 'curve')).toBe(false)
  })

  test('makes no new version when only the order of fields differs', async () => {
    await sync(items, [item('Elm', { a: 1, b: { c: 2, d: 3 } })], '10:00')
    expect(await sync(items, [item('Elm', { b: { d: 3, c: 2 }, a: 1 })], '11:00')).toMatchObject({
      status: 'unchanged',
    })
    expect(await sync(items, [item('Elm', { b: { d: 3, c: 2 }, a: 2 })], '12:00')).toMatchObject({ changed: 1 })
    expect(await rows('select extra from game.item order by valid_from')).toEqual([
      [{ a: 1, b: { c: 2, d: 3 } }],
      [{ a: 2, b: { c: 2, d: 3 } }],
    ])
  })
})
