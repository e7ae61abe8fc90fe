import { seededRandom } from '../app/clock.ts'
import { createCopies } from './copies.ts'
import { shuffled } from './generator/draw.ts'
import { itemMetadata, staticItemMetadata } from './generator/metadata.ts'
import type { ItemSet, ItemWorld } from './generator/records.ts'
import {
  type AnswerSource,
  type ApiRequest,
  type Copy,
  type Dialect,
  hasFlag,
  isRefusal,
  methodNotAllowed,
  notFound,
  type Refusal,
} from './http/answer.ts'
import { cutPage, type PageForm, pageNumber } from './http/paging.ts'
import { ttlOf } from './http/ttl.ts'
import { readItemFilter } from './search/items.ts'
import { readRecipeFilter } from './search/recipes.ts'

const methods: Readonly<Record<string, string>> = {
  '/item/database': 'GET',
  '/item/search': 'POST',
  '/item/recipe/database': 'GET',
  '/item/recipe/search': 'POST',
  '/item/sets': 'GET',
  '/item/metadata': 'GET',
}
const textSearch = '/item/search/'

/** Answers from a generated world, which may be exchanged while it is served. */
export interface WorldSource extends AnswerSource {
  /** What is served at present. */
  readonly itemWorld: () => ItemWorld
  /** Shows from each route's next produced copy on; copies already made live until they expire. */
  setItemWorld(world: ItemWorld): void
}

/**
 * Serves the item routes of a world.
 * @param first the world, asked for when one of its routes first is
 * @param seed decides the order of the records, which changes with every produced copy (API reference 4.2)
 */
export function worldSource(first: () => ItemWorld, dialect: Dialect, seed: number, form: PageForm): WorldSource {
  let world = first
  const copies = createCopies()

  /** One page of some records, or all of them; `name` tells one selection of the records from another. */
  function collection(
    { path, query }: ApiRequest,
    flag: string,
    records: readonly { readonly internalName: string }[],
    now: number,
    name = path,
  ): Copy | Refusal {
    const ttl = ttlOf(path)
    // The documented interface knows the flag but still answers page by page.
    if (dialect === 'live' && hasFlag(query, flag))
      return copies(`${name} full`, ttl, now, (edition) => shuffled(records, orderOf(`${path} ${edition}`)))
    const page = pageNumber(query, records.length, form)
    if (typeof page !== 'number') return page
    return copies(`${name} ${page}`, ttl, now, (edition) => {
      // Which record is on which page stays, so that a walk over an unchanged world meets every record once.
      const cut = cutPage(shuffled(records, orderOf(path)), page, form)
      return { ...cut, results: shuffled(cut.results, orderOf(`${path} ${page} ${edition}`)) }
    })
  }

  function search<T extends { readonly internalName: string }>(
    request: ApiRequest,
    flag: string,
    records: readonly T[],
    read: (body: string | undefined) => ((one: T) => boolean) | Refusal,
    now: number,
  ): Copy | Refusal {
    const filter = read(request.body)
    if (isRefusal(filter)) return filter
    return collection(request, flag, records.filter(filter), now, `${request.path} ${request.body}`)
  }

  function orderOf(name: string) {
    let mixed = seed
    for (const letter of name) mixed = Math.imul(mixed ^ (letter.codePointAt(0) ?? 0), 16777619)
    return seededRandom(mixed)
  }

  function answer(request: ApiRequest, now: number): Copy | Refusal {
    const { path, query, method } = request
    const allowed = methods[path] ?? (path.startsWith(textSearch) && path !== textSearch ? 'GET' : undefined)
    if (allowed === undefined) return notFound()
    if (method !== allowed) return methodNotAllowed(method, allowed)
    if (path === '/item/database') return collection(request, 'fullResult', world().items, now)
    if (path === '/item/recipe/database') return collection(request, 'full_result', world().recipes, now)
    if (path === '/item/search') return search(request, 'fullResult', world().items, readItemFilter, now)
    if (path === '/item/recipe/search') return search(request, 'full_result', world().recipes, readRecipeFilter, now)
    if (path === '/item/sets')
      return copies(path, ttlOf(path), now, (edition) => shuffledParts(world().sets, orderOf(`${path} ${edition}`)))
    if (path === '/item/metadata')
      return hasFlag(query, 'static')
        ? copies(`${path} static`, ttlOf(path), now, () => staticItemMetadata(world().items))
        : copies(path, ttlOf(path), now, () => itemMetadata(world().items))
    const text = path.slice(textSearch.length).toLowerCase()
    return copies(path, ttlOf(path), now, () =>
      world().items.filter(({ displayName }) => displayName.toLowerCase().includes(text)),
    )
  }

  return {
    answer,
    itemWorld: () => world(),
    setItemWorld: (next) => {
      world = () => next
    },
  }
}

function shuffledParts(sets: ItemWorld['sets'], random: () => number): Record<string, ItemSet> {
  return Object.fromEntries(
    Object.entries(sets).map(([name, set]) => [name, { ...set, parts: shuffled(set.parts, random) }]),
  )
}
