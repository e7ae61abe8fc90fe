import { describe, expect, test } from 'vitest'
import { readListing } from '../../src/api/read-listing.ts'
import { recordsOf } from '../../src/api/schemas/form/bodies.ts'
import { abilityTrees } from '../../src/resources/ability-trees/index.ts'
import { recordsOfClass } from '../../src/resources/ability-trees/normalize.ts'
import { aspects } from '../../src/resources/aspects/index.ts'
import { camps } from '../../src/resources/camps/index.ts'
import { guilds } from '../../src/resources/guilds/index.ts'
import { itemSets } from '../../src/resources/item-sets/index.ts'
import { items } from '../../src/resources/items/index.ts'
import { leaderboards } from '../../src/resources/leaderboards/index.ts'
import { players } from '../../src/resources/players/index.ts'
import { recipes } from '../../src/resources/recipes/index.ts'
import { seasons } from '../../src/resources/seasons/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { createItemWorld } from '../../src/sandbox/index.ts'
import type { Resource, Worklist } from '../../src/sync/declare/resource.ts'
import { noveltiesOf } from '../../src/sync/normalize/novelties.ts'
import { prepare } from '../../src/sync/normalize/prepare.ts'
import { guildBody, place } from '../support/guild-answers.ts'
import { profile } from '../support/player-answers.ts'
import { type Fields, recordedFolder, recordedResponses } from '../support/recorded.ts'

const odd = [null, 'text', 7, 1e300, -3.5, true, [], {}, [[1]], { a: { b: [null] } }, 'a\0b', '\ud800'] as const

const world = createItemWorld(7)
const ability = {
  name: 'Bolt',
  icon: { value: { id: 'x' } },
  slot: 1,
  description: ['a'],
  links: ['b'],
  requirements: {},
}
type Case = readonly [Resource | Worklist, Fields, (body: Fields) => unknown, readonly string[]]

const cases: readonly Case[] = [
  ...world.items
    .filter((_item, nth) => nth % 130 === 0 && nth < 400)
    .map((item): Case => [items, { ...item }, (body) => body, ['type']]),
  ...world.recipes.slice(0, 1).map((one): Case => [recipes, { ...one }, (body) => body, ['type']]),
  [abilityTrees, ability, (body) => ({ class: 'mage', kind: 'ability', id: 'bolt', body }), []],
  [aspects, { internalName: 'a1', name: 'A', icon: {}, tiers: { 1: { threshold: 1 } } }, (body) => body, []],
  [
    camps,
    { internalName: 'c', name: 'C', rewards: [{ name: 'R' }], location: { x: 1 } },
    (record) => ({ level: 0, body: record }),
    [],
  ],
  [
    seasons,
    { initDate: '2026-05-01T00:00:00Z', endDate: null, srPerWar: 3 },
    (record) => ({ season: '3', record }),
    [],
  ],
  [
    territories,
    { ...place('a', '08:00'), hq: true, links: ['Elm'] },
    (record) => ({ territory: 'Oak', record }),
    ['guild', 'acquired'],
  ],
  [guilds, { ...guildBody('a', { 1: { rank: 'owner' } }) }, (body) => body, []],
  [players, { ...profile(1, { playtime: 4, characters: {}, firstJoin: null }) }, (body) => body, []],
]

describe('an odd value in a field', () => {
  test.each(cases.map((one) => [one[0].name, ...one] as const))(
    'of %s costs that field only, and is told',
    (_name, resource, body, wrap, required) => {
      const whole = prepare(resource, [wrap(body)])
      const [good] = whole.entities
      expect(good?.key).toBeDefined()
      let misfits = 0
      for (const field of Object.keys(body)) {
        for (const value of odd) {
          const spoilt = prepare(resource, [wrap({ ...body, [field]: value })])
          const [entity] = spoilt.entities
          const isKey = good?.key.includes(String(body[field])) && typeof body[field] === 'string'
          if (isKey || required.includes(field)) continue
          const what = `${resource.name} ${field} ${JSON.stringify(value)}`
          expect(entity?.key, what).toBe(good?.key)
          expect(entity?.withoutRoot, what).toBe(false)
          const told = [
            ...(entity?.odd ?? []).map(({ anywhere }) => anywhere),
            ...spoilt.quarantined.map((one) => one.path),
          ]
          for (const path of told) expect(path, what).toContain(`/${field}`)
          misfits += told.length
          // No other field is read differently.
          const others = Object.entries(good?.root ?? {}).filter(([name]) => name === 'username' || name === 'name')
          for (const [name, before] of others) if (name !== field) expect(entity?.root[name], what).toEqual(before)
        }
      }
      expect(misfits).toBeGreaterThan(0)
    },
  )

  test('that names a guild costs no territory its holder, and a uuid without dashes is one', () => {
    const held = place('a', '08:00') as { guild: { uuid: string } }
    const uuid = held.guild.uuid.replaceAll('-', '').toUpperCase()
    const guild = { ...held.guild, uuid, name: 5, prefix: ['a'] }
    const { entities, quarantined } = prepare(territories, [{ territory: 'Oak', record: { ...held, guild } }])
    expect(quarantined).toEqual([])
    expect(entities[0]?.relatedEntities.holds?.[0]?.root).toMatchObject({
      guildUuid: held.guild.uuid,
      guildName: undefined,
    })
    const zeros = { ...held.guild, uuid: '00000000-0000-0000-0000-000000000000' }
    const unclaimed = prepare(territories, [{ territory: 'Oak', record: { ...held, acquired: null, guild: zeros } }])
    expect(unclaimed.entities[0]?.relatedEntities.holds?.[0]?.root).toMatchObject({ guildUuid: null })
  })

  test.each([
    [territories, (one: object) => ({ territory: 'data', record: one })],
    [itemSets, (one: object) => ({ name: 'data', set: one })],
  ] as const)('that is an envelope of records is none itself (%#)', (resource, wrap) => {
    for (const envelope of [{ Oak: place('a', '08:00') }, { status: 'ok' }, {}])
      expect(prepare(resource, [wrap(envelope)])).toMatchObject({ entities: [], quarantined: [{ key: 'data' }] })
  })

  test('and with many more in one record cost whole fields, in bounded time', () => {
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, nth) => [`stat${nth}`, 'odd']))
    const { entities, quarantined } = prepare(items, [{ internalName: 'Elm', type: 'weapon', lore: 'x', base: many }])
    expect(quarantined).toEqual([])
    expect(entities[0]?.root.lore).toBe('x')
    expect(entities[0]?.root.extra).toEqual({ base: many })
  })
})

