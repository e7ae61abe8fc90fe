import { RetryableError } from '../base/errors.ts'
import { BadRequest } from './errors.ts'
import { type Dates, joinDates } from './http/response-headers.ts'
import type { Listing } from './read-listing.ts'
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
  /** Why the walk ended before its last page: a listing that goes on without records; undefined when it did not. */
  readonly validationError?: string | undefined
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
export class WalkMoved extends Error {
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
 */
export async function* walkPages<Page extends ApiResponse<Listing>>(
  fetchPage: (page: number | undefined) => Promise<Page>,
): AsyncGenerator<Page, void, void> {
  let response = await fetchPage(undefined)
  let place = response.body.controller
  yield response
  for (let fetched = 1; place !== null && place.next !== null; fetched++) {
    if (place.pages !== null && fetched > place.pages) throw new WalkMoved('more pages than the server counted')
    try {
      response = await fetchPage(place.next)
    } catch (error) {
      if (error instanceof BadRequest) return
      throw error
    }
    const now = response.body.controller
    if (now === null) throw new WalkMoved('a page came without its controller', response)
    if (now.count !== place.count || now.pages !== place.pages) throw new WalkMoved('count or pages moved', response)
    const before = place.current ?? place.next - 1
    if ((now.current ?? place.next) <= before) throw new WalkMoved(`page did not advance past ${before}`, response)
    if (now.next !== null && now.next <= place.next)
      throw new WalkMoved(`next page did not advance past ${place.next}`, response)
    place = now
    yield response
  }
}

/**
 * Reads a whole listing and reports whether it is complete. Begins again, at most `maxRestarts` times, when the listing moves
 * under the walk or when the distinct keys differ from the server's count.
 * @throws RetryableError when it still moved after the last restart
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
    try {
      const pages: ApiResponse<Listing>[] = []
      const records: unknown[] = []
      const seen = new Set<string>()
      let [withoutNew, isEndless] = [0, false]
      signal?.throwIfAborted()
      for await (const page of walkPages(fetchPage)) {
        count(page)
        pages.push(page)
        for (const record of page.body.records) records.push(record)
        withoutNew = addKeys(seen, page.body.records, keyOf) ? 0 : withoutNew + 1
        const { count: of, pages: last } = page.body.controller ?? { count: null, pages: pages.length }
        onProgress?.({ page: pages.length, pages: last, records: records.length, count: of })
        signal?.throwIfAborted()
        isEndless = withoutNew >= mostWithoutNew && (page.body.controller?.next ?? null) !== null
        if (isEndless) break
      }
      const walk = { records, ...completeness(pages, records, keyOf), restarts, requests, bytes, ...instants(pages) }
      if (isEndless && !walk.complete) {
        const validationError = `${withoutNew} pages in a row brought no new record, and the listing goes on`
        return { ...walk, pages: pages.length, validationError, read: () => records.map(parse) }
      }
      if (!walk.complete && walk.count !== null && restarts < maxRestarts) continue
      return { ...walk, pages: pages.length, read: () => records.map(parse) }
    } catch (error) {
      if (!(error instanceof WalkMoved)) throw error
      if (error.response) count(error.response)
      if (restarts >= maxRestarts) throw movedTooOften(error, restarts)
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

/** For the caller of a walk that could not be finished. */
export function movedTooOften({ message }: WalkMoved, restarts: number): RetryableError {
  const times = `${restarts + 1} ${restarts === 0 ? 'time' : 'times in a row'}`
  return new RetryableError(`the listing moved during the walk, ${times}: ${message}`, { context: { restarts } })
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
