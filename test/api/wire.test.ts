import { describe, expect, test } from 'vitest'
import { parseItem, parseItemSet } from '../../src/api/schemas/items.ts'
import { parseRecipe } from '../../src/api/schemas/recipes.ts'
import { RecordError } from '../../src/base/errors.ts'

const bow = { internalName: 'Oak Bow', type: 'weapon' }

describe('an item', () => {
  test('needs only its internal name and type, and keeps what nobody knows', () => {
    const item = { ...bow, tier: 'divine', glow: { colour: 'red' }, requirements: { level: 3, mood: 'calm' } }
    expect(parseItem(item)).toEqual(item)
  })

  test.each([
    [
      'identifications as integer and as range with min above max',
      { identifications: { rawHealth: 5, cost: { min: -1, raw: -2, max: -3 } } },
    ],
    ['no places', { droppedBy: [{ name: 'Wolf', coords: null }, { name: 'Bear', coords: false }, { name: 'Fox' }] }],
    [
      'one place and several',
      {
        droppedBy: [
          { coords: [1, 2, 3, 4] },
          {
            coords: [
              [1, 2, 3, 4],
              [5, 6, 7, 8],
            ],
          },
        ],
      },
    ],
    ['an icon that is text', { icon: { format: 'skin', value: 'abc' } }],
    ['a model number as integer', { icon: { format: 'attribute', value: { id: 'x', name: 'y', customModelData: 7 } } }],
    ['a model number as text', { icon: { value: { customModelData: '7' } } }],
    ['a model number as object', { icon: { value: { customModelData: { rangeDispatch: [7], select: ['a'] } } } }],
    ['a drop of several types', { dropMeta: { name: 'Shop', type: ['event', 'merchant'], coordinates: [1, 2, 3, 4] } }],
    ['a drop without place', { dropMeta: { type: 'lootrun' } }],
    ['the set of the documentation and the sets of the service', { set: 'Ember Set', sets: ['Ember Set'] }],
    [
      'the form of 2025',
      { tier: 3, rarity: 'rare', restrictions: 'untradable', weaponType: 'bow', craftable: ['bow'] },
    ],
    ['null where a value should be', { lore: null, tier: null, identifications: null, droppedBy: null }],
  ])('may have %s', (_name, fields) => {
    expect(parseItem({ ...bow, ...fields })).toEqual({ ...bow, ...fields })
  })

  test.each([
    ['is not an object', 'Oak Bow', { path: '', expected: 'object', found: '"Oak Bow"' }],
    ['has no name', { type: 'weapon' }, { path: '/internalName', expected: 'string', found: 'nothing' }],
    ['has a number for a name', { ...bow, internalName: 5 }, { path: '/internalName', expected: 'string', found: '5' }],
    [
      'has text for a roll',
      { ...bow, base: { 'a/b~c': 'many' } },
      { path: '/base/a~1b~0c', expected: 'number or object', found: '"many"' },
    ],
    [
      'has a broken range',
      { ...bow, base: { health: { min: 1, max: '2' } } },
      { path: '/base/health/max', expected: 'number', found: '"2"' },
    ],
    [
      'has text in a place',
      { ...bow, droppedBy: [{ coords: [1, 'x'] }] },
      { path: '/droppedBy/0/coords/1', expected: 'number', found: '"x"' },
    ],
  ])('that %s is put aside with the place of the first problem', (_name, record, context) => {
    expect(() => parseItem(record)).toThrow(RecordError)
    expect(() => parseItem(record)).toThrow(expect.objectContaining({ context: expect.objectContaining(context) }))
  })

  test('shows only the beginning of what it found', () => {
    const parse = () => parseItem({ ...bow, displayName: ['x'.repeat(500)] })
    expect(parse).toThrow(/^item: \/displayName should be string, found \["x{55}\.\.\.$/)
  })
})

describe('the other records', () => {
  test('a jewelry recipe has an empty healthOrDamage', () => {
    const ring = {
      internalName: 'Ring1-3',
      type: 'ring',
      skill: 'jeweling',
      healthOrDamage: {},
      materials: [{ item: 'Gem', amount: 1 }],
    }
    expect(parseRecipe(ring)).toEqual(ring)
    expect(() => parseRecipe({ type: 'ring' })).toThrow('recipe: /internalName should be string, found nothing')
  })

  test('an item set may have text among its bonuses', () => {
    const set = {
      internalName: 'morph',
      bonuses: { 2: { major: [], minor: { rawHealth: 5, note: 'x' } } },
      parts: ['Ember Boots'],
    }
    expect(parseItemSet(set)).toEqual(set)
    expect(() => parseItemSet({ parts: [1] })).toThrow('item set: /parts/0 should be string, found 1')
  })
})
