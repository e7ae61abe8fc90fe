import { RecordError } from '../base/errors.ts'
import { type CallOptions, fillRoute, type ReadableResponse, readable } from './call.ts'
import type { Transport } from './http/transport.ts'
import { type Listing, readListing } from './read-listing.ts'
import type { ApiResponse } from './response.ts'
import type { ReadableWalk, WalkProgress } from './walk.ts'

/** One page of a listing, or all of it. */
export interface PageOptions extends CallOptions {
  /** Page number as a controller named it; leave it out for the first page. */
  readonly page?: number | undefined
  /** Request everything in one body. */
  readonly fullResult?: boolean | undefined
}

/** Going through a listing. */
export interface WalkingOptions extends CallOptions {
  /** Go page by page instead of requesting everything in one body. */
  readonly walk?: boolean | undefined
}

/** A whole listing. */
export interface AllOptions extends WalkingOptions {
  readonly onProgress?: ((progress: WalkProgress) => void) | undefined
}

/** One record after the other. */
export interface EachOptions extends WalkingOptions {
  /** Called for a record that cannot be read, which is then left out. Without it, such a record ends the iteration. */
  readonly onUnreadable?: ((error: RecordError) => void) | undefined
}

interface ListingRequest<Value> {
  readonly route: string
  readonly segments?: readonly string[] | undefined
  /** Makes it a search: sent by `POST`, as JSON. */
  readonly filter?: object | undefined
  /** Its own spelling of "everything in one body"; left out where it has none. */
  readonly flag?: string | undefined
  /** Where a record keeps the key that an object of records would have; null for mere positions. Default `displayName`. */
  readonly keyField?: string | null | undefined
  /** The natural key of a record, or null when it cannot be read. */
  readonly keyOf: (record: unknown) => string | null
  readonly parse: (record: unknown) => Value
}

// After this the listing moves all the time.
const MAX_RESTARTS = 3

/** The ways to read a listing endpoint. */
export function listing<Value>(transport: Transport, request: ListingRequest<Value>) {
  const { route, filter, flag, keyField, keyOf, parse } = request
  const sent = filter === undefined ? ({ method: 'GET' } as const) : ({ method: 'POST', json: filter } as const)
  const read = ({ records }: Listing) => records.map(parse)
  type Page = ReadableResponse<Listing, Value[]>

  function send({ page, fullResult, lane, signal }: PageOptions) {
    const path = fillRoute(route, request.segments)
    const query = { page, ...(flag === undefined || fullResult !== true ? {} : { [flag]: true as const }) }
    return transport.send({ ...sent, route, path, query, lane, signal })
  }

  const pageOf = (response: ApiResponse<unknown>): Page =>
    readable<Listing, Value[]>(response, readListing(response.body, keyField), read)

  /** Only the first request carries the flag: a server that ignored it once is walked page by page from then on. */
  function pageSource({ walk = false, lane, signal }: WalkingOptions) {
    let fullResult = !walk
    return {
      request: (page: number | undefined) => {
        signal?.throwIfAborted()
        const flagged = fullResult
        fullResult = false
        return send({ page, fullResult: flagged, lane, signal })
      },
      pageOf,
    }
  }

  async function* pages(options: CallOptions = {}): AsyncGenerator<Page, void, void> {
    const { walkAgain } = await import('./walk.ts')
    yield* walkAgain(pageSource({ ...options, walk: true }), 0)
  }

  async function* each(options: EachOptions = {}): AsyncGenerator<Value, void, void> {
    const { onUnreadable, signal } = options
    const source = pageSource(options)
    const seen = new Set<string>()
    const { walkAgain } = await import('./walk.ts')
    for await (const { body } of walkAgain(source, MAX_RESTARTS)) {
      for (const record of body.records) {
        signal?.throwIfAborted()
        const key = keyOf(record)
        if (key !== null && seen.has(key)) continue
        if (key !== null) seen.add(key)
        const value = readOr(record, onUnreadable)
        if (value !== undefined) yield value
      }
    }
  }

  function readOr(record: unknown, onUnreadable: EachOptions['onUnreadable']): Value | undefined {
    try {
      return parse(record)
    } catch (error) {
      if (onUnreadable === undefined || !(error instanceof RecordError)) throw error
      onUnreadable(error)
      return undefined
    }
  }

  return {
    /** One page, or with `fullResult` everything in one body. */
    page: async (options: PageOptions = {}): Promise<Page> => pageOf(await send(options)),
    /** Everything, and whether it is everything. */
    all: async (options: AllOptions = {}): Promise<ReadableWalk<Value>> => {
      const { walkAll } = await import('./walk.ts')
      return await walkAll({ ...options, source: pageSource(options), keyOf, parse, maxRestarts: MAX_RESTARTS })
    },
    /** Page after page. @throws RetryableError when the listing changes between two of them */
    pages,
    /**
     * Record after record, each key once. Begins again when the listing changes on the way, at most three times; `all`
     * reports whether everything came.
     */
    each,
  }
}

/** The text in a field of a record, as its key. */
export function keyIn(field: string): (record: unknown) => string | null {
  return (record) => {
    if (typeof record !== 'object' || record === null) return null
    const key: unknown = Reflect.get(record, field)
    if (typeof key === 'number') return String(key)
    return typeof key === 'string' ? key : null
  }
}
