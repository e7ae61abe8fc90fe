import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { NotFound, Unauthorized, Unavailable } from '../../src/api/errors.ts'
import { recordParser } from '../../src/api/schemas/form/record.ts'
import { RecordError } from '../../src/base/errors.ts'
import {
  aboutAnother,
  fieldOf,
  hasFields,
  instantOf,
  joinLists,
  joinMaps,
  knownBy,
  numbersIn,
  omit,
  oneAnswer,
  oneRequest,
  plainText,
  readableOf,
  recordError,
  refuseOther,
  severalParts,
  textField,
  uuidField,
  withPossible,
} from '../../src/resources/record.ts'

/** A response of second `nth` of a minute, which may be asked for again `life` seconds later; null: it does not say when. */
const answerOf = (nth: number, life: number | null = null) => {
  const receivedAt = Date.parse('2026-06-01T12:00:00Z') + nth * 1000
  return {
    observedFrom: receivedAt - 500,
    observedAt: receivedAt,
    clockSkew: 0,
    oddHeaders: [],
    isUndated: false,
    receivedAt,
    expiresAt: life === null ? null : receivedAt + life * 1000,
    headers: new Map([['date', new Date(receivedAt).toUTCString()]]),
  }
}
const at = (nth: number) => answerOf(nth).observedAt

describe('responses that hold everything', () => {
  test('say their instant, and when asking again may bring something new', () => {
    expect(oneAnswer(answerOf(3))).toEqual({
      complete: true,
      observedFrom: at(3) - 500,
      observedAt: at(3),
      clockSkew: 0,
      oddHeaders: [],
      isUndated: false,
      pages: 1,
    })
    expect(oneAnswer(answerOf(3, 30))).toMatchObject({ pages: 1, renewAt: at(33) })
    expect(oneAnswer(answerOf(3, 0))).not.toHaveProperty('renewAt')
  })

  test('are asked for with the signal and the lane of the run', async () => {
    const calls: unknown[] = []
    const extract = oneRequest<string[]>({
      ask: async (_api, call) => {
        calls.push(call)
        return { ...answerOf(1, 30), body: ['a', 'b'] } as never
      },
      records: (body) => body.map((name) => ({ name })),
    })
    const signal = new AbortController().signal
    const extraction = await extract({} as never, { signal, lane: 'live' } as never)
    expect(extraction).toMatchObject({ records: [{ name: 'a' }, { name: 'b' }], complete: true, renewAt: at(31) })
    expect(calls).toEqual([{ signal, lane: 'live' }])
  })
})

describe('several requests whose responses hold a resource together', () => {
  const refusal = { kind: null, detail: null, path: '/part', objects: {} }
  const refused = new NotFound({ ...refusal, status: 404 })
  const away = new Unavailable('no response')
  type Asked = Error | readonly unknown[]
  const partsOf = (...asked: readonly Asked[]) =>
    asked.map((one, nth) => ({
      what: `part ${nth + 1}`,
      ask: async () => {
        if (one instanceof Error) throw one
        return [answerOf(nth, 60 + nth), one] as const
      },
    }))

  test('are one response: complete, from the first to the last, to be renewed with the last', async () => {
    const before = answerOf(-5, 10)
    expect(await severalParts(partsOf(['a', 'b'], ['c']), before)).toEqual({
      records: ['a', 'b', 'c'],
      complete: true,
      observedFrom: at(-5) - 500,
      observedAt: at(1),
      clockSkew: 0,
      oddHeaders: [],
      isUndated: false,
      pages: 3,
      renewAt: at(62),
    })
  })

  test('are not complete where one is refused, fails or holds nothing, and say of which, of three at most', async () => {
    expect(await severalParts(partsOf(['a'], refused))).toMatchObject({
      records: ['a'],
      complete: false,
      unsteady: refused.message,
    })
    const [kept, ...failed] = [['a'], [], away, refused, []] as const
    expect(await severalParts(partsOf(kept, ...failed))).toMatchObject({
      records: ['a'],
      complete: false,
      unsteady: `part 2: no records; no response; ${refused.message}`,
    })
    const empty = [{ ask: async () => [answerOf(0), []] as const }, ...partsOf(['a'])]
    expect(await severalParts(empty)).toMatchObject({ records: ['a'], complete: true })
  })

  test('are left after three failures in a row, of which none is a refusal, and where nothing is left', async () => {
    expect(await severalParts(partsOf(away, away, ['a'], away, away))).toMatchObject({ records: ['a'] })
    await expect(severalParts(partsOf(['a'], away, away, away, ['b']))).rejects.toBe(away)
    expect(await severalParts(partsOf(refused, refused, refused, ['a']))).toMatchObject({ records: ['a'] })
    expect(await severalParts(partsOf(away, away, refused, ['a'], away))).toMatchObject({ records: ['a'] })
    await expect(severalParts(partsOf([], away))).rejects.toBe(away)
    await expect(severalParts(partsOf(away))).rejects.toBe(away)
  })

  test('end with what would fail the others as well', async () => {
    const [unauthorized, fault] = [new Unauthorized({ ...refusal, status: 401 }), new TypeError('a fault')]
    for (const error of [unauthorized, fault])
      await expect(severalParts(partsOf(['a'], error, ['b']))).rejects.toBe(error)
  })
})

