import { describe, expect, test } from 'vitest'
import { FatalError, RecordError } from '../../src/base/errors.ts'
import { camps } from '../../src/resources/camps/index.ts'
import { guilds } from '../../src/resources/guilds/index.ts'
import { items } from '../../src/resources/items/index.ts'
import { seasons } from '../../src/resources/seasons/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import type { Entity, ResourceBase } from '../../src/sync/declare/resource.ts'
import { canonicalJson, type Json, sha256 } from '../../src/sync/normalize/hash.ts'
import { oddOf, type Prepared, prepare, rootsOf } from '../../src/sync/normalize/prepare.ts'
import { guildBody, guildId, type MemberFields, place, playerId } from '../support/guild-answers.ts'

const body = { initDate: '2026-05-01T00:00:00Z', endDate: '2026-06-01T00:00:00.000000Z', srPerWar: 3 }
const season = (fields: object = {}) => ({ season: '3', record: { ...body, ...fields } })
const elm = (fields: object = {}) => ({ internalName: 'Elm', type: 'weapon', ...fields })
const oak = (fields: object = {}) => ({ territory: 'Oak', record: place('a', '08:00', fields) })
const ore = (fields: object = {}) => ({
  type: 'ORE',
  generation: 10,
  baseGeneration: 5,
  stored: 3,
  limit: 9,
  ...fields,
})

/** A resource whose entities have something else. */
const having = (resource: ResourceBase, more: (entity: Entity) => Partial<Entity>): ResourceBase => ({
  ...resource,
  normalize: (record) => {
    const entity = resource.normalize(record)
    return { ...entity, ...more(entity) }
  },
})

/** The only entity of a response with one record. */
function only(resource: ResourceBase, record: unknown): Prepared {
  const { entities, quarantined } = prepare(resource, [record])
  expect([entities.length, quarantined]).toEqual([1, []])
  return entities[0] as Prepared
}

describe('a record', () => {
  test('reaches its resource as the object that came, or as a copy where a value is spelled otherwise', () => {
    const seen: unknown[] = []
    const normalize = (record: unknown) => {
      seen.push(record)
      return seasons.normalize(record)
    }
    const [same, other] = [season({ initDate: body.endDate }), { ...season(), other: 1 }]
    for (const record of [same, other]) only({ ...seasons, normalize }, record)
    expect(seen[0]).toBe(same)
    expect(seen[1]).toEqual({ ...other, record: { ...body, initDate: '2026-05-01T00:00:00.000000Z' } })
    expect(other.record).toEqual(body)
  })

  test('that nests too deep is told by where', () => {
    let deep: unknown = 1
    for (let level = 0; level < 300; level++) deep = { a: deep }
    expect(prepare(seasons, [season({ deep })]).quarantined[0]?.path).toBe(`/deep${'/a'.repeat(199)}`)
  })
})

