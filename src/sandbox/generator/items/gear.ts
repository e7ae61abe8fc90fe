import type { Random } from '../../../base/clock.ts'
import { between, chance, level as drawLevel, pick, shuffled, unused, weighted, weights } from '../draw.ts'
import { identificationFrequency } from '../frequency.ts'
import { dropMeta, droppedBy } from '../places.ts'
import type { Item, Roll, Stats } from '../records.ts'
import { lore, majorIdText } from '../text.ts'
import { adjectives, camelCase, capital, type NameMaker } from '../words.ts'
import { attribute, gearIcon, skin } from './icons.ts'

const drawName = weighted(identificationFrequency)
const skillPoints = /^raw(Strength|Dexterity|Intelligence|Defence|Agility)$/
const spellCosts = /SpellCost$/

/** How the numbers of an item are given: rolled when it is identified, or fixed from the start. */
interface StatForm {
  readonly level: number
  readonly fixed: boolean
}

/** Draws `count` different identifications, with `first` among them when it is given. */
function drawIdentifications(random: Random, count: number, form: StatForm, first?: string): Stats {
  const names = new Set<string>(first === undefined ? [] : [first])
  while (names.size < count) names.add(drawName(random))
  // The API sends shorter names first.
  const ordered = [...names].sort((a, b) => a.length - b.length)
  return Object.fromEntries(ordered.map((name) => [name, drawValue(random, name, form)]))
}

/** A value that suits the name and the level. Skill points never roll (counted: always a plain number on gear). */
function drawValue(random: Random, name: string, form: StatForm): number | Roll {
  const raw = drawRaw(random, name, form.level)
  return form.fixed || skillPoints.test(name) ? raw : rollOf(name, raw)
}

/**
 * The range around a raw value: 30 % to 130 % of a benefit, 130 % to 70 % of a burden. Lower spell costs are a benefit,
 * so that theirs have `min` above `max` either way.
 */
export function rollOf(name: string, raw: number): Roll {
  const benefit = raw > 0 !== spellCosts.test(name)
  const [low, high] = benefit ? [0.3, 1.3] : [1.3, 0.7]
  return { min: away(raw * low), raw, max: away(raw * high) }
}

/** Ingredients roll upwards only: raw is the lower end, also of burdens (counted in live responses of 2026). */
function ingredientRoll(random: Random, name: string, level: number): Roll {
  const raw = drawRaw(random, name, level)
  const width = between(random, 0, Math.max(1, Math.round(Math.abs(raw) * 0.25)))
  // No value of 0 at the upper end of a burden.
  return { min: raw, raw, max: raw < 0 ? Math.min(raw + width, -1) : raw + width }
}

function drawRaw(random: Random, name: string, level: number): number {
  const size = Math.max(1, Math.round(magnitude(name, level) * (0.3 + random())))
  const usuallyNegative = spellCosts.test(name) || name === 'criticalDamageBonus'
  const against = chance(random, 0.22)
  return usuallyNegative === against ? size : -size
}

function magnitude(name: string, level: number): number {
  if (name === 'rawHealth') return 10 + level * 9
  if (name === 'poison') return 10 + level * 60
  if (name === 'lifeSteal' || name === 'healthRegenRaw') return 2 + level * 2
  if (name.startsWith('raw') && name.endsWith('MainAttackDamage')) return 10 + level * 3
  if (name.startsWith('raw') && name.endsWith('Damage')) return 8 + level
  if (name.startsWith('raw') && spellCosts.test(name)) return 4
  if (name === 'rawAttackSpeed' || name === 'jumpHeight' || name.startsWith('gather')) return 2
  if (skillPoints.test(name)) return 8
  return 16
}

/** Rounds away from zero but never to it: the API sends no identification of 0. */
function away(value: number): number {
  return Math.sign(value) * Math.max(1, Math.round(Math.abs(value)))
}

/** A range of damage around `middle`; raw repeats the lower end, as the API does. */
function damageRange(random: Random, middle: number): Roll {
  const low = Math.max(1, Math.round(middle * (0.7 + random() * 0.25)))
  return { min: low, raw: low, max: low + between(random, 1, Math.max(2, Math.round(middle * 0.6))) }
}

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

/** Of each sub-type: how many there are, what they are about, and what they raise. */
const kinds = {
  marathon_tome: [9, 'the Long Road', 'walkSpeed sprint'],
  mysticism_tome: [17, 'Quiet Thought', 'manaRegen 4thSpellCost rawMaxMana'],
  armour_tome: [41, 'Guarded Steps', 'rawHealth airDefence earthDefence elementalDefence'],
  weapon_tome: [60, 'Sharpened Will', 'damage fireDamage spellDamage mainAttackDamage'],
  expertise_tome: [17, 'Patient Hands', 'gatherXpBonus gatherSpeed combatExperience'],
  guild_tome: [16, 'Sworn Company', 'rawStrength rawAgility rawDefence'],
  lootrun_tome: [12, 'Far Finds', 'lootBonus lootQuality'],
} as const

const drawTomeTier = weighted({ fabled: 110, mythic: 42, legendary: 20 })

/** Shares of tomes that were renamed: half of them keep another name inside. */
const renamed = 0.49

