import { describe, expect, test } from 'vitest'
import { FatalError } from '../../src/base/errors.ts'
import { camps } from '../../src/resources/camps/index.ts'
import { guilds } from '../../src/resources/guilds/index.ts'
import { items } from '../../src/resources/items/index.ts'
import { seasons } from '../../src/resources/seasons/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { territory, territoryHold, territoryResource } from '../../src/resources/territories/tables.ts'
import type { Entity, ResourceBase } from '../../src/sync/declare/resource.ts'
import { prepare } from '../../src/sync/normalize/prepare.ts'
import { checksOf, isKeepable, placeOf, rowCheck, storableTexts } from '../../src/sync/normalize/storable.ts'
import { guildBody, guildId, place } from '../support/guild-answers.ts'

const huge = 2 ** 53
const body = { initDate: '2026-05-01T00:00:00Z', endDate: null, srPerWar: 3 }
const season = (fields: object = {}) => ({ season: '3', record: { ...body, ...fields } })
const named = (name: string, fields: object = {}) => ({ territory: name, record: place('a', '08:00', fields) })

/** What becomes of one record: its root's row, and what of it is in quarantine. */
function madeOf(resource: ResourceBase, record: unknown) {
  const { entities, quarantined } = prepare(resource, [record])
  return {
    root: entities[0]?.root,
    refused: quarantined.map(({ path, reason, rawText }) => [path, reason, rawText]),
  }
}

/** Seasons of which the rows are made otherwise. */
function seasonsWith(rows: Partial<Pick<Entity, 'root' | 'parts' | 'document'>>): ResourceBase {
  return { ...seasons, normalize: (record) => ({ ...seasons.normalize(record), ...rows }) }
}

describe('a number that no column keeps as it was sent', () => {
  test('costs itself where the program knows the field, at any depth', () => {
    const reward = { condition: { type: 'SR', value: huge }, type: 'TOWER', value: 1 }
    const { root, refused } = madeOf(seasons, season({ srPerWar: huge, ratingRewards: [{ ...reward }] }))
    expect(root).toMatchObject({ season: 3, srPerWar: undefined })
    expect(refused).toEqual([
      ['/srPerWar', 'a number beyond 2^53 cannot be stored exactly', '9007199254740992'],
      ['/ratingRewards/0/condition/value', 'a number beyond 2^53 cannot be stored exactly', '9007199254740992'],
    ])
    expect(madeOf(seasons, season({ srPerWar: huge - 1 }))).toMatchObject({ root: { srPerWar: huge - 1 }, refused: [] })
  })

  test('costs itself where the program does not, and is told', () => {
    const { entities, quarantined } = prepare(items, [
      { internalName: 'Elm', type: 'weapon', new: { 'a/b': huge }, other: 1, newer: [1e300] },
    ])
    expect(quarantined).toMatchObject([
      {
        key: 'Elm',
        path: '/new',
        reason: 'a number beyond 2^53 cannot be stored exactly',
        rawText: '{"a/b":9007199254740992}',
      },
      { key: 'Elm', path: '/newer', rawText: '[1e+300]' },
    ])
    expect(entities[0]?.root.extra).toEqual({ other: 1 })
    expect(JSON.parse(entities[0]?.documentText ?? '')).toEqual({ internalName: 'Elm', type: 'weapon', other: 1 })
  })

  test('leaves nothing in the column of unknown fields where it stood alone, and its neighbours where it did not', () => {
    const alone = prepare(items, [{ internalName: 'Elm', type: 'weapon', new: huge }])
    expect(alone.entities[0]?.root).not.toHaveProperty('extra')
    const dropMeta = { name: 'Cave', coordinates: [1, 2, 3], 'a/b': huge, other: 1 }
    const { entities, quarantined } = prepare(items, [{ internalName: 'Elm', type: 'weapon', dropMeta }])
    expect(quarantined.map(({ path }) => path)).toEqual(['/dropMeta/a~1b'])
    expect(entities[0]?.root.extra).toEqual({ dropMeta: { other: 1 } })
    expect(JSON.parse(entities[0]?.documentText ?? '').dropMeta).toEqual({
      name: 'Cave',
      coordinates: [1, 2, 3],
      other: 1,
    })
    expect(dropMeta).toHaveProperty('a/b', huge)
  })

  test('is no reason to leave out another one', () => {
    const { root, refused } = madeOf(items, { internalName: 'Elm', type: 'weapon', new: huge, lore: 5 })
    expect(root?.extra).toEqual({ lore: 5 })
    expect(refused.map(([path]) => path)).toEqual(['/new'])
  })
})

