import { messageOf, RecordError, RetryableError } from '../base/errors.ts'
import { type CallOptions, fillRoute, type ReadableResponse, readable } from './call.ts'
import { BadRequest, isOfRequest } from './errors.ts'
import { type Dates, joinDates } from './http/response-headers.ts'
import type { Transport } from './http/transport.ts'
import { type Controller, type Listing, readListing } from './read-listing.ts'
import type { ApiResponse } from './response.ts'

/** The argument of `onProgress`, which is called after each page. */
export interface WalkProgress {
  /** Pages read in this attempt, counting from 1. */
  readonly page: number
  readonly pages: number | null
  readonly records: number
  readonly count: number | null
}

/** The result of reading a listing from its first page to its last. */
export interface Walk extends Dates {
  /** In the order they came; records with the same key are all kept. */
  readonly records: unknown[]
  /** True when everything came: distinct keys equal the server's own count, or one body held everything. */
  readonly complete: boolean
  /** The server's own count; null when it sent everything without a controller. */
  readonly count: number | null
  readonly pages: number
  /** Responses received, those of abandoned attempts included. */
  readonly requests: number
  readonly restarts: number
  /** When the last of the pages expires; ms since the epoch, or null when unknown. */
  readonly expiresAt: number | null
  /** Why it does not show everything, whatever it counts: a listing that moves all the time, that has no end, or with a page that fails. */
  readonly unsteady?: string
  /** Body bytes as they travelled, abandoned attempts included. */
  readonly bytes: number
}

/** A whole listing, and its records with their documented type. */
export interface ReadableWalk<Value> extends Walk {
  /** @throws RecordError for the first record that does not fit */
  read(): Value[]
}

interface WalkOptions<Value> {
  /** Requests one page; without a number, the first one by the server's own count. */
  readonly fetchPage: (page: number | undefined) => Promise<ApiResponse<Listing>>
  /** The natural key of a record, or null when it cannot be read. */
  readonly keyOf: (record: unknown) => string | null
  readonly parse: (record: unknown) => Value
  readonly onProgress?: ((progress: WalkProgress) => void) | undefined
  /** How often to begin again when the listing changes under the walk. Default 3. */
  readonly maxRestarts?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** The listing changed, or the server lost its place, between two pages. Never leaves the iterators and walks. */
class WalkMoved extends Error {
  /** The response that showed it; undefined when no request was sent for it. */
  readonly response: ApiResponse<unknown> | undefined

