import * as z from 'zod'
import { flag, known, number, text } from './form/field-meta.ts'
import { recordParser } from './form/record.ts'

/**
 * The names the service has used so far, per field (API reference 5.2). A name that is not here is still accepted; these
 * are for noticing that something is new.
 */
export const itemVocabulary = {
  type: ['weapon', 'armour', 'accessory', 'tome', 'charm', 'tool', 'ingredient', 'material'],
  subType: [
    'spear',
    'dagger',
    'bow',
    'wand',
    'relik',
    'helmet',
    'chestplate',
    'leggings',
    'boots',
    'ring',
    'bracelet',
    'necklace',
    'weapon_tome',
    'armour_tome',
    'mysticism_tome',
    'expertise_tome',
    'lootrun_tome',
    'marathon_tome',
    'guild_tome',
    'axe',
    'pickaxe',
    'rod',
    'scythe',
    'woodcutting',
    'farming',
    'fishing',
    'mining',
  ],
  tier: [
    'normal',
    'unique',
    'rare',
    'legendary',
    'fabled',
    'mythic',
    'set',
    'common',
    'TIER_0',
    'TIER_1',
    'TIER_2',
    'TIER_3',
  ],
  attackSpeed: ['superSlow', 'verySlow', 'slow', 'normal', 'fast', 'veryFast', 'superFast'],
  restriction: ['none', 'untradable', 'quest item', 'quest_item'],
  dropRestriction: ['normal', 'never', 'lootchest', 'dungeon'],
  elements: ['earth', 'thunder', 'water', 'fire', 'air'],
  classRequirement: ['archer', 'warrior', 'assassin', 'mage', 'shaman'],
  dropMetaType: [
    'altar',
    'challenge',
    'dungeon',
    'dungeonMerchant',
    'event',
    'guild',
    'lootrun',
    'merchant',
    'miniboss',
    'quest',
    'raid',
  ],
  iconFormat: ['attribute', 'skin', 'legacy'],
  skills: ['armouring', 'tailoring', 'weaponsmithing', 'woodworking', 'jeweling', 'cooking', 'alchemism', 'scribing'],
} as const

const numbers = z.array(z.number())

/** A fixed value, or a range whose `min` may exceed its `max`: order by value, not by name. */
const rolled = z.union([z.number(), z.looseObject({ min: z.number(), raw: z.number().nullish(), max: z.number() })])

/** How something looks in the inventory. Model numbers change with every resource pack. */
export const iconSchema = z.looseObject({
  format: known(itemVocabulary.iconFormat).nullish(),
  value: z
    .union([
      z.string(),
      z.looseObject({
        id: text,
        name: text,
        customModelData: z
          .union([
            z.number(),
            z.string(),
            z.looseObject({ rangeDispatch: numbers.nullish(), select: z.array(z.string()).nullish() }),
          ])
          .nullish(),
      }),
    ])
    .nullish(),
})

const requirements = z.looseObject({
  level: number,
  classRequirement: known(itemVocabulary.classRequirement).nullish(),
  strength: number,
  dexterity: number,
  intelligence: number,
  defence: number,
  agility: number,
  quest: text,
  skills: z.array(known(itemVocabulary.skills)).nullish(),
  levelRange: z.looseObject({ min: number, max: number }).nullish(),
})

const dropType = known(itemVocabulary.dropMetaType)

