import { bigint, boolean, doublePrecision, integer, text } from 'drizzle-orm/pg-core'
import { historyTable, partTable } from '../../db/history.ts'

const number = () => bigint({ mode: 'number' })

/** One version of an item of any of the eight kinds (API reference 5.2). NULL: the API did not say. */
export const item = historyTable(
  'item',
  { internalName: text() },
  {
    displayName: text().notNull(),
    type: text().notNull(),
    subType: text(),
    tier: text(),
    level: integer(),
    classRequirement: text(),
    quest: text(),
    strength: integer(),
    dexterity: integer(),
    intelligence: integer(),
    defence: integer(),
    agility: integer(),
    attackSpeed: text(),
    averageDps: number(),
    powderSlots: integer(),
    gatheringSpeed: integer(),
    durability: integer(),
    restriction: text(),
    dropRestriction: text(),
    identified: boolean(),
    allowCraftsman: boolean(),
    dropName: text(),
    dropEvent: text(),
    lore: text(),
    emblem: text(),
    iconFormat: text(),
    iconId: text(),
    iconName: text(),
  },
  { document: true },
)

/** A fixed value (`raw`, `min` and `max` equal) or a range; `min` may lie above `max`, as for spell costs. */
const range = () => ({
  raw: number(),
  min: number().notNull(),
  max: number().notNull(),
  isFixed: boolean().notNull(),
})

export const itemIdentification = partTable(item, 'item_identification', { identification: text() }, range())

export const itemBase = partTable(item, 'item_base', { stat: text() }, range())

export const itemMajorId = partTable(item, 'item_major_id', { majorId: text() }, { description: text().notNull() })

export const itemElement = partTable(item, 'item_element', { position: integer() }, { element: text().notNull() })

export const itemInSet = partTable(item, 'item_in_set', { position: integer() }, { setName: text().notNull() })

/** How a dropped item is come by (`dropMeta.type`): merchant, quest, dungeon, ... An item may have several. */
export const itemDropType = partTable(item, 'item_drop_type', { position: integer() }, { dropType: text().notNull() })

/** Where an item is found: `dropMeta` (the place itself) and `droppedBy` (creatures, each with any number of places). */
export const itemDropPlace = partTable(
  item,
  'item_drop_place',
  { source: text(), position: integer(), place: integer() },
  { name: text(), x: doublePrecision(), y: doublePrecision(), z: doublePrecision(), radius: doublePrecision() },
)

/** What only ingredients have: their effect on what is crafted with them, and (`on_...`) on their neighbours, in percent. */
export const itemIngredient = partTable(
  item,
  'item_ingredient',
  {},
  {
    charges: integer(),
    duration: integer(),
    durabilityModifier: integer(),
    strengthRequirement: integer(),
    dexterityRequirement: integer(),
    intelligenceRequirement: integer(),
    defenceRequirement: integer(),
    agilityRequirement: integer(),
    onLeft: integer(),
    onRight: integer(),
    onAbove: integer(),
    onUnder: integer(),
    onTouching: integer(),
    onNotTouching: integer(),
  },
)

/** Crafting skills that an ingredient can be used for. */
export const itemSkill = partTable(item, 'item_skill', { position: integer() }, { skill: text().notNull() })

/** Chance, in percent, that gathering gives the material in this tier; the tiers do not sum to 100. */
export const itemMaterialChance = partTable(
  item,
  'item_material_chance',
  { tier: text() },
  { percent: integer().notNull() },
)

export const itemHistory = {
  root: item,
  parts: {
    identifications: itemIdentification,
    base: itemBase,
    majorIds: itemMajorId,
    elements: itemElement,
    sets: itemInSet,
    dropTypes: itemDropType,
    dropPlaces: itemDropPlace,
    ingredient: itemIngredient,
    skills: itemSkill,
    materialChances: itemMaterialChance,
  },
}
