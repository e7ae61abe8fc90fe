import { seededRandom } from '../../base/clock.ts'
import { between, chance, drawsFor, pick, unused } from '../generator/draw.ts'
import { attribute } from '../generator/items/icons.ts'
import { coloured } from '../generator/text.ts'
import { adjectives, camelCase, nouns, titled } from '../generator/words.ts'
import type { Dialect } from '../http/answer.ts'

/** The five classes; their paths are in lower case (API reference 3.4). */
export const classNames = ['archer', 'warrior', 'assassin', 'mage', 'shaman'] as const
export type ClassName = (typeof classNames)[number]

interface Archetype {
  readonly id: string
  readonly name: string
  /** Six hex digits, and the same as a letter of the game's colour codes. */
  readonly colour: string
  readonly code: string
}

/** Invented, but for the class names themselves. */
const lore: Readonly<Record<ClassName, { readonly other: string; readonly text: string; readonly ways: string }>> = {
  archer: {
    other: 'Strider',
    text: 'Keeps away from trouble and sends arrows into it.',
    ways: 'Galeshot Thornsetter Farsight',
  },
  warrior: {
    other: 'Bulwark',
    text: 'Stands where the others would rather not stand.',
    ways: 'Ironvow Rampart Stormheel',
  },
  assassin: {
    other: 'Shade',
    text: 'Is already behind you, and leaves as quickly.',
    ways: 'Gloamstep Mirrorer Venomist',
  },
  mage: {
    other: 'Kindler',
    text: 'Mends friends and unmakes everything else.',
    ways: 'Dawncaller Hourbender Emberwise',
  },
  shaman: {
    other: 'Rootspeaker',
    text: 'Lets totems and masks do the work.',
    ways: 'Maskbearer Bonesinger Callwarden',
  },
}

const colours = [
  ['55FF55', 'a'],
  ['FF55FF', 'd'],
  ['FFAA00', '6'],
] as const

function archetypesOf(name: ClassName): Archetype[] {
  return lore[name].ways.split(' ').map((way, nth) => {
    const [colour = 'FFFFFF', code = 'f'] = colours[nth] ?? []
    return { id: way.toLowerCase(), name: way, colour, code }
  })
}

/** The body of `/classes` (API reference 3.4). */
export function classesBody(seed: number) {
  return Object.fromEntries(
    classNames.map((name) => {
      const { name: shown, overallDifficulty } = classBody(seed, name)
      return [name, { name: shown, overallDifficulty }]
    }),
  )
}

/** The body of `/classes/{class}` (API reference 8). */
export function classBody(seed: number, name: ClassName) {
  const random = drawsFor(seed, `class ${name}`)
  const { other, text } = lore[name]
  const upTo3 = () => between(random, 1, 3)
  return {
    id: name,
    name: `${titled(name)} (${other})`,
    lore: text,
    overallDifficulty: upTo3(),
    overallMax: 3,
    archetypes: Object.fromEntries(
      archetypesOf(name).map(({ id, name: shown, code }) => [
        id,
        {
          name: `&${code}&l${shown}`,
          difficulty: upTo3(),
          max: 3,
          icon: `abilityTree.${id}`,
          damage: upTo3(),
          defence: upTo3(),
          range: upTo3(),
          speed: upTo3(),
        },
      ]),
    ),
  }
}

