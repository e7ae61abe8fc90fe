import { afterEach, describe, expect, test } from 'vitest'
import { createClient } from '../../src/api/client.ts'
import type { RecordError } from '../../src/base/errors.ts'
import { RetryableError } from '../../src/base/errors.ts'
import { type Responder, type Seen, startServer } from './server.ts'

const closers: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function open(respond: Responder) {
  const server = await startServer(respond)
  const api = createClient({ baseUrl: `${server.url}/v3` })
  closers.push(server.close, api.close)
  return { api, server, urls: () => server.seen.map((one) => `${one.method} ${one.url.replace('/v3', '')}`) }
}

const item = (internalName: string) => ({ internalName, type: 'weapon', displayName: internalName })
const names = ['Oak Bow', 'Iron Spear', 'Rusty Wand', 'Old Relik', 'Blunt Dagger']

/** Two records a page, counted from 1; with the flag everything at once. */
function paged(records: readonly unknown[], pages = Math.ceil(records.length / 2)): Responder {
  return ({ url }) => {
    const query = new URL(url, 'http://localhost').searchParams
    if (query.has('fullResult') || query.has('full_result')) return { body: records }
    const current = Number(query.get('page') ?? 1)
    const next = current < pages ? current + 1 : null
    const results = records.slice(2 * current - 2, 2 * current)
    const controller = { count: records.length, current_count: results.length, pages, prev: null, current, next }
    return { body: { controller, results } }
  }
}

async function gather<Value>(values: AsyncIterable<Value>): Promise<Value[]> {
  const gathered: Value[] = []
  for await (const value of values) gathered.push(value)
  return gathered
}

describe('every record of a listing', () => {
  test('comes from one body, read, with a loop', async () => {
    const { api, urls } = await open(paged(names.map(item)))
    const seen: string[] = []
    for await (const { internalName, type } of api.items.each()) seen.push(`${internalName} ${type}`)
    expect(seen).toEqual(names.map((name) => `${name} weapon`))
    expect(urls()).toEqual(['GET /item/database?fullResult'])
  })

  test('comes page by page when told to, and no page is asked for that nobody wants', async () => {
    const { api, urls } = await open(paged(names.map(item)))
    for await (const { internalName } of api.items.each({ walk: true })) if (internalName === 'Rusty Wand') break
    expect(urls()).toEqual(['GET /item/database', 'GET /item/database?page=2'])
  })

  test('comes once, although a record moved to the next page on the way', async () => {
    const records = names.map(item)
    let asked = 0
    const { api } = await open((seen, response) => {
      if (++asked === 2) records.unshift(item('New Bow'))
      return paged(records)(seen, response)
    })
    const seen = (await gather(api.items.each({ walk: true }))).map(({ internalName }) => internalName)
    expect([...seen].sort()).toEqual([...names, 'New Bow'].sort())
  })

  test('is not promised when the listing moves all the time', async () => {
    const records = names.map(item)
    const { api, urls } = await open((seen, response) => {
      records.push(item(`Bow ${records.length}`))
      return paged(records)(seen, response)
    })
    await expect(gather(api.items.each({ walk: true }))).rejects.toThrow('moved during the walk, 4 times in a row')
    expect(urls()).toHaveLength(8)
  })

  test('ends at one that cannot be read, or goes on without it', async () => {
    const { api } = await open(paged([item('Oak Bow'), { type: 7 }, item('Iron Spear')]))
    await expect(gather(api.items.each())).rejects.toThrow('item: /internalName should be string, found nothing')
    const unreadable: RecordError[] = []
    const read = await gather(api.items.each({ onUnreadable: (error) => unreadable.push(error) }))
    expect(read.map(({ internalName }) => internalName)).toEqual(['Oak Bow', 'Iron Spear'])
    expect(unreadable).toMatchObject([{ name: 'RecordError' }])
  })

  test('stops coming at once when nobody wants it any more', async () => {
    const { api, urls } = await open(paged(names.map(item)))
    const stop = new AbortController()
    const seen: string[] = []
    const loop = async () => {
      for await (const { internalName } of api.items.each({ walk: true, signal: stop.signal })) {
        seen.push(internalName)
        stop.abort(new Error('enough'))
      }
    }
    await expect(loop()).rejects.toThrow('enough')
    expect([seen, urls().length]).toEqual([['Oak Bow'], 1])
  })
})

