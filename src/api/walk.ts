import { messageOf, RetryableError } from '../base/errors.ts'
import { BadRequest, isOfRequest } from './errors.ts'
import { type Dates, joinDates } from './http/response-headers.ts'
import type { Controller, Listing } from './read-listing.ts'
import type { ApiResponse } from './response.ts'
import type { UnknownField } from './schemas/form/unknown.ts'

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
  /** What of the envelopes of pages the program does not know; absent: nothing. */
  readonly around?: readonly UnknownField[]
}

/** A whole listing, and its records with their documented type. */
export interface ReadableWalk<Value> extends Walk {
  /** @throws RecordError for the first record that does not fit */
  read(): Value[]
}

/** The pages of a listing. What requests one and what reads it are apart, so that a walk is one frame of a stack, not two. */
interface PageSource<Page> {
  /** Requests one page; without a number, the first one by the server's own count. */
  readonly request: (page: number | undefined) => Promise<ApiResponse<unknown>>
  readonly pageOf: (response: ApiResponse<unknown>) => Page
}

interface WalkOptions<Value> {
  readonly source: PageSource<ApiResponse<Listing>>
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

/** What a walk has read so far. */
interface WalkSoFar {
  /** It began again too often: what the server says of its pages is wrong or moves all the time. */
  readonly isLast: boolean
  /** Whether as many records came as the server counts. */
  hasAll(): boolean
  hasNew(page: Listing): boolean
}

/**
 * Follows the controller from the first page to the last. The first request has no number, because some servers
 * count from 0 and some from 1; the others follow `next`. A 400 means the end was passed.
 * @param soFar where it is the last walk, or there is no controller, pages are read in their order as long as they bring new records
 * @param onFailed gets a page after the first that fails, is refused or is none, whose number is left out then; absent: the walk fails with it
 */
async function* walkPages<Page extends ApiResponse<Listing>>(
  { request, pageOf }: PageSource<Page>,
  soFar?: WalkSoFar,
  onFailed?: (page: number, error: Error) => void,
): AsyncGenerator<Page, void, void> {
  let response = pageOf(await request(undefined))
  const { controller: first, whole } = response.body
  let place = first
  yield response
  if (whole) return
  const byRecords = soFar?.isLast || first === null ? soFar : undefined
  let failed = 0
  let number = 0
  for (let fetched = 1; ; fetched++) {
    const next = place?.next ?? null
    if (next === null && (!byRecords || byRecords.hasAll() || fetched >= (place?.pages ?? Infinity))) return
    number = !byRecords ? (next ?? 0) + failed : fetched > 1 ? number + 1 : secondPage(first)
    const pages = first?.pages ?? place?.pages ?? Infinity
    if (fetched > pages && byRecords?.hasAll() !== false) throw new WalkMoved('more pages than the server counted')
    try {
      response = pageOf(await request(number))
    } catch (error) {
      if (error instanceof BadRequest) return
      if (!(onFailed && isOfRequest(error))) throw error
      onFailed(number, error)
      if (++failed === mostFailed) return
      continue
    }
    failed = 0
    const now = response.body.controller
    if (now === null && !byRecords) throw new WalkMoved('a page came without its controller', response)
    if (!byRecords && hasMoved(place, now)) throw new WalkMoved(countMoved, response)
    if (!byRecords?.hasNew(response.body)) {
      const before = place?.current ?? (next ?? number) - 1
      if ((now?.current ?? number) <= before) throw new WalkMoved(`page did not advance past ${before}`, response)
      if ((now?.next ?? Infinity) <= number) throw new WalkMoved(`next page did not advance past ${number}`, response)
    }
    place = now
    yield response
  }
}

/** The number after that of the first page, which is 0 or 1. */
function secondPage(first: Controller | null): number {
  return first?.current === 0 || first?.current === 1 ? first.current + 1 : (first?.next ?? 1)
}

/** Pages in a row that fail before a walk ends there: the service is down. */
const mostFailed = 2

const countMoved = 'count or pages moved'

function hasMoved(before: Controller | null, now: Controller | null): boolean {
  return now?.count !== before?.count || now?.pages !== before?.pages
}

/**
 * Reads a whole listing and reports whether it is complete. Begins again, at most `maxRestarts` times, when the listing moves
 * under the walk or when the distinct keys differ from the server's count. The last walk is taken as far as it comes: a listing that
 * moves all the time is read all the same, and nothing follows from what it lacks.
 */
export async function walkAll<Value>(options: WalkOptions<Value>): Promise<ReadableWalk<Value>> {
  const { source, keyOf, parse, onProgress, maxRestarts = 3, signal } = options
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
      const around = pages.flatMap(({ body }) => body.around ?? [])
      const more = { ...instants(pages), pages: pages.length, ...(around.length > 0 ? { around } : {}) }
      const walk = { records, ...counted, restarts, requests, bytes, ...more }
      const read = () => records.map(parse)
      return unsteady === undefined ? { ...walk, complete, read } : { ...walk, complete: false, unsteady, read }
    }
    try {
      const seen = new Set<string>()
      let withoutNew = 0
      const failures: string[] = []
      const onFailed = (page: number, error: Error) => failures.push(`page ${page} failed: ${messageOf(error)}`)
      const soFar: WalkSoFar = {
        isLast,
        hasAll: () => distinctKeys(records, keyOf) >= (pages[0]?.body.controller?.count ?? Infinity),
        hasNew: (page) => page.records.some((record) => !seen.has(keyOf(record) ?? '')),
      }
      signal?.throwIfAborted()
      for await (const page of walkPages(source, soFar, onFailed)) {
        count(page)
        pages.push(page)
        for (const record of page.body.records) records.push(record)
        withoutNew = page.body.whole || addKeys(seen, page.body.records, keyOf) ? 0 : withoutNew + 1
        const { count: of, pages: last } = page.body.controller ?? { count: null, pages: pages.length }
        onProgress?.({ page: pages.length, pages: last, records: records.length, count: of })
        signal?.throwIfAborted()
        if (withoutNew < mostWithoutNew && pages.length < mostPages) continue
        if ((page.body.controller?.next ?? null) === null || completeness(pages, records, keyOf).complete) break
        const what =
          withoutNew < mostWithoutNew ? `${pages.length} pages` : `${withoutNew} pages in a row brought no new record`
        return taken(`${what}, and the listing goes on`)
      }
      if (failures.length > 0) return taken(failures.slice(0, 3).join('; '))
      const controllers = pages.flatMap(({ body }) => body.controller ?? [])
      if (controllers.some((one, nth) => hasMoved(controllers[nth - 1] ?? one, one)))
        return taken(movedTooOften(countMoved, restarts))
      const walk = taken()
      const isUncounted = walk.count === null && pages.length >= (controllers[0]?.pages ?? 1)
      if (walk.complete || isUncounted || isLast) return walk
    } catch (error) {
      if (!(error instanceof WalkMoved)) throw error
      if (error.response) count(error.response)
      if (isLast) return taken(movedTooOften(error.message, restarts))
    }
  }
}

/** Pages in a row without a new record, and pages at all, that end a walk: what they count may have no end. All items are 335 pages. */
const mostWithoutNew = 2
const mostPages = 2000

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

/**
 * Page after page, from the first one again where the listing changes on the way.
 * @throws RetryableError when it changes more often than that
 */
export async function* walkAgain<Page extends ApiResponse<Listing>>(
  source: PageSource<Page>,
  maxRestarts: number,
): AsyncGenerator<Page, void, void> {
  for (let restarts = 0; ; restarts++) {
    try {
      return yield* walkPages(source)
    } catch (error) {
      if (!(error instanceof WalkMoved)) throw error
      if (restarts >= maxRestarts) throw new RetryableError(movedTooOften(error.message, restarts))
    }
  }
}
