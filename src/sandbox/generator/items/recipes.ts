import type { Item, Recipe, Span, Sprite } from '../records.ts'
import { materialLore } from '../text.ts'
import { capital } from '../words.ts'
import { attribute, sprite } from './icons.ts'

/** Levels at which a new material begins. */
const levels = [1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 105, 110, 115] as const

/** Per profession: its two products, what they are good for, and one invented source per level. */
const professions = {
  mining: {
    products: ['Ingot', 'Gem'],
    attributes: ['Hardiness', 'Vigour'],
    crafts: ['Spears', 'Daggers', 'Boots', 'Leggings', 'Helmets', 'Chestplates', 'Rings', 'Bracelets', 'Necklaces'],
    sources:
      'Tamrite Orric Shalestone Brenn Korite Umbrine Veldspar Harrowstone Lumite Zephrite Mirestone Ashglass Dawnite Skarn',
  },
  woodcutting: {
    products: ['Wood', 'Paper'],
    attributes: ['Reach', 'Balance'],
    crafts: ['Spears', 'Daggers', 'Bows', 'Wands', 'Reliks', 'Helmets', 'Chestplates', 'Scrolls'],
    sources:
      'Alderin Russet Fenwood Palebark Tallow Silverleaf Duskwood Ironbough Marrow Nettle Gloamwood Sunroot Wyrd Starbark',
  },
  farming: {
    products: ['String', 'Grains'],
    attributes: ['Speed', 'Patience'],
    crafts: ['Bows', 'Wands', 'Boots', 'Leggings', 'Food', 'Potions'],
    sources:
      'Sweetgrass Longear Bluecorn Rindle Fieldrye Pipcorn Thistledown Redstalk Barrowflax Moonhay Sorrel Goldtuft Wickseed Amaranth',
  },
  fishing: {
    products: ['Oil', 'Meat'],
    attributes: ['Swimming', 'Calm'],
    crafts: ['Reliks', 'Rings', 'Bracelets', 'Necklaces', 'Food', 'Potions', 'Scrolls'],
    sources:
      'Minnow Brookfin Silverside Mudskimmer Reedpike Lanternfish Spinefin Glasseel Rockling Tidewhip Gulper Nightray Crestfin Abyssling',
  },
} as const

type Profession = keyof typeof professions

/** Internal name of a material: the one recipes refer to. `level` is any player level. */
function materialName(profession: Profession, product: 0 | 1, level: number): string {
  const index = levels.findLastIndex((from) => from <= level)
  const source = professions[profession].sources.split(' ')[Math.max(0, index)] ?? ''
  return `Worked ${source} ${professions[profession].products[product]}`
}

/** All 112 materials: 4 professions, 14 levels, 2 products. They have no tier. */
export function createMaterials(): Item[] {
  return Object.entries(professions).flatMap(([profession, { products, attributes, crafts }]) =>
    levels.flatMap((level) =>
      ([0, 1] as const).map((product): Item => {
        const internalName = materialName(profession as Profession, product, level)
        const displayName = internalName.replace('Worked ', '')
        const [source = ''] = displayName.split(' ')
        return {
          displayName,
          internalName,
          type: 'material',
          subType: profession,
          icon: attribute(`profession.${products[product].toLowerCase()}${source}`),
          emblem: 'square',
          requirements: { level },
          lore: materialLore(attributes, crafts),
          chances: { TIER_1: level === 105 ? 80 : 70, TIER_2: 10, TIER_3: 1 },
        }
      }),
    ),
  )
}

type Kind = 'worn' | 'weapon' | 'jewelry' | 'consumable'

