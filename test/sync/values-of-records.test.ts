import { describe, expect, test } from 'vitest'
import { changesBetween } from '../../src/sync/normalize/changed-fields.ts'
import { extraOf, unknownMembers } from '../../src/sync/normalize/drift.ts'
import { base64, canonicalJson, hashOfLines, indexable, type Json, sha256 } from '../../src/sync/normalize/hash.ts'
import { deepJson, hasInexact, tooDeep } from '../../src/sync/normalize/nesting.ts'
import { canonicalInstant, canonicalValues } from '../../src/sync/normalize/values.ts'

describe('an instant', () => {
  test.each([
    ['2026-04-23T14:33:23.733000Z', '2026-04-23T14:33:23.733000Z'],
    ['2026-04-23T14:33:23.7334567Z', '2026-04-23T14:33:23.733456Z'],
    ['2026-04-23T14:33:23.733456789012Z', '2026-04-23T14:33:23.733456Z'],
    ['2026-04-23T14:33:23,5Z', '2026-04-23T14:33:23.500000Z'],
    ['2026-04-23 14:33:23+00:00', '2026-04-23T14:33:23.000000Z'],
    ['2026-04-23t14:33:23z', '2026-04-23T14:33:23.000000Z'],
    ['2026-04-23T14:33:23.123456789012 +02:00', '2026-04-23T12:33:23.123456Z'],
    ['2026-04-23T14:33:23 Z', '2026-04-23T14:33:23.000000Z'],
    ['2026-04-23T01:33:23.5+02:00', '2026-04-22T23:33:23.500000Z'],
    ['2026-04-23T01:33:23-02:30', '2026-04-23T04:03:23.000000Z'],
    ['2026-04-23T01:33:23-0230', '2026-04-23T04:03:23.000000Z'],
    ['2026-04-23T01:33:23+15', '2026-04-22T10:33:23.000000Z'],
    ['2026-04-23T01:33:23+09:59', '2026-04-22T15:34:23.000000Z'],
    // What names no zone is UTC, as the database reads it.
    ['2026-06-30T01:33:23', '2026-06-30T01:33:23.000000Z'],
    ['2026-06-30 01:33:23.5', '2026-06-30T01:33:23.500000Z'],
    ['2026-06-30T01:33', '2026-06-30T01:33:00.000000Z'],
    ['2026-06-30T01:33Z', '2026-06-30T01:33:00.000000Z'],
    ['2026-06-30t01:33+01:00', '2026-06-30T00:33:00.000000Z'],
    ['20260630T013323', '2026-06-30T01:33:23.000000Z'],
    ['20260630t013323z', '2026-06-30T01:33:23.000000Z'],
    ['20260630T013323+0200', '2026-06-29T23:33:23.000000Z'],
    ['20260630T013323-02:00', '2026-06-30T03:33:23.000000Z'],
    ['20260630T013323+02', '2026-06-29T23:33:23.000000Z'],
    ['20260630T013323.25Z', '2026-06-30T01:33:23.250000Z'],
    ['20260630T013323,25', '2026-06-30T01:33:23.250000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000000Z'],
  ])('%s is written as %s', (sent, canonical) => {
    expect(canonicalInstant(sent)).toBe(canonical)
  })

  test.each([
    // Postgres takes no such offset.
    '2026-06-30T01:33:23+16:00',
    '2026-06-30T01:33:23+01:60',
    '2026-06-30T01:33:23+1:00',
    '2026-06-31T01:33:23Z',
    '2026-06-31T01:33:23+02:00',
    '2025-02-29T00:00:00Z',
    '2026-06-30T24:00:00Z',
    '2026-06-30T01:60:00Z',
    '2026-13-30T01:00:00Z',
    '20260631T013323Z',
    '20260630T013323 words',
    '20260630T0133230',
    '20260630T013323.1234567890123Z',
    '020260630T013323Z',
    // Of more than four digits, and before the year 0, elsewhere than here.
    '9999-12-31T23:00:00-02:00',
    '0000-01-01T00:00:00+02:00',
    // Dates and times for people.
    '2026-06-30 01:33',
    '2026-06-30 01:33Z',
    'at 2026-06-30T01:33:23Z',
    '2026-06-30T01:33:23Z or so',
    '2026-06-30T01:33:23.Z',
    '2026-06-30T01:33:23.1234567890123Z',
    '2026-06-30T01:33:23  Z',
    '2026-06-30',
    'words-of T 12:30',
    '',
  ])('is not what %s says', (text) => {
    expect(canonicalInstant(text)).toBe(text)
  })
})

