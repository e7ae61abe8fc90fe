import { parseRecipe, recipeSchema, recipeVocabulary } from '../../api/schemas/recipes.ts'
import { defineResource, type Normalized } from '../../sync/declare/resource.ts'
import type { Json } from '../../sync/normalize/hash.ts'
import { fieldOf, hasFields, joinLists, knownBy, textField } from '../record.ts'
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
    isRecord: (record, key) => {
      const isNamed = hasFields(record, 'internalName') || (/^\D/.test(key) && isWithoutName(record))
      return isNamed && hasFields(record, 'skill', 'materials')
    },
    notSent: [
      {
        is: (record) => hasFields(record, 'skill', 'type', 'materials'),
        what: 'recipes as a build planner has them, or version 2 of the API',
      },
    ],
    kinds: { of: (record) => fieldOf(record, 'skill'), members: recipeVocabulary.skill },
    join: joinLists('internalName', 'internalName'),
  },
  changeLog: true,
  history: recipeHistory,
  extract: (api, options) => api.recipes.all(options),
  keyOf: (record) => textField(record, 'internalName'),
  normalize: normalizeRecipe,
  ...knownBy(recipeSchema),
})

/** Whether it is a recipe of which only the key of a map has the name. Other programs have an `id` or `name` in it. */
function isWithoutName(record: unknown): boolean {
  return (
    recipeVocabulary.skill.some((skill) => skill === fieldOf(record, 'skill')) &&
    hasFields(record, 'level') &&
    !hasFields(record, 'id') &&
    !hasFields(record, 'name')
  )
}

/** One recipe as the API sends it into rows (API reference 5.3). */
function normalizeRecipe(record: unknown): Normalized<typeof recipeHistory> {
  const recipe = parseRecipe(record)
  const { level, healthOrDamage, durability, duration, basicDuration } = recipe
  return {
    key: recipe.internalName,
    document: recipe as Json,
    root: {
      internalName: recipe.internalName,
      type: recipe.type,
      skill: recipe.skill,
      xp: recipe.xp,
      levelMin: level?.minimum,
      levelMax: level?.maximum,
      healthOrDamageMin: healthOrDamage?.minimum,
      healthOrDamageMax: healthOrDamage?.maximum,
      durabilityMin: durability?.minimum,
      durabilityMax: durability?.maximum,
      durationMin: duration?.minimum,
      durationMax: duration?.maximum,
      basicDurationMin: basicDuration?.minimum,
      basicDurationMax: basicDuration?.maximum,
    },
    parts: {
      materials: (recipe.materials ?? []).map(({ item, amount }, index) => ({ position: index + 1, item, amount })),
      sprites: Object.entries(recipe.sprites ?? {}).map(([variant, sprite]) => ({
        variant,
        format: textField(sprite, 'format'),
        name: textField(sprite, 'name'),
        iconId: textField(fieldOf(sprite, 'value'), 'id'),
        iconName: textField(fieldOf(sprite, 'value'), 'name'),
      })),
    },
  }
}
