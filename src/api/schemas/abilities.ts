import * as z from 'zod'
import { type Body, recordsOf } from './form/bodies.ts'
import { known, names, number, text } from './form/field-meta.ts'
import { recordParser } from './form/record.ts'
import { fieldsOf, isFields } from './form/unknown.ts'
import { iconSchema, itemVocabulary } from './items.ts'

const icon = iconSchema.extend({ name: text })
const coordinates = z.looseObject({ x: number, y: number })

/** One way of playing a class, in its ability tree. Texts are HTML. */
const archetypeSchema = z.looseObject({
  name: text,
  description: text,
  shortDescription: text,
  icon: icon.nullish(),
  slot: number,
})

/** One ability. Texts are HTML. */
const abilitySchema = z.looseObject({
  name: text,
  icon: icon.nullish(),
  slot: number,
  coordinates: coordinates.nullish(),
  description: names,
  requirements: z
    .looseObject({
      ABILITY_POINTS: number,
      COMBAT_LEVEL: number,
      /** One ability, or several since August 2026. */
      NODE: z.union([z.string(), z.array(z.string())]).nullish(),
      ARCHETYPE: z.looseObject({ name: text, amount: number }).nullish(),
    })
    .nullish(),
  links: names,
  locks: names,
  page: number,
})

/** The ability tree of a class (API reference 8). */
export const abilityTreeSchema = z.looseObject({
  /** By id, such as `boltslinger`. */
  archetypes: z.record(z.string(), archetypeSchema),
  /** By page number, then by the ability's id. */
  pages: z.record(z.string(), z.record(z.string(), abilitySchema)),
})

/** One node of an ability map: an ability, or a connector between two. */
export const abilityNodeSchema = z.looseObject({
  type: known(['ability', 'connector']).nullish(),
  coordinates: coordinates.nullish(),
  meta: z.looseObject({ page: number, icon: z.union([icon, z.string()]).nullish(), id: text }).nullish(),
  /** Ids of the abilities it belongs to. */
  family: names,
})

/** One aspect of a class. `internalName` is its key, and was not sent before April 2026; names change. */
export const aspectSchema = z.looseObject({
  internalName: text,
  name: text,
  icon: icon.nullish(),
  /** In lower case here, in upper case in loot pools. */
  rarity: text,
  requiredClass: known(itemVocabulary.classRequirement).nullish(),
  /** By tier, "1" to "4". */
  tiers: z.record(z.string(), z.looseObject({ threshold: number, description: names })).nullish(),
})

/** Classes by id. */
export const classListSchema = z.record(z.string(), z.looseObject({ name: text, overallDifficulty: number }))

/** One class. */
export const classSchema = z.looseObject({
  id: z.string(),
  name: text,
  lore: text,
  overallDifficulty: number,
  overallMax: number,
  /** By id; names hold colour codes. */
  archetypes: z
    .record(
      z.string(),
      z.looseObject({
        name: text,
        difficulty: number,
        max: number,
        icon: text,
        damage: number,
        defence: number,
        range: number,
        speed: number,
      }),
    )
    .nullish(),
})

export type AbilityTree = z.output<typeof abilityTreeSchema>
export type AbilityNode = z.output<typeof abilityNodeSchema>
export type Aspect = z.output<typeof aspectSchema>
export type ClassList = z.output<typeof classListSchema>
export type CharacterClass = z.output<typeof classSchema>

/** @throws RecordError with the JSON pointer of the first thing that is no ability tree */
export const parseAbilityTree: (body: unknown) => AbilityTree = recordParser('ability tree', abilityTreeSchema)

/** @throws RecordError with the JSON pointer of the first thing that is no class */
export const parseClass: (body: unknown) => CharacterClass = recordParser('class', classSchema)

/** @throws RecordError with the JSON pointer of the first thing that is no list of classes */
export const parseClassList: (body: unknown) => ClassList = recordParser('classes', classListSchema)

/** @throws RecordError with the JSON pointer of the first thing that is no aspect */
export const parseAspect: (record: unknown) => Aspect = recordParser('aspect', aspectSchema)

/** @throws RecordError with the JSON pointer of the first thing that does not fit */
export const parseAbility = recordParser('ability', abilitySchema)
export const parseArchetype = recordParser('archetype', archetypeSchema)
export const parseAbilityNode: (record: unknown) => AbilityNode = recordParser('ability node', abilityNodeSchema)

const parseNodes = recordParser('ability map', z.array(abilityNodeSchema))
const parseAspects = recordParser('aspects', z.array(aspectSchema))

/**
 * The nodes of a map as they came, all pages in one list: by page, or in one list as until 2025, which was beside the number of pages
 * until 2024 (`{pages, map}`) and had names in capitals until August 2023. Those get the names of today.
 */
export function abilityNodesOf(body: unknown): unknown[] {
  if (isFields(body) && 'map' in body) return abilityNodesOf(body.map)
  const nodes = Array.isArray(body) ? body : fieldsOf(body).flatMap(([, page]) => (Array.isArray(page) ? page : [page]))
  return nodes.map(inSmallLetters)
}

/** `{TYPE: 'ABILITY', META: {PAGE: '1'}}` as `{type: 'ability', meta: {page: 1}}`. */
function inSmallLetters(value: unknown): unknown {
  if (!isFields(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([field, inside]) => {
      const name = /^[A-Z]+$/.test(field) ? field.toLowerCase() : field
      if (name === field || name in value) return [field, inside]
      if (name === 'type' && typeof inside === 'string') return [name, inside.toLowerCase()]
      const isNumber = name === 'page' && typeof inside === 'string' && /^\d{1,4}$/.test(inside)
      return [name, isNumber ? Number(inside) : inSmallLetters(inside)]
    }),
  )
}

/**
 * The nodes of a map or of a character's abilities, all pages in one list: `meta.page` tells them apart. They come by
 * page, or in one list as until 2025 (API reference 7.2), and in older forms.
 * @throws RecordError with the JSON pointer, into that list, of the first thing that is no node
 */
export function readAbilityNodes(body: Body): AbilityNode[] {
  return parseNodes(abilityNodesOf(body))
}

/**
 * The aspects of a class, which came by name until spring 2026.
 * @throws RecordError with the JSON pointer of the first thing that is no aspect
 */
export function readAspects(body: Body): Aspect[] {
  return parseAspects(recordsOf(body, 'name'))
}
