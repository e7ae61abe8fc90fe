import * as z from 'zod'
import { known } from './form/field-meta.ts'
import { recordParser } from './form/record.ts'
import { itemVocabulary } from './items.ts'

/** The names the service has used so far (API reference 5.3); others are still accepted. */
export const recipeVocabulary = {
  type: [
    'helmet',
    'chestplate',
    'leggings',
    'boots',
    'bow',
    'spear',
    'wand',
    'dagger',
    'relik',
    'ring',
    'bracelet',
    'necklace',
    'food',
    'potion',
    'scroll',
  ],
  skill: itemVocabulary.skills,
} as const

/** Both ends included. Jewelry has an empty object for `healthOrDamage`. */
const span = z.looseObject({ minimum: z.number().nullish(), maximum: z.number().nullish() })

/** One recipe. Only `internalName` and `type` are always there; fields not named here are kept. */
export const recipeSchema = z.looseObject({
  internalName: z.string(),
  type: known(recipeVocabulary.type),
  skill: known(recipeVocabulary.skill).nullish(),
  level: span.nullish(),
  /** `item` is the internalName of a material. */
  materials: z.array(z.looseObject({ item: z.string().nullish(), amount: z.number().nullish() })).nullish(),
  xp: z.number().nullish(),
  healthOrDamage: span.nullish(),
  /** In thousandths: 175000 is 175. Gear and jewelry only. */
  durability: span.nullish(),
  /** Consumables only, like `basicDuration`. */
  duration: span.nullish(),
  basicDuration: span.nullish(),
  /** Icons by variant (`default`, `air`, `melee` ...). Model numbers change with every resource pack. */
  sprites: z.record(z.string(), z.unknown()).nullish(),
})

export type Recipe = z.output<typeof recipeSchema>

/** @throws RecordError with the JSON pointer of the first thing that is no recipe */
export const parseRecipe: (record: unknown) => Recipe = recordParser('recipe', recipeSchema)
