import { attribute } from '../generator/items/icons.ts'
import { coloured } from '../generator/text.ts'
import type { Dialect } from '../http/answer.ts'
import { type AbilityPlan, type PlannedAbility, planAbilities, rowsPerPage } from './ability-plan.ts'
import { archetypesOf, type ClassName } from './classes.ts'

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
