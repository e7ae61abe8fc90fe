import type { Item } from '../records.ts'
import { materialLore } from '../text.ts'
import { attribute } from './icons.ts'

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

export type Profession = keyof typeof professions

/** Internal name of a material: the one recipes refer to. `level` is any player level. */
export function materialName(profession: Profession, product: 0 | 1, level: number): string {
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