describe('HTML as text', () => {
  test.each([
    ['<p>One</p><p class="x">Two<br/>Three</p>', 'One\nTwo\nThree'],
    ['<h2>Four</h2><ul><li>Five</li><LI>Six</LI></ul><div>Seven</div><BR >Eight', 'Four\nFive\nSix\nSeven\n\nEight'],
    [' <b>bold</b> and <i>not</i> ', 'bold and not'],
    ['&lt;b&gt; &AMP; &quot;x&quot; &apos;y&apos;&nbsp;z', `<b> & "x" 'y' z`],
    ['&#65;&#x42;&#X43;&#128512;', 'ABC\u{1F600}'],
    // No entities, and those that no database keeps.
    ['&unknown; &#0; &#xd800; &#1234567; & ;', '&unknown; &#0; &#xd800; &#1234567; & ;'],
    ['a &#65b; c', 'a &#65b; c'],
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
    [1_780_000_000],
    {},
    1_356_998_399,
    4_102_444_800,
    99_999_999_999,
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
    expect(() => refuseOther({ data: [], code: 1 }, schema)).toThrow(
      new RecordError('none of its fields is known', { context: { path: '' } }),
    )
    expect(recordError('/a/0', 'is odd')).toMatchObject({ message: 'is odd', context: { path: '/a/0' } })
    const [known, whole] = [knownBy(schema), knownBy(schema, z.object({ ...schema.shape, extra: z.string() }))]
    expect([...known.unknownFields({ name: 'a', other: 1 })]).not.toEqual([])
    expect(known.sent).not.toEqual(whole.sent)
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
      expect(() => withPossible({ created }, context, 'created')).toThrow(
        expect.objectContaining({
          message: 'lies before the game began, or after the response',
          context: { path: '/created' },
        }),
      )
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

  test('are read for keys only where their records are others than in the version before', () => {
    let read = 0
    const record = (id: string) => ({
      get id() {
        read++
        return id
      },
    })
    const readBy = (work: () => unknown) => {
      const before = read
      work()
      return read - before
    }
    const join = joinLists(null, 'id')
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(record)
    const [one, other] = [[a, b], [c]]
    expect(readBy(() => expect(join([one, other])).toEqual([a, b, c]))).toBeGreaterThanOrEqual(3)
    const again = readBy(() => expect(join([one, other]).length).toBe(3))
    expect(again).toBe(0)
    // Another list of the same records, and one of which a record is another.
    expect(readBy(() => expect(join([[a, b], other])).toHaveLength(3))).toBe(0)
    expect(readBy(() => expect(join([[a, d], other])[1]).toBe(d))).toBe(1)
    // One with a key that the other file has: the last counts, also when it comes again.
    const third = record('a')
    expect([join([[a, d], [third]])[0], join([[a, d], [third]])[0], join([[a, d], [third]]).length]).toEqual([
      third,
      third,
      2,
    ])
    expect([join([[a, d], other]).length, join([[a], other]).length, join([[a]]).length]).toEqual([3, 2, 1])
    expect(join([[a, third], other])).toEqual([third, c])
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