const uuid = '00000000-0000-4000-8000-000000000001'
const totals = {
  wars: 1,
  pvp: { kills: 1 },
  raids: { total: 1, list: { 'Some Raid': 1 } },
  dungeons: { total: 1, list: { 'Some Dungeon': 1 } },
}
const rewards = [{ condition: { type: 'SR', value: 1 }, type: 'EMERALD', value: 1, expires: null }]
/** Records with everything that has tables of its own. */
const nested: readonly (readonly [Resource | Worklist, Fields, (body: Fields) => unknown])[] = [
  ...cases
    .filter(([resource]) => ![guilds, players, territories, seasons].includes(resource as never))
    .map(([resource, body, wrap]) => [resource, body, wrap] as const),
  [
    guilds,
    {
      ...guildBody('a', {
        1: { rank: 'owner', weekly: { streak: 1 }, globalData: { ...totals, guildRaids: totals.raids } },
      }),
      banner: { base: 'RED', layers: [{ colour: 'RED', pattern: 'x' }] },
      seasonRanks: { 3: { rating: 1, finalTerritories: 2 } },
    },
    (body) => body,
  ],
  [
    players,
    {
      ...profile(1, {
        guild: { uuid },
        legacyRankColour: { main: '#fff' },
        globalData: { ...totals, raidStats: { deaths: 1 } },
        characters: {
          [uuid]: {
            type: 'MAGE',
            meta: { died: false },
            ...totals,
            professions: { fishing: { level: 1, xpPercent: 1 } },
          },
        },
      }),
    },
    (body) => body,
  ],
  [
    territories,
    {
      ...place('a', '08:00'),
      resources: [
        { type: 'ORE', stored: 1 },
        { type: 'CROP', stored: 2 },
      ],
      hq: true,
    },
    (record) => ({ territory: 'Oak', record }),
  ],
  [
    seasons,
    { initDate: '2026-05-01T00:00:00Z', ratingRewards: rewards, leaderboardRewards: rewards },
    (record) => ({ season: '3', record }),
  ],
]

/** Objects whose fields are keys of a map: a new one is a member of it. Those of a board are told by their names alone, which holds here too. */
const maps =
  /^\/(seasonRanks|ranking|restrictions|characters|members(\/\w+)?|identifications|base|majorIds|sprites|tiers|bonuses)$|\/(list|professions|restrictions|customModelData)$/

type Place = readonly (string | number)[]

/** Where objects are in a value. */
function objectsIn(value: unknown, at: Place = []): Place[] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap((one, nth) => objectsIn(one, [...at, nth]))
  return [at, ...Object.entries(value).flatMap(([name, one]) => objectsIn(one, [...at, name]))]
}

