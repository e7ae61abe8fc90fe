import * as z from 'zod'
import type { Recipe, Span } from '../generator/records.ts'
import { isRefusal, type Refusal } from '../http/answer.ts'
import { type Range, range, readForm, text, texts } from './form.ts'

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
  const isOneOf = (wanted: readonly string[] | null | undefined, ...names: readonly string[]) =>
    !wanted || names.some((name) => wanted.includes(name))
  return (recipe) =>
    (!query || recipe.internalName.toLowerCase().includes(query.toLowerCase())) &&
    isOneOf(type, recipe.type) &&
    isOneOf(skill, recipe.skill) &&
    isOneOf(materials, ...recipe.materials.map(({ item }) => item)) &&
    (!xp || meets(xp, { minimum: recipe.xp, maximum: recipe.xp })) &&
    ranges.every(([name, wanted]) => !wanted || meets(wanted, recipe[name]))
}

function meets({ low, high }: Range, span: Partial<Span> = {}): boolean {
  const { minimum, maximum } = span
  return minimum !== undefined && maximum !== undefined && minimum <= high && low <= maximum
}
