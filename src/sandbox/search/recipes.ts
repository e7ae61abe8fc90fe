import type { Recipe, Span } from '../generator/records.ts'
import type { Refusal } from '../http/answer.ts'
import { type Range, readForm } from './form.ts'

/**
 * Reads the body of `POST /item/recipe/search` with its ten filters (API reference 3.3). A number means the recipes
 * whose range contains it, a range those whose range it meets.
 * @returns whether a recipe is meant
 */
export function readRecipeFilter(body: string | undefined): ((recipe: Recipe) => boolean) | Refusal {
  return readForm(body, (form) => {
    const query = form.text('query')?.toLowerCase()
    const named: readonly (readonly [readonly string[] | undefined, (recipe: Recipe) => readonly string[]])[] = [
      [form.texts('type'), ({ type }) => [type]],
      [form.texts('skill'), ({ skill }) => [skill]],
      [form.texts('materials'), ({ materials }) => materials.map(({ item }) => item)],
    ]
    const ranges: readonly (readonly [Range | undefined, (recipe: Recipe) => Partial<Span> | undefined])[] = [
      [form.range('xp'), ({ xp }) => ({ minimum: xp, maximum: xp })],
      [form.range('level'), ({ level }) => level],
      [form.range('durability'), ({ durability }) => durability],
      [form.range('healthOrDamage'), ({ healthOrDamage }) => healthOrDamage],
      [form.range('duration'), ({ duration }) => duration],
      [form.range('basicDuration'), ({ basicDuration }) => basicDuration],
    ]
    return (recipe) =>
      (query === undefined || recipe.internalName.toLowerCase().includes(query)) &&
      named.every(([wanted, of]) => !wanted || of(recipe).some((one) => wanted.includes(one))) &&
      ranges.every(([wanted, of]) => !wanted || meets(wanted, of(recipe)))
  })
}

function meets({ low, high }: Range, span: Partial<Span> = {}): boolean {
  const { minimum, maximum } = span
  return minimum !== undefined && maximum !== undefined && minimum <= high && low <= maximum
}
