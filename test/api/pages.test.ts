import { describe, expect, test } from 'vitest'
import { BadRequest, NotFound, Unavailable } from '../../src/api/errors.ts'
import { type Controller, type Listing, readListing } from '../../src/api/read-listing.ts'
import type { ApiResponse } from '../../src/api/response.ts'
import { walkAll } from '../../src/api/walk.ts'
import { RetryableError } from '../../src/base/errors.ts'

describe('a listing is read', () => {
  test('from an envelope, with the previous page under either name', () => {
    const controller = { count: 3, current_count: 1, pages: 3, prev: 1, current: 2, next: 3 }
    const expected = { count: 3, pages: 3, prev: 1, current: 2, next: 3 }
    expect(readListing({ controller, results: [{ a: 1 }] })).toEqual({
      records: [{ a: 1 }],
      controller: expected,
      whole: false,
    })
    const { prev: previous, ...older } = controller
    const links = { previous: null, next: null }
    expect(readListing({ controller: { ...older, previous, links }, results: [] }).controller).toEqual(expected)
  })

  test('from an envelope whose numbers are texts', () => {
    const controller = { count: '3', pages: '3', prev: '1', current: '2', next: '3' }
    const expected = { count: 3, pages: 3, prev: 1, current: 2, next: 3 }
    expect(readListing({ controller, results: [] }).controller).toEqual(expected)
  })

  test('from an envelope with an object of results', () => {
    const body = { controller: {}, results: { Bow: { type: 'weapon' }, Axe: { displayName: 'Other', type: 'tool' } } }
    expect(readListing(body).records).toEqual([
      { displayName: 'Bow', type: 'weapon' },
      { displayName: 'Other', type: 'tool' },
    ])
  })

  test('from a bare array', () => {
    expect(readListing([1, 2])).toEqual({ records: [1, 2], controller: null, whole: true })
  })

  test('from an object keyed by name, which goes into the records', () => {
    expect(readListing({ Bow: { type: 'weapon' }, Odd: 5 }, 'label').records).toEqual([
      { type: 'weapon', label: 'Bow' },
      5,
    ])
  })

  test('as nothing from an empty object', () => {
    expect(readListing({})).toEqual({ records: [], controller: null, whole: true })
  })

  test.each([null, 'text', 5, true, { results: 5 }, { controller: {} }])('not from %j', (body) => {
    expect(() => readListing(body)).toThrow(RetryableError)
    expect(() => readListing(body)).toThrow('unexpected shape')
  })
})

const noon = Date.parse('2026-05-30T12:00:00Z')
const keyOf = (record: unknown) => (typeof record === 'string' ? record : null)
const reader = { keyOf, parse: String }
const pastTheEnd = () =>
  new BadRequest({ status: 400, kind: 'PaginationError', detail: null, path: '/item/database', objects: {} })

function answer(body: Listing, second = 0): ApiResponse<Listing> {
  const observedAt = noon + second * 1000
  const expiresAt = observedAt + 3_600_000
  return {
    body,
    status: 200,
    headers: new Map(),
    receivedAt: noon,
    observedFrom: observedAt,
    observedAt,
    clockSkew: 0,
    oddHeaders: [],
    isUndated: false,
    expiresAt,
    rateLimit: null,
    bytes: 10,
    maxAge: null,
    attempts: 1,
  }
}

/** Where pages come from that are read already. */
const sourceOf = (request: (page: number | undefined) => Promise<ApiResponse<Listing>>) => ({
  request,
  pageOf: (response: ApiResponse<unknown>) => response as ApiResponse<Listing>,
})

/** A listing in pages of two; `book` may change between two requests. */
function library(
  book: { records: unknown[]; count?: number },
  lowest: 0 | 1,
  afterRequest: (request: number) => void = () => undefined,
) {
  const asked: (number | undefined)[] = []
  const fetchPage = async (page: number | undefined) => {
    asked.push(page)
    const place = (page ?? lowest) - lowest
    const pages = Math.ceil(book.records.length / 2)
    if (place >= pages) throw pastTheEnd()
    const controller = {
      count: book.count ?? book.records.length,
      pages,
      current: place + lowest,
      prev: place === 0 ? null : place + lowest - 1,
      next: place + 1 < pages ? place + lowest + 1 : null,
    }
    const result = answer(
      { records: book.records.slice(place * 2, place * 2 + 2), controller, whole: false },
      asked.length,
    )
    afterRequest(asked.length)
    return result
  }
  return { asked, fetchPage }
}

