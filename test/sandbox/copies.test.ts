import { gunzipSync } from 'node:zlib'
import { request } from 'undici'
import { describe, expect, it } from 'vitest'
import { type Item, patchItems } from '../../src/sandbox/index.ts'
import { given, namesOf, type PageBody, producedAt, smallWorld, world } from './given.ts'

describe('a produced copy', () => {
  it('is the same for everybody, byte for byte, until it expires', async () => {
    const { get, clock } = await given()
    const first = await get('/item/database?fullResult')
    expect(first.headers.get('cache-control')).toBe('max-age=3600')
    expect(producedAt(first.headers)).toBe('2026-06-01T12:00:20.000Z')

    await clock.advance(3_599_000)
    const last = await get('/item/database?fullResult')
    expect(last.text === first.text).toBe(true)
    expect(last.headers.get('expires')).toBe(first.headers.get('expires'))
    expect(last.headers.get('date')).toBe('Mon, 01 Jun 2026 13:00:19 GMT')

    await clock.advance(1000)
    const next = await get<Item[]>('/item/database?fullResult')
    expect(producedAt(next.headers)).toBe('2026-06-01T13:00:20.000Z')
    expect(next.text === first.text, 'the order of the records changes').toBe(false)
    expect(namesOf(next.body).sort()).toEqual(namesOf(world.items).sort())
  })

  it.each([
    ['/item/sets', 120],
    ['/item/metadata', 180],
    ['/item/metadata?static', 180],
    ['/item/database', 3600],
    ['/item/recipe/database', 3600],
  ])('of %s lives %i seconds', async (path, seconds) => {
    const { get } = await given()
    const { headers } = await get(path)
    expect(headers.get('cache-control')).toBe(`max-age=${seconds}`)
    expect([headers.get('cache-source'), headers.get('version')]).toEqual(['SHARED', 'v3.7.2'])
  })

  it('of a page keeps its records when it is made anew, in another order', async () => {
    const { get, clock } = await given()
    const before = await get<PageBody>('/item/database?page=7')
    await clock.advance(3_600_000)
    const after = await get<PageBody>('/item/database?page=7')
    expect(namesOf(after.body.results)).not.toEqual(namesOf(before.body.results))
    expect(namesOf(after.body.results).sort()).toEqual(namesOf(before.body.results).sort())
  })

  it('of the sets lists the parts in another order each time', async () => {
    const { get, clock } = await given()
    const before = await get<Record<string, { parts: string[] }>>('/item/sets')
    await clock.advance(120_000)
    const after = await get<Record<string, { parts: string[] }>>('/item/sets')
    const ordered = (sets: Record<string, { parts: string[] }>) =>
      Object.values(sets).map(({ parts }) => [...parts].sort())
    expect(after.text).not.toBe(before.text)
    expect(ordered(after.body)).toEqual(ordered(before.body))
  })

  it('shows another world only after the copy before it has expired', async () => {
    const { get, clock, sandbox } = await given({ items: smallWorld(300) })
    await get('/item/database?fullResult')
    const patched = patchItems(smallWorld(300), 5, 10)
    sandbox.setItemWorld(patched)
    expect(namesOf((await get<Item[]>('/item/database?fullResult')).body)).not.toContain(patched.added[0])
    await clock.advance(3_600_000)
    expect(namesOf((await get<Item[]>('/item/database?fullResult')).body)).toContain(patched.added[0])
  })

  it('is compressed for who accepts it and when it is worth it', async () => {
    const { sandbox } = await given()
    const ask = async (path: string, headers: Record<string, string>) => {
      const answer = await request(sandbox.url + path, { headers })
      return { encoding: answer.headers['content-encoding'], bytes: Buffer.from(await answer.body.arrayBuffer()) }
    }
    const zipped = await ask('/item/sets', { 'accept-encoding': 'gzip, deflate' })
    const plain = await ask('/item/sets', {})
    expect([zipped.encoding, plain.encoding]).toEqual(['gzip', undefined])
    expect(gunzipSync(zipped.bytes).equals(plain.bytes)).toBe(true)
    expect((await ask('/nothing', { 'accept-encoding': 'gzip' })).encoding).toBeUndefined()
  })
})