describe('a new field', () => {
  test.each(nested.map((one) => [one[0].name, ...one] as const))(
    'in any object of a record of %s is in extra or its document, and told where there is a schema',
    (_name, resource, body, wrap) => {
      const { sent } = resource
      let objects = 0
      for (const at of objectsIn(body)) {
        const path = at.map((step) => `/${step}`).join('')
        if (maps.test(path)) continue
        objects++
        for (const novelty of ['new', ['new'], { deep: 'new' }]) {
          // Not by structuredClone: what stands in two places is one object there.
          const changed = JSON.parse(JSON.stringify(body))
          const around = at.reduce<object>((inner, step) => Reflect.get(inner, step), changed)
          Reflect.set(around, 'novelty', novelty)
          const { entities, quarantined } = prepare(resource, [wrap(changed)])
          const all = entities.flatMap((one) => [one, ...Object.values(one.relatedEntities).flat()])
          const kept = JSON.stringify([quarantined, all.map((one) => [one.root.extra, one.documentText])])
          expect([path, kept.includes('new')]).toEqual([path, true])
          const isRead = resource !== abilityTrees && !path.startsWith('/sprites')
          if (isRead)
            expect([path, noveltiesOf(resource, entities).map((one) => one.path)]).toEqual([
              path,
              [expect.stringMatching(/novelty$/)],
            ])
        }
      }
      expect([objects > 0, sent !== undefined]).toEqual([true, true])
    },
  )

  test('of a place on a board is told by its name, inside of what is known too', () => {
    const entry = { uuid, name: 'Guild a', prefix: 'aaa', score: 1, banner: { base: 'RED', glow: 1 }, shine: 2 }
    const [board] = prepare(leaderboards, [{ type: 'guildLevel', body: { 1: entry } }]).entities
    expect(JSON.parse(board?.documentText ?? '')).toMatchObject({ fields: ['banner/glow', 'shine'] })
  })

  test('of what is counted is one more number, and none of the document', () => {
    const { characters: _, ...body } = profile(1, {
      globalData: { ...totals, sails: 5, pvp: { kills: 1, draws: 6 } },
    }) as Fields
    const [entity] = prepare(players, [body]).entities
    expect(entity?.samples?.counters).toContainEqual({ playerUuid: uuid, counter: 'pvp.draws', value: 6 })
    expect([entity?.extra, entity?.root.extra]).toEqual([[], undefined])
  })

  test('around the records of a page is none of them', () => {
    const controller = { count: 1, current_count: 1, pages: 1, prev: null, current: 1, next: null, cursor: 'x' }
    expect(readListing({ controller, results: [{}], took: 5 }).around?.map(({ path }) => path)).toEqual([
      '/took',
      '/controller/cursor',
    ])
  })

  test('that is no object among seasons and members is kept', () => {
    const guild = { ...guildBody('a', { 1: { rank: 'owner' } }), seasonRanks: { last: { rating: 1 } } } as Fields
    const [entity] = prepare(guilds, [{ ...guild, members: { ...Object(guild.members), limit: 40 } }]).entities
    expect(entity?.root.extra).toEqual({ seasonRanks: { last: { rating: 1 } }, members: { limit: 40 } })
  })
})

describe('a model number', () => {
  const icon = (customModelData: unknown) => ({ format: 'attribute', value: { id: 'x', name: 'y', customModelData } })
  test.each<[Resource, (shown: object) => unknown]>([
    [items, (shown) => ({ internalName: 'Elm', type: 'weapon', icon: shown })],
    [abilityTrees, (shown) => ({ class: 'mage', kind: 'ability', id: 'bolt', body: { ...ability, icon: shown } })],
    [aspects, (shown) => ({ internalName: 'a1', name: 'A', icon: shown })],
    [recipes, (shown) => ({ ...world.recipes[0], sprites: { a: shown } })],
    [camps, (shown) => ({ level: 0, body: { internalName: 'c', icon: shown, rewards: [{ name: 'R', icon: shown }] } })],
  ])('is no content: %#', (resource, record) => {
    const hashes = [7, '7', { rangeDispatch: [8] }, undefined].map((number) => {
      const { entities } = prepare(resource, [record(icon(number))])
      return entities[0]?.hash.toString('hex')
    })
    expect(hashes[0]).toBeDefined()
    expect(new Set(hashes).size).toBe(1)
  })
})

const folder = recordedFolder('recordings')?.replace(/recordings$/, 'recordings-abilities')

describe.skipIf(folder === undefined)('recorded abilities and aspects (skipped without recorded responses)', () => {
  test('every recorded ability and aspect loads, in each form since 2023', () => {
    let records = 0
    for (const name of ['archer', 'mage']) {
      for (const { body } of recordedResponses(folder ?? '', `/aspects/${name}`)) {
        const preparation = prepare(aspects, recordsOf(body as never, 'name'))
        expect(preparation.quarantined).toEqual([])
        records += preparation.entities.length
      }
      for (const [kind, of] of [
        ['tree', (body: unknown) => recordsOfClass(name, body, {})],
        ['map', (body: unknown) => recordsOfClass(name, {}, body)],
      ] as const)
        for (const { body } of recordedResponses(folder ?? '', `/ability/${kind}/${name}`)) {
          const preparation = prepare(abilityTrees, of(body))
          expect(preparation.quarantined).toEqual([])
          expect(preparation.entities.length).toBeGreaterThan(kind === 'tree' ? 70 : 115)
          records += preparation.entities.length
        }
    }
    expect(records).toBeGreaterThan(3000)
  })
})
