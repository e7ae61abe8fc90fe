import { describe, expect, test } from 'vitest'
import { recordsOf } from '../../src/api/schemas/form/bodies.ts'
import { abilityTrees } from '../../src/resources/ability-trees/index.ts'
import { recordsOfClass } from '../../src/resources/ability-trees/normalize.ts'
import { aspects } from '../../src/resources/aspects/index.ts'
import { camps } from '../../src/resources/camps/index.ts'
import { guilds } from '../../src/resources/guilds/index.ts'
import { itemSets } from '../../src/resources/item-sets/index.ts'
import { items } from '../../src/resources/items/index.ts'
import { players } from '../../src/resources/players/index.ts'
import { recipes } from '../../src/resources/recipes/index.ts'
import { seasons } from '../../src/resources/seasons/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { createItemWorld } from '../../src/sandbox/index.ts'
import type { Resource, Worklist } from '../../src/sync/declare/resource.ts'
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
