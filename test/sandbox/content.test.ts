import { describe, expect, it } from 'vitest'
import { classNames } from '../../src/sandbox/content/abilities.ts'
import { articleTypes } from '../../src/sandbox/content/articles.ts'
import { given } from './given.ts'

const limits = { guest: 10_000, token: 10_000 }
const hour = 3_600_000

interface Tree {
  readonly archetypes: Readonly<Record<string, object>>
  readonly pages: Readonly<Record<string, Readonly<Record<string, Ability>>>>
}
interface Ability {
  readonly requirements: Readonly<Record<string, unknown>>
  readonly links: readonly string[]
  readonly locks: readonly string[] | null
  readonly coordinates: { readonly x: number; readonly y: number }
  readonly page: number
}
interface Node {
  readonly type: string
  readonly coordinates: { readonly x: number; readonly y: number }
  readonly meta: { readonly page: number; readonly id?: string }
  readonly family: readonly string[]
}

describe('classes and their abilities', () => {
  it('are five classes, each with three archetypes', async () => {
    const { get } = await given({ game: false, limits })
    const { body } = await get('/classes')
    expect(Object.keys(body)).toEqual([...classNames])
    for (const name of classNames) {
      const one = (await get<{ id: string; archetypes: object; overallDifficulty: number }>(`/classes/${name}`)).body
      expect(one.id).toBe(name)
      expect(Object.keys(one.archetypes)).toHaveLength(3)
      expect(body[name]).toEqual(expect.objectContaining({ overallDifficulty: one.overallDifficulty }))
      const tree = (await get<Tree>(`/ability/tree/${name}`)).body
      expect(Object.keys(tree.archetypes)).toEqual(Object.keys(one.archetypes))
    }
  })

  it.each(classNames)('show the same abilities in tree and map, joined by lines: %s', async (name) => {
    const { get } = await given({ game: false, limits })
    const tree = (await get<Tree>(`/ability/tree/${name}`)).body
    const abilities = new Map(Object.values(tree.pages).flatMap((page) => Object.entries(page)))
    const nodes = Object.values((await get<Record<string, Node[]>>(`/ability/map/${name}`)).body).flat()
    const shown = nodes.filter(({ type }) => type === 'ability')
    expect(shown.map(({ meta }) => meta.id).sort()).toEqual([...abilities.keys()].sort())
    expect(abilities.size).toBeGreaterThan(40)
    for (const { meta, coordinates, family } of shown) {
      const one = abilities.get(meta.id ?? '')
      expect([one?.coordinates, one?.page, family]).toEqual([coordinates, meta.page, [meta.id]])
      for (const other of one?.links ?? []) expect(abilities.get(other)?.links).toContain(meta.id)
      const { NODE } = one?.requirements ?? {}
      for (const parent of NODE === undefined ? [] : [NODE].flat()) expect(one?.links).toContain(parent)
    }
    for (const { family } of nodes) for (const id of family) expect(abilities.has(id)).toBe(true)
    const places = nodes.map(({ coordinates: { x, y } }) => `${x} ${y}`)
    expect(new Set(places).size).toBe(places.length)
  })

  it('know aspects with ids of their own', async () => {
    const { get } = await given({ game: false, limits })
    const all = await Promise.all(classNames.map((name) => get<{ internalName: string }[]>(`/aspects/${name}`)))
    const ids = all.flatMap(({ body }) => body.map(({ internalName }) => internalName))
    expect(ids.length).toBeGreaterThan(100)
    expect(new Set(ids).size).toBe(ids.length)
    for (const id of ids) expect(id).toMatch(/^[\da-f]{8}$/)
  })

  it('require nothing but numbers in the documented form, and refuse an unknown class', async () => {
    const { get } = await given({ game: false, limits, dialect: 'documented' })
    const { body } = await get<Tree>('/ability/tree/mage')
    const requirements = Object.values(body.pages).flatMap((page) => Object.values(page))
    expect(new Set(requirements.flatMap((one) => Object.keys(one.requirements)))).toEqual(new Set(['ABILITY_POINTS']))
    for (const path of ['/ability/tree/monk', '/ability/map/Mage', '/aspects/', '/classes/monk']) {
      const { status, body: refusal } = await get(path)
      expect([status, refusal.error]).toEqual([400, 'InvalidTree'])
    }
  })
})