describe('the values of a record', () => {
  const kept = (value: unknown) => {
    const respelled = new Map<string, string>()
    return { value: canonicalValues(value, respelled), respelled: Object.fromEntries(respelled) }
  }

  test('stay the same object where nothing of them is spelled otherwise', () => {
    const record = { a: [1, null, true, { b: 'text' }], at: '2026-06-01T08:00:00.000000Z', none: undefined }
    expect(canonicalValues(record, new Map())).toBe(record)
    expect(kept(record).respelled).toEqual({})
    expect([kept(null).value, kept(7).value, kept(undefined).value]).toEqual([null, 7, undefined])
  })

  test('lose numbers of models at every depth, and nothing else', () => {
    const record = { customModelData: 1, icon: [{ customModelData: { a: 1 }, name: 'x' }, 3] }
    expect(kept(record)).toEqual({ value: { icon: [{ name: 'x' }, 3] }, respelled: {} })
    expect(record).toEqual({ customModelData: 1, icon: [{ customModelData: { a: 1 }, name: 'x' }, 3] })
  })

  test('have instants in one spelling, and it is known how they were sent', () => {
    const record = { at: '2026-06-01T08:00:00Z', others: ['x', '2026-06-01 09:00:00'] }
    expect(kept(record)).toEqual({
      value: { at: '2026-06-01T08:00:00.000000Z', others: ['x', '2026-06-01T09:00:00.000000Z'] },
      respelled: {
        '2026-06-01T08:00:00.000000Z': '2026-06-01T08:00:00Z',
        '2026-06-01T09:00:00.000000Z': '2026-06-01 09:00:00',
      },
    })
  })

  test('have another character for what no database keeps, in names too', () => {
    expect(kept({ 'a\0': 'b\0', c: 'd' })).toEqual({
      value: { 'a\uFFFD': 'b\uFFFD', c: 'd' },
      respelled: { 'a\uFFFD': 'a\0', 'b\uFFFD': 'b\0' },
    })
    // Nothing but the name differs.
    expect(kept({ '\ud800': 1 })).toEqual({ value: { '\uFFFD': 1 }, respelled: { '\uFFFD': '\ud800' } })
  })

  test('keep a name that no database keeps where another one looks the same then', () => {
    expect(kept({ 'a\uFFFD': 1, 'a\0': 2 })).toEqual({ value: { 'a\uFFFD': 1, 'a\0': 2 }, respelled: {} })
    expect(kept({ 'a\0': 1, 'a\ud800': 2 }).value).toEqual({ 'a\uFFFD': 1, 'a\ud800': 2 })
  })
})

