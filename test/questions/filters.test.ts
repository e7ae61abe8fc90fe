import { describe, expect, test } from 'vitest'
import { orderSql, readOrder, readSelect } from '../../src/questions/asking/ask.ts'
import {
  conditionOf,
  filterOf,
  filterText,
  fittingOf,
  hasOperator,
  isOrdered,
  readFilters,
  valuesOf,
} from '../../src/questions/asking/filters.ts'
import { call, instant, refusal, view } from './one-question.ts'

describe('a filter', () => {
  const read = (type: string, text: string) => {
    const { isNegated, operator, values } = filterOf({ name: 'x', type }, text)
    return [...(isNegated ? ['not'] : []), operator, ...values]
  }
  test.each([
    ['text', 'a', ['eq', 'a']],
    ['text', '', ['eq', '']],
    ['text', 'eq.', ['eq', '']],
    ['text', 'eq.eq.a', ['eq', 'eq.a']],
    ['text', 'neq.a\nb', ['neq', 'a\nb']],
    ['text', 'not.eq.a', ['not', 'eq', 'a']],
    ['text', 'not.a', ['eq', 'not.a']],
    ['text', 'a.eq.b', ['eq', 'a.eq.b']],
    ['text', 'gt.a', ['gt', 'a']],
    ['integer', 'gte.5', ['gte', '5']],
    ['integer', 'lt.5', ['lt', '5']],
    ['integer', 'lte.5', ['lte', '5']],
    ['text', 'like.*a_%b*', ['like', '%a_%b%']],
    ['text', 'not.ilike.a', ['not', 'ilike', 'a']],
    ['text', 'like.a\\\\', ['like', 'a\\\\']],
    ['text', 'like.a\\*', ['like', 'a\\%']],
    ['uuid', 'in.(a)', ['in', 'a']],
    ['text', 'in.(a, b ,c)', ['in', 'a', 'b', 'c']],
    ['text', 'in.(a,)', ['in', 'a', '']],
    ['text', 'in.(,a)', ['in', '', 'a']],
    ['text', 'in.( "a,b" ,"c\\"d","e\\\\")', ['in', 'a,b', 'c"d', 'e\\']],
    ['text', 'in.("a\nb",c\nd)', ['in', 'a\nb', 'c\nd']],
    ['text', 'in.("  a ")', ['in', '  a ']],
    ['text', 'is.NULL', ['is', 'null']],
    ['text', 'not.is.not_null', ['not', 'is', 'not_null']],
    ['boolean', 'is.true', ['is', 'true']],
    ['boolean', 'is.false', ['is', 'false']],
    ['boolean', 'is.unknown', ['is', 'unknown']],
    ['boolean', 'is.not_null', ['is', 'not_null']],
  ])('of a column of type %s: %j', (type, text, expected) => {
    expect(read(type, text)).toEqual(expected)
  })

  const ordered = 'eq, neq, gt, gte, lt, lte, in, is'
  const list =
    'must be in.(a,b,"c,d"), with quotes around a value with a comma; eq.in. begins a text that begins with in.'
  test.each([
    ['text', 'in.a', list],
    ['text', 'in.(a', list],
    ['text', 'in.(a) b', list],
    ['text', 'in.("a)', list],
    ['text', 'in.("a" b)', list],
    ['text', 'in.()', 'has a list without a value'],
    ['text', 'in.(  )', 'has a list without a value'],
    ['text', `in.(${'a,'.repeat(200)}a)`, 'has a list of more than 200 values'],
    ['text', 'is.true', 'must be is.null, is.not_null; eq.is. begins a text that begins with is.'],
    [
      'boolean',
      'is.yes',
      'must be is.null, is.not_null, is.true, is.false, is.unknown; eq.is. begins a text that begins with is.',
    ],
    ['integer', 'like.5', `is no text: like does not fit; ${ordered} do`],
    ['uuid', 'ilike.5', 'is no text: ilike does not fit; eq, neq, in, is do'],
    ['uuid', 'gte.5', 'has no order: gte does not fit; eq, neq, in, is do'],
    ['boolean', 'lt.5', 'has no order: lt does not fit; eq, neq, in, is do'],
    ['text', `like.${'a'.repeat(201)}`, 'has a pattern of more than 200 characters'],
    ['text', `like.${'*a'.repeat(11)}`, 'has a pattern with more than 10 wildcards'],
    ['text', 'like.a\\', 'has a pattern that ends with a backslash: write two'],
    ['text', 'like.a\n\\\\\\', 'has a pattern that ends with a backslash: write two'],
  ] as [string, string, string][])('of a column of type %s is refused: %j', (type, text, message) => {
    expect(refusal(() => filterOf({ name: 'x', type }, text))).toEqual([`x ${message}`, 'x'])
  })

  test('may be as long as it may be', () => {
    expect(read('text', `in.(${'a,'.repeat(199)}a)`)).toHaveLength(201)
    expect(read('text', `like.${'a'.repeat(200)}`)).toEqual(['like', 'a'.repeat(200)])
    expect(read('text', `like.${'**a'.repeat(10)}`)).toEqual(['like', '%%a'.repeat(10)])
  })

  test('is spelled as it is read, with quotes where they are needed', () => {
    const spelled = (text: string) => filterText(filterOf({ name: 'x', type: 'text' }, text))
    for (const text of ['a', 'eq.eq.a', 'neq.a', 'not.eq.a', 'is.null', 'in.(a,b)', 'in.("", a)'])
      expect(filterOf({ name: 'x', type: 'text' }, spelled(text))).toEqual(filterOf({ name: 'x', type: 'text' }, text))
    expect(spelled('eq.a')).toBe('a')
    expect(spelled('not.eq.eq.a')).toBe('not.eq.eq.a')
    expect(spelled('in.("a b"," a","a ","a,b","a\\\\b","\\"a","a\\"b","")')).toBe(
      'in.(a b," a","a ","a,b","a\\\\b","\\"a",a"b,"")',
    )
    expect(filterText({ name: 'x', type: 'text', isNegated: false, operator: 'eq', values: [] })).toBe('')
    expect([hasOperator('eq.a'), hasOperator('not.is.a'), hasOperator('a'), hasOperator('eqa')]).toEqual([
      true,
      true,
      false,
      false,
    ])
  })

  test('fits a type whose values have an order', () => {
    const types = ['text', 'date', 'interval', instant, 'smallint', 'integer', 'bigint', 'numeric(3)', 'real']
    expect([...types, 'double precision'].filter((type) => !isOrdered(type))).toEqual([])
    expect(['text[]', 'boolean', 'uuid', 'jsonb', 'daterange', 'intervals', 'a text'].filter(isOrdered)).toEqual([])
    expect(fittingOf('text')).toBe('eq, neq, gt, gte, lt, lte, like, ilike, in, is')
    expect(fittingOf('date')).toBe(ordered)
    expect(fittingOf('uuid')).toBe('eq, neq, in, is')
  })

  const now = Date.parse('2026-06-03T10:20:30Z')
  test('of a request is about a column that there is, and has instants without words', () => {
    const values = (given: [string, string][]) => readFilters(view, given, now).map((one) => one.values)
    expect(
      values([
        ['seen_at', 'gte.-1d'],
        ['day', 'today'],
        ['internal_name', 'now'],
        ['seen_at', 'in.(now,x)'],
      ]),
    ).toEqual([['2026-06-02T10:20:30.000Z'], ['2026-06-03T00:00:00.000Z'], ['now'], ['2026-06-03T10:20:30.000Z', 'x']])
    expect(refusal(() => values([['none', 'a']]))).toEqual([
      `bow has no column none; there are: ${view.columns.map(({ name }) => name).join(', ')}`,
      'none',
    ])
    expect(refusal(() => readFilters(call, [['none', 'a']], now))).toEqual([
      'online has no argument or column none; there are: guild, player, from_time, to_time, step, n, kind, at, online',
      'none',
    ])
  })

  test('of a request has at most 200 values, with the others', () => {
    const list = (many: number): [string, string] => ['level', `in.(${'1,'.repeat(many - 1)}1)`]
    expect(readFilters(view, [list(150), list(50)], now)).toHaveLength(2)
    expect(refusal(() => readFilters(view, [list(150), list(51)], now))).toEqual([
      'filters have at most 200 values together',
      undefined,
    ])
  })

  test.each([
    ['text', 'a', 'x = $1:text'],
    ['text', 'neq.a', 'x <> $1:text'],
    ['text', 'gt.a', 'x collate "C" > $1:text'],
    ['integer', 'gte.1', 'x >= $1:integer'],
    ['integer', 'lt.1', 'x < $1:integer'],
    ['integer', 'not.lte.1', 'not (x <= $1:integer)'],
    ['text', 'like.a', 'x collate "C" like $1:text'],
    ['text', 'ilike.a', 'x collate "C" ilike $1:text'],
    ['uuid', 'in.(a,b)', 'x in ($1:uuid, $2:uuid)'],
    ['text', 'is.not_null', 'x is not null'],
    ['boolean', 'not.is.true', 'not (x is true)'],
  ])('of a column of type %s is a condition: %j', (type, text, sql) => {
    let places = 0
    const parameter = (_value: string, of: string) => `$${++places}:${of}`
    expect(conditionOf(filterOf({ name: 'x', type }, text), 'x', parameter)).toBe(sql)
  })

  test('has values that Postgres reads, but where it asks for NULL', () => {
    expect(valuesOf(filterOf({ name: 'x', type: 'uuid' }, 'in.(a,b)'))).toEqual([
      { name: 'x', type: 'uuid', value: 'a' },
      { name: 'x', type: 'uuid', value: 'b' },
    ])
    expect(valuesOf(filterOf({ name: 'x', type: 'uuid' }, 'is.null'))).toEqual([])
  })
})

