import { createItemWorld, type ItemWorld } from '../../../src/sandbox/index.ts'

/** The game patches items only; here one recipe goes with them. */
export function retuned(recipes: ItemWorld['recipes'], patch: number): ItemWorld['recipes'] {
  return recipes.map((recipe, nth) => (nth === patch % recipes.length ? { ...recipe, xp: recipe.xp + 7 } : recipe))
}

/** A few items and recipes of an invented world. */
export function smallItemWorld(seed: number): ItemWorld {
  const { items, recipes, sets } = createItemWorld(seed)
  return { items: items.filter((_, nth) => nth % 25 === 0), recipes: recipes.filter((_, nth) => nth % 12 === 0), sets }
}
