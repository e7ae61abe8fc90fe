import type { Random } from '../../../base/clock.ts'
import { between, chance, pick, unused, weighted } from '../draw.ts'
import { dropMeta } from '../places.ts'
import type { Item } from '../records.ts'
import { adjectives, capital } from '../words.ts'
import { attribute } from './icons.ts'
import { drawValue } from './identifications.ts'

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

const drawTier = weighted({ fabled: 110, mythic: 42, legendary: 20 })

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
        tier: drawTier(random),
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
