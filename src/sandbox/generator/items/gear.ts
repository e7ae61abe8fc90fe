import type { Random } from '../../../base/clock.ts'
import { between, chance, level as drawLevel, pick, weighted, weights } from '../draw.ts'
import { identificationFrequency } from '../frequency.ts'
import type { NameMaker } from '../names.ts'
import { dropMeta } from '../places.ts'
import type { Item, Stats } from '../records.ts'
import { lore, majorIdText } from '../text.ts'
import { capital } from '../words.ts'
import { gearIcon } from './icons.ts'
import { damageRange, drawIdentifications, type StatForm } from './identifications.ts'

/** Weapons, armour and accessories, in the numbers of one live response of May 2026. */
const gearCounts = {
  weapon: { bow: 486, dagger: 482, wand: 466, relik: 429, spear: 478 },
  armour: { helmet: 559, boots: 484, leggings: 486, chestplate: 531 },
  accessory: { bracelet: 286, ring: 344, necklace: 276 },
} as const

type GearType = keyof typeof gearCounts

const skillOf = {
  earth: 'strength',
  thunder: 'dexterity',
  water: 'intelligence',
  fire: 'defence',
  air: 'agility',
} as const
const elements = Object.keys(skillOf) as (keyof typeof skillOf)[]
const classOf: Readonly<Record<string, string>> = {
  bow: 'archer',
  dagger: 'assassin',
  wand: 'mage',
  relik: 'shaman',
  spear: 'warrior',
}
const drawSpeed = weighted(
  weights('normal:498 slow:485 fast:464 veryFast:290 verySlow:283 superSlow:172 superFast:149'),
)
const hitsPerSecond = weights('superSlow:0.51 verySlow:0.83 slow:1.5 normal:2.05 fast:2.5 veryFast:3.1 superFast:4.3')
const drawElementCount = weighted({ 1: 2004, 2: 1733, 3: 218, 5: 184, 4: 54 })
const drawDropRestriction = weighted({ normal: 3082, never: 1919, lootchest: 488, dungeon: 46 })
const drawPowders = weighted({ 1: 817, 2: 1651, 3: 1233, 4: 138, 5: 56, 6: 4, 7: 1, 8: 2, 10: 2, 15: 1 })

const tiers = {
  weapon: weighted({ normal: 309, unique: 926, rare: 615, legendary: 334, fabled: 92, mythic: 41 }),
  armour: weighted({ normal: 160, unique: 758, rare: 675, legendary: 364, fabled: 92, mythic: 11 }),
  accessory: weighted({ unique: 330, rare: 311, legendary: 204, fabled: 61 }),
} as const

/** Shares of each kind that carry an optional field, counted in the same response. */
const shares: Readonly<Record<GearType, Readonly<Record<string, number>>>> = {
  weapon: weights(
    'elements:0.79 identified:0.18 lore:0.174 majorId:0.058 drop:0.136 restriction:0.881 craftsman:0.002',
  ),
  armour: weights('elements:0.8 identified:0.2 lore:0.176 majorId:0.043 drop:0.15 restriction:0.998 craftsman:0.01'),
  accessory: weights('elements:0.75 identified:0.28 lore:0.25 majorId:0.029 drop:0.263 restriction:0.994 craftsman:0'),
}

/** Makes all gear of one type. `majorIds` are the labels to draw from. */
export function createGear(random: Random, names: NameMaker, type: GearType, majorIds: readonly string[]): Item[] {
  const items: Item[] = []
  for (const [subType, count] of Object.entries(gearCounts[type]))
    for (let nth = 0; nth < count; nth++)
      items.push(createGearItem(random, names, type, subType, majorIds, items.length))
  return items
}

