import * as z from 'zod'
import { parseJson } from '../api/schemas/form/bodies.ts'
import { isFields } from '../api/schemas/form/unknown.ts'
import { drawsFor, shuffled } from './generator/draw.ts'
import { itemMetadata, staticItemMetadata } from './generator/metadata.ts'
import type { Item, ItemWorld, Recipe, Span } from './generator/records.ts'
import { camelCase } from './generator/words.ts'
import {
  type AnswerSource,
  type ApiRequest,
  type Dialect,
  hasFlag,
  isRefusal,
  type Refusal,
  refuse,
} from './http/answer.ts'
import { cachedSource, type Found, shared } from './http/cached-source.ts'
import { cutPage, type PageForm, pageNumber } from './http/paging.ts'

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
function readItemFilter(body: string | undefined): ((item: Item) => boolean) | Refusal {
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
function readRecipeFilter(body: string | undefined): ((recipe: Recipe) => boolean) | Refusal {
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

const textSearch = '/item/search/'

/** Responses from a generated world, which may be exchanged while it is served. */
export interface WorldSource extends AnswerSource {
  /** What is served at present. */
  readonly itemWorld: () => ItemWorld
  /** Shows from each route's next produced copy on; copies already made live until they expire. */
  setItemWorld(world: ItemWorld): void
}

type Find = (request: ApiRequest) => Found | Refusal

/**
 * Serves the item routes of a world.
 * @param first the world, asked for when one of its routes first is
 * @param seed decides the order of the records, which changes with every produced copy (API reference 4.2)
 */
export function worldSource(first: () => ItemWorld, dialect: Dialect, seed: number, form: PageForm): WorldSource {
  let world = first
  const collections = collectionsOf(dialect, seed, form)
  const routes: Readonly<Record<string, readonly [method: string, Find]>> = {
    '/item/database': ['GET', (request) => collections.list(request, 'fullResult', world().items)],
    '/item/search': ['POST', (request) => collections.search(request, 'fullResult', world().items, readItemFilter)],
    '/item/recipe/database': ['GET', (request) => collections.list(request, 'full_result', world().recipes)],
    '/item/recipe/search': [
      'POST',
      (request) => collections.search(request, 'full_result', world().recipes, readRecipeFilter),
    ],
    '/item/sets': ['GET', ({ path }) => shared((edition) => collections.sets(world().sets, path, edition), '')],
    '/item/metadata': [
      'GET',
      ({ query }) =>
        hasFlag(query, 'static')
          ? shared(() => staticItemMetadata(world().items), 'static')
          : shared(() => itemMetadata(world().items), ''),
    ],
  }
  const byText: Find = ({ path }) => {
    const text = path.slice(textSearch.length).toLowerCase()
    return shared(() => world().items.filter(({ displayName }) => displayName.toLowerCase().includes(text)), '')
  }

  const { answer } = cachedSource((request) => {
    const { path, method } = request
    const isTextSearch = path.startsWith(textSearch) && path !== textSearch
    const [allowed, find] = routes[path] ?? (isTextSearch ? (['GET', byText] as const) : [])
    if (!allowed || !find) return refuse.notFound()
    if (method !== allowed) return refuse.methodNotAllowed(method, allowed)
    const found = find(request)
    return isRefusal(found) ? found : { ...found, method }
  })

  return {
    answer,
    itemWorld: () => world(),
    setItemWorld: (next) => {
      world = () => next
    },
  }
}

type Named = { readonly internalName: string }

/** How collections are cut and ordered; the order follows from the seed, the path and the edition of the copy. */
function collectionsOf(dialect: Dialect, seed: number, form: PageForm) {
  const orderOf = (name: string) => drawsFor(seed, name)

  /** One page of some records, or all of them; `name` tells one selection of the records from another. */
  function list({ path, query }: ApiRequest, flag: string, records: readonly Named[], name = ''): Found | Refusal {
    // The documented interface knows the flag but still answers page by page.
    if (dialect === 'live' && hasFlag(query, flag))
      return shared((edition) => shuffled(records, orderOf(`${path} ${edition}`)), `${name} full`)
    const page = pageNumber(query, records.length, form)
    if (typeof page !== 'number') return page
    const write = (edition: number) => {
      // Which record is on which page stays, so that a walk over an unchanged world meets every record once.
      const cut = cutPage(shuffled(records, orderOf(path)), page, form)
      return { ...cut, results: shuffled(cut.results, orderOf(`${path} ${page} ${edition}`)) }
    }
    return shared(write, `${name} ${page}`)
  }

  return {
    list,
    search<T extends Named>(
      request: ApiRequest,
      flag: string,
      records: readonly T[],
      read: (body: string | undefined) => ((one: T) => boolean) | Refusal,
    ): Found | Refusal {
      const filter = read(request.body)
      return isRefusal(filter) ? filter : list(request, flag, records.filter(filter), request.body)
    },
    sets(sets: ItemWorld['sets'], path: string, edition: number): ItemWorld['sets'] {
      const random = orderOf(`${path} ${edition}`)
      return Object.fromEntries(
        Object.entries(sets).map(([name, set]) => [name, { ...set, parts: shuffled(set.parts, random) }]),
      )
    },
  }
}
