import type { Random } from '../../../base/clock.ts'
import { between, pick, shuffled, weights } from '../draw.ts'
import type { Item, ItemSet } from '../records.ts'
import type { NameMaker } from '../words.ts'

/** How many sets have how many parts (counted in a live response of April 2026): two are empty, one is a collection. */
const sizes = Object.entries(weights('0:2 1:2 2:16 3:14 4:27 5:3 7:1 8:2 58:1'))

/** How many parts are of which type (counted likewise); together as many as the sets hold. */
const shares = { armour: 183, accessory: 58, weapon: 39 } as const

const stats = (
  'lootBonus rawHealth healthRegenRaw combatExperience rawDefence lifeSteal manaRegen walkSpeed rawDexterity damage ' +
  'spellDamage raw1stSpellCost raw2ndSpellCost jumpHeight thorns poison'
).split(' ')

/**
 * Joins some of the gear into sets. Parts are display names, so only names that nothing else shows are taken.
 * @returns the sets by name, and the same items, those that belong to a set with `sets` filled in
 */
export function createSets(random: Random, names: NameMaker, items: readonly Item[]) {
  const shown = new Map<string, number>()
  for (const { displayName } of items) shown.set(displayName, (shown.get(displayName) ?? 0) + 1)
  const alone = shuffled(items, random).filter(({ displayName }) => shown.get(displayName) === 1)
  const chosen = Object.entries(shares).flatMap(([type, count]) =>
    alone.filter((item) => item.type === type).slice(0, count),
  )
  const free = shuffled(chosen, random)
  const sets: Record<string, ItemSet> = {}
  const setOf = new Map<string, string>()
  for (const [text, count] of sizes)
    for (let nth = 0; nth < count; nth++) {
      const size = Number(text)
      // One name begins in lower case, as "fire ..." does in live responses.
      const title = names.title()
      const name = size === 5 && nth === 0 ? title.charAt(0).toLowerCase() + title.slice(1) : title
      const parts = free.splice(0, size)
      for (const part of parts) setOf.set(part.internalName, name)
      sets[name] = {
        internalName: name.toLowerCase(),
        bonuses: bonuses(random, size),
        parts: parts.map((part) => part.displayName),
      }
    }
  return { sets, items: items.map((item) => joined(item, setOf.get(item.internalName))) }
}

function joined(item: Item, set: string | undefined): Item {
  if (set === undefined) return item
  const { identifications, base, ...rest } = item
  return { ...rest, sets: [set], ...(identifications && { identifications }), ...(base && { base }) }
}

function bonuses(random: Random, size: number): ItemSet['bonuses'] {
  const highest = size === 0 ? 2 : Math.min(size, 9)
  const chosen = [...new Set(Array.from({ length: between(random, 2, 6) }, () => pick(random, stats)))]
  const steps = Array.from({ length: highest }, (_, index) => index + 1).filter((step) => step > 1 || highest === 1)
  return Object.fromEntries(
    steps.map((step) => [
      String(step),
      {
        major: [],
        minor: Object.fromEntries(
          chosen.map((name) => [name, name.endsWith('SpellCost') ? -step : step * between(random, 3, 12)]),
        ),
      },
    ]),
  )
}
