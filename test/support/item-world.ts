import { createItemWorld, type ItemWorld } from '../../src/sandbox/index.ts'

/** Few items, recipes and sets, so that a sync of everything takes a moment. */
export function smallItemWorld(): ItemWorld {
  const { items, recipes, sets, ...others } = createItemWorld(1)
  return {
    ...others,
    items: items.slice(0, 50),
    recipes: recipes.slice(0, 25),
    sets: Object.fromEntries(Object.entries(sets).slice(0, 6)),
  }
}
