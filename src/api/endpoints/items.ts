import { type CallOptions, type ReadableResponse, readObject } from '../call.ts'
import type { Transport } from '../http/transport.ts'
import { type AllOptions, type EachOptions, keyIn, listing, type PageOptions } from '../listings.ts'
import type { AnyOf } from '../schemas/form/field-meta.ts'
import {
  type Item,
  type ItemIds,
  type ItemMetadata,
  type itemVocabulary,
  parseItem,
  parseItemIds,
  parseItemMetadata,
} from '../schemas/items.ts'
import { readItemSets } from '../schemas/people/profiles.ts'

type Vocabulary = typeof itemVocabulary

/** What to search items by; fields that are left out do not matter, and all that are there must fit (API reference 3.3). */
export interface ItemFilter {
  /** Part of the name. */
  readonly query?: string | null | undefined
  /** A type or a sub-type, such as `weapon` or `bow`. */
  readonly type?: AnyOf<Vocabulary['type'][number] | Vocabulary['subType'][number]> | undefined
  /** In lower case, such as `mythic`. */
  readonly tier?: AnyOf<Vocabulary['tier'][number]> | undefined
  readonly attackSpeed?: AnyOf<Vocabulary['attackSpeed'][number]> | undefined
  /** Of a tool: `mining` ... */
  readonly professions?: AnyOf<'woodcutting' | 'farming' | 'fishing' | 'mining'> | undefined
  /** Names of identifications, such as `manaRegen`; `items.metadata` lists them. */
  readonly identifications?: AnyOf<never> | undefined
  /** Ids of major ids, such as `tidalDrift`; `items.metadata` lists them. */
  readonly majorIds?: AnyOf<never> | undefined
  /** A combat level, or the lowest and the highest. */
  readonly levelRange?: number | readonly [lowest: number, highest: number] | undefined
}

/** Items (API reference 3.3). */
export function itemEndpoints(transport: Transport) {
  const ofItems = { flag: 'fullResult', keyOf: keyIn('internalName'), parse: parseItem }
  const { page, all, pages, each } = listing<Item>(transport, { ...ofItems, route: '/item/database' })
  const found = (filter: ItemFilter) => listing<Item>(transport, { ...ofItems, route: '/item/search', filter })

  function metadata(
    call: CallOptions & { readonly static: true },
  ): Promise<ReadableResponse<Record<string, unknown>, ItemIds>>
  function metadata(
    call?: CallOptions & { readonly static?: false | undefined },
  ): Promise<ReadableResponse<Record<string, unknown>, ItemMetadata>>
  function metadata({ static: ids = false, ...call }: CallOptions & { readonly static?: boolean | undefined } = {}) {
    const request = { route: '/item/metadata', query: { static: ids || undefined } }
    return readObject<ItemIds | ItemMetadata>(transport, request, call, ids ? parseItemIds : parseItemMetadata)
  }

  return {
    /** `GET /item/database`: one page of all items. */
    database: page,
    /** `GET /item/database`: all items, and whether it is all. */
    all,
    /** `GET /item/database`: page after page. @throws RetryableError when the database changes between two of them */
    pages,
    /** `GET /item/database`: item after item, each once. */
    each,
    /** `POST /item/search`: one page of the items that fit. @throws BadRequest for a filter the service does not know */
    search: (filter: ItemFilter, options: PageOptions = {}) => found(filter).page(options),
    /** `POST /item/search`: all items that fit, and whether it is all. */
    searchAll: (filter: ItemFilter, options: AllOptions = {}) => found(filter).all(options),
    /** `POST /item/search`: page after page of the items that fit. */
    searchPages: (filter: ItemFilter, options: CallOptions = {}) => found(filter).pages(options),
    /** `POST /item/search`: item after item that fits, each once. */
    searchEach: (filter: ItemFilter, options: EachOptions = {}) => found(filter).each(options),
    /** `GET /item/search/{query}`: the items with this in their name, in one body. */
    quickSearch: (query: string, call: CallOptions = {}) =>
      listing<Item>(transport, { ...ofItems, route: '/item/search/{query}', segments: [query] }).page(call),
    /** `GET /item/metadata`: the enumerations; with `static`, the numbers of the game's own encoding. */
    metadata,
    /** `GET /item/sets`: item sets by name. */
    sets: (call: CallOptions = {}) => readObject(transport, { route: '/item/sets' }, call, readItemSets),
  }
}
