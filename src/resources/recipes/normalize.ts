import { parseRecipe } from '../../api/schemas/recipes.ts'
import type { Normalized } from '../../sync/declare/resource.ts'
import type { Json } from '../../sync/normalize/hash.ts'
import { fieldOf, textField } from '../record.ts'
import type { recipeHistory } from './tables.ts'

/** One recipe as the API sends it into rows (API reference 5.3). */
export function normalizeRecipe(record: unknown): Normalized<typeof recipeHistory> {
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
