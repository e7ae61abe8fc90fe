import { drawsFor, shuffled } from './generator/draw.ts'
import { itemMetadata, staticItemMetadata } from './generator/metadata.ts'
import type { ItemWorld } from './generator/records.ts'
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
import { readItemFilter, readRecipeFilter } from './item-search.ts'

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
