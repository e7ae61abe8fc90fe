import { describe, expect, it } from 'vitest'
import {
  createItemWorld,
  type Item,
  type ItemWorld,
  itemMetadata,
  staticItemMetadata,
} from '../../src/sandbox/index.ts'
import { world } from './given.ts'

/** How many items of the world show something. */
function count(test: (item: Item) => unknown, from: ItemWorld = world): number {
  return from.items.filter(test).length
}

const rolls = (item: Item) => Object.entries(item.identifications ?? {})
const coords = world.items.flatMap((item) => (item.droppedBy ?? []).map((source) => source.coords))

describe('the generated world', () => {
  it('is the same for the same seed and another for another', () => {
    expect(JSON.stringify(createItemWorld(1)) === JSON.stringify(world)).toBe(true)
    expect(JSON.stringify(createItemWorld(2)) === JSON.stringify(world)).toBe(false)
  })

  it('has as many records of each kind as live answers had in May 2026', () => {
    const kinds = Object.fromEntries(
      ['weapon', 'armour', 'accessory', 'tome', 'charm', 'tool', 'ingredient', 'material'].map((type) => [
        type,
        count((item) => item.type === type),
      ]),
    )
    expect(kinds).toEqual({
      weapon: 2341,
      armour: 2060,
      accessory: 906,
      tome: 172,
      charm: 4,
      tool: 52,
      ingredient: 969,
      material: 112,
    })
    expect([world.recipes.length, Object.keys(world.sets).length]).toEqual([720, 68])
  })

  it.each([1, 2, 3])('gives every item and recipe an internal name of its own (seed %i)', (seed) => {
    const { items, recipes } = createItemWorld(seed)
    expect(new Set(items.map((item) => item.internalName)).size).toBe(items.length)
    expect(new Set(recipes.map((recipe) => recipe.internalName)).size).toBe(720)
  })

  it('shows another name than the internal one on about 7 % of the items, and about 25 names twice', () => {
    const different = count((item) => item.displayName !== item.internalName)
    expect(different / world.items.length).toBeGreaterThan(0.06)
    expect(different / world.items.length).toBeLessThan(0.08)
    const shown = new Map<string, number>()
    for (const { displayName } of world.items) shown.set(displayName, (shown.get(displayName) ?? 0) + 1)
    const shared = [...shown.values()].filter((times) => times > 1).length
    expect(shared).toBeGreaterThanOrEqual(20)
    expect(shared).toBeLessThanOrEqual(30)
    expect(count((item) => item.internalName.endsWith('\u058e'))).toBe(1)
  })

  it('leaves out what live answers leave out', () => {
    expect(count((item) => item.tier === undefined)).toBe(count((item) => item.type === 'material'))
    expect(new Set(world.items.filter((item) => item.subType === undefined).map((item) => item.type))).toEqual(
      new Set(['charm', 'ingredient']),
    )
    expect(count((item) => item.type === 'weapon' && item.averageDps === undefined)).toBe(8)
    expect(count((item) => item.icon === undefined)).toBe(0)
  })

  it('has all 96 identifications, plain or rolled, and spell costs with min above max', () => {
    expect(new Set(world.items.flatMap((item) => Object.keys(item.identifications ?? {}))).size).toBe(96)
    const values = world.items.flatMap(rolls)
    const plain = values.filter(([, value]) => typeof value === 'number').length
    const upsideDown = values.filter(([, value]) => typeof value !== 'number' && value.min > value.max)
    expect(plain).toBeGreaterThan(8000)
    expect(upsideDown.length).toBeGreaterThan(700)
    expect(new Set(upsideDown.map(([name]) => name.endsWith('SpellCost')))).toEqual(new Set([true]))
    expect(values.filter(([, value]) => value === 0 || (typeof value !== 'number' && value.max === 0))).toEqual([])
  })

  it('has the odd forms of icons', () => {
    const values = world.items.map((item) => item.icon.value)
    const objects = values.filter((value) => typeof value !== 'string')
    expect(count((item) => item.icon.format === 'attribute' && typeof item.icon.value === 'string')).toBe(2)
    expect(count((item) => item.icon.format === 'skin')).toBeGreaterThan(80)
    expect(objects.filter((value) => typeof value.customModelData === 'number')).toHaveLength(2)
    const selected = objects.filter(
      ({ customModelData }) => typeof customModelData !== 'number' && customModelData.select,
    )
    expect(selected).toHaveLength(4)
  })

  it('has the odd forms of places', () => {
    expect(count((item) => typeof item.dropMeta?.type === 'string')).toBeGreaterThan(900)
    expect(count((item) => Array.isArray(item.dropMeta?.type) && item.dropMeta.event)).toBeGreaterThan(5)
    expect(count((item) => item.dropMeta?.coordinates?.length === 4)).toBeGreaterThan(20)
    expect(count((item) => item.dropMeta && !item.dropMeta.coordinates)).toBe(1)
    const forms = coords.map((one) =>
      one === undefined || one === null || one === false ? String(one) : Array.isArray(one[0]) ? 'lists' : 'list',
    )
    for (const form of ['undefined', 'null', 'false', 'list', 'lists'])
      expect(forms.filter((one) => one === form).length, form).toBeGreaterThan(50)
  })

  it('has rich text with spans and private-use glyphs', () => {
    const glyph = /[\ue000-\uf8ff]/
    const html = /^<span class='font-ascii' style='color:#AAAAAA'>.*<\/span>$/s
    expect(world.items.every((item) => item.lore === undefined || html.test(item.lore))).toBe(true)
    expect(count((item) => item.type !== 'material' && glyph.test(item.lore ?? ''))).toBeGreaterThan(4)
    expect(count((item) => item.majorIds)).toBeGreaterThan(150)
    expect(world.items.flatMap((item) => Object.values(item.majorIds ?? {})).every((text) => html.test(text))).toBe(
      true,
    )
  })

  it('joins items and sets by display name and set name', () => {
    const shown = new Set(world.items.map((item) => item.displayName))
    const parts = Object.values(world.sets).flatMap((set) => set.parts)
    expect(parts).toHaveLength(280)
    expect(parts.every((part) => shown.has(part))).toBe(true)
    for (const item of world.items.filter(({ sets }) => sets))
      expect(world.sets[item.sets?.[0] ?? '']?.parts).toContain(item.displayName)
    expect(Object.entries(world.sets).every(([name, set]) => set.internalName === name.toLowerCase())).toBe(true)
    expect(Object.keys(world.sets).filter((name) => /^[a-z]/.test(name))).toHaveLength(1)
  })

  it('makes recipes of known materials, with the quirks of the live ones', () => {
    const known = new Set(world.items.map((item) => item.internalName))
    expect(world.recipes.flatMap((recipe) => recipe.materials).every(({ item }) => known.has(item))).toBe(true)
    const bare = world.recipes.filter((recipe) => Object.keys(recipe.healthOrDamage).length === 0)
    expect(bare).toHaveLength(144)
    expect(new Set(bare.map((recipe) => recipe.skill))).toEqual(new Set(['jeweling']))
    expect(world.recipes.filter((recipe) => recipe.sprites.rainbow?.name === 'scollrainbow')).toHaveLength(16)
    expect(new Set(world.recipes.map((recipe) => recipe.type)).size).toBe(15)
  })
})

describe('the metadata', () => {
  it('is computed from the items', () => {
    const { filters } = itemMetadata(world.items)
    expect(filters.identifications).toHaveLength(96)
    expect(filters.levelRange).toEqual([1, 120])
    expect(filters.tier.ingredient).toEqual(['TIER_0', 'TIER_1', 'TIER_2', 'TIER_3'])
    expect(filters.tier).not.toHaveProperty('material')
    expect(Object.keys(staticItemMetadata(world.items).set ?? {})).toHaveLength(66)
  })

  it('numbers every id once, the same in both answers', () => {
    const families = staticItemMetadata(world.items)
    const ids = Object.values(families).flatMap((family) => Object.values(family))
    expect(new Set(ids).size).toBe(ids.length)
    expect(itemMetadata(world.items).static.fabled).toBe(families.tier?.fabled)
  })
})
