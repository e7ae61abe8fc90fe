import { describe, expect, it } from 'vitest'
import type { Item } from '../../src/sandbox/index.ts'
import { given, namesOf, type PageBody, smallWorld, world } from './given.ts'

describe('pages of the live dialect', () => {
  it('begin at 1 and end with a page that is not full', async () => {
    const { walk } = await given({ items: smallWorld(45) })
    const pages = await walk('/item/database')
    expect(pages.map((page) => page.controller)).toEqual([
      { count: 45, current_count: 20, pages: 3, prev: null, current: 1, next: 2 },
      { count: 45, current_count: 20, pages: 3, prev: 1, current: 2, next: 3 },
      { count: 45, current_count: 5, pages: 3, prev: 2, current: 3, next: null },
    ])
    expect(namesOf(pages.flatMap((page) => page.results)).sort()).toEqual(namesOf(smallWorld(45).items).sort())
  })

  it.each(['0', '4', '-1', 'two', ''])('answer 400 to page "%s"', async (page) => {
    const { get } = await given({ items: smallWorld(45) })
    const { status, body } = await get(`/item/database?page=${page}`)
    expect({ status, error: body.error, code: body.code }).toEqual({ status: 400, error: 'PaginationError', code: 400 })
  })

  it('give way to everything at once when the flag is there, bare or empty', async () => {
    const { get } = await given()
    for (const flag of ['?fullResult', '?fullResult=']) {
      const { body } = await get<Item[]>(`/item/database${flag}`)
      expect(body).toHaveLength(world.items.length)
    }
    expect((await get<unknown[]>('/item/recipe/database?full_result')).body).toHaveLength(720)
  })

  it('stay when the flag carries a value', async () => {
    const { get } = await given()
    expect((await get<PageBody>('/item/database?fullResult=True')).body.controller.current).toBe(1)
  })
})

describe('pages of the documented dialect', () => {
  it('begin at 0', async () => {
    const { walk } = await given({ items: smallWorld(45), dialect: 'documented' })
    const pages = await walk('/item/database')
    expect(pages.map(({ controller }) => [controller.prev, controller.current, controller.next])).toEqual([
      [null, 0, 1],
      [0, 1, 2],
      [1, 2, null],
    ])
    expect(new Set(namesOf(pages.flatMap((page) => page.results))).size).toBe(45)
  })

  it('do not give way to the flag', async () => {
    const { get } = await given({ dialect: 'documented' })
    expect((await get<PageBody>('/item/database?fullResult')).body.controller.pages).toBe(331)
    expect((await get<PageBody>('/item/recipe/database?full_result')).body.controller.pages).toBe(36)
  })

  it('end before the page after the last', async () => {
    const { get } = await given({ items: smallWorld(45), dialect: 'documented' })
    expect((await get('/item/database?page=3')).status).toBe(400)
  })
})

describe('paths and methods', () => {
  it('that do not exist are answered with 404 and the error envelope', async () => {
    const { get } = await given()
    expect((await get('/item/nothing')).body).toEqual({ error: 'NotFound', detail: 'Resource not found.', code: 404 })
  })

  it('that are known but asked with another method are answered with 405', async () => {
    const { get } = await given()
    const { status, headers } = await get('/item/sets', { method: 'POST' })
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })

  it('serve sets and both forms of metadata', async () => {
    const { get } = await given()
    expect(Object.keys((await get('/item/sets')).body)).toHaveLength(68)
    expect(Object.keys((await get('/item/metadata')).body)).toEqual(['filters', 'static'])
    expect(Object.keys((await get('/item/metadata?static')).body)).toContain('identifications')
  })
})