/** One ability and where it is drawn; rows and columns count from 1, rows on through all pages. */
interface PlannedAbility {
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
interface AbilityPlan {
  readonly abilities: readonly PlannedAbility[]
  readonly connectors: readonly PlannedConnector[]
}

const rowsPerPage = 6
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

const clicks = ['RIGHT-LEFT-RIGHT', 'LEFT-LEFT-RIGHT', 'RIGHT-RIGHT-LEFT', 'LEFT-RIGHT-LEFT']

/**
 * The body of `/ability/tree/{class}` (API reference 8).
 * @param balance how much more mana than at first abilities cost, by id
 */
export function abilityTreeBody(
  seed: number,
  className: ClassName,
  dialect: Dialect,
  balance: ReadonlyMap<string, number>,
) {
  const plan = planAbilities(seed, className)
  return {
    archetypes: Object.fromEntries(
      archetypesOf(className).map(({ id, name, colour }, nth) => [
        id,
        {
          name: title(colour, name),
          description: coloured('AAAAAA', `Those who follow the ${name} know no other way.`),
          shortDescription: coloured('AAAAAA', `The way of the ${name}`),
          icon: { name: `abilityTree.${id}`, ...attribute(`abilityTree.${id}`) },
          slot: 29 + 2 * nth,
        },
      ]),
    ),
    pages: byPage(plan.abilities, (abilities) =>
      Object.fromEntries(abilities.map((one, nth) => [one.id, definition(plan, one, nth, { dialect, balance })])),
    ),
  }
}

/** The body of `/ability/map/{class}` (API reference 8). */
export function abilityMapBody(seed: number, className: ClassName) {
  return mapOf(planAbilities(seed, className))
}

/** A character's abilities: the part of the map that was taken, with the lines between its abilities. */
export function loadoutBody(plan: AbilityPlan, taken: ReadonlySet<string>) {
  return mapOf({
    abilities: plan.abilities.filter(({ id }) => taken.has(id)),
    connectors: plan.connectors.filter(({ family }) => family.every((id) => taken.has(id))),
  })
}

function mapOf({ abilities, connectors }: AbilityPlan) {
  const nodes = [
    ...abilities.map((one) => ({ ...one, type: 'ability', icon: iconOf(one), family: [one.id], meta: { id: one.id } })),
    ...connectors.map((one) => ({ ...one, type: 'connector', meta: {} })),
  ]
  return byPage(
    nodes.sort((one, other) => one.y - other.y || one.x - other.x),
    (page) =>
      page.map(({ type, x, y, icon, meta, family }) => ({
        type,
        coordinates: { x, y },
        meta: { icon, page: pageOf(y), ...meta },
        family,
      })),
  )
}

interface Shown {
  readonly dialect: Dialect
  readonly balance: ReadonlyMap<string, number>
}

function definition(plan: AbilityPlan, one: PlannedAbility, nth: number, { dialect, balance }: Shown) {
  const { id, name, x, y, points, archetype, parent, locks } = one
  const needed =
    archetype && y > 2 * rowsPerPage ? { name: archetype.id, amount: Math.floor(y / rowsPerPage) } : undefined
  return {
    name: title(archetype?.colour ?? 'FFFFFF', name),
    icon: iconOf(one),
    slot: ((y - 1) % rowsPerPage) * 9 + x - 1,
    coordinates: { x, y },
    description: [
      coloured('FFAA00', `Click Combo: ${clicks[nth % clicks.length]}`),
      coloured('AAAAAA', `${name} costs ${100 + points * 5 + (balance.get(id) ?? 0)} mana and is worth it.`),
    ],
    requirements: {
      ABILITY_POINTS: points,
      // Numbers are all that the documented interface knows here.
      ...(dialect === 'live' && parent ? { NODE: y % 4 === 1 ? [parent] : parent } : {}),
      ...(dialect === 'live' && needed ? { ARCHETYPE: needed } : {}),
    },
    links: plan.abilities.filter((other) => other.parent === id || other.id === parent).map((other) => other.id),
    locks: locks.length > 0 ? locks : null,
    page: pageOf(y),
  }
}

function title(colour: string, name: string): string {
  return coloured(colour, `<span class='font-ascii' style='font-weight:bolder'>${name}</span>`)
}

function iconOf({ archetype, points }: PlannedAbility) {
  return attribute(`abilityTree.${archetype?.id ?? (points > 1 ? 'nodePurple' : 'nodeWhite')}`)
}

function pageOf(y: number): number {
  return Math.ceil(y / rowsPerPage)
}

function byPage<T extends { readonly y: number }, Body>(all: readonly T[], body: (page: T[]) => Body) {
  const pages = [...new Set(all.map(({ y }) => pageOf(y)))].sort((one, other) => one - other)
  return Object.fromEntries(pages.map((page) => [String(page), body(all.filter(({ y }) => pageOf(y) === page))]))
}
