import { describe, expect, it } from 'vitest'
import { camelCase } from '../../src/sandbox/generator/words.ts'
import type { Item, Recipe } from '../../src/sandbox/index.ts'
import { given, namesOf, type PageBody, world } from './given.ts'

const limits = { guest: 10_000, token: 10_000 }

async function givenSearch(dialect: 'live' | 'documented' = 'live') {
  const { get } = await given({ game: false, limits, dialect })
  const post = <Body>(path: string, body: unknown) =>
    get<Body>(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  /** Everything that a filter finds. */
  const items = async (filter: object) => (await post<Item[]>('/item/search?fullResult', filter)).body
  const recipes = async (filter: object) => (await post<Recipe[]>('/item/recipe/search?full_result', filter)).body
  return { get, post, items, recipes }
}

describe('the item search', () => {
  const some = world.items.find(({ majorIds }) => majorIds)
  const [label = ''] = Object.keys(some?.majorIds ?? {})

  it.each<[string, object, (item: Item) => boolean]>([
    ['a type', { type: 'weapon' }, ({ type }) => type === 'weapon'],
    ['types and sub-types', { type: ['bow', 'tome'] }, ({ type, subType }) => subType === 'bow' || type === 'tome'],
    ['a tier', { tier: ['mythic'] }, ({ tier }) => tier === 'mythic'],
    ['two tiers', { tier: ['mythic', 'TIER_3'] }, ({ tier = '' }) => ['mythic', 'TIER_3'].includes(tier)],
    ['an attack speed', { attackSpeed: ['superFast'] }, ({ attackSpeed }) => attackSpeed === 'superFast'],
    [
      'a range of levels',
      { levelRange: [100, 105] },
      ({ requirements }) => Number(requirements.level) >= 100 && Number(requirements.level) <= 105,
    ],
    ['one level', { levelRange: 105 }, ({ requirements: { level } }) => level === 105],
    ['an identification', { identifications: ['thorns'] }, ({ identifications = {} }) => 'thorns' in identifications],
    ['a major id', { majorIds: [camelCase(label)] }, ({ majorIds = {} }) => label in majorIds],
    ['a text', { query: 'MOON' }, ({ displayName }) => /moon/i.test(displayName)],
    [
      'a profession',
      { professions: 'cooking', type: 'ingredient' },
      ({ requirements: { skills } }) => Array.isArray(skills) && skills.includes('cooking'),
    ],
    [
      'several fields',
      { type: 'bow', tier: 'unique', levelRange: [1, 30] },
      ({ subType, tier, requirements }) => subType === 'bow' && tier === 'unique' && Number(requirements.level) <= 30,
    ],
    ['fields that are null', { type: 'charm', query: null, tier: null }, ({ type }) => type === 'charm'],
  ])('finds exactly the items with %s', async (_case, filter, expected) => {
    const { items } = await givenSearch()
    const names = namesOf(await items(filter)).sort()
    expect(names.length).toBeGreaterThan(0)
    expect(names).toEqual(namesOf(world.items.filter(expected)).sort())
  })

  it('gives everything for no filter, and nothing for a value that does not exist', async () => {
    const { items } = await givenSearch()
    expect((await items({})).length).toBe(world.items.length)
    expect(await items({ tier: ['Mythic'] })).toEqual([])
  })

  it.each([
    ['live', 1],
    ['documented', 0],
  ] as const)('cuts what it finds into pages: %s', async (dialect, first) => {
    const { post } = await givenSearch(dialect)
    const filter = { type: 'relik' }
    const seen: string[] = []
    for (let page: number | null = first; page !== null; ) {
      const found: PageBody = (await post<PageBody>(`/item/search?page=${page}`, filter)).body
      const { controller, results } = found
      expect(controller.current).toBe(page)
      seen.push(...namesOf(results))
      page = controller.next
    }
    expect(seen.sort()).toEqual(namesOf(world.items.filter(({ subType }) => subType === 'relik')).sort())
    expect((await post('/item/search?page=400', filter)).status).toBe(400)
  })

  it('answers page by page in the documented form, whatever the flag', async () => {
    const { post } = await givenSearch('documented')
    const { body } = await post<PageBody>('/item/search?fullResult', { type: 'relik' })
    expect(body.controller.count).toBe(world.items.filter(({ subType }) => subType === 'relik').length)
  })

  it('gives the same copy to the same filter for an hour', async () => {
    const { post } = await givenSearch()
    const [one, two] = [await post('/item/search', { type: 'bow' }), await post('/item/search', { type: 'bow' })]
    expect(two.text).toBe(one.text)
    expect(one.headers.get('cache-control')).toBe('max-age=3600')
  })

  it.each([
    ['MalformedPayload', '/item/search', 'no json'],
    ['MalformedPayload', '/item/search', '[]'],
    ['MalformedPayload', '/item/search', ''],
    ['InvalidFormError', '/item/search', { type: 5 }],
    ['InvalidFormError', '/item/search', { tier: [1] }],
    ['InvalidFormError', '/item/search', { query: ['a'] }],
    ['InvalidFormError', '/item/search', { levelRange: ['1', '5'] }],
    ['InvalidFormError', '/item/search', { levelRange: [1, 2, 3] }],
    ['InvalidFormError', '/item/search', { levelRange: [9, 1] }],
    ['MalformedPayload', '/item/recipe/search', '{'],
    ['InvalidFormError', '/item/recipe/search', { xp: 'much' }],
  ])('refuses a body with %s: %s %j', async (error, path, body) => {
    const { post } = await givenSearch()
    const refused = await post<Record<string, unknown>>(path, body)
    expect([refused.status, refused.body.error, refused.body.code]).toEqual([400, error, 400])
  })

  it('is a POST, and the quick search a GET that gives a list', async () => {
    const { get } = await givenSearch()
    const wrong = await get('/item/search')
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST'])
    const found = await get<Item[]>('/item/search/moon%20')
    expect(namesOf(found.body)).toEqual(
      namesOf(world.items.filter(({ displayName }) => displayName.toLowerCase().includes('moon '))),
    )
    expect((await get<Item[]>('/item/search/no%20such%20item')).body).toEqual([])
  })
})

describe('the recipe search', () => {
  const food = world.recipes.find(({ type }) => type === 'food')
  const inside = ({ minimum = 0, maximum = 0 }) => Math.floor((minimum + maximum) / 2)
  const [, span] = [food, food?.duration ?? { minimum: 0, maximum: 0 }]
  const contains = (range: { minimum?: number; maximum?: number } | undefined, value: number) =>
    range?.minimum !== undefined && range.maximum !== undefined && range.minimum <= value && value <= range.maximum

  it.each<[string, object, (recipe: Recipe) => boolean]>([
    ['a type', { type: 'food' }, ({ type }) => type === 'food'],
    ['a skill', { skill: ['jeweling'] }, ({ skill }) => skill === 'jeweling'],
    [
      'a material',
      { materials: food?.materials[0]?.item },
      ({ materials }) => materials.some(({ item }) => item === food?.materials[0]?.item),
    ],
    ['a text', { query: 'boots1-' }, ({ internalName }) => internalName.startsWith('Boots1-')],
    ['experience in a range', { xp: [100, 300] }, ({ xp }) => xp >= 100 && xp <= 300],
    ['a level', { level: 25 }, ({ level }) => contains(level, 25)],
    [
      'a duration',
      { type: 'food', duration: inside(span) },
      ({ type, duration }) => type === 'food' && contains(duration, inside(span)),
    ],
    [
      'a basic duration',
      { basicDuration: inside(food?.basicDuration ?? {}) },
      ({ basicDuration }) => contains(basicDuration, inside(food?.basicDuration ?? {})),
    ],
    ['a durability', { durability: 175_000 }, ({ durability }) => contains(durability, 175_000)],
    ['health or damage', { healthOrDamage: [0, 100_000] }, ({ healthOrDamage }) => 'minimum' in healthOrDamage],
  ])('finds exactly the recipes with %s', async (_case, filter, expected) => {
    const { recipes } = await givenSearch()
    const names = namesOf(await recipes(filter)).sort()
    expect(names).toEqual(namesOf(world.recipes.filter(expected)).sort())
    expect(names.length).toBeGreaterThan(0)
  })

  it('is paginated without the flag', async () => {
    const { post } = await givenSearch()
    const { body } = await post<PageBody>('/item/recipe/search', { skill: 'jeweling' })
    expect(body.controller).toMatchObject({ count: 144, pages: 8, current: 1, next: 2 })
    expect(body.results).toHaveLength(20)
  })
})