describe('a value that cannot be read', () => {
  test('stands in the document where changes are logged, so that another one is another version, and nowhere else', () => {
    const [high, higher] = ['high', 'higher'].map((level) => only(items, elm({ requirements: { level, quest: 'Q' } })))
    expect(high?.root).toMatchObject({ quest: 'Q', extra: { requirements: { level: 'high' } } })
    expect(JSON.parse(high?.documentText ?? '').requirements).toEqual({ level: 'high', quest: 'Q' })
    expect(higher?.hash).not.toEqual(high?.hash)
    expect(high?.extra).toMatchObject([{ path: '/requirements/level', value: 'high' }])
    const [many, more] = ['many', 'more'].map((srPerWar) => only(seasons, season({ srPerWar })))
    expect(many?.root.extra).toEqual({ srPerWar: 'many' })
    expect(JSON.parse(many?.documentText ?? '')).not.toHaveProperty('srPerWar')
    expect([more?.hash, more?.extra]).toEqual([many?.hash, []])
  })

  test('takes no place in the document where something else stands', () => {
    const left = (place: string[]) => ({ place, value: 'x', anywhere: '/x', type: 'string', reason: 'is odd' })
    const document = { taken: 1, empty: null, list: [1], requirements: { level: 1 } }
    const odd = [['taken'], ['empty'], ['list', 'a'], ['requirements', 'quest'], ['new', 'a', 'b']].map(left)
    const { documentText } = only({ ...having(items, () => ({ document, odd })), unknownFields: () => [] }, elm())
    expect(JSON.parse(documentText)).toEqual({
      taken: 1,
      empty: 'x',
      list: { a: 'x' },
      requirements: { level: 1, quest: 'x' },
      new: { a: { b: 'x' } },
    })
    expect(document).toEqual({ taken: 1, empty: null, list: [1], requirements: { level: 1 } })
  })

  test('goes to quarantine alone where it cannot be kept either', () => {
    const { entities, quarantined } = prepare(items, [elm({ lore: 1e300, requirements: { 'a/b': 1, level: [1e300] } })])
    expect(entities).toMatchObject([{ key: 'Elm', root: { extra: { requirements: { 'a/b': 1 } } } }])
    expect(quarantined).toMatchObject([
      { key: 'Elm', path: '/requirements/level', rawText: '[1e+300]', reason: expect.stringContaining('number') },
      { key: 'Elm', path: '/lore', rawText: '1e+300', reason: expect.stringContaining('string') },
    ])
  })

  test('is told with its record, and with the record that it hangs on', () => {
    expect([only(seasons, season()).odd, only(seasons, season()).extra]).toEqual([[], []])
    const spoilt = guildBody('a', { 1: { rank: 'owner', online: 'often' } }, { level: 'high' })
    const [good, bad] = [only(guilds, guildBody('a', { 1: { rank: 'owner' } })), only(guilds, spoilt)]
    expect(bad.odd).toMatchObject([{ anywhere: '/level' }, { anywhere: '/members/*/*/online' }])
    const [member] = bad.relatedEntities.members ?? []
    expect([member?.odd, member?.root.extra]).toEqual([[], { online: 'often' }])
    expect(oddOf([good, bad])).toEqual([bad])
  })
})

describe('an entity that hangs on a record', () => {
  const rootless = (more: (entity: Entity) => Partial<Entity['root']> = () => ({ name: 5.5 })) =>
    having(guilds, (entity) => ({ root: { ...entity.root, ...more(entity) } }))
  const members = { 1: { rank: 'owner' }, 2: {} }

  test('is a record of its own where the resource says so: it loads where the root cannot be stored', () => {
    const record = guildBody('a', members)
    const preparation = prepare(rootless(), [record])
    expect(preparation.quarantined).toMatchObject([
      { key: guildId('a'), path: '', reason: 'name must be text, got 5.5', rawText: canonicalJson(record as Json) },
    ])
    const [guild] = preparation.entities
    expect(guild).toMatchObject({ key: guildId('a'), withoutRoot: true, documentText: '{}' })
    expect(guild?.relatedEntities.members?.map(({ key }) => key)).toEqual(
      [1, 2].map((number) => `${guildId('a')}/${playerId(number)}`),
    )
    expect(guild?.samples?.presence).toHaveLength(2)
    expect(rootsOf(preparation)).toEqual([])
  })

  test('is told of with where its root has what cannot be stored', () => {
    const { entities, quarantined } = prepare(
      rootless(() => ({ name: 10 })),
      [guildBody('a', members)],
    )
    expect(entities).toMatchObject([{ withoutRoot: true }])
    expect(quarantined).toMatchObject([{ path: '/level', reason: 'name must be text, got 10' }])
  })

  test('loses a number that cannot be kept in a field of it that is unknown, at any depth', () => {
    const weekly = { streak: 1, 'a/b': 1e300 }
    const numbered = having(guilds, ({ relatedEntities: { members: all = [] } = {} }) => ({
      relatedEntities: { members: all.map((one) => ({ ...one, document: { ...Object(one.document), weekly } })) },
    }))
    const { entities, quarantined } = prepare(numbered, [guildBody('a', { 1: { rank: 'owner' } })])
    expect(quarantined).toMatchObject([{ key: `${guildId('a')}/${playerId(1)}`, path: '/weekly/a~1b' }])
    const [member] = entities[0]?.relatedEntities.members ?? []
    expect(JSON.parse(member?.documentText ?? '')).toMatchObject({ weekly: { streak: 1 }, rank: 'owner' })
    expect(weekly).toEqual({ streak: 1, 'a/b': 1e300 })
  })

  test('is none where the key that it hangs on cannot be stored, or the resource does not say so', () => {
    const keyless = prepare(
      rootless(() => ({ name: 5.5, guildUuid: 'none' })),
      [guildBody('a', members)],
    )
    expect(keyless).toMatchObject({ entities: [], quarantined: [{ key: guildId('a') }] })
    const unplaced = prepare(
      having(territories, ({ root }) => ({ root: { ...root, treasury: 5.5 } })),
      [oak()],
    )
    expect(unplaced).toMatchObject({
      entities: [],
      quarantined: [{ key: 'Oak', reason: 'treasury must be text, got 5.5' }],
    })
  })

  test('goes to quarantine alone where it cannot be stored, with where that is', () => {
    const spoilt = (wrong: unknown) =>
      having(guilds, ({ relatedEntities: { members: all = [] } = {} }) => ({
        relatedEntities: {
          members: all.map((one, nth) => (nth === 0 ? { ...one, root: { ...one.root, username: wrong } } : one)),
        },
      }))
    const made = (wrong: unknown) => prepare(spoilt(wrong), [guildBody('a', members)])
    const [first, second] = [1, 2].map((number) => `${guildId('a')}/${playerId(number)}`)
    for (const [wrong, path] of [
      [5.5, ''],
      [10, '/level'],
    ] as const) {
      const { entities, quarantined } = made(wrong)
      expect(entities[0]?.relatedEntities.members?.map(({ key }) => key)).toEqual([second])
      expect(quarantined).toMatchObject([{ key: first, path, reason: `username must be text, got ${wrong}` }])
      expect(JSON.parse(quarantined[0]?.rawText ?? '')).toMatchObject({ uuid: playerId(1) })
    }
  })

  test('has the fields that nobody knows in a column of its own', () => {
    const { relatedEntities, root } = only(guilds, guildBody('a', { 1: { rank: 'owner', nickname: 'x' } }))
    expect([relatedEntities.members?.[0]?.root.extra, root.extra]).toEqual([{ nickname: 'x' }, undefined])
  })

  test('is a fault of the program where the resource has no such history, or its row no such column', () => {
    const [strangers, colours] = [
      having(guilds, () => ({ relatedEntities: { strangers: [] } })),
      having(guilds, ({ relatedEntities: { members: all = [] } = {} }) => ({
        relatedEntities: { members: all.map((one) => ({ ...one, root: { ...one.root, colour: 1 } })) },
      })),
    ]
    const record = guildBody('a', members)
    expect(() => prepare(strangers, [record])).toThrow(new FatalError('guilds has no history called strangers'))
    expect(() => prepare(colours, [record])).toThrow(new FatalError('table game.guild_member has no column colour'))
  })
})