/** One piece of gear; `nth` counts within its type and decides which rare forms it takes. */
export function createGearItem(
  random: Random,
  names: NameMaker,
  type: GearType,
  subType: string,
  majorIds: readonly string[],
  nth: number,
): Item {
  const has = (field: string) => chance(random, shares[type][field] ?? 0)
  const displayName = names.gear(subType)
  // Older names live on inside: 3.7 % of the gear.
  const internalName = chance(random, 0.037) ? names.gear(subType) : displayName
  const tier = tiers[type](random)
  const level = drawLevel(random, 120)
  const identified = tier !== 'normal' && has('identified')
  const own = has('elements') ? elementsOf(random) : []
  const label = tier !== 'normal' && has('majorId') ? pick(random, majorIds) : undefined
  // Eight weapons have neither base damage nor a damage per second.
  const speed = drawSpeed(random)
  const base =
    type === 'weapon' ? weaponBase(random, level, own, nth % 290 === 289) : wornBase(random, type, level, own)
  const count =
    tier === 'normal' ? 0 : Math.max(1, Math.round((random() + random()) * (type === 'accessory' ? 5 : 6.2)))
  const form: StatForm = { level, fixed: identified }
  // Every known identification is somewhere: the first weapons carry one each.
  const forced = type === 'weapon' ? Object.keys(identificationFrequency)[nth] : undefined
  // A few pieces tell their story in an old script.
  const old = nth % 700 === 7
  const identifications = drawIdentifications(random, forced ? Math.max(1, count) : count, form, forced)

  return {
    displayName,
    internalName,
    type,
    subType,
    icon: gearIcon(random, subType, own[0], nth),
    emblem: `${type === 'weapon' ? 'diamond' : type === 'armour' ? 'shield' : 'sticker'}_${1 + Math.min(5, Math.floor(level / 20))}`,
    tier,
    ...(type === 'weapon' && { attackSpeed: speed }),
    ...(type === 'weapon' && base && { averageDps: averageDps(base, speed) }),
    ...(has('restriction') && { restriction: restriction(random) }),
    dropRestriction: drawDropRestriction(random),
    ...(identified && { identified: true as const }),
    ...(has('craftsman') && { allowCraftsman: true as const }),
    ...(own.length > 0 && { elements: own }),
    requirements: requirements(random, type, subType, level, own),
    ...(type !== 'accessory' && chance(random, 0.89) && { powderSlots: Number(drawPowders(random)) }),
    ...(label && { majorIds: { [label]: majorIdText(random, label) } }),
    ...((old || has('lore')) && { lore: lore(random, old) }),
    ...(has('drop') && { dropMeta: dropMeta(random, type === 'armour') }),
    ...(Object.keys(identifications).length > 0 && { identifications }),
    ...(base && { base }),
  }
}

function elementsOf(random: Random): string[] {
  const count = Number(drawElementCount(random))
  const chosen = new Set<string>()
  while (chosen.size < count) chosen.add(pick(random, elements))
  return elements.filter((one) => chosen.has(one))
}

function restriction(random: Random): string {
  const drawn = random()
  return drawn < 0.906 ? 'none' : drawn < 0.995 ? 'untradable' : 'quest_item'
}

function requirements(random: Random, type: GearType, subType: string, level: number, own: readonly string[]) {
  const skills = elements.filter((one) => own.includes(one) && chance(random, 0.85))
  const points = skills.map((one) => [skillOf[one], between(random, 1, 4 + level)] as const)
  return {
    level,
    ...(type === 'weapon' && { classRequirement: classOf[subType] ?? 'warrior' }),
    ...Object.fromEntries(points),
    ...(chance(random, 0.038) && {
      quest: `The ${pick(random, ['Lost', 'Silent', 'Last', 'Broken'])} ${pick(random, ['Bridge', 'Choir', 'Harvest', 'Ferry'])}`,
    }),
  }
}

function weaponBase(random: Random, level: number, own: readonly string[], bare: boolean): Stats | undefined {
  if (bare) return undefined
  const share = (6 + level * 1.6) / (own.length + 1)
  const neutral = own.length === 0 || chance(random, 0.75) ? { baseDamage: damageRange(random, share) } : {}
  return {
    ...neutral,
    ...Object.fromEntries(own.map((one) => [`base${capital(one)}Damage`, damageRange(random, share)])),
  }
}

function wornBase(random: Random, type: GearType, level: number, own: readonly string[]): Stats | undefined {
  const health = chance(random, type === 'armour' ? 0.979 : 0.44)
  const base: Record<string, number> = health
    ? { baseHealth: Math.round((5 + level * (type === 'armour' ? 28 : 4)) * (0.6 + random())) }
    : {}
  for (const element of elements) {
    const chosen = own.includes(element)
    if (chance(random, chosen ? 0.75 : 0.2))
      base[`base${capital(element)}Defence`] = between(random, 1, 6 + level) * (chosen ? 1 : -1)
  }
  return Object.keys(base).length > 0 ? base : undefined
}

/** Damage per second of the base damage, whole; what the API calls the same. */
function averageDps(base: Stats, attackSpeed: string): number {
  const middles = Object.values(base).map((value) => (typeof value === 'number' ? value : (value.min + value.max) / 2))
  return Math.round(middles.reduce((sum, value) => sum + value, 0) * (hitsPerSecond[attackSpeed] ?? 1))
}
