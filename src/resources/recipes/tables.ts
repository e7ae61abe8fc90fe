import { integer, text } from 'drizzle-orm/pg-core'
import { historyTable, partTable } from '../../db/history.ts'

/** One version of a recipe (API reference 5.3). Ranges are what the crafted thing may roll. NULL: the recipe has no such range. */
export const recipe = historyTable(
  'recipe',
  { internalName: text() },
  {
    type: text().notNull(),
    skill: text(),
    levelMin: integer(),
    levelMax: integer(),
    xp: integer(),
    healthOrDamageMin: integer(),
    healthOrDamageMax: integer(),
    /** In thousandths: 175000 is a durability of 175. */
    durabilityMin: integer(),
    durabilityMax: integer(),
    /** In seconds. */
    durationMin: integer(),
    durationMax: integer(),
    basicDurationMin: integer(),
    basicDurationMax: integer(),
  },
  { document: true },
)

/** The materials of a recipe, two in every recorded one; `item` is the material's internal name. */
export const recipeMaterial = partTable(
  recipe,
  'recipe_material',
  { position: integer() },
  { item: text(), amount: integer() },
)

/** What the crafted thing may look like, one per kind of ingredients used. */
export const recipeSprite = partTable(
  recipe,
  'recipe_sprite',
  { variant: text() },
  { format: text(), iconId: text(), iconName: text(), name: text() },
)

export const recipeHistory = { root: recipe, parts: { materials: recipeMaterial, sprites: recipeSprite } }