describe('a sample', () => {
  const sampled = (...resources: object[]) => prepare(territories, [oak({ resources })])
  const kept = ({ entities }: ReturnType<typeof prepare>) =>
    entities.flatMap(({ samples }) => samples?.resources?.map(({ resource }) => resource))

  test('that cannot be stored goes to quarantine alone', () => {
    const long = 'R'.repeat(401)
    const made = sampled(ore({ type: 'WOOD' }), ore({ type: long }), ore())
    expect(kept(made)).toEqual(['WOOD', 'ORE'])
    expect(made.quarantined).toMatchObject([
      { key: 'Oak', path: '/resources/1/type', reason: 'resource must be text of at most 400 characters, got 401' },
    ])
    expect(JSON.parse(made.quarantined[0]?.rawText ?? '')).toMatchObject({ resource: long, stored: 3 })
  })

  test('of a name with another character than was sent is none: it would be measured once', () => {
    const made = sampled(ore({ type: 'OR\0' }), ore())
    expect(kept(made)).toEqual(['ORE'])
    expect(made.quarantined).toMatchObject([
      { key: 'Oak', path: '/resources/0/type', reason: 'a name with a character that cannot be stored' },
    ])
    // That an instant is spelled otherwise, or a text that is no name, says nothing of it.
    const others = prepare(territories, [
      oak({ resources: [ore()], treasury: 'H\0GH', acquired: '2026-06-01T08:00:00Z' }),
    ])
    expect([kept(others), others.quarantined]).toEqual([['ORE'], []])
  })

  test('is none of a record that has none, and a fault of the program where there is no such table', () => {
    expect(only(seasons, season())).toMatchObject({ samples: undefined, listed: 0 })
    const weights = having(guilds, () => ({ samples: { weights: [] } }))
    expect(() => prepare(weights, [guildBody('a', { 1: { rank: 'owner' } })])).toThrow(
      new FatalError('guilds has no sample table called weights'),
    )
  })

  test('is listed by its name, whatever its value and its place', () => {
    const listed = (...types: string[]) =>
      sampled(...types.map((type, nth) => ore({ type, stored: nth }))).entities[0]?.listed
    expect(listed()).toBe(0)
    expect(listed('ORE', 'WOOD')).toBe(listed('WOOD', 'ORE'))
    const all = [
      listed('ORE'),
      listed('WOOD'),
      listed('ORE', 'WOOD'),
      listed('ORE', 'ORE'),
      listed('ERO'),
      listed('OR'),
    ]
    expect(new Set([...all, listed()]).size).toBe(all.length + 1)
    // It is in content hashes that are stored: another number would be another response.
    expect(listed('ORE', 'WOOD')).toBe(113_192_633)
  })

  test('is not listed in a table of which records list nothing', () => {
    const alone = guildBody('a', { 1: { rank: 'owner' } })
    const samples = ({ samples: { guild = [], presence = [] } = {} }: Entity) => ({ samples: { guild, presence } })
    const { listed, samples: found } = only(having(guilds, samples), alone)
    expect([listed, Object.values(found ?? {}).map((rows) => rows.length)]).toEqual([0, [1, 1]])
  })
})

