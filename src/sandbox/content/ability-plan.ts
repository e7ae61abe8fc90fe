import { seededRandom } from '../../base/clock.ts'
import { between, chance, drawsFor, pick, unused } from '../generator/draw.ts'
import { camelCase } from '../generator/names.ts'
import { adjectives, nouns, titled } from '../generator/words.ts'
import { type Archetype, archetypesOf, type ClassName } from './classes.ts'

/** One ability and where it is drawn; rows and columns count from 1, rows on through all pages. */
export interface PlannedAbility {
  readonly id: string
  readonly name: string
  readonly x: number
  readonly y: number
  readonly points: number
  readonly archetype: Archetype | undefined
  /** The ability above it, which has to be taken first; undefined for the first of all. */
  readonly parent: string | undefined
  /** Abilities of which only one may be taken. */
  readonly locks: readonly string[]
}

/** A piece of a line between two abilities. */
interface PlannedConnector {
  readonly x: number
  readonly y: number
  readonly icon: string
  readonly family: readonly [string, string]
}

/** A whole tree: nine pages of six rows and nine columns, as live trees have (API reference 8). */
export interface AbilityPlan {
  readonly abilities: readonly PlannedAbility[]
  readonly connectors: readonly PlannedConnector[]
}

export const rowsPerPage = 6
const lastRow = 9 * rowsPerPage
const middle = 5

/** Draws the tree of a class: one trunk that splits into three branches, one per archetype. */
export function planAbilities(seed: number, className: ClassName): AbilityPlan {
  const random = drawsFor(seed, `abilities ${className}`)
  const archetypes = archetypesOf(className)
  const given = new Set<string>()
  const abilities: PlannedAbility[] = []
  const connectors: PlannedConnector[] = []

  function add(x: number, y: number, from?: PlannedAbility, archetype?: Archetype, locks: readonly string[] = []) {
    const name = unused(given, () => titled(pick(random, adjectives), pick(random, nouns)))
    const points = between(random, 1, 2)
    const one = { id: camelCase(name), name, x, y, points, archetype, parent: from?.id, locks }
    abilities.push(one)
    if (from) draw(from, one)
    return one
  }
  /** Draws the line between two abilities of one row or one column. */
  function draw(from: PlannedAbility, to: PlannedAbility) {
    const family = [from.id, to.id] as const
    const step = Math.sign(to.x - from.x)
    for (let x = from.x + step; x !== to.x; x += step)
      connectors.push({ x, y: to.y, icon: 'connector_right_left', family })
    for (let y = from.y + 1; y < to.y; y++) connectors.push({ x: to.x, y, icon: 'connector_up_down', family })
  }

  const trunk = add(middle, 3, add(middle, 1))
  const ends = [add(middle - 3, 3, trunk, archetypes[0]), trunk, add(middle + 3, 3, trunk, archetypes[2])]
  for (let y = 5; y < lastRow; y += 2) {
    let rival: PlannedAbility | undefined
    for (const [nth, end] of ends.entries()) {
      // A branch may pause for a row, so that no two trees look alike.
      if (chance(random, 0.25)) continue
      const locks = rival && chance(random, 0.1) ? [rival.id] : []
      rival = add(end.x, y, end, archetypes[nth], locks)
      ends[nth] = rival
    }
  }
  return { abilities, connectors }
}

/** Which abilities a player has taken: a part of the tree that hangs together, larger for higher levels. */
export function takenAbilities({ abilities }: AbilityPlan, salt: number, level: number): Set<string> {
  const random = seededRandom(salt)
  const taken = new Set<string>()
  let points = Math.min(45, 2 + Math.floor(level / 2.4))
  for (const { id, parent, points: price, locks } of abilities) {
    const reachable = parent === undefined || taken.has(parent)
    if (!reachable || price > points || locks.some((one) => taken.has(one)) || (parent && chance(random, 0.2))) continue
    taken.add(id)
    points -= price
  }
  return taken
}