  constructor(message: string, response?: ApiResponse<unknown>) {
    super(message)
    this.response = response
  }
}

/**
 * Follows the controller from the first page to the last. The first request has no number, because some servers
 * count from 0 and some from 1; the others follow `next`. A 400 means the end was passed.
 * @param mayMove whether it goes on where the count moves between two pages, as far as the first page counts
 * @param onFailed gets a page after the first that fails, is refused or is none, whose number is left out then; absent: the walk fails with it
 */
async function* walkPages<Page extends ApiResponse<Listing>>(
  fetchPage: (page: number | undefined) => Promise<Page>,
  {
    mayMove = false,
    onFailed,
  }: { readonly mayMove?: boolean; readonly onFailed?: (page: number, error: Error) => void } = {},
): AsyncGenerator<Page, void, void> {
  let response = await fetchPage(undefined)
  const first = response.body.controller
  let place = first
  yield response
  let failed = 0
  for (let fetched = 1; place !== null && place.next !== null; fetched++) {
    const number: number = place.next + failed
    const pages = first?.pages ?? place.pages
    if (pages !== null && fetched > pages) throw new WalkMoved('more pages than the server counted')
    try {
      response = await fetchPage(number)
    } catch (error) {
      if (error instanceof BadRequest) return
      if (!(onFailed && isOfRequest(error))) throw error
      onFailed(number, error)
      if (++failed === mostFailed) return
      continue
    }
    failed = 0
    const now = response.body.controller
    if (now === null) throw new WalkMoved('a page came without its controller', response)
    if (!mayMove && hasMoved(place, now)) throw new WalkMoved(countMoved, response)
    const before = place.current ?? place.next - 1
    if ((now.current ?? number) <= before) throw new WalkMoved(`page did not advance past ${before}`, response)
    if (now.next !== null && now.next <= number)
      throw new WalkMoved(`next page did not advance past ${number}`, response)
    place = now
    yield response
  }
}

/** Pages in a row that fail before a walk ends there: the service is down. */
const mostFailed = 2

const countMoved = 'count or pages moved'

function hasMoved(before: Controller, now: Controller): boolean {
  return now.count !== before.count || now.pages !== before.pages
}

/**
 * Reads a whole listing and reports whether it is complete. Begins again, at most `maxRestarts` times, when the listing moves
 * under the walk or when the distinct keys differ from the server's count. The last walk is taken as far as it comes: a listing that
 * moves all the time is read all the same, and nothing follows from what it lacks.
 */
export async function walkAll<Value>(options: WalkOptions<Value>): Promise<ReadableWalk<Value>> {
  const { fetchPage, keyOf, parse, onProgress, maxRestarts = 3, signal } = options
  let requests = 0
  let bytes = 0
  const count = (response: ApiResponse<unknown>) => {
    requests++
    bytes += response.bytes
  }

  for (let restarts = 0; ; restarts++) {
    const isLast = restarts >= maxRestarts
    const pages: ApiResponse<Listing>[] = []
    const records: unknown[] = []
    const taken = (unsteady?: string) => {
      const { complete, ...counted } = completeness(pages, records, keyOf)
      const walk = { records, ...counted, restarts, requests, bytes, ...instants(pages), pages: pages.length }
      const read = () => records.map(parse)
      return unsteady === undefined ? { ...walk, complete, read } : { ...walk, complete: false, unsteady, read }
    }
    try {
      const seen = new Set<string>()
      let withoutNew = 0
      const failures: string[] = []
      const onFailed = (page: number, error: Error) => failures.push(`page ${page} failed: ${messageOf(error)}`)
      signal?.throwIfAborted()
      for await (const page of walkPages(fetchPage, { mayMove: isLast, onFailed })) {
        count(page)
        pages.push(page)
        for (const record of page.body.records) records.push(record)
        withoutNew = page.body.whole || addKeys(seen, page.body.records, keyOf) ? 0 : withoutNew + 1
        const { count: of, pages: last } = page.body.controller ?? { count: null, pages: pages.length }
        onProgress?.({ page: pages.length, pages: last, records: records.length, count: of })
        signal?.throwIfAborted()
        const isEndless = withoutNew >= mostWithoutNew && (page.body.controller?.next ?? null) !== null
        if (isEndless && !completeness(pages, records, keyOf).complete)
          return taken(`${withoutNew} pages in a row brought no new record, and the listing goes on`)
        if (isEndless) break
      }
      if (failures.length > 0) return taken(failures.slice(0, 3).join('; '))
      const controllers = pages.flatMap(({ body }) => body.controller ?? [])
      if (controllers.some((one, nth) => hasMoved(controllers[nth - 1] ?? one, one)))
        return taken(movedTooOften(countMoved, restarts))
      const walk = taken()
      if (walk.complete || walk.count === null || isLast) return walk
    } catch (error) {
      if (!(error instanceof WalkMoved)) throw error
      if (error.response) count(error.response)
      if (isLast) return taken(movedTooOften(error.message, restarts))
    }
  }
}

/** Pages in a row without a new record that end a walk: what they count may have no end. */
const mostWithoutNew = 2

/** Adds the keys of a page's records; returns whether one was new, or cannot be read. */
function addKeys(seen: Set<string>, records: readonly unknown[], keyOf: (record: unknown) => string | null): boolean {
  const before = seen.size
  const keys = records.map(keyOf)
  for (const key of keys) if (key !== null) seen.add(key)
  return seen.size > before || keys.includes(null)
}

function completeness(
  pages: readonly ApiResponse<Listing>[],
  records: readonly unknown[],
  keyOf: (record: unknown) => string | null,
): Pick<Walk, 'complete' | 'count'> {
  const first = pages[0]?.body
  const count = first?.controller?.count ?? null
  return { count, complete: first?.whole === true || (count !== null && distinctKeys(records, keyOf) === count) }
}

/** What a listing did that could not be read as it stood. */
function movedTooOften(what: string, restarts: number): string {
  const times = `${restarts + 1} ${restarts === 0 ? 'time' : 'times in a row'}`
  return `the listing moved during the walk, ${times}: ${what}`
}

function distinctKeys(records: readonly unknown[], keyOf: (record: unknown) => string | null): number {
  const keys = new Set<string>()
  let unreadable = 0
  for (const record of records) {
    const key = keyOf(record)
    if (key === null) unreadable++
    else keys.add(key)
  }
  return keys.size + unreadable
}

function instants(pages: readonly ApiResponse<Listing>[]): Dates & Pick<Walk, 'expiresAt'> {
  const expiries = pages.flatMap((page) => (page.expiresAt === null ? [] : [page.expiresAt]))
  return { ...joinDates(pages), expiresAt: expiries.length > 0 ? Math.max(...expiries) : null }
}

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

  async function fetchPage({ page, fullResult, lane, signal }: PageOptions): Promise<Page> {
    const path = fillRoute(route, request.segments)
    const query = { page, ...(flag === undefined || fullResult !== true ? {} : { [flag]: true as const }) }
    const response = await transport.send({ ...sent, route, path, query, lane, signal })
    return readable<Listing, Value[]>(response, readListing(response.body, keyField), read)
  }

  /** Only the first request carries the flag: a server that ignored it once is walked page by page from then on. */
  function pageFetcher({ walk = false, lane, signal }: WalkingOptions) {
    let fullResult = !walk
    return (page: number | undefined) => {
      signal?.throwIfAborted()
      const flagged = fullResult
      fullResult = false
      return fetchPage({ page, fullResult: flagged, lane, signal })
    }
  }

  async function* pages(options: CallOptions = {}): AsyncGenerator<Page, void, void> {
    try {
      yield* walkPages(pageFetcher({ ...options, walk: true }))
    } catch (error) {
      throw error instanceof WalkMoved ? new RetryableError(movedTooOften(error.message, 0)) : error
    }
  }

  async function* each(options: EachOptions = {}): AsyncGenerator<Value, void, void> {
    const { onUnreadable, signal } = options
    const next = pageFetcher(options)
    const seen = new Set<string>()
    for (let restarts = 0; ; restarts++) {
      try {
        for await (const { body } of walkPages(next)) {
          for (const record of body.records) {
            signal?.throwIfAborted()
            const key = keyOf(record)
            if (key !== null && seen.has(key)) continue
            if (key !== null) seen.add(key)
            const value = readOr(record, onUnreadable)
            if (value !== undefined) yield value
          }
        }
        return
      } catch (error) {
        if (!(error instanceof WalkMoved)) throw error
        if (restarts >= MAX_RESTARTS) throw new RetryableError(movedTooOften(error.message, restarts))
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
    page: (options: PageOptions = {}): Promise<Page> => fetchPage(options),
    /** Everything, and whether it is everything. */
    all: (options: AllOptions = {}): Promise<ReadableWalk<Value>> =>
      walkAll({ ...options, fetchPage: pageFetcher(options), keyOf, parse, maxRestarts: MAX_RESTARTS }),
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
