import {
  type AbilityNode,
  abilityNodesOf,
  parseAbility,
  parseAbilityNode,
  parseArchetype,
} from '../../api/schemas/abilities.ts'
import { fieldsOf, isFields } from '../../api/schemas/form/unknown.ts'
import type { Normalized } from '../../sync/declare/resource.ts'
import type { Json } from '../../sync/normalize/hash.ts'
import { fieldOf, plainText, recordError } from '../record.ts'
import type { abilityHistory } from './tables.ts'

type Kind = 'ability' | 'archetype' | 'connector'

/** A node of a tree under its key. */
interface NodeRecord {
  readonly class: string
  readonly kind: Kind
  /** Undefined: it cannot be read. */
  readonly id: string | undefined
  readonly body: unknown
}

/** Everything in the tree of a class, and the connectors of its map. */
export function recordsOfClass(name: string, tree: unknown, map: unknown): NodeRecord[] {
  const nodes =
    (kind: Kind) =>
    ([id, body]: readonly [string | undefined, unknown]) => ({ class: name, kind, id, body })
  const pages = fieldsOf(fieldOf(tree, 'pages')).flatMap(([, page]): [string | undefined, unknown][] =>
    // What is no page may be any ability.
    isFields(page) ? Object.entries(page) : [[undefined, page]],
  )
  // The abilities of a map are those of the tree. What is neither goes to quarantine.
  const connectors = joinedByPlace(abilityNodesOf(map).filter((body) => fieldOf(body, 'type') !== 'ability'))
  return [
    ...fieldsOf(fieldOf(tree, 'archetypes')).map(nodes('archetype')),
    ...pages.map(nodes('ability')),
    ...connectors.map((body) => nodes('connector')([placeOf(body), body])),
  ]
}

/** Until 2023 a connector was drawn for each pair of abilities: it is one, as it was drawn last, and belongs to all of them. */
function joinedByPlace(nodes: readonly unknown[]): unknown[] {
  const connectors = new Map<string, unknown>()
  const others: unknown[] = []
  for (const node of nodes) {
    const place = placeOf(node)
    const family = fieldOf(node, 'family')
    const before = fieldOf(place && connectors.get(place), 'family')
    const isConnector = isFields(node) && node.type === 'connector'
    if (isConnector && place !== undefined && !connectors.has(place)) connectors.set(place, node)
    else if (isConnector && place !== undefined && Array.isArray(family) && Array.isArray(before))
      connectors.set(place, { ...node, family: [...before, ...family] })
    else others.push(node)
  }
  return [...connectors.values(), ...others]
}

/** A connector has no id: it is where it is. Undefined: that cannot be read. */
function placeOf(node: unknown): string | undefined {
  const meta = fieldOf(node, 'meta')
  const at = fieldOf(node, 'coordinates')
  const place = [fieldOf(meta, 'page'), fieldOf(at, 'x'), fieldOf(at, 'y')]
  return place.every((number) => /^-?\d+$/.test(String(number))) ? place.join(' ') : undefined
}

export function keyOfNode(record: unknown): string | undefined {
  const { class: name, kind, id } = record as NodeRecord
  return id === undefined ? undefined : keyOf(name, kind, id)
}

const keyOf = (...parts: readonly string[]) => parts.join('/')

export function normalizeNode(record: unknown): Normalized<typeof abilityHistory> {
  const { class: name, kind, id, body } = record as NodeRecord
  if (id === undefined) throw recordError('/coordinates', 'page, x and y should be whole numbers')
  const key = { class: name, kind, id }
  const normalized = kind === 'ability' ? ofAbility(body) : kind === 'archetype' ? ofArchetype(body) : ofConnector(body)
  const { document, root, links } = normalized
  return { key: keyOf(name, kind, id), document, root: { ...key, ...root }, parts: { links } }
}

function ofAbility(body: unknown) {
  const parsed = parseAbility(body)
  const { name, icon, slot, coordinates, description, requirements, links, locks, page } = parsed
  const { NODE: required, ARCHETYPE: archetype, ABILITY_POINTS, COMBAT_LEVEL } = requirements ?? {}
  const texts = { ...inBothForms('name', name), ...inBothForms('description', description?.join('\n')) }
  const place = { page, slot, x: coordinates?.x, y: coordinates?.y, icon: icon?.name }
  const needs = {
    abilityPoints: ABILITY_POINTS,
    combatLevel: COMBAT_LEVEL,
    archetype: archetype?.name,
    archetypeAmount: archetype?.amount,
  }
  return {
    // Links come in any order.
    document: { ...parsed, links: links && [...links].sort(), locks: locks && [...locks].sort() } as Json,
    root: { ...texts, ...place, ...needs },
    links: [
      ...related('requires', typeof required === 'string' ? [required] : required),
      ...related('link', links),
      ...related('locks', locks),
    ],
  }
}

function ofArchetype(body: unknown) {
  const parsed = parseArchetype(body)
  const { name, description, icon, slot } = parsed
  const texts = { ...inBothForms('name', name), ...inBothForms('description', description) }
  return { document: parsed as Json, root: { ...texts, slot, icon: icon?.name }, links: [] }
}

function ofConnector(body: unknown) {
  const parsed: AbilityNode = parseAbilityNode(body)
  if (parsed.type !== 'connector') throw recordError('/type', 'is neither ability nor connector')
  const { coordinates, meta, family } = parsed
  const icon = typeof meta?.icon === 'string' ? meta.icon : meta?.icon?.name
  return {
    document: { ...parsed, family: family && [...new Set(family)].sort() } as Json,
    root: { page: meta?.page, x: coordinates?.x, y: coordinates?.y, icon },
    links: related('family', family),
  }
}

function inBothForms<Name extends 'name' | 'description'>(field: Name, html: string | null | undefined) {
  return { [`${field}Html`]: html, [field]: html && plainText(html) }
}

function related(relation: string, ids: readonly string[] | null | undefined) {
  return [...new Set(ids ?? [])].map((otherId) => ({ relation, otherId }))
}