describe('an order', () => {
  test('has unknown values last, and first where it descends, unless it says so', () => {
    expect(
      readOrder(view, 'level.desc, internal_name,seen_at.asc.nullsfirst,is_sold.desc.nullslast,owner.nullsfirst').map(
        ({ name, direction, nulls }) => `${name} ${direction} ${nulls}`,
      ),
    ).toEqual([
      'level desc first',
      'internal_name asc last',
      'seen_at asc first',
      'is_sold desc last',
      'owner asc first',
    ])
  })

  test('of one word is of all columns that stay while rows are read', () => {
    const names = ['internal_name', 'level', 'seen_at', 'stats', 'tags', 'is_sold', 'owner', 'day']
    expect(readOrder(view, 'asc')).toEqual(names.map((name) => ({ name, direction: 'asc', nulls: 'last' })))
    expect(readOrder(view, 'desc')).toEqual(names.map((name) => ({ name, direction: 'desc', nulls: 'first' })))
  })

  const columns = view.columns.map(({ name }) => name).join(', ')
  const form = 'order must be asc, desc, or columns such as level.desc.nullslast,internal_name'
  test.each([
    ['none', `${form}; bow has no column none; there are: ${columns}`],
    ['', `${form}; bow has no column ; there are: ${columns}`],
    ['level.up', `${form}; bow has no column level.up; there are: ${columns}`],
    ['a level', `${form}; bow has no column a level; there are: ${columns}`],
    ['stats', 'order cannot be by stats, which is of type jsonb'],
    ['tags.desc', 'order cannot be by tags, which is of type text[]'],
    ['level,day,level.desc', 'order has level twice'],
    [Array(10).fill('level').join(','), 'order has more columns than there are'],
  ])('is refused: %j', (text, message) => {
    expect(refusal(() => readOrder(view, text))).toEqual([message, 'order'])
  })

  test('in SQL says where unknown values are only where Postgres would have them elsewhere', () => {
    const spelled = (text: string) => readOrder(view, text).map((key) => orderSql(key, 'x'))[0]
    expect(['level', 'level.nullsfirst', 'level.desc', 'level.desc.nullslast'].map(spelled)).toEqual([
      'x asc',
      'x asc nulls first',
      'x desc',
      'x desc nulls last',
    ])
  })
})

describe('a selection', () => {
  test('has columns once, in their order', () => {
    expect(readSelect(view, 'level, internal_name')).toEqual(['level', 'internal_name'])
    const all = view.columns.map(({ name }) => name)
    expect(readSelect(view, all.join(','))).toEqual(all)
  })

  const columns = view.columns.map(({ name }) => name).join(', ')
  test.each([
    ['none', `select takes columns; bow has no column none; there are: ${columns}`],
    ['level,', `select takes columns; bow has no column ''; there are: ${columns}`],
    ['level,level', 'select has a column twice'],
    [Array(10).fill('level').join(','), 'select has more columns than there are'],
  ])('is refused: %j', (text, message) => {
    expect(refusal(() => readSelect(view, text))).toEqual([message, 'select'])
  })
})