describe('a character that no database keeps', () => {
  test('in a name costs that field where another one looks the same', () => {
    const { root, refused } = madeOf(items, { internalName: 'Elm', type: 'weapon', 'a\0': 1, 'a\uFFFD': 2 })
    expect(root?.extra).toEqual({ 'a\uFFFD': 2 })
    expect(refused).toEqual([['/a\uFFFD', 'text with the character \\u0000 cannot be stored', '1']])
  })

  test.each([
    ['\0', false],
    ['\ud800', false],
    ['\udfff!', false],
    ['\ud83d\ude00', true],
    ['\\u0000', true],
    ['\\\0', false],
    ['\\\\\0', false],
    ['\u0001\ud7ff\ue000', true],
  ])('is told from text that only looks like it: %j', (text, keepable) => {
    expect([isKeepable(['a'], text), isKeepable([text], 1)]).toEqual([keepable, keepable])
    const entity = { ...(seasons.normalize(season()) as Entity), document: { text } }
    const texts = () => storableTexts(entity, checksOf(seasons.history), { before: 'x', in: ['y', { text }] })
    if (keepable) expect(texts()).toEqual({ key: '3', documentText: JSON.stringify({ text }) })
    else
      expect(texts).toThrow(
        expect.objectContaining({
          message: expect.stringMatching(/^text with the character \\u(0000|d800|dfff) cannot be stored$/),
          context: { key: '3', path: '/in/1/text' },
        }),
      )
  })

  test('and what nests too deep, or is no exact number, is kept nowhere', () => {
    let deep: unknown = 1
    for (let level = 0; level < 201; level++) deep = [deep]
    expect([deep, huge, { a: [-huge] }, { a: ['b', 1] }, null].map((value) => isKeepable(['a'], value))).toEqual([
      false,
      false,
      false,
      true,
      true,
    ])
  })
})

describe('a text in an index', () => {
  const wordsOf = (check: ReturnType<typeof rowCheck>, property: string, length: number) =>
    check({ [property]: 'x'.repeat(length) })?.reason

  test('has 500 characters at most, two in one entry 400 each, and elsewhere it is as long as it likes', () => {
    const [places, holds, resources] = [territory, territoryHold, territoryResource].map(rowCheck) as [
      ReturnType<typeof rowCheck>,
      ReturnType<typeof rowCheck>,
      ReturnType<typeof rowCheck>,
    ]
    const tooLong = (what: string, most: number) =>
      `${what} must be text of at most ${most} characters, got ${most + 1}`
    expect([wordsOf(places, 'territory', 500), wordsOf(places, 'territory', 501)]).toEqual([
      undefined,
      tooLong('territory', 500),
    ])
    // It stands in no key, but in an index.
    expect([wordsOf(holds, 'guildName', 500), wordsOf(holds, 'guildName', 501)]).toEqual([
      undefined,
      tooLong('guild_name', 500),
    ])
    for (const property of ['territory', 'resource'])
      expect([wordsOf(resources, property, 400), wordsOf(resources, property, 401)]).toEqual([
        undefined,
        tooLong(property, 400),
      ])
    expect([wordsOf(places, 'treasury', 5000), wordsOf(holds, 'guildPrefix', 5000)]).toEqual([undefined, undefined])
  })

  test('is too long as a key of several columns where all of it is', () => {
    const camp = (length: number) => ({ level: 0, body: { internalName: 'c'.repeat(length), name: 'C' } })
    expect(prepare(camps, [camp(498)]).entities[0]?.key).toHaveLength(500)
    const { entities, quarantined } = prepare(camps, [camp(499)])
    expect(entities).toEqual([])
    expect(quarantined).toMatchObject([{ path: '', reason: 'a key of 501 characters is too long' }])
  })

  test('that is too long costs the entity that it names, and no other of the record', () => {
    const guild = { uuid: guildId('a'), name: 'G'.repeat(501), prefix: 'AAA' }
    const { entities, quarantined } = prepare(territories, [named('Oak', { guild })])
    expect(entities).toMatchObject([{ key: 'Oak', relatedEntities: { holds: [] } }])
    expect(quarantined).toMatchObject([
      { key: 'Oak', path: '/guild/name', reason: 'guild_name must be text of at most 500 characters, got 501' },
    ])
  })
})

