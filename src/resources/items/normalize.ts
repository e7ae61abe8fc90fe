import { type Item, parseItem } from '../../api/schemas/items.ts'
import type { Normalized } from '../../sync/declare/resource.ts'
import type { Json } from '../../sync/normalize/hash.ts'
import { textField } from '../record.ts'
import type { itemHistory } from './tables.ts'

type Rows = Normalized<typeof itemHistory>

/** One item as the API sends it, in its form since April 2026 or before, into rows (API reference 5.2). */
export function normalizeItem(record: unknown): Rows {
  const item = parseItem(record)
  const { icon, dropMeta } = item
  const { level, classRequirement, quest, skills, ...points } = item.requirements ?? {}
  const { strength, dexterity, intelligence, defence, agility } = points
  const required = { level, classRequirement, quest, strength, dexterity, intelligence, defence, agility }
  const { attackSpeed, averageDps, powderSlots, gatheringSpeed, durability } = item
  const ofGear = { attackSpeed, averageDps, powderSlots, gatheringSpeed, durability }
  const iconValue = typeof icon?.value === 'string' ? { name: icon.value } : icon?.value
  return {
    key: item.internalName,
    document: item as Json,
    root: {
      internalName: item.internalName,
      displayName: item.displayName ?? item.internalName,
      type: item.type,
      subType: item.subType ?? olderSubType(item),
      tier: tierName(item.tier) ?? textField(item, 'rarity'),
      ...required,
      ...ofGear,
      restriction: item.restriction ?? textField(item, 'restrictions'),
      dropRestriction: item.dropRestriction,
      identified: item.identified,
      allowCraftsman: item.allowCraftsman,
      dropName: dropMeta?.name,
      dropEvent: dropMeta?.event,
      lore: item.lore,
      emblem: item.emblem,
      iconFormat: icon?.format,
      iconId: iconValue?.id,
      iconName: iconValue?.name,
    },
    parts: {
      identifications: ranges(item.identifications).map(([identification, range]) => ({ identification, ...range })),
      base: ranges(item.base).map(([stat, range]) => ({ stat, ...range })),
      majorIds: Object.entries(item.majorIds ?? {}).map(([majorId, description]) => ({ majorId, description })),
      elements: (item.elements ?? []).map((element, position) => ({ position, element })),
      sets: [item.sets ?? [], item.set ?? []].flat().map((setName, position) => ({ position, setName })),
      dropTypes: [dropMeta?.type ?? []].flat().map((dropType, position) => ({ position, dropType })),
      dropPlaces: [
        ...places('dropMeta', 0, dropMeta?.name, [dropMeta?.coordinates ?? undefined]),
        ...(item.droppedBy ?? []).flatMap(({ name, coords }, index) =>
          places('droppedBy', index, name, spotsOf(coords)),
        ),
      ],
      ingredient: ingredientOf(item),
      skills: (skills ?? []).map((skill, position) => ({ position, skill })),
      materialChances: Object.entries(item.chances ?? {}).map(([tier, percent]) => ({ tier, percent })),
    },
  }
}

/** Until April 2026 each kind had its own field (API reference 9). */
function olderSubType(item: Item): string | undefined {
  const names = ['weaponType', 'armourType', 'accessoryType', 'tomeType', 'toolType']
  return names.map((name) => textField(item, name)).find((name) => name !== undefined)
}

/** Until April 2026 ingredients and materials had the number alone. */
function tierName(tier: Item['tier']): string | undefined {
  return typeof tier === 'number' ? `TIER_${tier}` : (tier ?? undefined)
}

/** A fixed value is a range whose ends are equal, so that one condition finds both. */
function ranges(values: Item['identifications']) {
  return Object.entries(values ?? {}).map(([name, value]) => {
    const isFixed = typeof value === 'number'
    const { raw, min, max } = isFixed ? { raw: value, min: value, max: value } : value
    return [name, { raw, min, max, isFixed }] as const
  })
}

type Spot = readonly number[]

/** One row per place: `[x, y, z]` or `[x, y, z, radius]`, or the name alone where the place is unknown. */
function places(
  source: string,
  position: number,
  name: string | null | undefined,
  spots: readonly (Spot | undefined)[],
) {
  if (!name && spots.every((spot) => spot === undefined)) return []
  return spots.map((spot = [], place) => {
    const [x, y, z, radius] = spot
    return { source, position, place, name, x, y, z, radius }
  })
}

/** The three ways in which the API says where a creature is: nowhere in particular, in one place, in several. */
function spotsOf(coords: NonNullable<Item['droppedBy']>[number]['coords']): readonly (Spot | undefined)[] {
  if (!Array.isArray(coords) || coords.length === 0) return [undefined]
  const several = coords.filter((spot) => Array.isArray(spot))
  return several.length > 0 ? several : [coords.filter((number) => typeof number === 'number')]
}

function ingredientOf({
  consumableOnlyIDs: onConsumables,
  itemOnlyIDs: onItems,
  ingredientPositionModifiers: onNeighbours,
}: Item): Rows['parts']['ingredient'] {
  if (!onConsumables && !onItems && !onNeighbours) return []
  return [
    {
      charges: onConsumables?.charges,
      duration: onConsumables?.duration,
      durabilityModifier: onItems?.durabilityModifier,
      strengthRequirement: onItems?.strengthRequirement,
      dexterityRequirement: onItems?.dexterityRequirement,
      intelligenceRequirement: onItems?.intelligenceRequirement,
      defenceRequirement: onItems?.defenceRequirement,
      agilityRequirement: onItems?.agilityRequirement,
      onLeft: onNeighbours?.left,
      onRight: onNeighbours?.right,
      onAbove: onNeighbours?.above,
      onUnder: onNeighbours?.under,
      onTouching: onNeighbours?.touching,
      onNotTouching: onNeighbours?.notTouching,
    },
  ]
}
