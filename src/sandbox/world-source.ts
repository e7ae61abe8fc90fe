import { seededRandom } from '../clock.ts'
import {
  type AnswerSource,
  type ApiRequest,
  type Copy,
  type Dialect,
  hasFlag,
  methodNotAllowed,
  notFound,
  type Refusal,
} from './answer.ts'
import { createCopies } from './copies.ts'
import { shuffled } from './generator/draw.ts'
import { itemMetadata, staticItemMetadata } from './generator/metadata.ts'
import type { ItemSet, ItemWorld } from './generator/records.ts'
import { cutPage, type PageForm, pageNumber } from './pages.ts'
import { ttlOf } from './ttl.ts'

const routes = new Set(['/item/database', '/item/recipe/database', '/item/sets', '/item/metadata'])

/** Answers from a generated world, which may be exchanged while it is served. */
export interface WorldSource extends AnswerSource {
  /** What is served at present. */
  readonly itemWorld: () => ItemWorld
  /** Shows from each route's next produced copy on; copies already made live until they expire. */
  setItemWorld(world: ItemWorld): void
}

/**
 * Serves the item routes of a world.
 * @param seed decides the order of the records, which changes with every produced copy (API reference 4.2)
 */
export function worldSource(first: ItemWorld, dialect: Dialect, seed: number, form: PageForm): WorldSource {
  let world = first
  const copies = createCopies()

  function collection(
    request: ApiRequest,
    flag: string,
    records: readonly { readonly internalName: string }[],
    now: number,
  ): Copy | Refusal {
    const { path, query } = request
    const ttl = ttlOf(path)
    // The documented interface knows the flag but still answers page by page.
    if (dialect === 'live' && hasFlag(query, flag))
      return copies(`${path} full`, ttl, now, (edition) => shuffled(records, orderOf(`${path} ${edition}`)))
    const page = pageNumber(query, records.length, form)
    if (typeof page !== 'number') return page
    return copies(`${path} ${page}`, ttl, now, (edition) => {
      // Which record is on which page stays, so that a walk over an unchanged world meets every record once.
      const cut = cutPage(shuffled(records, orderOf(path)), page, form)
      return { ...cut, results: shuffled(cut.results, orderOf(`${path} ${page} ${edition}`)) }
    })
  }

  function orderOf(name: string) {
    let mixed = seed
    for (const letter of name) mixed = Math.imul(mixed ^ (letter.codePointAt(0) ?? 0), 16777619)
    return seededRandom(mixed)
  }

  function answer(request: ApiRequest, now: number): Copy | Refusal {
    const { path, query, method } = request
    if (method !== 'GET') return routes.has(path) ? methodNotAllowed(method) : notFound()
    if (path === '/item/database') return collection(request, 'fullResult', world.items, now)
    if (path === '/item/recipe/database') return collection(request, 'full_result', world.recipes, now)
    if (path === '/item/sets')
      return copies(path, ttlOf(path), now, (edition) => shuffledParts(world.sets, orderOf(`${path} ${edition}`)))
    if (path === '/item/metadata')
      return hasFlag(query, 'static')
        ? copies(`${path} static`, ttlOf(path), now, () => staticItemMetadata(world.items))
        : copies(path, ttlOf(path), now, () => itemMetadata(world.items))
    return notFound()
  }

  return {
    answer,
    itemWorld: () => world,
    setItemWorld: (next) => {
      world = next
    },
  }
}

function shuffledParts(sets: ItemWorld['sets'], random: () => number): Record<string, ItemSet> {
  return Object.fromEntries(
    Object.entries(sets).map(([name, set]) => [name, { ...set, parts: shuffled(set.parts, random) }]),
  )
}