describe('the text that is hashed', () => {
  test('has names sorted at every depth, and nothing of what is undefined', () => {
    const value = { b: [{ d: 1, c: null }, 'x"'], a: { z: undefined, y: true }, z: undefined }
    expect(canonicalJson(value as unknown as Json)).toBe('{"a":{"y":true},"b":[{"c":null,"d":1},"x\\""]}')
    expect(canonicalJson({ z: undefined, zz: 1 })).toBe('{"zz":1}')
    expect([canonicalJson({}), canonicalJson([]), canonicalJson(null), canonicalJson('a')]).toEqual([
      '{}',
      '[]',
      'null',
      '"a"',
    ])
  })

  test('has each name as JSON writes it, also the second time, and after ten thousand others', () => {
    expect([canonicalJson({ 'a"b': 1 }), canonicalJson({ 'a"b': 2 })]).toEqual(['{"a\\"b":1}', '{"a\\"b":2}'])
    const many = Object.fromEntries(Array.from({ length: 10_100 }, (_, nth) => [`n${nth}"`, nth]))
    expect(JSON.parse(canonicalJson(many))).toEqual(many)
    expect(canonicalJson({ 'n10099"': 1 })).toBe('{"n10099\\"":1}')
  })

  test('has the hash that everybody knows', () => {
    expect(sha256('abc').toString('hex')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
    expect(hashOfLines(['a', 'b'])).toEqual(sha256('a\nb'))
    expect(base64(new Uint8Array([255, 0, 1]))).toBe('/wAB')
  })

  test('of a pointer fits into an index: what is longer ends in its hash', () => {
    const [short, long] = ['a'.repeat(250), 'a'.repeat(251)]
    expect(indexable(short)).toBe(short)
    expect(indexable(long)).toBe(`${'a'.repeat(200)}...${sha256(long).toString('hex').slice(0, 16)}`)
    expect(indexable('a\0')).toBe('a\uFFFD')
    // It is cut between the halves of a pair.
    expect(indexable(`${'a'.repeat(199)}\u{1F600}${'b'.repeat(60)}`)).toMatch(/^a{199}\uFFFD\.{3}[0-9a-f]{16}$/)
  })
})

describe('what differs between two documents', () => {
  const differing = (before: Json | undefined, after: Json | undefined) =>
    changesBetween(before, after).map(({ path, before, after }) => [path, before, after])

  test('is each field by its pointer, sorted, with a list as a whole', () => {
    expect(
      differing(
        { z: 1, a: { b: [1, 2], c: 'same', d: null }, gone: 1, kind: { x: 1 } },
        { z: 2, a: { b: [1, 3], c: 'same', d: null }, new: 1, kind: [1] },
      ),
    ).toEqual([
      ['/a/b', [1, 2], [1, 3]],
      ['/gone', 1, undefined],
      ['/kind', { x: 1 }, [1]],
      ['/new', undefined, 1],
      ['/z', 1, 2],
    ])
  })

  test('is the whole where one of them is nothing, a list or no object', () => {
    expect(differing(undefined, { a: 1 })).toEqual([['', undefined, { a: 1 }]])
    expect(differing({ a: 1 }, undefined)).toEqual([['', { a: 1 }, undefined]])
    expect(differing(null, { a: 1 })).toEqual([['', null, { a: 1 }]])
    expect(differing({ a: 1 }, null)).toEqual([['', { a: 1 }, null]])
    expect(differing([1], { 0: 1 })).toEqual([['', [1], { 0: 1 }]])
    expect(differing({ 0: 1 }, [1])).toEqual([['', { 0: 1 }, [1]]])
    expect(differing('a', 'b')).toEqual([['', 'a', 'b']])
  })

  test('is nothing where both say the same, in whatever order, whatever the model', () => {
    expect(differing({ a: { x: 1, y: 2 }, l: [{ p: 1, q: 2 }] }, { l: [{ q: 2, p: 1 }], a: { y: 2, x: 1 } })).toEqual(
      [],
    )
    expect(differing({ icon: { customModelData: 1 } }, { icon: { customModelData: 2 } })).toEqual([])
    expect(differing(undefined, undefined)).toEqual([])
  })

  test('is told of names that every object has, and of those with signs of a pointer', () => {
    expect(differing(JSON.parse('{}'), JSON.parse('{"__proto__":1,"toString":2}'))).toEqual([
      ['/__proto__', undefined, 1],
      ['/toString', undefined, 2],
    ])
    expect(differing({ 'a/b~c/~': 1 }, { 'a/b~c/~': 2 })).toEqual([['/a~1b~0c~1~0', 1, 2]])
  })
})

describe('what nests', () => {
  test('deeper than so many levels is named by its pointer', () => {
    const value = { a: 1, list: [0, { 'b/c': [{ d: 1 }] }] }
    expect(tooDeep(value, 5)).toBeUndefined()
    expect(tooDeep(value, 4)).toBe('/list/1/b~1c/0')
    expect(tooDeep(value, 3)).toBe('/list/1/b~1c')
    expect(tooDeep(value, 1)).toBe('/list')
    expect(tooDeep(value, 0)).toBe('')
    expect([tooDeep('text', 0), tooDeep(null, 0), tooDeep([], 0)]).toEqual([undefined, undefined, ''])
    expect([tooDeep([[]], 1), tooDeep([[], 1], 2)]).toEqual(['/0', undefined])
  })

  test('by default deeper than two hundred', () => {
    const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)])
    expect([tooDeep(nested(200)), tooDeep(nested(201))]).toEqual([undefined, '/0'.repeat(200)])
  })

  test('in thousands of levels is written without overflowing', () => {
    let deep: unknown = 1
    for (let level = 0; level < 100_000; level++) deep = [deep]
    expect(deepJson(deep)).toBe(`${'['.repeat(100_000)}1${']'.repeat(100_000)}`)
  })

  test.each([[{ a: [1, 'x"', null, true, {}], 'b"': { c: [] } }], [[]], ['text'], [null], [{ '[{': '}]' }]])(
    'is written as JSON writes it: %j',
    (value) => {
      expect(deepJson(value)).toBe(JSON.stringify(value))
    },
  )

  test('is written with null for what JSON has no word for', () => {
    expect(deepJson([undefined, 1])).toBe('[null,1]')
  })

  test.each([
    [2 ** 53, true],
    [2 ** 53 - 1, false],
    [-(2 ** 53), true],
    [1 - 2 ** 53, false],
    [Number.POSITIVE_INFINITY, true],
    [Number.NaN, true],
    ['9007199254740993', false],
    [null, false],
    [undefined, false],
    [{ a: [1, { b: 1e300 }] }, true],
    [{ a: [1, { b: 1 }] }, false],
  ])('holds a number that is another one than was sent: %j %s', (value, inexact) => {
    expect(hasInexact(value)).toBe(inexact)
  })
})