/** The tomes; 12 of them show the name of another one. */
export function createTomes(random: Random): Item[] {
  const tomes: Item[] = []
  const given = new Set<string>()
  const draw = (subject: string) =>
    unused(given, () => `${capital(pick(random, adjectives))} Tome of ${subject} ${pick(random, ['I', 'II', 'III'])}`)
  for (const [subType, [count, subject, raised]] of Object.entries(kinds)) {
    const stats = raised.split(' ')
    for (let nth = 0; nth < count; nth++) {
      const displayName = draw(subject)
      const level = pick(random, [60, 75, 90, 100, 105, 120])
      const chosen = [...new Set(Array.from({ length: between(random, 1, 2) }, () => pick(random, stats)))]
      tomes.push({
        displayName,
        internalName: chance(random, renamed) ? draw(subject) : displayName,
        type: 'tome',
        subType,
        icon: attribute(`tome.${subType.replace('_tome', '')}`),
        emblem: `square_${Math.floor(level / 20)}`,
        tier: drawTomeTier(random),
        restriction: 'untradable',
        dropRestriction: 'never',
        allowCraftsman: true,
        requirements: { level },
        ...(chance(random, 0.92) && { dropMeta: dropMeta(random, false) }),
        identifications: Object.fromEntries(
          chosen.map((one) => [one, drawValue(random, one, { level, fixed: false })]),
        ),
      })
    }
  }
  return tomes.map((tome, index) => {
    const shown = tomes[index - 6]
    // The twelve pairs lie apart, so that no three share a name.
    return shown && index % 14 === 6 ? { ...tome, displayName: shown.displayName } : tome
  })
}

/** The four charms: no sub-type, rolls in `base`, a selected model. */
export function createCharms(random: Random): Item[] {
  const bonus = ['leveledXpBonus', 'leveledLootBonus', 'leveledXpBonus', undefined] as const
  return ['the Hearth', 'the Mire', 'the Lantern', 'the Abyss'].map((place, index): Item => {
    const raw = between(random, 10, 70)
    const stat = bonus[index]
    return {
      displayName: `Charm of ${place}`,
      internalName: `Charm of ${place}`,
      type: 'charm',
      icon: attribute(`charm.${place.slice(4).toLowerCase()}`, 'minecraft:potion', 'item_tier_fabled'),
      emblem: 'sticker_5',
      tier: 'fabled',
      restriction: 'untradable',
      dropRestriction: 'never',
      allowCraftsman: true,
      requirements: { level: 60 + index * 15 },
      ...(stat === undefined && { identifications: { gatheringExperience: { min: 14, raw: 18, max: 21 } } }),
      base: {
        damageFromMobs: { min: Math.round(raw * 0.3), raw, max: Math.round(raw * 1.3) },
        ...(stat && { [stat]: { min: 24, raw: 30, max: 35 } }),
      },
    }
  })
}

const skills = 'armouring tailoring weaponsmithing woodworking jeweling cooking alchemism scribing'.split(' ')
const drawIngredientTier = weighted({ TIER_3: 193, TIER_2: 293, TIER_1: 250, TIER_0: 233 })
const drawSkillCount = weighted({ 1: 521, 2: 354, 3: 59, 4: 27, 5: 2, 6: 3, 8: 3 })
const drawStat = weighted({ ...identificationFrequency, gatherXpBonus: 400, gatherSpeed: 200 })
const attributes = ['strength', 'dexterity', 'intelligence', 'defence', 'agility']
const positions = ['left', 'right', 'above', 'under', 'touching', 'notTouching'] as const

/** Makes crafting ingredients: a tier, but no sub-type. */
export function createIngredients(random: Random, names: NameMaker): Item[] {
  return Array.from({ length: 969 }, (_, nth): Item => {
    const name = names.gear('ingredient')
    const level = drawLevel(random, 119)
    const stats = ingredientStats(random, level)
    return {
      displayName: name,
      internalName: name,
      type: 'ingredient',
      // 68 of 969 show a skin.
      icon: nth % 14 === 5 ? skin(random) : attribute(`ingredient.${camelCase(name)}`),
      emblem: 'square',
      tier: drawIngredientTier(random),
      requirements: { level, skills: shuffled(skills, random).slice(0, Number(drawSkillCount(random))) },
      ...(stats && { identifications: stats }),
      consumableOnlyIDs: {
        duration: chance(random, 0.5) ? -between(random, 1, 60) * 5 : 0,
        charges: chance(random, 0.1) ? between(random, -1, 2) : 0,
      },
      ingredientPositionModifiers: modifiers(random),
      itemOnlyIDs: itemOnly(random, level),
      droppedBy: droppedBy(random, names.being),
    }
  })
}

function ingredientStats(random: Random, level: number): Stats | undefined {
  if (chance(random, 0.034)) return undefined
  const chosen = new Set(Array.from({ length: between(random, 1, 3) }, () => drawStat(random)))
  return Object.fromEntries([...chosen].map((name) => [name, ingredientRoll(random, name, level)]))
}

function modifiers(random: Random): Record<string, number> {
  const strong = chance(random, 0.15) ? pick(random, positions) : undefined
  return Object.fromEntries(positions.map((one) => [one, one === strong ? between(random, -20, 20) * 5 : 0]))
}

function itemOnly(random: Random, level: number): Record<string, number> {
  const wanted = chance(random, 0.4) ? pick(random, attributes) : undefined
  const requirement = (name: string) => (name === wanted ? between(random, 1, 4 + Math.floor(level / 5)) : 0)
  return {
    durabilityModifier: chance(random, 0.6) ? -between(random, 1, 170) * 1000 : 0,
    ...Object.fromEntries(attributes.map((name) => [`${name}Requirement`, requirement(name)])),
  }
}
