import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { recordParser } from '../../src/api/schemas/form/record.ts'
import {
  aboutAnother,
  fieldOf,
  hasFields,
  instantOf,
  joinLists,
  joinMaps,
  numbersIn,
  omit,
  plainText,
  readableOf,
  refuseOther,
  textField,
  uuidField,
  withPossible,
} from '../../src/resources/record.ts'

describe('HTML as text', () => {
  test.each([
    ['<p>One</p><p class="x">Two<br/>Three</p>', 'One\nTwo\nThree'],
    ['<h2>Four</h2><ul><li>Five</li><LI>Six</LI></ul><div>Seven</div><BR >Eight', 'Four\nFive\nSix\nSeven\n\nEight'],
    [' <b>bold</b> and <i>not</i> ', 'bold and not'],
    ['&lt;b&gt; &AMP; &quot;x&quot; &apos;y&apos;&nbsp;z', `<b> & "x" 'y' z`],
    ['&#65;&#x42;&#X43;&#128512;', 'ABC\u{1F600}'],
    // No entities, and those that no database keeps.
    ['&unknown; &#0; &#xd800; &#1234567; & ;', '&unknown; &#0; &#xd800; &#1234567; & ;'],
  ])('%s', (html, text) => {
    expect(plainText(html)).toBe(text)
  })
})

describe('a number that may be an instant', () => {
  test.each([
    [1_780_000_000, '2026-05-28T20:26:40.000000Z'],
    [1_780_000_000_123, '2026-05-28T20:26:40.123000Z'],
    ['1780000000', '2026-05-28T20:26:40.000000Z'],
    ['1780000000123', '2026-05-28T20:26:40.123000Z'],
    [1_356_998_400, '2013-01-01T00:00:00.000000Z'],
    [4_102_444_799, '2099-12-31T23:59:59.000000Z'],
  ])('%j is one', (value, instant) => {
    expect(instantOf(value)).toBe(instant)
  })

  test.each([
    1_356_998_399,
    4_102_444_800,
    1e11,
    5,
    '178000000',
    '17800000001',
    'x1780000000',
    '1780000000x',
    '2026-05-28',
    null,
    true,
  ])('%j is none', (value) => {
    expect(instantOf(value)).toBe(value)
  })
})

describe('fields of a record of unknown shape', () => {
  test('are there, or not', () => {
    const record = { name: 'a', empty: '', number: 1, nothing: null }
    expect([fieldOf(record, 'number'), fieldOf(null, 'a'), fieldOf('abc', 'length')]).toEqual([1, undefined, undefined])
    expect(['name', 'empty', 'number', 'other'].map((one) => textField(record, one))).toEqual(['a', ...Array(3)])
    expect([hasFields(record, 'name', 'nothing'), hasFields(record, 'name', 'other')]).toEqual([true, false])
    expect([hasFields([], 'length'), hasFields(null, 'a'), hasFields(record, 'toString')]).toEqual([
      false,
      false,
      false,
    ])
    expect(omit(record, 'name', 'nothing')).toEqual({ empty: '', number: 1 })
  })

  test('have numbers at any depth, but not in lists', () => {
    expect(numbersIn({ a: 1, b: { c: 2, d: [3], e: null, f: '4' }, g: { 'h i': { j: 0.5 } } })).toEqual([
      ['a', 1],
      ['b.c', 2],
      ['g.h i.j', 0.5],
    ])
    expect(numbersIn(7)).toEqual([['', 7]])
  })

  test('have a uuid in one spelling, which may be another than was asked for', () => {
    const uuid = '123E4567-E89B-12D3-A456-426614174000'
    expect([uuidField({ uuid }, 'uuid'), uuidField({}, 'uuid')]).toEqual([uuid.toLowerCase(), undefined])
    expect(aboutAnother({ uuid }, uuid.toLowerCase())).toBeUndefined()
    expect(aboutAnother({ uuid: uuid.toLowerCase() }, uuid)).toBeUndefined()
    expect(aboutAnother({ uuid }, uuid.replace('1', '2'))).toMatch(/another uuid/)
    for (const other of [{}, { uuid: 'no uuid' }, null]) expect(aboutAnother(other, uuid)).toBeUndefined()
  })

  test('are known in part where it is that record, and not an envelope', () => {
    const schema = z.object({ name: z.string(), level: z.number() })
    expect(() => refuseOther({ data: [], code: 1 }, schema)).toThrow('none of its fields is known')
    for (const fine of [{ level: 'x', data: 1 }, null, 'text']) expect(() => refuseOther(fine, schema)).not.toThrow()
  })

  test('could all be read, or not', () => {
    const parse = recordParser('thing', z.looseObject({ a: z.number().nullish(), b: z.number().nullish() }))
    const { value, hasAll } = readableOf({ a: 1, b: 'x' }, parse, [])
    expect([value, hasAll(), hasAll('a'), hasAll('b'), hasAll('a', 'b')]).toEqual([{ a: 1 }, true, true, false, false])
  })

  test('with instants are possible where these are', () => {
    const context = { observedAt: Date.parse('2026-06-01T12:00:00Z') }
    const record = { created: '2026-06-01T11:00:00Z', joined: null, name: '2999-01-01T00:00:00Z' }
    expect(withPossible(record, context, 'created', 'joined')).toBe(record)
    for (const created of ['2026-06-01T13:00:00Z', '2012-01-01T00:00:00Z'])
      expect(() => withPossible({ created }, context, 'created')).toThrow('lies before the game began, or after')
    const [later, known] = [{ created: '2999-01-01T00:00:00Z' }, { observedAt: Number.POSITIVE_INFINITY }]
    expect([withPossible(later, undefined, 'created'), withPossible(later, known, 'created')]).toEqual([later, later])
  })
})

describe('bodies of several files', () => {
  const [old, now] = [
    { id: 'a', v: 1 },
    { id: 'a', v: 2 },
  ]

  test('are one list, in which a later record of a key counts, and all without a key', () => {
    const join = joinLists(null, 'id')
    expect(
      join([
        [old, { v: 3 }],
        [now, { id: 'b' }, { v: 3 }],
      ]),
    ).toEqual([now, { v: 3 }, { id: 'b' }, { v: 3 }])
    const first = [old]
    expect([join([first]), join([first, [now]]), join([first])]).toEqual([[old], [now], [old]])
    expect(joinLists(null)([[old], [now]])).toEqual([old, now])
  })

  test('are one list of maps by name', () => {
    expect(joinLists('name', 'name')([{ x: { v: 1 } }, { x: { v: 2 }, y: { v: 3 } }])).toEqual([
      { v: 2, name: 'x' },
      { v: 3, name: 'y' },
    ])
  })

  test('are one map', () => {
    expect(joinMaps([{ x: 1, y: 2 }, [], { y: 3 }])).toEqual({ x: 1, y: 3 })
  })
})
