import type { Recipe, Span, Sprite } from '../records.ts'
import { sprite } from './icons.ts'
import { materialName, type Profession } from './materials.ts'

/** What a type of recipe needs: the skill and two materials with their amounts at the lowest level. */
interface Craft {
  readonly skill: string
  readonly kind: 'worn' | 'weapon' | 'jewelry' | 'consumable'
  readonly materials: readonly (readonly [Profession, 0 | 1, number])[]
}

const crafts: Readonly<Record<string, Craft>> = {
  boots: {
    skill: 'tailoring',
    kind: 'worn',
    materials: [
      ['mining', 0, 1],
      ['farming', 0, 2],
    ],
  },
  leggings: {
    skill: 'tailoring',
    kind: 'worn',
    materials: [
      ['mining', 0, 2],
      ['farming', 0, 1],
    ],
  },
  helmet: {
    skill: 'armouring',
    kind: 'worn',
    materials: [
      ['mining', 0, 1],
      ['woodcutting', 1, 2],
    ],
  },
  chestplate: {
    skill: 'armouring',
    kind: 'worn',
    materials: [
      ['mining', 0, 2],
      ['woodcutting', 1, 1],
    ],
  },
  bow: {
    skill: 'woodworking',
    kind: 'weapon',
    materials: [
      ['farming', 0, 2],
      ['woodcutting', 0, 1],
    ],
  },
  wand: {
    skill: 'woodworking',
    kind: 'weapon',
    materials: [
      ['farming', 0, 1],
      ['woodcutting', 0, 2],
    ],
  },
  relik: {
    skill: 'woodworking',
    kind: 'weapon',
    materials: [
      ['fishing', 0, 2],
      ['woodcutting', 0, 1],
    ],
  },
  spear: {
    skill: 'weaponsmithing',
    kind: 'weapon',
    materials: [
      ['mining', 0, 1],
      ['woodcutting', 0, 2],
    ],
  },
  dagger: {
    skill: 'weaponsmithing',
    kind: 'weapon',
    materials: [
      ['mining', 0, 2],
      ['woodcutting', 0, 1],
    ],
  },
  ring: {
    skill: 'jeweling',
    kind: 'jewelry',
    materials: [
      ['mining', 1, 1],
      ['fishing', 0, 1],
    ],
  },
  bracelet: {
    skill: 'jeweling',
    kind: 'jewelry',
    materials: [
      ['mining', 1, 2],
      ['fishing', 0, 1],
    ],
  },
  necklace: {
    skill: 'jeweling',
    kind: 'jewelry',
    materials: [
      ['mining', 1, 3],
      ['fishing', 0, 1],
    ],
  },
  food: {
    skill: 'cooking',
    kind: 'consumable',
    materials: [
      ['fishing', 1, 2],
      ['farming', 1, 1],
    ],
  },
  potion: {
    skill: 'alchemism',
    kind: 'consumable',
    materials: [
      ['fishing', 0, 1],
      ['farming', 1, 2],
    ],
  },
  scroll: {
    skill: 'scribing',
    kind: 'consumable',
    materials: [
      ['fishing', 0, 1],
      ['woodcutting', 1, 1],
    ],
  },
}

const variants = [
  'air',
  'default',
  'defensive',
  'earth',
  'fire',
  'magic',
  'melee',
  'offensive',
  'quick',
  'rainbow',
  'ranged',
  'slow',
  'stealing',
  'thunder',
  'water',
]

/** 15 types of recipes in 48 level bands. They are the same in every world. */
export function createRecipes(): Recipe[] {
  return Object.entries(crafts).flatMap(([type, craft]) => bands().map((band) => createRecipe(type, craft, band)))
}

/** Four bands in each ten levels: 1-3, 3-5, 5-7, 7-9, then 10-13, 13-15, 15-17, 17-19, and so on. */
function bands(): Span[] {
  return Array.from({ length: 12 }, (_, decade) => decade * 10).flatMap((from) => {
    const edges = from === 0 ? [1, 3, 5, 7, 9] : [from, from + 3, from + 5, from + 7, from + 9]
    return edges.slice(1).map((maximum, index) => ({ maximum, minimum: edges[index] ?? from }))
  })
}

function createRecipe(type: string, { skill, kind, materials }: Craft, level: Span): Recipe {
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
    materials: materials.map(([profession, product, share]) => ({
      amount: amount * share,
      item: materialName(profession, product, level.minimum),
    })),
    skill,
    sprites: sprites(type, kind, level),
    type,
    xp: Math.round(18 + level.minimum ** 1.75),
  }
}

/** Leggings are called pants inside. */
function named(type: string): string {
  return type === 'leggings' ? 'Pants' : type.charAt(0).toUpperCase() + type.slice(1)
}

function sprites(type: string, kind: Craft['kind'], level: Span): Record<string, Sprite> {
  const grade = 1 + Math.floor(level.minimum / 40)
  const id = kind === 'worn' ? `minecraft:leather_${type}` : 'minecraft:potion'
  return Object.fromEntries(
    variants.map((variant) => {
      const prefix = kind === 'consumable' ? type : 'item'
      // Spelt so in live answers, on the higher scrolls only.
      const name = type === 'scroll' && variant === 'rainbow' && level.minimum >= 80 ? 'scollrainbow' : prefix + variant
      return [variant, sprite(name, `${kind === 'consumable' ? `consumable.${type}` : type}.${variant}${grade}`, id)]
    }),
  )
}
