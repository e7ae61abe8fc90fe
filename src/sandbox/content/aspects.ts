import { between, chance, drawsFor, hex, pick } from '../generator/draw.ts'
import { attribute } from '../generator/items/icons.ts'
import { coloured } from '../generator/text.ts'
import { adjectives, nouns, titled } from '../generator/words.ts'
import { type ClassName, planAbilities } from './abilities.ts'

const thresholds = [1, 5, 30, 150]
const rarities = ['legendary', 'fabled', 'mythic']

/** The internal names of the aspects of a class. */
export function aspectNames(seed: number, className: ClassName): string[] {
  return aspectsBody(seed, className, new Map()).map(({ internalName }) => internalName)
}

/**
 * The body of `/aspects/{class}`: an array, since spring 2026 (API reference 8).
 * @param balance by how many percent more than at first, by internal name
 */
export function aspectsBody(seed: number, className: ClassName, balance: ReadonlyMap<string, number>) {
  const random = drawsFor(seed, `aspects ${className}`)
  const { abilities } = planAbilities(seed, className)
  return Array.from({ length: between(random, 22, 27) }, () => {
    const ability = pick(random, abilities).name
    const tiers = chance(random, 0.2) ? 3 : 4
    const name = `Aspect of the ${titled(pick(random, adjectives), pick(random, nouns))}`
    const internalName = hex(random, 8)
    const more = balance.get(internalName) ?? 0
    return {
      name,
      internalName,
      icon: attribute(`abilityTree.aspect${titled(className)}`),
      rarity: pick(random, rarities),
      requiredClass: className,
      tiers: Object.fromEntries(
        thresholds.slice(0, tiers).map((threshold, nth) => [
          String(nth + 1),
          {
            threshold,
            description: [
              coloured('AAAAAA', `${ability} gains ${coloured('FFFFFF', `+${(nth + 1) * 5 + more}%`)} damage.`),
            ],
          },
        ]),
      ),
    }
  })
}
