import { describe, expect, test } from 'vitest'
import { guilds } from '../../src/resources/guilds/index.ts'
import { items } from '../../src/resources/items/index.ts'
import { seasons } from '../../src/resources/seasons/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import type { Entity } from '../../src/sync/declare/resource.ts'
import { canonicalJson, hashOfLines, sha256 } from '../../src/sync/normalize/hash.ts'
import { noveltiesOf } from '../../src/sync/normalize/novelties.ts'
import { fingerprintOf, oddOf, type Prepared, prepare, rootsOf } from '../../src/sync/normalize/prepare.ts'
import { PreparedBefore } from '../../src/sync/normalize/prepared-before.ts'
import { guildBody, guildId, place, playerId } from '../support/guild-answers.ts'

const body = { initDate: '2026-05-01T00:00:00Z', endDate: '2026-06-01T00:00:00Z', srPerWar: 3 }
/** A record of the list of seasons; always another object. */
const season = (number: string, fields: object = {}) => ({ season: number, record: { ...body, ...fields } })
const keysOf = (entities: readonly Prepared[]) => entities.map(({ key }) => key)

describe('the records of a response', () => {
  test('are one entity where two of them are the same', () => {
    const { came, entities, quarantined, seen } = prepare(seasons, [season('3'), season('03'), season('4')])
    expect([came, keysOf(entities), quarantined, [...seen]]).toEqual([3, ['3', '4'], [], ['3', '4']])
  })

  test('are none where two with the same key say different things, and the key is seen', () => {
    const records = [3, 4, 5].map((srPerWar) => season('3', { srPerWar }))
    const { entities, quarantined, seen } = prepare(seasons, [...records, season('4')])
    expect([keysOf(entities), [...seen]]).toEqual([['4'], ['3', '4']])
    expect(quarantined.map(({ rawText }) => JSON.parse(rawText).record.srPerWar)).toEqual([4, 5, 3])
    for (const one of quarantined)
      expect(one).toMatchObject({
        key: '3',
        path: '',
        reason: 'another record of this response has the key 3 and other content',
      })
  })

  test('are none where a repeated one is contradicted after that, and the first one comes to quarantine', () => {
    const before = new PreparedBefore()
    prepare(seasons, [season('3'), season('4')], undefined, before)
    for (const known of [undefined, before]) {
      const records = [season('3'), season('3'), season('4'), season('3', { srPerWar: 5 })]
      const { entities, quarantined, seen } = prepare(seasons, records, undefined, known)
      expect([keysOf(entities), [...seen]]).toEqual([['4'], ['3', '4']])
      expect(quarantined.map(({ rawText }) => JSON.parse(rawText).record.srPerWar)).toEqual([5, 3])
    }
  })

  test('that cannot be understood cost themselves only, and their keys are seen', () => {
    const bad = season('spring')
    const { entities, quarantined, seen } = prepare(seasons, [bad, season('4')])
    const rawText = canonicalJson(bad)
    expect(quarantined).toEqual([
      {
        key: 'spring',
        rawText,
        hash: sha256(rawText),
        path: '',
        reason: 'season spring is no number',
        misfit: undefined,
      },
    ])
    expect([keysOf(entities), [...seen].sort()]).toEqual([['4'], ['4', 'spring']])
  })

  test('are not understood without a key, or with one that cannot be stored', () => {
    const { entities, quarantined, seen } = prepare(seasons, [season(7 as never), season('8\0')])
    expect(entities).toEqual([])
    expect(quarantined.map(({ key, reason }) => [key, reason])).toEqual([
      [undefined, 'the record has no key'],
      ['8\uFFFD', 'a key with a character that cannot be stored'],
    ])
    expect([...seen]).toEqual(['8\uFFFD'])
  })

  test('that nest too deep are kept as a text, and are no examples', () => {
    let deep: unknown = 1
    for (let level = 0; level < 300; level++) deep = { a: deep }
    const { quarantined, examples } = prepare(seasons, [season('3'), season('4', { deep })])
    expect(quarantined).toMatchObject([{ key: '4', reason: 'nested deeper than 200 levels' }])
    expect(JSON.parse(JSON.parse(quarantined[0]?.rawText ?? ''))).toEqual(season('4', { deep }))
    expect(examples).toEqual([season('3')])
  })

  test('show by sixteen of them, from all over the list, what follows from a field', () => {
    const many = Array.from({ length: 40 }, (_, nth) => season(String(nth)))
    const shown = prepare(seasons, many).examples?.map((one) => (one as { season: string }).season)
    expect(shown).toEqual(Array.from({ length: 16 }, (_, nth) => String(2 * nth)))
    const { sent: _, ...unwatched } = seasons
    expect(prepare(unwatched, many)).not.toHaveProperty('examples')
  })

  test('have a field where its value can be read', () => {
    const counts = (field: string, { presence = [] }: ReturnType<typeof prepare>) =>
      presence.filter((one) => one.field === field).map(({ had, of }) => [had, of])[0]
    const { initDate: _, ...undated } = body
    const some = prepare(seasons, [
      season('3'),
      season('4', { srPerWar: 'many', endDate: null }),
      { season: '5', record: undated },
    ])
    expect(['/srPerWar', '/endDate', '/initDate'].map((field) => counts(field, some))).toEqual([
      [2, 3],
      [3, 3],
      [2, 3],
    ])
    expect(oddOf(some.entities)).toEqual([some.entities[1]])
    expect(oddOf(some.entities)).toBe(oddOf(some.entities))
    // Those of records that cannot be understood for it, too.
    const places = [place('a', '08:00'), place('b', '08:00', { guild: 5 })]
    const held = prepare(
      territories,
      places.map((record, nth) => ({ territory: `Oak ${nth}`, record })),
    )
    expect([keysOf(held.entities), counts('/guild', held), counts('/acquired', held)]).toEqual([
      ['Oak 0'],
      [1, 2],
      [2, 2],
    ])
    // What is not there is no value of another type.
    const kinds = prepare(items, [
      { internalName: 'Elm', type: 'weapon' },
      { internalName: 'Oak', type: 5 },
      { internalName: 'Ash' },
    ])
    expect([keysOf(kinds.entities), counts('/type', kinds)]).toEqual([['Elm'], [1, 3]])
  })

  test('bring what was left out of them, and pieces that cannot be understood', () => {
    const piece = { key: '3/1', raw: 1, path: '/1', reason: 'is odd' }
    const normalize = (record: unknown) => ({
      ...seasons.normalize(record),
      ignored: [{ field: 'endDate' }],
      quarantined: [piece],
    })
    const { entities, ignored, quarantined } = prepare({ ...seasons, normalize }, [season('3')])
    expect([keysOf(entities), ignored]).toEqual([['3'], [{ field: 'endDate' }]])
    expect(quarantined).toMatchObject([{ key: '3/1', rawText: '1', path: '/1', reason: 'is odd' }])
  })

  test('are not excused where the program fails', () => {
    const normalize = () => {
      throw new TypeError('no function')
    }
    expect(() => prepare({ ...seasons, normalize }, [season('3')])).toThrow(new TypeError('no function'))
  })

  test('have one member where two are the same, and none where they are not', () => {
    const members = (more: (one: Entity) => readonly Entity[]) => {
      const normalize = (record: unknown) => {
        const entity = guilds.normalize(record)
        const found: readonly Entity[] = entity.relatedEntities?.members ?? []
        return { ...entity, relatedEntities: { members: [...found, ...found.slice(0, 1).flatMap(more)] } }
      }
      const { entities, quarantined } = prepare({ ...guilds, normalize }, [guildBody('a', { 1: {}, 2: {} })])
      return [entities.flatMap((one) => keysOf(one.relatedEntities.members ?? [])), quarantined.map(({ key }) => key)]
    }
    const [one, two] = [1, 2].map((number) => `${guildId('a')}/${playerId(number)}`)
    expect(members(() => [])).toEqual([[one, two], []])
    expect(members((same) => [same, same])).toEqual([[one, two], []])
    expect(members((other) => [{ ...other, document: { rank: 'owner' } }])).toEqual([[two], [one, one]])
  })

  test('have no member in common with those that have none', () => {
    const normalize = (record: unknown) => {
      const { relatedEntities: { members = [] } = {}, ...entity } = guilds.normalize(record)
      return entity.key === guildId('a')
        ? { ...entity, relatedEntities: { members: [...members, ...members] } }
        : entity
    }
    const bodies = ['b', 'a', 'c'].map((letter) => guildBody(letter, { 1: { rank: 'owner' } }))
    const { entities, quarantined } = prepare({ ...guilds, normalize }, bodies)
    expect([entities.map(({ relatedEntities: { members = [] } }) => members.length), quarantined]).toEqual([
      [0, 1, 0],
      [],
    ])
    expect(noveltiesOf(guilds, entities)).toEqual([])
  })
})

