import { describe, expect, test } from 'vitest'
import { itemVocabulary } from '../../src/api/schemas/items.ts'
import { abilityTrees } from '../../src/resources/ability-trees/index.ts'
import { articles } from '../../src/resources/articles/index.ts'
import { aspects } from '../../src/resources/aspects/index.ts'
import { classes } from '../../src/resources/classes/index.ts'
import type { AnswerHook } from '../../src/sandbox/index.ts'
import type { Resource } from '../../src/sync/declare/resource.ts'
import type { RunResult } from '../../src/sync/run/run-result.ts'
import { kindsAtNight } from '../support/postgres.ts'
import { recordedFolder } from '../support/recorded.ts'
import { type SyncOptions, worldOf } from '../support/world.ts'

describe.each(kindsAtNight)('what is asked for class by class, on the %s database', (kind) => {
  const world = worldOf(kind)

  test('keeps abilities with their texts plain and as sent, and what one requires', async () => {
    expect(await world.syncNow(abilityTrees)).toMatchObject({ status: 'ok', quarantined: 0 })
    const [row] = await world.rows(
      `select class, kind, name_html like '<span%', name !~ '[<>&]', description !~ '<', ability_points is not null
         from game.ability where kind = 'ability' limit 1`,
    )
    expect(row).toEqual([expect.any(String), 'ability', true, true, true, true])
    expect(await world.rows('select distinct kind from game.ability order by 1')).toEqual([
      ['ability'],
      ['archetype'],
      ['connector'],
    ])
    const relations = await world.rows('select distinct relation from game.ability_link order by 1')
    expect(relations.flat()).toEqual(expect.arrayContaining(['family', 'link', 'requires']))
  })

  test('reads a map in the form of 2023 as that of today, and sets aside what is neither ability nor connector', async () => {
    await world.syncNow(abilityTrees)
    const nodes = (await world.api.abilities.map('mage')).read()
    const inCapitals = (value: unknown): unknown =>
      typeof value !== 'object' || value === null
        ? value
        : Object.fromEntries(
            Object.entries(value).map(([name, inside]) => {
              if (name === 'type') return ['TYPE', String(inside).toUpperCase()]
              if (name === 'page') return ['PAGE', String(inside)]
              return [name.toUpperCase(), name === 'family' || name === 'icon' ? inside : inCapitals(inside)]
            }),
          )
    // It was drawn for each pair of abilities, the last time as it is.
    const drawn = nodes.flatMap((node) =>
      node.type === 'connector'
        ? [{ ...node, meta: { ...node.meta, icon: 'less' }, family: [...(node.family ?? [])].slice(0, 1) }, node]
        : [node],
    )
    const odd = { TYPE: 'BRIDGE', COORDINATES: { X: 1, Y: 1 }, META: { PAGE: '1' }, FAMILY: [] }
    await world.clock.advance(3_601_000)
    world.sandbox.setAnswer('/ability/map/mage', () => ({ body: { pages: 7, map: [...drawn.map(inCapitals), odd] } }))
    expect(await world.syncNow(abilityTrees)).toMatchObject({
      status: 'partial',
      quarantined: 1,
      inserted: 0,
      changed: 0,
      closed: 0,
    })
    expect(await world.rows('select key, path, reason from sync.quarantine')).toEqual([
      ['mage/connector/1 1 1', '/type', expect.stringContaining('is neither ability nor connector')],
    ])
  })

  test('takes no abilities of a class away when it comes without any', async () => {
    await world.syncNow(abilityTrees)
    const before = await world.rows(`select count(*) from game.ability where valid_until = 'infinity'`)
    await world.clock.advance(3_601_000)
    world.sandbox.setAnswer('/ability/tree/mage', () => ({ body: { archetypes: {}, pages: {} } }))
    world.sandbox.setAnswer('/ability/map/mage', () => ({ body: {} }))
    for (let nth = 0; nth < 3; nth++) {
      expect((await world.syncNow(abilityTrees)).status).not.toBe('ok')
      await world.clock.advance(3_601_000)
    }
    expect(await world.rows(`select count(*) from game.ability where valid_until = 'infinity'`)).toEqual(before)
  })

  const refused = (status: number) => () => ({ status, body: { error: 'NotFound', detail: 'no such thing' } })
  const current = async (table: string) =>
    (await world.rows(`select count(*) from game.${table} where valid_until = 'infinity'`))[0]?.[0] as number
  /** Syncs a resource every three hours, each time at another hour of its caches. */
  async function syncFor(resource: Resource, times: number, options: SyncOptions = {}): Promise<RunResult[]> {
    const runs: RunResult[] = []
    for (let nth = 0; nth < times; nth++) {
      await world.clock.advance(3 * 3_601_000)
      runs.push(await world.syncNow(resource, options))
    }
    return runs
  }

  test.each<[string, Resource, string, string, AnswerHook]>([
    ['a class without abilities', abilityTrees, 'ability', '/ability/tree/mage', refused(404)],
    ['a class whose ability map fails', abilityTrees, 'ability', '/ability/map/mage', refused(500)],
    ['a class whose ability map is empty', abilityTrees, 'ability', '/ability/map/mage', () => ({ body: {} })],
    ['a class whose aspects are refused', aspects, 'aspect', '/aspects/mage', refused(403)],
    ['a class without aspects', aspects, 'aspect', '/aspects/mage', () => ({ body: [] })],
    ['a class that is listed alone', classes, 'class', '/classes/mage', refused(404)],
    ['a type of articles that there is no more', articles, 'article', '/publisher/articles/list/blog', refused(404)],
  ])('records all the others while there is %s', async (_what, resource, table, path, answer) => {
    await world.syncNow(resource)
    const whole = await current(table)
    world.sandbox.setAnswer(path, answer)
    for (const run of await syncFor(resource, 4)) {
      expect(run).toMatchObject({ status: 'partial', closed: 0 })
      expect(run.error).toBeDefined()
    }
    expect(await current(table)).toBe(whole)
    // What is not shown any more is unknown.
    expect(await world.rows('select count(*) > 0 from sync.unread where until_at is null')).toEqual([[true]])
    world.sandbox.setAnswer(path, null)
    for (const run of await syncFor(resource, 2)) {
      expect(run).toMatchObject({ changed: 0, rejected: 0 })
      // By now another article may have come out, and an old one may be over.
      expect(run.status).toMatch(/^(ok|unchanged)$/)
    }
    expect(await world.rows('select count(*) from sync.unread where until_at is null')).toEqual([[0]])
  })

  type Tree = { readonly archetypes: object; readonly pages: Readonly<Record<string, object>> }
  test.each<[string, (tree: Tree) => unknown]>([
    ['archetypes are null', (tree) => ({ ...tree, archetypes: null })],
    ['archetypes are a list', (tree) => ({ ...tree, archetypes: [] })],
    ['archetypes are not sent', ({ pages }) => ({ pages })],
    ['pages are empty', (tree) => ({ ...tree, pages: {} })],
    ['pages are a text', (tree) => ({ ...tree, pages: 'none' })],
    ['first page is null', (tree) => ({ ...tree, pages: { ...tree.pages, 1: null } })],
    ['first page is a text', (tree) => ({ ...tree, pages: { ...tree.pages, 1: 'none' } })],
  ])('ends no ability and no archetype of a class whose %s for days', async (_what, changed) => {
    await world.syncNow(abilityTrees)
    const state = async () => await world.rows('select class, kind, id, valid_until from game.ability order by 1, 2, 3')
    const before = await state()
    const tree = (await world.api.abilities.tree('mage')).body as unknown as Tree
    world.sandbox.setAnswer('/ability/tree/mage', () => ({ body: changed(tree) }))
    for (const run of await syncFor(abilityTrees, 8)) expect(run).toMatchObject({ status: 'partial', closed: 0 })
    world.sandbox.setAnswer('/ability/tree/mage', null)
    await syncFor(abilityTrees, 1)
    expect(await state()).toEqual(before)
    expect(await world.rows('select count(*) from sync.unread where until_at is null')).toEqual([[0]])
  })

  test.each<[string, AnswerHook]>([
    ['is refused', refused(404)],
    ['fails', refused(500)],
    ['is empty', () => ({ body: {} })],
    ['is no object by name', () => ({ body: itemVocabulary.classRequirement.map((id) => ({ id })) })],
    ['has hundreds', () => ({ body: Object.fromEntries(Array.from({ length: 300 }, (_, nth) => [`c${nth}`, {}])) })],
  ])('records the classes that are known while their list %s', async (_what, answer) => {
    const whole = Object.fromEntries(itemVocabulary.classRequirement.map((name) => [name, { name }]))
    world.sandbox.setAnswer('/classes', () => ({ body: whole }))
    await world.syncNow(classes)
    const mage = await world.api.classes.get('mage')
    world.sandbox.setAnswer('/classes', answer)
    for (const lore of ['one', 'two']) {
      world.sandbox.setAnswer('/classes/mage', () => ({ body: { ...mage.body, lore } }))
      const [run] = await syncFor(classes, 1)
      expect(run).toMatchObject({ status: 'partial', changed: 1, closed: 0, error: expect.stringMatching(/classes/) })
    }
    expect(await current('class')).toBe(5)
    world.sandbox.setAnswer('/classes', () => ({ body: whole }))
    expect(await syncFor(classes, 1)).toMatchObject([{ status: 'unchanged', changed: 0 }])
  })

  test('fails where the list of classes fails with all the others', async () => {
    for (const one of ['', ...itemVocabulary.classRequirement.map((name) => `/${name}`)])
      world.sandbox.setAnswer(`/classes${one}`, refused(503))
    // What is down is not asked for each class.
    expect(await world.syncNow(classes)).toMatchObject({ status: 'failed', temporary: true })
    expect(new Set(world.sandbox.requests.map(({ path }) => path)).size).toBe(3)
  })

  test('records what there is from the first response on where a class is listed that has nothing yet', async () => {
    const list = Object.fromEntries([...itemVocabulary.classRequirement, 'monk'].map((name) => [name, { name }]))
    world.sandbox.setAnswer('/classes', () => ({ body: list }))
    world.sandbox.setAnswer('/aspects/monk', refused(404))
    expect(await world.syncNow(aspects)).toMatchObject({ status: 'partial', quarantined: 0 })
    expect(await current('aspect')).toBeGreaterThan(10)
  })

  test('gives no class the abilities of another one whose tree stands once in the place of its own', async () => {
    await world.syncNow(abilityTrees)
    const state = async () =>
      await world.rows('select class, kind, id, name, valid_from, valid_until from game.ability order by 1, 2, 3, 5')
    const before = await state()
    const archer = (await world.api.abilities.tree('archer')).body
    world.sandbox.setAnswer('/ability/tree/mage', () => ({ body: archer }))
    expect(await syncFor(abilityTrees, 1)).toMatchObject([{ inserted: 0, closed: 0 }])
    world.sandbox.setAnswer('/ability/tree/mage', null)
    await syncFor(abilityTrees, 3)
    expect(await state()).toEqual(before)
    expect(await world.rows('select kind, subject from sync.claim')).toEqual([])
  })

  test('gives a class a tree of other abilities since the first of two responses that show it', async () => {
    await world.syncNow(abilityTrees)
    const archer = (await world.api.abilities.tree('archer')).body
    world.sandbox.setAnswer('/ability/tree/mage', () => ({ body: archer }))
    await world.clock.advance(3 * 3_601_000)
    const first = world.clock.now()
    await world.syncNow(abilityTrees)
    await syncFor(abilityTrees, 2)
    const began = await world.db.query<{ at: Date }>(
      `select distinct valid_from as at from game.ability where class = 'mage' and kind = 'ability' and valid_until = 'infinity'`,
    )
    expect(began.map(({ at }) => Math.abs(at.getTime() - first) < 60_000)).toEqual([true])
  })

  /** The body of a response in which every second record has an object in the place of a field. */
  const withOdd = (records: unknown, field: string): unknown =>
    Array.isArray(records)
      ? records.map((one: object, nth) => (nth % 2 ? { ...one, [field]: { odd: true } } : one))
      : Object.fromEntries(Object.entries(Object(records)).map(([page, nodes]) => [page, withOdd(nodes, field)]))

  test.each<[string, Resource, string, string, string]>([
    ['keys of aspects', aspects, 'aspect', '/aspects', 'internalName'],
    ['places of connectors', abilityTrees, 'ability', '/ability/map', 'coordinates'],
  ])('ends and invents nothing while half of the %s cannot be read', async (_what, resource, table, path, field) => {
    await world.syncNow(resource)
    const state = async () =>
      (await world.rows(`select to_jsonb(one) - 'extra' from game.${table} one order by 1`)).flat()
    const before = await state()
    for (const name of itemVocabulary.classRequirement) {
      const { body } = await (path === '/aspects' ? world.api.aspects(name) : world.api.abilities.map(name))
      world.sandbox.setAnswer(`${path}/${name}`, () => ({ body: withOdd(body, field) }))
    }
    for (const run of await syncFor(resource, 4))
      expect(run).toMatchObject({ status: 'partial', inserted: 0, closed: 0, quarantined: expect.any(Number) })
    for (const name of itemVocabulary.classRequirement) world.sandbox.setAnswer(`${path}/${name}`, null)
    await syncFor(resource, 2)
    expect(await state()).toEqual(before)
  })

  test('leaves a class out that no path can have', async () => {
    const list = Object.fromEntries([...itemVocabulary.classRequirement, '..'].map((name) => [name, { name }]))
    world.sandbox.setAnswer('/classes', () => ({ body: list }))
    expect(await world.syncNow(aspects)).toMatchObject({ status: 'partial', requests: 6 })
  })

  test.each([
    [['archer', 'mage', 'shaman'], 0.5],
    [['mage'], 0.9],
  ])(
    'loads what comes without %j, which are more than is plausible, once three responses have shown as much',
    async (names, plausibleShare) => {
      await world.syncNow(aspects)
      const whole = await current('aspect')
      for (const name of names) world.sandbox.setAnswer(`/aspects/${name}`, refused(404))
      const runs = await syncFor(aspects, 4, { plausibleShare })
      expect(runs.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'partial', 'partial'])
      expect(await current('aspect')).toBe(whole)
    },
  )

  test('fails where all of it fails', async () => {
    for (const name of itemVocabulary.classRequirement) world.sandbox.setAnswer(`/aspects/${name}`, refused(503))
    expect(await world.syncNow(aspects)).toMatchObject({ status: 'failed', temporary: true })
    for (const name of itemVocabulary.classRequirement) world.sandbox.setAnswer(`/aspects/${name}`, refused(404))
    expect(await world.syncNow(aspects)).toMatchObject({ status: 'failed' })
  })

  test('asks for the classes that are known alone where thousands are listed', async () => {
    const names = Array.from({ length: 3000 }, (_, nth) => [`class${nth}`, { name: 'x', overallDifficulty: 1 }])
    world.sandbox.setAnswer('/classes', () => ({ body: Object.fromEntries(names) }))
    expect(await world.syncNow(aspects)).toMatchObject({ status: 'partial', requests: 6 })
  })

  test.each(['', '..', '\ud800'])(
    'tries again later where the class %j is listed, which no path can have',
    async (name) => {
      world.sandbox.setAnswer('/classes', () => ({ body: { [name]: { name: 'x', overallDifficulty: 1 } } }))
      const run = await world.syncNow(aspects)
      expect(run).toMatchObject({ status: 'failed', temporary: true, requests: 1 })
      expect(run.error).toContain('is listed as a class')
    },
  )
})

describe('the recorded abilities and aspects', () => {
  const folder = recordedFolder('recordings')
  if (folder === undefined) return test.skip('were synced (skipped: recorded data absent)')
  const world = worldOf('server', { sandbox: { recordings: folder } })

  test.each([
    ['ability-trees', abilityTrees],
    ['aspects', aspects],
  ] as const)('%s load without quarantine', async (_name, resource) => {
    const names = ['archer', 'warrior', 'assassin', 'mage', 'shaman']
    world.sandbox.setAnswer('/classes', () => ({
      body: Object.fromEntries(names.map((name) => [name, { name, overallDifficulty: 1 }])),
    }))
    await world.clock.advanceTo(Date.UTC(2026, 7, 20))
    expect(await world.syncNow(resource)).toMatchObject({ quarantined: 0, status: 'ok' })
  })
})