describe('articles', () => {
  interface List {
    readonly controller: { readonly count: number; readonly next: number | null }
    readonly results: Readonly<Record<string, { readonly pk: number; readonly title: string; readonly type: string }>>
  }

  it('are listed page by page, keyed by their place, and fetched by their key', async () => {
    const { get } = await given({ game: false, limits, pageSize: 5 })
    for (const type of ['blog', 'event', 'giveaway', 'article', 'poll']) {
      const seen: number[] = []
      for (let page: number | null = 1; page !== null; ) {
        const list: List = (await get<List>(`/publisher/articles/list/${type}?page=${page}`)).body
        const { controller, results } = list
        expect(Object.keys(results)).toEqual(Object.keys(results).map((_, nth) => String(nth + 1)))
        seen.push(...Object.values(results).map(({ pk }) => pk))
        if (controller.next === null) expect(new Set(seen).size).toBe(controller.count)
        page = controller.next
      }
      const { status, body } = await get(`/publisher/articles/fetch/${type}/${seen[0]}`)
      expect([status, body.id, body.type]).toEqual([200, seen[0], type])
      expect('votes' in body).toBe(type === 'poll')
      expect((await get(`/publisher/articles/fetch/${type}/1`)).status).toBe(404)
    }
    expect((await get('/publisher/articles/list/blog?page=99')).status).toBe(400)
    expect((await get('/publisher/articles/list/rumour')).status).toBe(404)
  })

  it('are published, edited and taken away as the weeks pass, and so are news and videos', async () => {
    const { get, clock } = await given({ game: false, limits, pageSize: 100 })
    const read = async () => {
      const lists = []
      for (const type of articleTypes) lists.push((await get<List>(`/publisher/articles/list/${type}`)).body)
      return {
        titles: new Map(lists.flatMap(({ results }) => Object.values(results).map(({ pk, title }) => [pk, title]))),
        news: (await get('/latest-news')).text,
        videos: Object.values((await get('/publisher/videos/list')).body),
      }
    }
    const first = await read()
    await clock.advance(60 * 24 * hour)
    const later = await read()
    const shared = [...first.titles].filter(([pk]) => later.titles.has(pk))
    expect(later.titles.size - shared.length).toBeGreaterThan(5)
    expect(shared.length).toBeLessThan(first.titles.size)
    expect(shared.some(([pk, title]) => later.titles.get(pk) !== title)).toBe(true)
    expect(later.news).not.toBe(first.news)
    expect(later.videos).toHaveLength(6)
    expect(later.videos.filter((one) => first.videos.includes(one)).length).toBeLessThan(3)
  })

  it('come with videos and news, whose comments are a number as text', async () => {
    const { get } = await given({ game: false, limits })
    for (const url of Object.values((await get('/publisher/videos/list')).body))
      expect(URL.canParse(String(url))).toBe(true)
    const news = (await get<Record<string, string>[]>('/latest-news')).body
    expect(news.length).toBeGreaterThan(3)
    for (const { comments, date } of news) {
      expect(comments).toMatch(/^\d+$/)
      expect(Date.parse(date ?? '')).toBeLessThan(Date.parse('2026-06-01'))
    }
  })
})

describe('the map', () => {
  it('has markers whose coordinates are text, nodes, and a number of quests', async () => {
    const { get } = await given({ game: false, limits })
    const markers = (await get<Record<string, unknown>[]>('/map/locations/markers')).body
    for (const { x, y, z } of markers) for (const one of [x, y, z]) expect(one).toMatch(/^-?\d+$/)
    expect((await get<unknown[]>('/map/gathering-nodes')).body.length).toBeGreaterThan(10_000)
    expect((await get('/map/quests')).body).toEqual({ quests: expect.any(Number) })
  })

  it('gains and loses quests with a balance patch', async () => {
    const { get, clock } = await given({ game: false, limits })
    const counts = new Set()
    for (let week = 0; week < 6; week++) {
      counts.add((await get<{ quests: number }>('/map/quests')).body.quests)
      await clock.advance(7 * 24 * hour)
    }
    expect(counts.size).toBeGreaterThan(2)
    expect(counts.size).toBeLessThan(5)
  })

  it('has world events, of which a few have a schedule, always ahead', async () => {
    const { get, clock } = await given({ game: false, limits })
    const ids: string[][] = []
    for (let nth = 0; nth < 3; nth++) {
      const events = (await get<{ internalName: string; schedule: string | null }[]>('/map/world-events')).body
      ids.push(events.map(({ internalName }) => internalName))
      const scheduled = events.flatMap(({ schedule }) => schedule ?? [])
      expect([events.length, scheduled.length > 3, scheduled.length < 20]).toEqual([69, true, true])
      for (const schedule of scheduled) {
        expect(schedule).toMatch(/^[\d-]{10}T[\d:]{8}\+00:00$/)
        expect(Date.parse(schedule)).toBeGreaterThan(clock.now())
      }
      await clock.advance(hour)
    }
    expect(ids[1]).toEqual(ids[0])
  })

  it('rewards by level when asked, and differently every week', async () => {
    const { get, clock } = await given({ limits, game: false })
    type Places = { internalName: string; rewards: object[]; level?: number }[]
    const ask = async (path: string) => (await get<Places>(path)).body
    const [camps, raids, pools] = [await ask('/map/camps'), await ask('/map/raids'), await ask('/map/loot-pools')]
    expect([camps.length, raids.length, pools.length]).toEqual([8, 5, 13])
    expect(pools.map(({ rewards }) => rewards)).toEqual([...camps, ...raids].map(({ rewards }) => rewards))
    expect(pools.some((pool) => 'level' in pool)).toBe(false)
    const low = await ask('/map/camps?level=20')
    expect(low.map(({ level }) => level)).toEqual(camps.map(({ level }) => level))
    expect(low.map(({ rewards }) => rewards)).not.toEqual(camps.map(({ rewards }) => rewards))
    await clock.advance(7 * 24 * hour)
    const later = await ask('/map/camps')
    expect(later.map(({ internalName }) => internalName)).toEqual(camps.map(({ internalName }) => internalName))
    expect(later.map(({ rewards }) => rewards)).not.toEqual(camps.map(({ rewards }) => rewards))
    expect((await get('/map/camps?level=high')).status).toBe(400)
  })
})

describe('what nobody plays', () => {
  it('is the same for the same seed, and another world for another', async () => {
    const text = async (seed: number, path: string) =>
      (await (await given({ game: false, seed, limits })).get(path)).text
    for (const path of ['/ability/tree/mage', '/publisher/articles/list/blog', '/map/locations/markers']) {
      expect(await text(3, path)).toBe(await text(3, path))
      expect(await text(4, path)).not.toBe(await text(3, path))
    }
  })

  it('is only read, and the boards of the game are not part of it', async () => {
    const { get } = await given({ game: false })
    expect((await get('/ability/tree/mage', { method: 'POST' })).status).toBe(405)
    expect((await get('/ability')).status).toBe(404)
    expect((await get('/leaderboards/types')).status).toBe(404)
  })
})