describe('the roots of a response', () => {
  test('are those of all entities, but for those whose record is in quarantine', () => {
    const { entities } = prepare(seasons, [season('3'), season('4')])
    expect(rootsOf({ entities })).toBe(entities)
    const some = entities.map((one, nth) => ({ ...one, withoutRoot: nth === 0 }))
    expect(keysOf(rootsOf({ entities: some }))).toEqual(['4'])
    expect(rootsOf({ entities: some })).toBe(rootsOf({ entities: some }))
  })
})

describe('the content of a response', () => {
  const extraction = { records: [], complete: true, pages: 1, observedFrom: 0, observedAt: 0 }
  const contentOf = (records: readonly unknown[], more: object = {}, before?: PreparedBefore) =>
    fingerprintOf({ ...extraction, ...more }, prepare(seasons, records, undefined, before)).toString('hex')
  const two = () => [season('3'), season('4')]

  test('is the same whatever the order, and however often a record is there', () => {
    expect(contentOf(two().reverse())).toBe(contentOf(two()))
    expect(contentOf([...two(), season('3')])).toBe(contentOf(two()))
  })

  test.each<readonly [string, () => string]>([
    ['another value', () => contentOf([season('3'), season('4', { srPerWar: 4 })])],
    ['another key', () => contentOf([season('3'), season('5')])],
    ['one less', () => contentOf([season('3')])],
    ['one more', () => contentOf([...two(), season('5')])],
    ['one that cannot be understood', () => contentOf([...two(), season('x')])],
    ['two that cannot be understood', () => contentOf([...two(), season('x'), season('x')])],
    ['something that is not known to be all', () => contentOf(two(), { complete: false })],
    ['facts', () => contentOf(two(), { facts: { total: 2 } })],
    ['other facts', () => contentOf(two(), { facts: { total: 3 } })],
    ['a fact that is null', () => contentOf(two(), { facts: null })],
  ])('is another with %s', (what, content) => {
    expect(content()).not.toBe(contentOf(two()))
    if (what === 'two that cannot be understood') expect(content()).not.toBe(contentOf([...two(), season('x')]))
    if (what === 'other facts') expect(content()).not.toBe(contentOf(two(), { facts: { total: 2 } }))
  })

  test('begins with which samples its records list, and is a hash alone where they list none', () => {
    const ore = (stored: number) => ({ type: 'ORE', generation: 10, baseGeneration: 5, stored, limit: 9 })
    const oak = (...resources: object[]) => ({ territory: 'Oak', record: place('a', '08:00', { resources }) })
    const elm = { territory: 'Elm', record: place('b', '08:00', { resources: [{ ...ore(1), type: 'WOOD' }] }) }
    const made = (...records: object[]) => {
      const preparation = prepare(territories, records)
      const content = fingerprintOf({ ...extraction, records }, preparation)
      return { content, listed: preparation.entities.reduce((sum, one) => sum + one.listed, 0) | 0 }
    }
    const [three, four, none] = [made(oak(ore(3)), elm), made(oak(ore(4)), elm), made(oak(), elm)]
    for (const { content, listed } of [three, four, none]) expect(content.readInt32BE()).toBe(listed)
    expect([four.listed, four.content.equals(three.content)]).toEqual([three.listed, false])
    expect(none.listed).not.toBe(three.listed)
    expect(contentOf([])).toBe(hashOfLines([]).toString('hex'))
    // Content hashes are stored: in another release it is no other response.
    expect([contentOf(two()), made(oak(ore(3)), elm).content.toString('hex')]).toEqual([
      'b51f8fc7af4294152a1b2aa0b15a728895c6bfb373b3ef0cdca24ba2234f78fa',
      '3465559afd1ce9418dc243c948031d9c5ee4348667ba5c22862414c16cf64970',
    ])
  })

  test('is the same where the response before is remembered', () => {
    const before = new PreparedBefore()
    const [three, four] = two()
    const bad = season('x')
    for (const records of [
      [three, four],
      [three, four],
      [four, three],
      [three, season('4', { srPerWar: 5 }), season('6')],
      [three],
      [bad, three, four],
      [bad, bad, three, four],
      [three, four, season('3')],
      [three, four, season('3', { srPerWar: 9 })],
      [bad, three, four],
      [season('y'), bad, four, three],
      [season('y'), season('z'), four, season('3', { srPerWar: 7 })],
      [],
      [three, four],
    ])
      expect(contentOf(records, {}, before)).toBe(contentOf(records))
    const many = Array.from({ length: 300 }, (_, nth) => season(String(nth)))
    const replaced = (count: number) =>
      many.map((one, nth) => (nth < count ? season(one.season, { srPerWar: 5 }) : one))
    for (const records of [many, replaced(3), replaced(180), many])
      expect(contentOf(records, {}, before)).toBe(contentOf(records))
  })
})