describe('a row that does not fit its table', () => {
  test('costs the value that it was made of, or the field with the name of its part', () => {
    const odd = { location: { start: [0.5, 0], end: [10, 20] } }
    expect(madeOf(territories, named('Oak', odd))).toMatchObject({
      root: { territory: 'Oak', extra: { location: { start: [0.5, 0] } } },
    })
    const links = (made: Entity['parts']): ResourceBase => ({
      ...territories,
      normalize: (record) => ({ ...territories.normalize(record), parts: made }),
    })
    const bad = links({
      links: [
        { position: 0, linksTo: 'Elm' },
        { position: 0.25, linksTo: 'Fir' },
      ],
    })
    const reason = 'position must be a whole number of 32 bits, got 0.25'
    expect(madeOf(bad, named('Oak', { links: ['Elm'] })).refused.map((one) => one.slice(0, 2))).toEqual([
      ['/links', reason],
    ])
    expect(madeOf(bad, named('Oak')).refused.map((one) => one.slice(0, 2))).toEqual([['', reason]])
  })

  test('is told of a record that is no object, too', () => {
    const rewards = [{ list: 'rating', position: 'first' }]
    const resource = { ...seasonsWith({}), normalize: () => ({ ...seasons.normalize(season()), parts: { rewards } }) }
    expect(madeOf(resource, { season: '3', record: null }).refused.map((one) => one.slice(0, 2))).toEqual([
      ['', 'position must be a whole number of 32 bits, got "first"'],
    ])
  })

  test('is a fault of the program where the table lacks its column, or the history its part', () => {
    const faults = [
      [seasonsWith({ root: { season: 3, colour: 'red' } }), 'table game.season has no column colour'],
      [seasonsWith({ root: { season: 3, hash: Buffer.of(1) } }), 'table game.season has no column hash'],
      [seasonsWith({ parts: { prizes: [] } }), 'no part table is called prizes'],
    ] as const
    for (const [resource, message] of faults)
      expect(() => prepare(resource, [season()])).toThrow(new FatalError(message))
  })
})

describe('the place of a value in a record', () => {
  const record = { a: 7, b: [{ level: 7 }, 'x'], 'c/d': { level: 'y' }, n: Number.NaN }

  test('is where it stands under its name, else where it stands first', () => {
    expect(placeOf(record, 7, 'level')).toBe('/b/0/level')
    expect(placeOf(record, 7, 'other')).toBe('/a')
    expect(placeOf(record, 'y', 'other')).toBe('/c~1d/level')
    expect(placeOf(record, Number.NaN, '')).toBe('/n')
    expect([placeOf(record, 8, 'a'), placeOf('text', 'text', ''), placeOf(null, null, '')]).toEqual(['', '', ''])
  })

  test('of a text that was put together is the first part with a character that cannot be stored', () => {
    expect(placeOf({ a: 'b', list: ['c', 'd\0'], e: '\0' }, 'b d\0', 'name')).toBe('/list/1')
    expect(placeOf({ a: 'b', 'c\0': { d: 1 }, e: '\0' }, 'b c\0', 'name')).toBe('/c\0')
    // The whole text, where it stands there.
    expect(placeOf({ a: '\0', b: 'x\0' }, 'x\0', 'name')).toBe('/b')
  })
})

describe('the key of an entity', () => {
  test('is as the database prints it: uuids in small letters with dashes, columns joined', () => {
    const uuid = guildId('a').replaceAll('-', '').toUpperCase()
    const { entities } = prepare(guilds, [guildBody('a', { 1: { rank: 'owner' } }, { uuid })])
    expect(entities[0]?.key).toBe(guildId('a'))
    expect(checksOf(guilds.history).keyOf({ guildUuid: uuid })).toBe(guildId('a'))
    expect(checksOf(seasons.history).keyOf({ season: 3 })).toBe('3')
    expect(checksOf(camps.history).keyOf({ internalName: 'C-A', level: 20 })).toBe('C-A/20')
  })
})
