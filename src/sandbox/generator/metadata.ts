import type { Item } from './records.ts'
import { camelCase } from './words.ts'

const attackSpeeds = ['superSlow', 'verySlow', 'slow', 'normal', 'fast', 'veryFast', 'superFast']
const types = ['weapon', 'armour', 'accessory', 'tome', 'charm', 'tool', 'ingredient', 'material'] as const
const tiers = ['normal', 'unique', 'rare', 'legendary', 'fabled', 'mythic', 'TIER_0', 'TIER_1', 'TIER_2', 'TIER_3']

/** The body of `GET /item/metadata`: filters, and the numeric ids of all of them in one object (API reference 5.5). */
export function itemMetadata(items: readonly Item[]) {
  const levels = items.map((item) => Number(item.requirements.level))
  const withSubTypes = types.filter((type) => type !== 'charm' && type !== 'ingredient')
  const withTiers = types.filter((type) => type !== 'material')
  const of = (type: string) => items.filter((item) => item.type === type)
  return {
    filters: {
      type: types,
      advanced: {
        attackSpeed: attackSpeeds,
        ...Object.fromEntries(withSubTypes.map((type) => [type, sorted(of(type).map((item) => item.subType))])),
      },
      tier: Object.fromEntries(withTiers.map((type) => [type, tiersOf(of(type))])),
      identifications: identificationsOf(items),
      majorIds: majorIdsOf(items),
      levelRange: [levels.reduce((a, b) => Math.min(a, b)), levels.reduce((a, b) => Math.max(a, b))],
    },
    static: Object.assign({}, ...Object.values(staticItemMetadata(items))) as Record<string, number>,
  }
}

/** The body of `GET /item/metadata?static`: the numeric ids by family. */
export function staticItemMetadata(items: readonly Item[]): Record<string, Record<string, number>> {
  const families = {
    attackSpeed: attackSpeeds,
    emblem: sorted(items.map((item) => item.emblem)),
    gathering: ['farming', 'fishing', 'mining', 'woodcutting'],
    identifications: identificationsOf(items),
    majorIds: majorIdsOf(items),
    set: sorted(items.flatMap((item) => item.sets ?? [])),
    subType: sorted(items.map((item) => item.subType)),
    tier: tiersOf(items),
    type: types,
  }
  let id = 0
  return Object.fromEntries(
    Object.entries(families).map(([family, names]) => [family, Object.fromEntries(names.map((name) => [name, ++id]))]),
  )
}

function identificationsOf(items: readonly Item[]): string[] {
  return sorted(items.flatMap((item) => Object.keys(item.identifications ?? {})))
}

function majorIdsOf(items: readonly Item[]): string[] {
  return sorted(items.flatMap((item) => Object.keys(item.majorIds ?? {}).map(camelCase)))
}

function tiersOf(items: readonly Item[]): string[] {
  const met = new Set(items.map((item) => item.tier))
  return tiers.filter((tier) => met.has(tier))
}

function sorted(names: readonly (string | undefined)[]): string[] {
  return [...new Set(names)].filter((name) => name !== undefined).sort()
}
