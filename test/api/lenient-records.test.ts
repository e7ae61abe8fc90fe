import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { misfitOf, readLeniently, recordParser, typeOf } from '../../src/api/schemas/form/record.ts'
import { RecordError } from '../../src/base/errors.ts'

const parse = recordParser(
  'thing',
  z.looseObject({
    name: z.string(),
    level: z.number().nullish(),
    tags: z.array(z.string()).nullish(),
    place: z.looseObject({ x: z.number(), y: z.number().nullish() }).nullish(),
    by: z.record(z.string(), z.looseObject({ n: z.number() })).nullish(),
    amount: z.union([z.number(), z.string()]).nullish(),
    'a/b~c': z.number().nullish(),
  }),
)

function refused(record: unknown): RecordError {
  try {
    parse(record)
  } catch (error) {
    if (error instanceof RecordError) return error
  }
  throw new Error('it was taken')
}

describe('what does not fit', () => {
  test.each([
    [5, 'the record itself should be object, found 5', '', '', 'number'],
    [{}, '/name should be string, found nothing', '/name', '/name', 'undefined'],
    [{ name: 'a', level: 'x' }, '/level should be number, found "x"', '/level', '/level', 'string'],
    [{ name: 'a', tags: ['b', null] }, '/tags/1 should be string, found null', '/tags/1', '/tags/*', 'null'],
    [{ name: 'a', by: { Ann: { n: [] } } }, '/by/Ann/n should be number, found []', '/by/Ann/n', '/by/*/n', 'array'],
    [{ name: 'a', amount: true }, '/amount should be number or string, found true', '/amount', '/amount', 'boolean'],
    [{ name: 'a', 'a/b~c': {} }, '/a~1b~0c should be number, found {}', '/a~1b~0c', '/a~1b~0c', 'object'],
  ])('is named with its place, what should be there, and what is: %j', (record, message, path, anywhere, type) => {
    const error = refused(record)
    expect(error.message).toBe(`thing: ${message}`)
    expect([error.context.path, misfitOf(error)]).toEqual([path, { anywhere, type }])
  })

  test('is shortened, and may stand in a record within another one', () => {
    const error = refused({ name: 'a', level: 'x'.repeat(100) })
    expect(error.context.found).toBe(`"${'x'.repeat(56)}...`)
    expect(refused({ name: 'a', level: 'x'.repeat(58) }).context.found).toBe(`"${'x'.repeat(58)}"`)
    expect(misfitOf(error, '/members/*')).toEqual({ anywhere: '/members/*/level', type: 'string' })
    expect(misfitOf(new RecordError('without a place'))).toBeUndefined()
  })

  test('has a type as JSON has it', () => {
    expect([null, [], {}, 'a', 1, true, undefined].map(typeOf)).toEqual([
      'null',
      'array',
      'object',
      'string',
      'number',
      'boolean',
      'undefined',
    ])
  })
})

describe('a record that can be read in part', () => {
  const read = (record: unknown, required: readonly string[] = []) => {
    const { value, odd } = readLeniently(record, parse, required)
    return { value, odd: odd.map(({ place, value: left, anywhere, type }) => [place.join('.'), left, anywhere, type]) }
  }

  test('is itself where all of it can', () => {
    const whole = { name: 'a', level: 1, other: true }
    expect(read(whole).value).toBe(whole)
    expect(read(whole).odd).toEqual([])
  })

  test.each([
    ['a field', { level: 'x', tags: ['t'] }, { tags: ['t'] }, ['level', 'x', '/level', 'string']],
    ['the whole of a list', { tags: ['t', 1] }, {}, ['tags', ['t', 1], '/tags', 'array']],
    ['a field of a field', { place: { x: 1, y: '2' } }, { place: { x: 1 } }, ['place.y', '2', '/place/y', 'string']],
    ['what cannot be without it', { place: { x: '1', y: 2 } }, {}, ['place', { x: '1', y: 2 }, '/place', 'object']],
    ['one of a map', { by: { a: { n: 1 }, b: 5 } }, { by: { a: { n: 1 } } }, ['by.b', 5, '/by/*', 'number']],
  ])('is read without %s', (_what, fields, left, odd) => {
    expect(read({ name: 'a', ...fields })).toEqual({ value: { name: 'a', ...left }, odd: [odd] })
  })

  test('is read without each of several', () => {
    const { value, odd } = read({ name: 'a', level: 'x', amount: [], place: { x: 1, y: {} } })
    expect(value).toEqual({ name: 'a', place: { x: 1 } })
    expect(odd.map(([place]) => place).sort()).toEqual(['amount', 'level', 'place.y'])
  })

  test('loses the whole field where there are more than sixteen', () => {
    const by = Object.fromEntries(Array.from({ length: 20 }, (_, nth) => [`p${nth}`, nth]))
    expect(read({ name: 'a', by })).toEqual({ value: { name: 'a' }, odd: [['by', by, '/by', 'object']] })
    const few = Object.fromEntries(Object.entries(by).slice(0, 16))
    const some = read({ name: 'a', by: few })
    expect([some.value, some.odd.length]).toEqual([{ name: 'a', by: {} }, 16])
  })

  test('is not read without what it needs, and says what was wrong first', () => {
    expect(() => read({ name: 5, level: 'x' })).toThrow('thing: /name should be string, found 5')
    expect(() => read({ name: 'a', level: 'x' }, ['level'])).toThrow('/level should be number')
    expect(() => read({ name: 'a', place: { x: '1' } }, ['place/x'])).toThrow('/place/x should be number')
    expect(read({ name: 'a', place: { x: 1, y: '1' } }, ['place/x']).odd).toHaveLength(1)
  })

  test('is not excused where the program fails', () => {
    const fail = () => {
      throw new TypeError('no function')
    }
    expect(() => readLeniently({}, fail)).toThrow(TypeError)
  })
})