/** One item. Only `internalName` and `type` are always there (API reference 5.2); fields not named here are kept. */
export const itemSchema = z.looseObject({
  internalName: z.string(),
  type: known(itemVocabulary.type),
  displayName: text,
  subType: known(itemVocabulary.subType).nullish(),
  /** A number on ingredients before April 2026. */
  tier: z.union([known(itemVocabulary.tier), z.number()]).nullish(),
  icon: iconSchema.nullish(),
  emblem: text,
  requirements: requirements.nullish(),
  attackSpeed: known(itemVocabulary.attackSpeed).nullish(),
  averageDps: number,
  powderSlots: number,
  elements: z.array(known(itemVocabulary.elements)).nullish(),
  restriction: known(itemVocabulary.restriction).nullish(),
  dropRestriction: known(itemVocabulary.dropRestriction).nullish(),
  dropMeta: z
    .looseObject({
      name: text,
      type: z.union([dropType, z.array(dropType)]).nullish(),
      /** Three or four numbers. */
      coordinates: numbers.nullish(),
      event: text,
    })
    .nullish(),
  base: z.record(z.string(), rolled).nullish(),
  identifications: z.record(z.string(), rolled).nullish(),
  /** HTML text by the label players see. */
  majorIds: z.record(z.string(), z.string()).nullish(),
  lore: text,
  identified: flag,
  allowCraftsman: flag,
  /** Names of item sets; the documentation says `set`, the service sends `sets`. */
  sets: z.array(z.string()).nullish(),
  set: text,
  gatheringSpeed: number,
  durability: number,
  consumableOnlyIDs: z.looseObject({ duration: number, charges: number }).nullish(),
  ingredientPositionModifiers: z
    .looseObject({ left: number, right: number, above: number, under: number, touching: number, notTouching: number })
    .nullish(),
  itemOnlyIDs: z
    .looseObject({
      durabilityModifier: number,
      strengthRequirement: number,
      dexterityRequirement: number,
      intelligenceRequirement: number,
      defenceRequirement: number,
      agilityRequirement: number,
    })
    .nullish(),
  droppedBy: z
    .array(
      z.looseObject({
        name: text,
        /** Null or false for nowhere in particular; one place, or several, each `[x, y, z, radius]`. */
        coords: z.union([z.boolean(), numbers, z.array(numbers)]).nullish(),
      }),
    )
    .nullish(),
  /** Percent by material tier; they do not add up to 100. */
  chances: z.record(z.string(), z.number()).nullish(),
})

/** One item set, as the value in the answer of `/item/sets` (API reference 5.4). */
export const itemSetSchema = z.looseObject({
  internalName: text,
  /** By the number of parts worn, "1" to "8". */
  bonuses: z
    .record(
      z.string(),
      z.looseObject({
        major: z.array(z.unknown()).nullish(),
        minor: z.record(z.string(), z.union([z.number(), z.string()])).nullish(),
      }),
    )
    .nullish(),
  /** Display names of the items, in no fixed order. */
  parts: z.array(z.string()).nullish(),
})

const names = z.array(z.string())
const ids = z.record(z.string(), z.number())

/** `/item/metadata`: with `filters` since release 3.6, the lists on top before (5.5). */
export const itemMetadataSchema = z.looseObject({
  filters: z
    .looseObject({
      type: names.nullish(),
      advanced: z.record(z.string(), names).nullish(),
      tier: z.union([names, z.record(z.string(), names)]).nullish(),
      identifications: names.nullish(),
      majorIds: names.nullish(),
      levelRange: z.union([numbers, z.number()]).nullish(),
    })
    .nullish(),
  static: ids.nullish(),
  identifications: z.union([names, ids]).nullish(),
  majorIds: z.union([names, ids]).nullish(),
})

/** `/item/metadata?static`: the numbers of the game's own encoding, by name, in groups such as `identifications`. */
export const itemIdsSchema = z.record(z.string(), ids)

export type Item = z.output<typeof itemSchema>
export type ItemSet = z.output<typeof itemSetSchema>
export type ItemMetadata = z.output<typeof itemMetadataSchema>
export type ItemIds = z.output<typeof itemIdsSchema>

/** @throws RecordError with the JSON pointer of the first thing that is no item */
export const parseItem: (record: unknown) => Item = recordParser('item', itemSchema)

/** @throws RecordError with the JSON pointer of the first thing that is no item set */
export const parseItemSet: (record: unknown) => ItemSet = recordParser('item set', itemSetSchema)

/** @throws RecordError with the JSON pointer of the first thing that is no item metadata */
export const parseItemMetadata: (record: unknown) => ItemMetadata = recordParser('item metadata', itemMetadataSchema)

/** @throws RecordError with the JSON pointer of the first thing that is no group of ids */
export const parseItemIds: (record: unknown) => ItemIds = recordParser('item ids', itemIdsSchema)
