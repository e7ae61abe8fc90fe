import type { CallOptions } from '../call.ts'
import type { Transport } from '../http/transport.ts'
import { type AllOptions, type EachOptions, keyIn, listing, type PageOptions } from '../listings.ts'
import type { AnyOf } from '../schemas/form/field-meta.ts'
import { parseRecipe, type Recipe, type recipeVocabulary } from '../schemas/recipes.ts'

type Vocabulary = typeof recipeVocabulary

/** A number that must lie in the recipe's own range, or several (API reference 3.3, which knows no more of several). */
export type Amount = number | readonly number[]

/** What to search recipes by; fields that are left out do not matter, and all that are there must fit. */
export interface RecipeFilter {
  /** Part of the name. */
  readonly query?: string | undefined
  readonly type?: AnyOf<Vocabulary['type'][number]> | undefined
  readonly skill?: AnyOf<Vocabulary['skill'][number]> | undefined
  /** Internal names of materials. */
  readonly materials?: AnyOf<never> | undefined
  readonly xp?: Amount | undefined
  readonly level?: Amount | undefined
  /** In thousandths: 175000 is 175. */
  readonly durability?: Amount | undefined
  readonly healthOrDamage?: Amount | undefined
  /** Seconds, like `basicDuration`. */
  readonly duration?: Amount | undefined
  readonly basicDuration?: Amount | undefined
}

/** Recipes (API reference 3.3). */
export function recipeEndpoints(transport: Transport) {
  const ofRecipes = { flag: 'full_result', keyField: 'internalName', keyOf: keyIn('internalName'), parse: parseRecipe }
  const { page, all, pages, each } = listing<Recipe>(transport, { ...ofRecipes, route: '/item/recipe/database' })
  const found = (filter: RecipeFilter) =>
    listing<Recipe>(transport, { ...ofRecipes, route: '/item/recipe/search', filter })
  return {
    /** `GET /item/recipe/database`: one page of all recipes. */
    database: page,
    /** `GET /item/recipe/database`: all recipes, and whether it is all. */
    all,
    /** `GET /item/recipe/database`: page after page. @throws RetryableError when it changes between two of them */
    pages,
    /** `GET /item/recipe/database`: recipe after recipe, each once. */
    each,
    /** `POST /item/recipe/search`: one page of the recipes that fit. @throws BadRequest for a filter that is not known */
    search: (filter: RecipeFilter, options: PageOptions = {}) => found(filter).page(options),
    /** `POST /item/recipe/search`: all recipes that fit, and whether it is all. */
    searchAll: (filter: RecipeFilter, options: AllOptions = {}) => found(filter).all(options),
    /** `POST /item/recipe/search`: page after page of the recipes that fit. */
    searchPages: (filter: RecipeFilter, options: CallOptions = {}) => found(filter).pages(options),
    /** `POST /item/recipe/search`: recipe after recipe that fits, each once. */
    searchEach: (filter: RecipeFilter, options: EachOptions = {}) => found(filter).each(options),
  }
}