describe('what is unknown in a document', () => {
  const members = (document: Json, vocabulary: Readonly<Record<string, readonly string[]>>) =>
    unknownMembers(document, vocabulary)

  test('are members that the vocabulary does not list, wherever its paths lead', () => {
    const document = {
      type: 'axe',
      tags: ['a', 'b', 1],
      of: { x: { kind: 'p' }, y: { kind: 'q' }, z: null },
      list: ['u'],
    }
    expect(
      members(document, { '/type': ['bow'], '/tags/*': ['a'], '/of/*/kind': ['q'], '/list/0': [], '/none/a': [] }),
    ).toEqual([
      { kind: 'unknown_member', path: '/type', member: 'axe', example: 'axe' },
      { kind: 'unknown_member', path: '/tags/*', member: 'b', example: 'b' },
      { kind: 'unknown_member', path: '/of/*/kind', member: 'p', example: 'p' },
    ])
    expect(members(document, { '/type': ['axe', 'bow'], '/of': [], '/type/x': [] })).toEqual([])
    expect(members('axe', { '': ['bow'] })).toEqual([
      { kind: 'unknown_member', path: '', member: 'axe', example: 'axe' },
    ])
  })

  test('are fields, in the shape that they stand in; a name of every object is one like any other', () => {
    expect(extraOf([])).toBeNull()
    const extra = extraOf([
      { path: '/a/b', place: ['a', 'b'], value: 1 },
      { path: '/a/*', place: ['a', 0], value: [2] },
      { path: '/__proto__/c', place: ['__proto__', 'c'], value: 3 },
      { path: '', place: [], value: 4 },
    ])
    expect(JSON.stringify(extra)).toBe('{"a":{"0":[2],"b":1},"__proto__":{"c":3}}')
    expect(({} as { c?: unknown }).c).toBeUndefined()
  })
})