describe('the pages of a listing', () => {
  test('come one after the other, each an answer of its own', async () => {
    const { api } = await open(paged(names.map(item)))
    const pages = await gather(api.recipes.pages())
    expect(pages.map(({ status, body }) => [status, body.records.length, body.controller?.current])).toEqual([
      [200, 2, 1],
      [200, 2, 2],
      [200, 1, 3],
    ])
    expect(pages[0]?.read()[0]?.internalName).toBe('Oak Bow')
  })

  test('end with an error when the listing moves between two of them', async () => {
    const records = names.map(item)
    const { api } = await open((seen, response) => {
      records.push(item(`Bow ${records.length}`))
      return paged(records)(seen, response)
    })
    const walking = gather(api.items.pages())
    await expect(walking).rejects.toThrow(RetryableError)
    await expect(walking).rejects.toThrow('the listing moved during the walk, 1 time: count or pages moved')
  })

  test('are not asked for once nobody wants them', async () => {
    const { api, urls } = await open(paged(names.map(item)))
    await expect(gather(api.items.pages({ signal: AbortSignal.abort(new Error('enough')) }))).rejects.toThrow('enough')
    expect(urls()).toEqual([])
  })
})

describe('a search', () => {
  const filter = {
    query: 'bow',
    type: ['bow', 'spear'],
    tier: 'mythic',
    attackSpeed: ['fast'],
    professions: 'mining',
    identifications: ['manaRegen'],
    majorIds: 'tidalDrift',
    levelRange: [1, 50],
  } as const
  const ofRecipes = {
    query: 'boots',
    type: 'boots',
    skill: ['tailoring'],
    materials: 'Refined Copper Ingot',
    xp: 20,
    level: [1, 3],
    durability: 175_000,
    healthOrDamage: 9,
    duration: 1100,
    basicDuration: [60, 70],
  } as const
  const sent = ({ body, headers }: Seen) => [headers['content-type'], JSON.parse(body)]

  test('sends its whole filter as JSON, with page and flag in the address', async () => {
    const { api, server, urls } = await open(paged(names.map(item)))
    expect((await api.items.search(filter, { page: 2 })).read()).toHaveLength(2)
    await api.items.search({ levelRange: 7, tier: undefined }, { fullResult: true })
    await api.recipes.search(ofRecipes, { fullResult: true })
    expect(urls()).toEqual([
      'POST /item/search?page=2',
      'POST /item/search?fullResult',
      'POST /item/recipe/search?full_result',
    ])
    expect(server.seen.map(sent)).toEqual([
      ['application/json', filter],
      ['application/json', { levelRange: 7 }],
      ['application/json', ofRecipes],
    ])
  })

  test('finds everything, as a whole and one by one, with the filter on every page', async () => {
    const { api, server } = await open(paged(names.map(item)))
    const all = await api.items.searchAll(filter, { walk: true })
    expect(all).toMatchObject({ complete: true, count: 5, pages: 3 })
    expect(all.read().map(({ internalName }) => internalName)).toEqual(names)
    expect(await gather(api.items.searchEach(filter, { walk: true }))).toHaveLength(5)
    expect(await gather(api.recipes.searchPages(ofRecipes))).toHaveLength(3)
    expect(await gather(api.recipes.searchEach(ofRecipes))).toHaveLength(5)
    expect((await api.recipes.searchAll(ofRecipes)).read()).toHaveLength(5)
    expect(server.seen.slice(0, 6).map(sent)).toEqual(Array(6).fill(['application/json', filter]))
  })

  test('by a word in the address reads both forms of the answer', async () => {
    const today = await open(() => ({ body: [item('Oak Bow')] }))
    const found = await today.api.items.quickSearch('Oak / Bow')
    expect(found.read()).toEqual([item('Oak Bow')])
    expect(today.urls()).toEqual(['GET /item/search/Oak%20%2F%20Bow'])
    const before = await open(() => ({ body: { 'Oak Bow': { internalName: 'Oak Bow', type: 'weapon' } } }))
    expect((await before.api.items.quickSearch('oak')).read()).toEqual([item('Oak Bow')])
  })
})

describe('articles', () => {
  const article = (pk: number) => ({ pk, title: `Article ${pk}`, type: 'blog' })

  test('are listed by position, and told apart by pk', async () => {
    const { api, urls } = await open(({ url }) => {
      const second = url.endsWith('page=2')
      const controller = { count: 3, current_count: 2, pages: 2, current: second ? 2 : 1, next: second ? null : 2 }
      return { body: { controller, results: second ? { 1: article(7) } : { 1: article(9), 2: article(8) } } }
    })
    expect((await api.articles.list('blog')).read()).toEqual([article(9), article(8)])
    expect(await api.articles.all('blog')).toMatchObject({ complete: true, count: 3 })
    expect((await gather(api.articles.each('blog'))).map(({ pk }) => pk)).toEqual([9, 8, 7])
    expect(await gather(api.articles.pages('blog'))).toHaveLength(2)
    expect(urls().slice(0, 3)).toEqual([
      'GET /publisher/articles/list/blog',
      'GET /publisher/articles/list/blog',
      'GET /publisher/articles/list/blog?page=2',
    ])
  })
})
