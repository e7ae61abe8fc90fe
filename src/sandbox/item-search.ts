import * as z from 'zod'
import { parseJson } from '../api/schemas/form/bodies.ts'
import { isFields } from '../api/schemas/form/unknown.ts'
import { camelCase } from './generator/names.ts'
import type { Item, Recipe, Span } from './generator/records.ts'
import { isRefusal, type Refusal, refuse } from './http/answer.ts'

/** The lowest and the highest, both included. */
type Range = readonly [low: number, high: number]

const text = z.string({ error: 'text' }).nullish()

/** A list of text, or nothing; one text is a list of one. */
const texts = z
  .union([z.array(z.string()), z.string().transform((one) => [one])], { error: 'text or a list of text' })
  .nullish()

/** A range, or nothing; a number is the range from itself to itself. */
const range = z
  .union(
    [
      z.number().transform((one): Range => [one, one]),
      z.tuple([z.number(), z.number()]).refine(([low, high]) => low <= high),
    ],
    { error: 'a number or a range [from, to]' },
  )
  .nullish()

/**
 * Reads a JSON body into the fields of a filter; unknown fields are not looked at.
 * @returns the fields; a MalformedPayload when it is no JSON object, an InvalidFormError when a field has another type
 * than the API takes (API reference 2.5)
 */
function readForm<Fields extends object>(
  schema: z.ZodType<Fields>,
  body: string | undefined,
): { readonly fields: Fields } | Refusal {
  const value = parseJson(body ?? '')
  if (!isFields(value)) return refuse.malformedPayload('Send a JSON object.')
  const result = schema.safeParse(value)
  if (result.success) return { fields: result.data }
  const [issue] = result.error.issues
  return refuse.invalidForm(`${String(issue?.path[0])} must be ${issue?.message}.`)
}

/** Whether one of the names is wanted; everything is when nothing is said. */
function isOneOf(wanted: readonly string[] | null | undefined, ...names: readonly (string | undefined)[]): boolean {
  return !wanted || names.some((name) => name !== undefined && wanted.includes(name))
}

function meets([low, high]: Range, { minimum, maximum }: Partial<Span> = {}): boolean {
  return minimum !== undefined && maximum !== undefined && minimum <= high && low <= maximum
}

const gatheredWith: Readonly<Record<string, string>> = {
  axe: 'woodcutting',
  pickaxe: 'mining',
  rod: 'fishing',
  scythe: 'farming',
}

const itemForm = z.object({
  query: text,
  levelRange: range,
  type: texts,
  tier: texts,
  attackSpeed: texts,
  professions: texts,
  identifications: texts,
  majorIds: texts,
})

/**
 * Reads the body of `POST /item/search` (API reference 3.3). Several values of one field mean any of them, several
 * fields all of them; a field without values matches nothing.
 * @returns whether an item is meant
 */
export function readItemFilter(body: string | undefined): ((item: Item) => boolean) | Refusal {
  const form = readForm(itemForm, body)
  if (isRefusal(form)) return form
  const { query, levelRange, type, tier, attackSpeed, professions, identifications, majorIds } = form.fields
  return (item) => {
    const level = Number(item.requirements.level)
    return (
      (!query || item.displayName.toLowerCase().includes(query.toLowerCase())) &&
      (!levelRange || meets(levelRange, { minimum: level, maximum: level })) &&
      isOneOf(type, item.type, item.subType, camelCase((item.subType ?? '').replaceAll('_', ' '))) &&
      isOneOf(tier, item.tier) &&
      isOneOf(attackSpeed, item.attackSpeed) &&
      isOneOf(professions, ...professionsOf(item)) &&
      isOneOf(identifications, ...Object.keys(item.identifications ?? {})) &&
      // Their labels in item records, their ids in the metadata (API reference 5.2).
      isOneOf(majorIds, ...Object.keys(item.majorIds ?? {}).flatMap((one) => [one, camelCase(one)]))
    )
  }
}

function professionsOf({ requirements, type, subType = '' }: Item): readonly string[] {
  const { skills } = requirements
  if (Array.isArray(skills)) return skills
  if (type === 'tool') return [gatheredWith[subType] ?? subType]
  return type === 'material' ? [subType] : []
}

const recipeForm = z.object({
  query: text,
  type: texts,
  skill: texts,
  materials: texts,
  xp: range,
  level: range,
  durability: range,
  healthOrDamage: range,
  duration: range,
  basicDuration: range,
})

/**
 * Reads the body of `POST /item/recipe/search` with its ten filters (API reference 3.3). A number means the recipes
 * whose range contains it, a range those whose range it meets.
 * @returns whether a recipe is meant
 */
export function readRecipeFilter(body: string | undefined): ((recipe: Recipe) => boolean) | Refusal {
  const form = readForm(recipeForm, body)
  if (isRefusal(form)) return form
  const { query, type, skill, materials, xp, ...spans } = form.fields
  const ranges = Object.entries(spans) as [keyof typeof spans, Range | null | undefined][]
  return (recipe) =>
    (!query || recipe.internalName.toLowerCase().includes(query.toLowerCase())) &&
    isOneOf(type, recipe.type) &&
    isOneOf(skill, recipe.skill) &&
    isOneOf(materials, ...recipe.materials.map(({ item }) => item)) &&
    (!xp || meets(xp, { minimum: recipe.xp, maximum: recipe.xp })) &&
    ranges.every(([name, wanted]) => !wanted || meets(wanted, recipe[name]))
}