/** Of each type: skill, kind, and two materials (profession, which of its products, amount at the lowest level). */
const crafts: readonly (readonly [string, string, Kind, Profession, 0 | 1, number, Profession, 0 | 1, number])[] = [
  ['boots', 'tailoring', 'worn', 'mining', 0, 1, 'farming', 0, 2],
  ['leggings', 'tailoring', 'worn', 'mining', 0, 2, 'farming', 0, 1],
  ['helmet', 'armouring', 'worn', 'mining', 0, 1, 'woodcutting', 1, 2],
  ['chestplate', 'armouring', 'worn', 'mining', 0, 2, 'woodcutting', 1, 1],
  ['bow', 'woodworking', 'weapon', 'farming', 0, 2, 'woodcutting', 0, 1],
  ['wand', 'woodworking', 'weapon', 'farming', 0, 1, 'woodcutting', 0, 2],
  ['relik', 'woodworking', 'weapon', 'fishing', 0, 2, 'woodcutting', 0, 1],
  ['spear', 'weaponsmithing', 'weapon', 'mining', 0, 1, 'woodcutting', 0, 2],
  ['dagger', 'weaponsmithing', 'weapon', 'mining', 0, 2, 'woodcutting', 0, 1],
  ['ring', 'jeweling', 'jewelry', 'mining', 1, 1, 'fishing', 0, 1],
  ['bracelet', 'jeweling', 'jewelry', 'mining', 1, 2, 'fishing', 0, 1],
  ['necklace', 'jeweling', 'jewelry', 'mining', 1, 3, 'fishing', 0, 1],
  ['food', 'cooking', 'consumable', 'fishing', 1, 2, 'farming', 1, 1],
  ['potion', 'alchemism', 'consumable', 'fishing', 0, 1, 'farming', 1, 2],
  ['scroll', 'scribing', 'consumable', 'fishing', 0, 1, 'woodcutting', 1, 1],
]

const variants =
  'air default defensive earth fire magic melee offensive quick rainbow ranged slow stealing thunder water'.split(' ')

/** 15 types of recipes in 48 level bands. They are the same in every world. */
export function createRecipes(): Recipe[] {
  return crafts.flatMap((craft) => bands().map((band) => createRecipe(craft, band)))
}

/** Four bands in each ten levels: 1-3, 3-5, 5-7, 7-9, then 10-13, 13-15, 15-17, 17-19, and so on. */
function bands(): Span[] {
  return Array.from({ length: 12 }, (_, decade) => decade * 10).flatMap((from) => {
    const edges = from === 0 ? [1, 3, 5, 7, 9] : [from, from + 3, from + 5, from + 7, from + 9]
    return edges.slice(1).map((maximum, index) => ({ maximum, minimum: edges[index] ?? from }))
  })
}

function createRecipe([type, skill, kind, ...needs]: (typeof crafts)[number], level: Span): Recipe {
  const [first, firstProduct, firstShare, second, secondProduct, secondShare] = needs
  const amount = 1 + Math.floor(level.minimum / 17)
  const strength = (at: number) =>
    Math.round(kind === 'weapon' ? 7 + at ** 1.5 / 3.4 : 9 + at ** 2 / (kind === 'worn' ? 4.4 : 2.3))
  const durability = { maximum: 168_000 + level.maximum * 3400, minimum: 168_000 + level.minimum * 3400 }
  const [seconds, longer] = type === 'food' ? [1062, 18] : [354, 6]
  return {
    internalName: `${named(type)}${level.minimum}-${level.maximum}`,
    ...(kind === 'consumable'
      ? { basicDuration: type === 'food' ? { maximum: 60, minimum: 60 } : { maximum: 3, minimum: 3 } }
      : { durability }),
    ...(kind === 'consumable' && {
      duration: { maximum: seconds + level.maximum * longer, minimum: seconds + level.minimum * longer },
    }),
    healthOrDamage:
      kind === 'jewelry' ? {} : { maximum: strength(level.maximum) + 2, minimum: strength(level.minimum) },
    level,
    materials: [
      { amount: amount * firstShare, item: materialName(first, firstProduct, level.minimum) },
      { amount: amount * secondShare, item: materialName(second, secondProduct, level.minimum) },
    ],
    skill,
    sprites: sprites(type, kind, level),
    type,
    xp: Math.round(18 + level.minimum ** 1.75),
  }
}

/** Leggings are called pants inside. */
function named(type: string): string {
  return type === 'leggings' ? 'Pants' : capital(type)
}

function sprites(type: string, kind: Kind, level: Span): Record<string, Sprite> {
  const grade = 1 + Math.floor(level.minimum / 40)
  const id = kind === 'worn' ? `minecraft:leather_${type}` : 'minecraft:potion'
  return Object.fromEntries(
    variants.map((variant) => {
      const prefix = kind === 'consumable' ? type : 'item'
      // Spelt so in live responses, on the higher scrolls only.
      const name = type === 'scroll' && variant === 'rainbow' && level.minimum >= 80 ? 'scollrainbow' : prefix + variant
      return [variant, sprite(name, `${kind === 'consumable' ? `consumable.${type}` : type}.${variant}${grade}`, id)]
    }),
  )
}
