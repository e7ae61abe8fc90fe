import type { Random } from '../../../base/clock.ts'
import { between, chance, weighted } from '../draw.ts'
import { identificationFrequency } from '../frequency.ts'
import type { Roll, Stats } from '../records.ts'

const drawName = weighted(identificationFrequency)
const skillPoints = /^raw(Strength|Dexterity|Intelligence|Defence|Agility)$/
const spellCosts = /SpellCost$/

/** How the numbers of an item are given: rolled when it is identified, or fixed from the start. */
export interface StatForm {
  readonly level: number
  readonly fixed: boolean
}

/** Draws `count` different identifications, with `first` among them when it is given. */
export function drawIdentifications(random: Random, count: number, form: StatForm, first?: string): Stats {
  const names = new Set<string>(first === undefined ? [] : [first])
  while (names.size < count) names.add(drawName(random))
  // The API sends shorter names first.
  const ordered = [...names].sort((a, b) => a.length - b.length)
  return Object.fromEntries(ordered.map((name) => [name, drawValue(random, name, form)]))
}

/** A value that suits the name and the level. Skill points never roll (counted: always a plain number on gear). */
export function drawValue(random: Random, name: string, form: StatForm): number | Roll {
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
export function ingredientRoll(random: Random, name: string, level: number): Roll {
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
export function damageRange(random: Random, middle: number): Roll {
  const low = Math.max(1, Math.round(middle * (0.7 + random() * 0.25)))
  return { min: low, raw: low, max: low + between(random, 1, Math.max(2, Math.round(middle * 0.6))) }
}
