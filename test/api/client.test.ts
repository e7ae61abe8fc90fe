import { afterEach, describe, expect, test } from 'vitest'
import { createClient } from '../../src/api/client.ts'
import { RetryableError } from '../../src/base/errors.ts'
import { type Responder, startServer } from './server.ts'

const closers: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function open(respond: Responder) {
  const server = await startServer(respond)
  const api = createClient({ baseUrl: `${server.url}/some/prefix/v3` })
  closers.push(server.close, api.close)
  return { api, urls: () => server.seen.map((one) => one.url.replace('/some/prefix/v3', '')) }
}

const items = ['Oak Bow', 'Iron Spear', 'Rusty Wand'].map((internalName) => ({ internalName, type: 'weapon' }))

/** One item a page, pages counted from 1; with `flag` everything at once, if the server knows the flag. */
function paged(flag: string | null): Responder {
  return ({ url }) => {
    const query = new URL(url, 'http://localhost').searchParams
    if (flag !== null && query.has(flag)) return { body: items }
    const current = Number(query.get('page') ?? 1)
    const next = current < items.length ? current + 1 : null
    const controller = { count: 3, current_count: 1, pages: 3, prev: current > 1 ? current - 1 : null, current, next }
    return { body: { controller, results: items.slice(current - 1, current) } }
  }
}

describe('a listing endpoint', () => {
  test.each([
    ['items', '/item/database', 'fullResult'],
    ['recipes', '/item/recipe/database', 'full_result'],
  ] as const)('%s brings everything in one request with its own flag', async (family, path, flag) => {
    const { api, urls } = await open(paged(flag))
    const walk = await api[family].all()
    expect(walk).toMatchObject({ records: items, complete: true, count: null, pages: 1, requests: 1 })
    expect(urls()).toEqual([`${path}?${flag}`])
  })

  test('goes on from the first page, without asking for it again, when the flag is ignored', async () => {
    const { api, urls } = await open(paged(null))
    expect(await api.items.all()).toMatchObject({ records: items, complete: true, count: 3, pages: 3, requests: 3 })
    expect(urls()).toEqual(['/item/database?fullResult', '/item/database?page=2', '/item/database?page=3'])
  })

  test('walks from the start when told to', async () => {
    const { api, urls } = await open(paged('fullResult'))
    expect(await api.items.all({ walk: true })).toMatchObject({ records: items, complete: true, requests: 3 })
    expect(urls()).toEqual(['/item/database', '/item/database?page=2', '/item/database?page=3'])
    expect(api.requestsSent()).toBe(3)
  })

  test('brings one page', async () => {
    const { api } = await open(paged('fullResult'))
    const page = await api.items.database({ page: 2 })
    expect(page.body).toMatchObject({ records: [{ internalName: 'Iron Spear' }], controller: { current: 2, next: 3 } })
    expect(page.status).toBe(200)
  })

  test('does not take a text for a listing', async () => {
    const { api } = await open(() => ({ body: 'soon' }))
    await expect(api.items.all()).rejects.toThrow(RetryableError)
  })
})

describe('an object endpoint', () => {
  test('metadata with and without static, and sets', async () => {
    const { api, urls } = await open(() => ({ body: { Morph: { internalName: 'morph' } } }))
    await api.items.metadata()
    await api.items.metadata({ static: true })
    expect((await api.items.sets()).body).toEqual({ Morph: { internalName: 'morph' } })
    expect(urls()).toEqual(['/item/metadata', '/item/metadata?static', '/item/sets'])
  })

  test('takes an empty array for an empty object', async () => {
    const { api } = await open(() => ({ body: [] }))
    expect((await api.guilds.list()).body).toEqual({})
  })

  test('does not take an array for an object', async () => {
    const { api } = await open(() => ({ body: [1] }))
    await expect(api.items.sets()).rejects.toThrow('/item/sets should respond with an object')
  })
})
