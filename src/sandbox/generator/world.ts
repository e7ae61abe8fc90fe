import { seededRandom } from '../../base/clock.ts'
import { createCharms, createGear, createIngredients, createTomes } from './items/gear.ts'
import { createMaterials, createRecipes } from './items/recipes.ts'
import { createSets } from './items/sets.ts'
import { createTools } from './items/tools.ts'
import { unplacedDrop } from './places.ts'
import type { Item, ItemWorld } from './records.ts'
import { nameMaker } from './words.ts'

/**
 * Invents a world of about 6,600 items, 720 recipes and 68 sets with the shapes, quirks and frequencies of live responses
 * of 2026. The same seed gives the same world, byte for byte.
 */
export function createItemWorld(seed: number): ItemWorld {
  const random = seededRandom(seed)
  const names = nameMaker(random)
  const majorIds = Array.from({ length: 151 }, () => names.title())
  const gear = (['weapon', 'armour', 'accessory'] as const).flatMap((type) => createGear(random, names, type, majorIds))
  const all = [
    ...gear,
    ...createTomes(random),
    ...createCharms(random),
    ...createTools(),
    ...createIngredients(random, names),
    ...createMaterials(),
  ]
  const { sets, items } = createSets(random, names, withNamesakes(withUnplacedDrop(all)))
  return { items, recipes: createRecipes(), sets }
}

/** Twelve weapons have an exalted twin of the same display name, and one helmet shows the name of an ingredient. */
function withNamesakes(items: readonly Item[]): Item[] {
  const twins = new Map<Item, Partial<Item>>()
  const weapons = items.filter((item) => item.type === 'weapon' && item.displayName === item.internalName)
  for (let nth = 0; nth < 12; nth++) {
    const model = weapons[nth * 90 + 200]
    const twin = [1, -1].map((step) => weapons[nth * 90 + 200 + step]).find((one) => one?.subType === model?.subType)
    if (!model || !twin) break
    const { displayName } = model
    twins.set(model, { tier: 'mythic' })
    twins.set(twin, { displayName, internalName: `Exalted ${displayName}`, tier: 'mythic' })
  }
  const helmet = items.find((item) => item.subType === 'helmet' && item.displayName === item.internalName)
  const ingredient = items.find((item) => item.type === 'ingredient')
  if (helmet && ingredient) {
    const { displayName } = ingredient
    // The glyph with which the name-keyed API made colliding names differ (API reference 5.1).
    twins.set(helmet, { displayName, internalName: `${displayName}\u058e` })
  }
  return items.map((item) => ({ ...item, ...twins.get(item) }))
}

function withUnplacedDrop(items: readonly Item[]): Item[] {
  const first = items.findIndex((item) => item.dropMeta !== undefined)
  return items.map((item, index) => (index === first ? { ...item, dropMeta: unplacedDrop } : item))
}