describe('a walk', () => {
  test.each([
    ['empty', () => []],
    ['the same', () => ['a', 'b']],
  ])('ends where pages that are %s go on without end', async (_what, later) => {
    let asked = 0
    const fetchPage = async (page = 1) => {
      asked++
      const controller = { count: 1e15, pages: 1e15, current: page, prev: page - 1, next: page + 1 }
      return answer({ records: page < 3 ? ['a', `b${page}`] : later(), controller, whole: false })
    }
    const walk = await walkAll({ source: sourceOf(fetchPage), keyOf: (record) => String(record), parse: String })
    expect(asked).toBeLessThan(7)
    expect(walk).toMatchObject({ complete: false, unsteady: expect.stringContaining('brought no new record') })
  })

  test.each([
    [0, [undefined, 1, 2]],
    [1, [undefined, 2, 3]],
  ] as const)('follows a server that counts its pages from %i', async (lowest, expected) => {
    const { fetchPage, asked } = library({ records: ['a', 'b', 'c', 'd', 'e'] }, lowest)
    const progress: unknown[] = []
    const walk = await walkAll({ source: sourceOf(fetchPage), ...reader, onProgress: (step) => progress.push(step) })
    expect(asked).toEqual(expected)
    expect(walk.read()).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(walk).toEqual({
      read: expect.any(Function),
      clockSkew: 0,
      oddHeaders: [],
      isUndated: false,
      records: ['a', 'b', 'c', 'd', 'e'],
      complete: true,
      count: 5,
      pages: 3,
      requests: 3,
      restarts: 0,
      observedFrom: noon + 1000,
      observedAt: noon + 3000,
      expiresAt: noon + 3_603_000,
      bytes: 30,
    })
    expect(progress).toEqual([
      { page: 1, pages: 3, records: 2, count: 5 },
      { page: 2, pages: 3, records: 4, count: 5 },
      { page: 3, pages: 3, records: 5, count: 5 },
    ])
  })

  test('begins again when the count moves between two pages', async () => {
    const book = { records: ['a', 'b', 'c', 'd', 'e'] }
    const { fetchPage, asked } = library(book, 1, (request) => {
      if (request === 2) book.records = ['0', ...book.records]
    })
    const walk = await walkAll({ source: sourceOf(fetchPage), ...reader })
    expect(asked).toEqual([undefined, 2, 3, undefined, 2, 3])
    expect(walk).toMatchObject({ complete: true, count: 6, restarts: 1, requests: 6, bytes: 60, pages: 3 })
    expect(walk.records).toEqual(['0', 'a', 'b', 'c', 'd', 'e'])
  })

  test('begins again when an exchange keeps the count but one key is missing', async () => {
    const book = { records: ['a', 'b', 'c', 'd'] }
    const { fetchPage } = library(book, 1, (request) => {
      if (request === 1) book.records = ['x', 'a', 'b', 'c']
    })
    const walk = await walkAll({ source: sourceOf(fetchPage), ...reader })
    expect(walk).toMatchObject({ complete: true, restarts: 1, records: ['x', 'a', 'b', 'c'] })
  })

  test('of a listing that moves with every page goes to the end the last time, and is not complete', async () => {
    const book = { records: ['a', 'b', 'c', 'd', 'e'] as unknown[] }
    const { fetchPage, asked } = library(book, 1, (request) => book.records.push(`more ${request}`))
    const walk = await walkAll({ source: sourceOf(fetchPage), ...reader, maxRestarts: 2 })
    expect(asked).toEqual([undefined, 2, undefined, 2, undefined, 2, 3, 4, 5, 6])
    expect(walk).toMatchObject({ complete: false, count: 9, restarts: 2, requests: 10 })
    expect(walk.records.slice(0, 7)).toEqual(['a', 'b', 'c', 'd', 'e', 'more 1', 'more 2'])
    expect(walk.unsteady).toContain('the listing moved during the walk, 3 times in a row')
  })

  test('is not complete where the count moved, even if it is right in the end', async () => {
    const counts = [3, 4, 3]
    const fetchPage = async (page = 1) => {
      const next = page < 3 ? page + 1 : null
      const controller = { count: counts[page - 1] ?? 0, pages: 3, current: page, prev: null, next }
      return answer({ records: [`r${page}`], controller, whole: false })
    }
    expect(await walkAll({ source: sourceOf(fetchPage), ...reader })).toMatchObject({
      complete: false,
      records: ['r1', 'r2', 'r3'],
    })
  })

  test('that never finds as many keys as the server counts is incomplete, duplicates kept', async () => {
    const { fetchPage, asked } = library({ records: ['a', 'b', 'b', 'c'] }, 1)
    const walk = await walkAll({ source: sourceOf(fetchPage), ...reader, maxRestarts: 1 })
    expect(walk).toMatchObject({ complete: false, count: 4, restarts: 1, records: ['a', 'b', 'b', 'c'] })
    expect(asked).toHaveLength(4)
  })

  test('counts a record without a readable key as one', async () => {
    const { fetchPage } = library({ records: ['a', { odd: 1 }, { odd: 2 }] }, 1)
    expect(await walkAll({ source: sourceOf(fetchPage), ...reader })).toMatchObject({ complete: true, count: 3 })
  })

  test.each([
    [[3], 'abcdghij', [undefined, 2, 3, 4, 5]],
    [[5], 'abcdefgh', [undefined, 2, 3, 4, 5, 6]],
    [[2, 4], 'abefij', [undefined, 2, 3, 4, 5]],
    [[2, 3, 4, 5], 'ab', [undefined, 2, 3]],
  ])(
    'keeps the other pages where pages %j always fail, names those, and is not complete',
    async (failing, kept, of) => {
      const { fetchPage, asked } = library({ records: [...'abcdefghij'] }, 1)
      const failingPage = async (page: number | undefined) => {
        const found = await fetchPage(page)
        if (failing.includes(page ?? 1)) throw new Unavailable('/item/search responded with 500')
        return found
      }
      const walk = await walkAll({ source: sourceOf(failingPage), ...reader })
      expect(asked).toEqual(of)
      expect(walk).toMatchObject({ complete: false, records: [...kept], restarts: 0 })
      for (const page of failing.slice(0, 2))
        expect(walk.unsteady).toContain(`page ${page} failed: /item/search responded with 500`)
    },
  )

  test.each<[string, () => unknown]>([
    [
      'is refused',
      () => new NotFound({ status: 404, kind: 'NotFound', detail: null, path: '/item/search', objects: {} }),
    ],
    ['has no results', () => readListing({ controller: { current: 2, next: 3 }, results: null })],
    ['is no listing', () => readListing('maintenance')],
  ])('keeps the other pages where one %s, and is not complete', async (_what, odd) => {
    const { fetchPage } = library({ records: [...'abcdef'] }, 1)
    const oddPage = async (page: number | undefined) => {
      const found = await fetchPage(page)
      if (page !== 2) return found
      throw odd()
    }
    const walk = await walkAll({ source: sourceOf(oddPage), ...reader })
    expect(walk).toMatchObject({
      complete: false,
      records: [...'abef'],
      unsteady: expect.stringContaining('page 2 failed'),
    })
  })

  test('fails with the first page, and with a page that is refused for another reason', async () => {
    const down = async () => Promise.reject(new Unavailable('down'))
    await expect(walkAll({ source: sourceOf(down), ...reader })).rejects.toThrow('down')
    const { fetchPage } = library({ records: ['a', 'b', 'c'] }, 1)
    const aborted = async (page: number | undefined) =>
      page === undefined ? fetchPage(page) : Promise.reject(new RetryableError('the budget is spent'))
    await expect(walkAll({ source: sourceOf(aborted), ...reader })).rejects.toThrow('the budget is spent')
  })

  test('ends at a 400 past the last page, and is complete if the keys say so', async () => {
    const { fetchPage } = library({ records: ['a', 'b'] }, 1)
    const pointless = async (page: number | undefined) => {
      const page1 = await fetchPage(page)
      const controller = page1.body.controller && { ...page1.body.controller, next: 2 }
      return { ...page1, body: { ...page1.body, controller } }
    }
    expect(await walkAll({ source: sourceOf(pointless), ...reader })).toMatchObject({
      complete: true,
      pages: 1,
      restarts: 0,
    })
  })

  test('passes a 400 on when it comes for the first page', async () => {
    const fetchPage = async () => Promise.reject(pastTheEnd())
    await expect(walkAll({ source: sourceOf(fetchPage), ...reader })).rejects.toThrow(BadRequest)
  })

  test.each([
    ['the same page again and again', { current: 1, next: 2 }],
    ['a next page that goes back', { current: 2, next: 1 }],
    ['no place, and always a next page', { current: null, next: 2 }],
  ])('does not run in circles when the server gives %s', async (_name, place) => {
    let asked = 0
    const fetchPage = async () => {
      asked++
      return answer({ records: ['a'], controller: { count: 4, pages: 4, prev: null, ...place }, whole: false })
    }
    expect(await walkAll({ source: sourceOf(fetchPage), ...reader, maxRestarts: 1 })).toMatchObject({
      complete: false,
      records: ['a'],
      unsteady: expect.stringContaining('did not advance'),
    })
    expect(asked).toBeLessThanOrEqual(4)
  })

  test('is capped one page past the number of pages', async () => {
    let asked = 0
    const fetchPage = async () => {
      const current = ++asked
      return answer({
        records: [`new ${current}`],
        controller: { count: 2, pages: 2, prev: null, current, next: current + 1 },
        whole: false,
      })
    }
    expect(await walkAll({ source: sourceOf(fetchPage), ...reader, maxRestarts: 0 })).toMatchObject({
      complete: false,
      unsteady: expect.stringContaining('more pages than the server counted'),
    })
    expect(asked).toBe(3)
  })

  test.each<[string, (controller: Controller, lowest: number) => Controller | null]>([
    ['too few pages', (one) => ({ ...one, pages: 2 })],
    ['no next page', (one) => ({ ...one, next: null })],
    ['always the same next page', (one) => ({ ...one, next: 2 })],
    ['each page as the next one', (one) => ({ ...one, next: one.current })],
    ['the first page all the time', (one, lowest) => ({ ...one, current: lowest })],
    ['a place far behind', (one) => ({ ...one, current: 1_000_000 })],
    ['no next page and no count', (one) => ({ ...one, next: null, count: null })],
    ['no controller', () => null],
  ])('reads all pages of a server that always says %s', async (_what, odd) => {
    for (const lowest of [0, 1] as const) {
      const records = [...'abcdefghi']
      const { fetchPage, asked } = library({ records }, lowest)
      const oddPage = async (page: number | undefined) => {
        const found = await fetchPage(page)
        const { controller } = found.body
        return { ...found, body: { ...found.body, controller: controller && odd(controller, lowest) } }
      }
      const walk = await walkAll({ source: sourceOf(oddPage), ...reader })
      expect([...new Set(walk.records)].sort()).toEqual(records)
      // Where the count is right, it says that all came.
      expect(walk.complete).toBe(walk.count === records.length)
      expect(asked.length).toBeLessThan(25)
    }
  })

  test('reads no more than 2,000 pages of a listing without end', async () => {
    const fetchPage = async (page = 1) => {
      const controller = { count: 1e15, pages: 1e15, current: page, prev: page - 1, next: page + 1 }
      return answer({ records: [`r${page}`], controller, whole: false })
    }
    const walk = await walkAll({ source: sourceOf(fetchPage), ...reader })
    expect(walk).toMatchObject({ complete: false, requests: 2000, unsteady: '2000 pages, and the listing goes on' })
  })

  test('takes a body without envelope for everything', async () => {
    const fetchPage = async () => answer({ records: ['a', 'a'], controller: null, whole: true })
    expect(await walkAll({ source: sourceOf(fetchPage), ...reader })).toMatchObject({
      complete: true,
      count: null,
      pages: 1,
      requests: 1,
    })
  })

  test('never calls a page complete whose envelope has no controller', async () => {
    const fetchPage = async () => answer(readListing({ results: ['a'] }))
    expect(await walkAll({ source: sourceOf(fetchPage), ...reader })).toMatchObject({ complete: false, restarts: 0 })
  })

  test('stops between two pages when the signal is aborted', async () => {
    const stop = new AbortController()
    const { fetchPage, asked } = library({ records: ['a', 'b', 'c'] }, 1, () => stop.abort(new Error('enough')))
    await expect(walkAll({ source: sourceOf(fetchPage), ...reader, signal: stop.signal })).rejects.toThrow('enough')
    expect(asked).toHaveLength(1)
  })
})
