import { type Random, seededRandom } from '../../base/clock.ts'
import { between, pick } from './draw.ts'
import { createGearItem, rollOf } from './items/gear.ts'
import type { Item, ItemWorld, ModelNumbers, Roll } from './records.ts'
import { nameMaker } from './words.ts'

/** A patched world and what differs from the one before, by internal name. */
export interface ItemPatch extends ItemWorld {
  readonly changed: readonly string[]
  readonly added: readonly string[]
  readonly removed: readonly string[]
}

/** Spelling mistakes that lore is born with, and their corrections. */
const typos = [
  ['teh ', 'the '],
  ['recieved', 'received'],
  ['seperated', 'separated'],
] as const

/**
 * A plausible balance patch: `n` items with one number changed, one lore typo fixed (if any is left), `n / 10` new
 * items but at least one, and one item removed. The given world stays as it is.
 * @param seed decides what is patched; give every patch of a series another one
 */
export function patchItems(world: ItemWorld, seed: number, n: number): ItemPatch {
  const random = seededRandom(seed)
  const replaced = new Map<string, Item>()
  const tunable = world.items.filter((item) => Object.keys(item.identifications ?? {}).length > 0)
  const wanted = Math.min(n, tunable.length)
  while (replaced.size < wanted) {
    const item = pick(random, tunable)
    if (!replaced.has(item.internalName)) replaced.set(item.internalName, retuned(random, item))
  }
  const misspelt = world.items.find(({ internalName, lore }) => !replaced.has(internalName) && hasTypo(lore))
  if (misspelt) replaced.set(misspelt.internalName, { ...misspelt, lore: corrected(misspelt.lore ?? '') })

  const removable = world.items.filter(
    ({ type, sets, internalName }) => type === 'weapon' && !sets && !replaced.has(internalName),
  )
  const removed = removable.length > 0 ? pick(random, removable).internalName : undefined
  const added = newItems(random, world.items, Math.max(1, Math.floor(n / 10)))
  const kept = world.items.filter((item) => item.internalName !== removed)
  return {
    ...world,
    items: [...kept.map((item) => replaced.get(item.internalName) ?? item), ...added],
    changed: [...replaced.keys()],
    added: added.map((item) => item.internalName),
    removed: removed === undefined ? [] : [removed],
  }
}

/**
 * The world after a new resource pack: every model number above `above` is `by` higher, of icons and of recipe sprites,
 * and nothing else changed (observed between two live responses of May 2026).
 */
export function shiftModelNumbers(world: ItemWorld, by = 17, above = 2000): ItemWorld {
  const shift = (numbers: ModelNumbers): ModelNumbers => ({
    ...numbers,
    rangeDispatch: numbers.rangeDispatch.map((one) => (one > above ? one + by : one)),
  })
  return {
    ...world,
    items: world.items.map((item) => {
      const { value } = item.icon
      if (typeof value === 'string' || typeof value.customModelData === 'number') return item
      return { ...item, icon: { ...item.icon, value: { ...value, customModelData: shift(value.customModelData) } } }
    }),
    recipes: world.recipes.map((recipe) => ({
      ...recipe,
      sprites: Object.fromEntries(
        Object.entries(recipe.sprites).map(([variant, sprite]) => [
          variant,
          { ...sprite, value: { ...sprite.value, customModelData: shift(sprite.value.customModelData) } },
        ]),
      ),
    })),
  }
}

function retuned(random: Random, item: Item): Item {
  const stats = item.identifications ?? {}
  const name = pick(random, Object.keys(stats))
  const value = stats[name] ?? 0
  const step = between(random, 1, 5)
  return { ...item, identifications: { ...stats, [name]: stronger(item, name, value, step) } }
}

function stronger(item: Item, name: string, value: number | Roll, step: number): number | Roll {
  const further = (one: number) => one + (one < 0 ? -step : step)
  if (typeof value === 'number') return further(value)
  if (item.type === 'ingredient') return { min: value.min + step, raw: value.raw + step, max: value.max + step }
  return rollOf(name, further(value.raw))
}

function hasTypo(lore: string | undefined): boolean {
  return typos.some(([wrong]) => lore?.includes(wrong))
}

function corrected(lore: string): string {
  return typos.reduce((text, [wrong, right]) => text.replaceAll(wrong, right), lore)
}

function newItems(random: Random, known: readonly Item[], count: number): Item[] {
  const taken = new Set(known.flatMap(({ internalName, displayName }) => [internalName, displayName]))
  const labels = [...new Set(known.flatMap((item) => Object.keys(item.majorIds ?? {})))]
  const names = nameMaker(random)
  const items: Item[] = []
  while (items.length < count) {
    const subType = pick(random, ['ring', 'bracelet', 'necklace'])
    const item = createGearItem(random, names, 'accessory', subType, labels, items.length)
    if (!taken.has(item.internalName) && !taken.has(item.displayName)) items.push(item)
  }
  return items
}