describe('the hash of an entity', () => {
  test('is of its document, and an earlier one has its instants as they were sent', () => {
    const { hash, hashAsSent, fingerprint, documentText } = only(seasons, season())
    expect(JSON.parse(documentText)).toEqual({ ...body, initDate: '2026-05-01T00:00:00.000000Z' })
    expect(hash).toEqual(sha256(documentText))
    expect(hashAsSent).toEqual(sha256(canonicalJson(body)))
    expect(fingerprint).toEqual(hash)
    expect(only(seasons, season({ initDate: body.endDate })).hashAsSent).toBeUndefined()
  })

  test('has an earlier one of what an earlier program made of it', () => {
    const { hashAsSent } = only(camps, { level: 0, body: { internalName: 'c', name: 'C' } })
    expect(hashAsSent).toEqual(sha256(canonicalJson({ internalName: 'c', name: 'C', rewards: [] })))
  })

  test('says nothing of what is beside the document, and its fingerprint all', () => {
    const made = (more: Partial<Entity>) =>
      only(
        having(seasons, () => more),
        season(),
      )
    const plain = made({})
    for (const nothing of [{ since: null }, { facts: null }, { since: undefined, relatedEntities: {} }] as object[])
      expect(made(nothing).fingerprint).toEqual(plain.hash)
    const others = [
      made({ since: body.endDate }),
      made({ facts: { a: 1 } }),
      made({ facts: { a: 2 } }),
      made({ samples: {} }),
    ]
    expect(new Set(others.map(({ hash }) => hash.toString('hex')))).toEqual(new Set([plain.hash.toString('hex')]))
    expect(new Set([plain, ...others].map(({ fingerprint }) => fingerprint.toString('hex'))).size).toBe(5)
  })

  test('has a fingerprint of its members too, whatever their order', () => {
    const withoutSamples = (record: unknown) => {
      const { samples: _, ...entity } = guilds.normalize(record)
      return entity
    }
    const printOf = (members: Readonly<Record<number, MemberFields>>, turn = (all: readonly Entity[]) => all) => {
      // Without the samples, which say who is there.
      const alone = having(
        { ...guilds, normalize: withoutSamples },
        ({ relatedEntities: { members: all = [] } = {} }) => ({
          relatedEntities: { members: turn(all) },
        }),
      )
      return only(alone, guildBody('a', members)).fingerprint.toString('hex')
    }
    const two = { 1: { rank: 'owner' }, 2: {} }
    expect(printOf(two, (all) => all.toReversed())).toBe(printOf(two))
    const named = (more: object) => (all: readonly Entity[]) =>
      all.map((one, nth) => (nth === 0 ? { ...one, ...more } : one))
    const others = [
      printOf(two),
      printOf({ 1: two[1] }),
      printOf(two, named({ root: { guildUuid: guildId('a'), playerUuid: playerId(9), rank: 'owner' } })),
      printOf(two, named({ document: { rank: 'chief' } })),
      printOf(two, () => []),
    ]
    expect(new Set(others).size).toBe(others.length)
  })
})

test('What cannot be understood is told without a place where it has none', () => {
  const normalize = () => {
    throw new RecordError('is odd')
  }
  expect(prepare({ ...seasons, normalize }, [season()]).quarantined).toMatchObject([
    { key: '3', path: '', reason: 'is odd' },
  ])
})