describe('what the program does not know', () => {
  test('is named once, with one that has it', () => {
    const reward = { condition: { type: 'SR', value: 1 }, type: 'CROWN', value: 1 }
    const { entities } = prepare(seasons, [
      season('3', { bonus: 1, ratingRewards: [reward, { ...reward, type: 'TOWER' }] }),
      season('4', { bonus: 2, ratingRewards: [reward], leaderboardRewards: [reward] }),
      season('5'),
    ])
    const found = noveltiesOf(seasons, entities).map(({ kind, path, member, example, key }) => [
      kind,
      path,
      member,
      example,
      key,
    ])
    expect(found).toEqual([
      ['unknown_field', '/bonus', '', 1, '3'],
      ['unknown_member', '/ratingRewards/*/type', 'CROWN', 'CROWN', '3'],
      ['unknown_member', '/ratingRewards/*/type', 'TOWER', 'TOWER', '3'],
      ['unknown_member', '/leaderboardRewards/*/type', 'CROWN', 'CROWN', '4'],
    ])
  })

  test('of histories that hang on a record is named where an entity has some, and none where it has not', () => {
    const bare = prepare(guilds, [guildBody('a', {}, { motto: 'y' })]).entities
    expect(noveltiesOf(guilds, bare)).toMatchObject([{ path: '/motto', key: guildId('a') }])
    const without = bare.map((one) => ({ ...one, relatedEntities: {} }))
    expect(noveltiesOf(guilds, without)).toEqual(noveltiesOf(guilds, bare))
    // A resource without any.
    const { entities } = prepare(seasons, [season('3', { bonus: 1 })])
    expect(noveltiesOf({ ...seasons, relatedHistories: undefined } as never, entities)).toMatchObject([
      { path: '/bonus' },
    ])
  })

  test('of members stands under their name', () => {
    const { entities } = prepare(guilds, [guildBody('a', { 1: { nickname: 'x' } }, { motto: 'y' })])
    expect(noveltiesOf(guilds, entities)).toMatchObject([
      { kind: 'unknown_field', path: '/motto', key: guildId('a') },
      { kind: 'unknown_field', path: '/members/*/nickname', key: `${guildId('a')}/${playerId(1)}` },
    ])
    // The document of who holds a place is made by the program.
    const held = prepare(territories, [{ territory: 'Oak', record: place('a', '08:00', { motto: 'y' }) }])
    expect(noveltiesOf(territories, held.entities)).toMatchObject([{ path: '/motto', key: 'Oak' }])
    expect(noveltiesOf(territories, held.entities)).toHaveLength(1)
  })
})
