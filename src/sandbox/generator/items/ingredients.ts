import type { Random } from '../../../base/clock.ts'
import { between, chance, level as drawLevel, pick, shuffled, weighted } from '../draw.ts'
import { identificationFrequency } from '../frequency.ts'
import { camelCase, type NameMaker } from '../names.ts'
import { droppedBy } from '../places.ts'
import type { Item, Stats } from '../records.ts'
import { attribute, skin } from './icons.ts'
import { ingredientRoll } from './identifications.ts'

const skills = 'armouring tailoring weaponsmithing woodworking jeweling cooking alchemism scribing'.split(' ')
const drawTier = weighted({ TIER_3: 193, TIER_2: 293, TIER_1: 250, TIER_0: 233 })
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
      tier: drawTier(random),
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
