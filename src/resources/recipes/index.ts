import { recipeSchema } from '../../api/schemas/recipes.ts'
import { defineResource } from '../../sync/resource.ts'
import { knownBy, textField } from '../record.ts'
import { normalizeRecipe } from './normalize.ts'
import { recipeHistory } from './tables.ts'

/** Every crafting recipe: `GET /item/recipe/database`, cached for an hour (API reference 2.3, 3.3, 5.3). */
export const recipes = defineResource({
  name: 'recipes',
  schedule: '12 * * * *',
  cacheSeconds: 3600,
  route: '/item/recipe/database',
  rawCost: '13 kB for a new state of all recipes',
  backfill: { keys: 720, rowsPerKey: 8 },
  changeLog: true,
  history: recipeHistory,
  extract: (api, options) => api.recipes.all(options),
  keyOf: (record) => textField(record, 'internalName'),
  normalize: normalizeRecipe,
  ...knownBy(recipeSchema),
})
