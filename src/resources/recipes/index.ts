import { recipeSchema, recipeVocabulary } from '../../api/schemas/recipes.ts'
import { defineResource } from '../../sync/declare/resource.ts'
import { hasFields, joinLists, knownBy, textField } from '../record.ts'
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
  file: {
    isRecord: (record) => hasFields(record, 'internalName', 'skill', 'materials'),
    kinds: { field: 'skill', members: recipeVocabulary.skill },
    join: joinLists('internalName', 'internalName'),
  },
  changeLog: true,
  history: recipeHistory,
  extract: (api, options) => api.recipes.all(options),
  keyOf: (record) => textField(record, 'internalName'),
  normalize: normalizeRecipe,
  ...knownBy(recipeSchema),
})
