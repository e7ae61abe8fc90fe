import { describe, expect, test } from 'vitest'
import { UsageError } from '../../src/base/errors.ts'
import {
  hasKeys,
  KEYS,
  orderSql,
  pageStatement,
  readOrder,
  readSelect,
  shownStatement,
  statementFor,
} from '../../src/questions/asking/ask.ts'
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
import { unreadable, WrongArgument } from '../../src/questions/asking/readable.ts'
import { unitOf } from '../../src/questions/asking/units.ts'
import { givenWords } from '../../src/questions/asking/words.ts'
import { callOf, nameColumn, type Question, usageOf } from '../../src/questions/questions.ts'

const instant = 'timestamp with time zone'
const column = (name: string, type: string) => ({ name, type, comment: null })
const view: Question = {
  name: 'bow',
  kind: 'view',
  comment: null,
  parameters: [],
  columns: [
    ...[column('internal_name', 'text'), column('level', 'integer'), column('seen_at', instant)],
    ...[column('kept', 'interval'), column('stats', 'jsonb'), column('tags', 'text[]'), column('is_sold', 'boolean')],
    ...[column('owner', 'uuid'), column('day', 'date')],
  ],
}
const call: Question = {
  name: 'online',
  kind: 'function',
  comment: null,
  parameters: [
    { name: 'guild', type: 'uuid', optional: false },
    { name: 'player', type: 'uuid', optional: false },
    { name: 'from_time', type: instant, optional: false },
    { name: 'to_time', type: instant, optional: false },
    { name: 'step', type: 'interval', optional: true },
    { name: 'n', type: 'integer', optional: true },
    { name: 'kind', type: 'text', optional: true, values: ['wars', 'raids'] },
  ],
  columns: [column('at', instant), column('online', 'integer'), column('n', 'integer')],
}
/** What is refused, and which argument it is about. */
const refusal = (read: () => unknown) => {
  try {
    return ['taken', read()]
  } catch (error) {
    if (error instanceof WrongArgument) return [error.message, error.argument]
    if (error instanceof UsageError) return [error.message.split('\n')[0]]
    throw error
  }
}

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
      ...['boolean', 'is.yes'],
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
      ...[true, true, false, false],
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
    ).toEqual([
      ...[['2026-06-02T10:20:30.000Z'], ['2026-06-03T00:00:00.000Z'], ['now'], ['2026-06-03T10:20:30.000Z', 'x']],
    ])
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
      ...['level desc first', 'internal_name asc last', 'seen_at asc first', 'is_sold desc last', 'owner asc first'],
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
      ...['x asc', 'x asc nulls first', 'x desc', 'x desc nulls last'],
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

describe('words of a command', () => {
  test('are a name, filters, an order and a selection of a view', () => {
    expect(givenWords(view, ['Elm=x y', 'level=gte.5', 'order=level', 'select=level'])).toEqual({
      args: [],
      filters: [
        ['internal_name', 'eq.Elm=x y'],
        ['level', 'gte.5'],
      ],
      order: 'level',
      select: 'level',
    })
    expect(givenWords(view, ['level=a\nb=c'])).toEqual({ args: [], filters: [['level', 'a\nb=c']] })
    expect(givenWords(view, ['none=1']).filters).toEqual([['none', '1']])
  })

  test('are arguments of a function by their places, and filters of its columns', () => {
    expect(givenWords(call, ['g', 'n=3', 'online=gte.5', 'other=1', 'order=at', 'b'])).toEqual({
      args: ['g', 'n=3', 'other=1', 'b'],
      filters: [['online', 'gte.5']],
      order: 'at',
    })
  })

  test('are no order and no selection where they are only named alike', () => {
    const words = ['reorder=1', 'orders=2', 'preselect=3', 'selected=4']
    expect(givenWords(call, words)).toEqual({ args: words, filters: [] })
    expect(givenWords(view, words).filters.map(([name]) => name)).toEqual(words.map((word) => word.split('=')[0]))
    // Of a function the first word is its first argument, also where a column has names.
    expect(givenWords({ ...call, columns: [column('name', 'text')] }, ['g'])).toEqual({ args: ['g'], filters: [] })
  })

  test('are refused where they mean nothing, or are there twice', () => {
    expect(refusal(() => givenWords(view, ['level=5', 'Elm']))).toEqual(['bow cannot be narrowed down by Elm'])
    const nameless = { ...view, columns: [column('level', 'integer')] }
    expect(refusal(() => givenWords(nameless, ['Elm']))).toEqual(['bow cannot be narrowed down by Elm'])
    expect(refusal(() => givenWords(view, ['order=level', 'select=level', 'order=day']))).toEqual([
      'order is given twice',
    ])
    expect(refusal(() => givenWords(view, ['select=level', 'select=day']))).toEqual(['select is given twice'])
  })
})

describe('how to ask', () => {
  const narrowing = 'of its rows: column=value, column=gte.80, column=in.(a,b), order=column.desc, select=column,column'
  test('a view', () => {
    expect(callOf(view)).toEqual(['ask: wynnsync query bow [internal_name] [column=value ...]', narrowing])
    expect(callOf({ ...view, columns: [] })).toEqual(['ask: wynnsync query bow [column=value ...]', narrowing])
    expect(usageOf(view)).toBe(
      `ask: wynnsync query bow [internal_name] [column=value ...]\n${narrowing}\ncolumns: ${view.columns.map(({ name }) => name).join(', ')}`,
    )
  })

  test('a function', () => {
    const when = 'an instant (UTC): 2026-05-01, 2026-05-01T20:00Z, now, today, yesterday, -7d, -12h'
    expect(callOf(call)).toEqual([
      'ask: wynnsync query online <guild> <player> [from_time] [to_time] [step] [n] [kind]',
      '  guild: uuid, prefix or exact name',
      '  player: uuid or name',
      `  from_time: ${when}`,
      `  to_time: ${when}`,
      '  step: a length of time: 1 hour, 1 day',
      '  n: integer',
      '  kind: wars, raids',
      'without from_time and to_time: the last seven days',
      narrowing,
    ])
    expect(callOf({ ...call, parameters: call.parameters.slice(4, 5) })).toEqual([
      ...['ask: wynnsync query online [step]', '  step: a length of time: 1 hour, 1 day', narrowing],
    ])
  })

  test('by a name, of a column that has names', () => {
    const named = (name: string) => nameColumn({ columns: [column('x', 'text'), column(name, 'text')] })?.name
    const names = ['territory', 'world', 'internal_name', 'guild_uuid', 'player_uuid', 'resource', 'reward', 'name']
    for (const name of [...names, 'title']) expect(named(name)).toBe(name)
    for (const name of ['names', 'a_name', 'to_territory']) expect(named(name)).toBeUndefined()
  })
})

describe('an argument', () => {
  const good: Readonly<Record<string, readonly string[]>> = {
    [instant]: ['2026-05-01', 'now', '-7d', ' -infinity ', 'INFINITY', 'yesterday'],
    integer: ['7', ' -7 ', '+7', '123456789'],
    smallint: ['7'],
    bigint: ['12345678901', '1e3'],
    numeric: ['0.5'],
    real: ['-0.5 '],
    'double precision': ['5'],
    uuid: ['123e4567-e89b-12d3-a456-426614174000', '{123E4567e89b12d3a456426614174000} '],
    interval: ['1 hour', '15m', '01:00', ' 1.5 days'],
    boolean: ['true', 'f', 'ON', ' 0 ', 'no', 'off', 't', 'yes', '1', 'false'],
    json: ['{"a":1}'],
    jsonb: ['null'],
    date: ['2026-05-01', ' 2026-05-01 '],
    'text[]': ['{}', ' {a,\nb} '],
    bytea: ['\\x', '\\x00FF'],
    text: ['whatever'],
  }
  const bad: Readonly<Record<string, readonly string[]>> = {
    [instant]: ['soon', '2026-06-31', 'infinity x', 'x infinity', ''],
    integer: ['', 'x', '1.5', '1234567890', '1 2', '1e3', '--7'],
    smallint: ['x'],
    bigint: ['', ' ', 'x', '1 2'],
    numeric: ['x'],
    real: ['x'],
    'double precision': ['x'],
    uuid: [
      '',
      '123e4567-e89b-12d3-a456-42661417400',
      'g23e4567-e89b-12d3-a456-426614174000',
      'x 123e4567-e89b-12d3-a456-426614174000',
      '123e4567-e89b-12d3-a456-4266141740000',
    ],
    interval: ['', '0 hours', 'one hour', '1 hour;', '-1 hour', '(1 hour', 'x1'],
    boolean: ['', 'maybe', 'true x', 'x true'],
    json: ['{', ''],
    jsonb: ['nothing'],
    date: ['2026-06-31', '2026-05-01T00:00', 'x2026-05-01', 'today'],
    'text[]': ['a', '{a', 'a}', 'x {a}', '{a} x'],
    bytea: ['00', '\\x0', '\\xzz', 'x\\x00', '\\x00 '],
  }
  const wrong = (type: string, value: string) => unreadable([{ name: 'x', type, value }])

  test.each(Object.entries(good))('of type %s is readable', (type, values) => {
    expect(values.filter((value) => wrong(type, value))).toEqual([])
  })

  test.each(Object.entries(bad))('of type %s is not readable', (type, values) => {
    expect(values.filter((value) => !wrong(type, value))).toEqual([])
  })

  test('that cannot be read is named, with what it must be, the first of them', () => {
    const form = (type: string) => wrong(type, type === 'text[]' ? 'a' : 'x x')?.wanted
    expect(Object.keys(bad).map(form)).toEqual([
      'an instant such as 2026-05-01T20:00Z, now or -7d',
      ...['a whole number such as 7', 'a whole number such as 7'],
      ...Array(4).fill('a number such as 0.5'),
      'a uuid such as 123e4567-e89b-12d3-a456-426614174000',
      'a length of time such as 15m, 24h, 7d or 1 hour',
      'true or false',
      ...['a JSON document', 'a JSON document'],
      'a day such as 2026-05-01',
      'a list such as {a,b}',
      'bytes such as \\x00ff',
    ])
    const three = ['1', 'x', 'y'].map((value, nth) => ({ name: `n${nth}`, type: 'integer', value }))
    expect(unreadable([{ name: 'a', type: 'text', value: 'x' }, ...three])).toMatchObject({ name: 'n1', value: 'x' })
  })
})

describe('a statement', () => {
  const asked = {
    args: [
      { name: 'guild', type: 'uuid', value: 'g' },
      { name: 'kind', type: 'text', value: "it's \\" },
    ],
    filters: [
      filterOf({ name: 'online', type: 'integer' }, 'gte.5'),
      filterOf({ name: 'at', type: instant }, 'is.null'),
    ],
  }

  test('has values as parameters, in the order of their places', () => {
    expect(statementFor(call, { ...asked, order: readOrder(call, 'online.desc,at'), select: ['at', 'n'] }, 7)).toEqual({
      text: 'select at, n from analytics.online($1::text::uuid, $2::text) where online >= $3::text::integer and at is null order by online desc, at asc limit 7',
      values: ['g', "it's \\", '5'],
    })
    expect(statementFor(view, {}, 0)).toEqual({ text: 'select * from analytics.bow', values: [] })
    expect(statementFor({ ...call, name: 'all' }, {}, 0).text).toBe('select * from analytics.all()')
  })

  test('is shown with its values as a server reads them', () => {
    expect(shownStatement(statementFor(call, asked, 1))).toBe(
      "select * from analytics.online('g'::uuid, E'it''s \\\\') where online >= '5'::integer and at is null limit 1;",
    )
    expect(shownStatement({ text: 'select $1::text::text, $2', values: ['a'] })).toBe("select 'a'::text::text, '';")
  })
})

describe('a page', () => {
  const all = { args: [], filters: [], order: [], select: [] }
  const small: Question = {
    ...view,
    columns: [column('level', 'integer'), column('name', 'text'), column('kept', 'interval'), column('tags', 'text[]')],
  }
  const [name, tags] = ['answer."name" collate "C"', 'md5(answer."tags"::text) collate "C"']

  test('of a view is sorted by all columns, and begins after the last row of the one before', () => {
    const by = `order by answer."level" asc, ${name} asc, ${tags} asc`
    const keys = `array[answer."level"::text, ${name}::text, ${tags}::text] as "${KEYS}"`
    expect(pageStatement(small, all, { limit: 2 })).toEqual({
      text: `select answer.*, ${keys} from (select * from analytics.bow) answer ${by} limit 3`,
      values: [],
    })
    const filters = [filterOf({ name: 'level', type: 'integer' }, '7')]
    expect(pageStatement(small, { ...all, filters }, { limit: 2, after: { keys: ['5', null, 'h'] } })).toEqual({
      text:
        `select answer.*, ${keys} from (select * from analytics.bow where level = $1::text::integer) answer ` +
        `where ((answer."level" > $2::text::integer or answer."level" is null) or answer."level" = $2::text::integer and ` +
        `(false or ${name} is null and ((${tags} > $3::text::text or ${tags} is null) or ${tags} = $3::text::text and false))) ${by} limit 3`,
      values: ['7', '5', 'h'],
    })
  })

  test('goes the other way where rows are sorted so', () => {
    const order = readOrder(small, 'name.desc')
    const after = { keys: [null, '5', 'h'] }
    const { text } = pageStatement(
      { ...small, columns: small.columns.slice(0, 2) },
      { ...all, order },
      { limit: 1, after },
    )
    expect(text).toContain(
      `where (${name} is not null or ${name} is null and ((answer."level" > $1::text::integer or answer."level" is null) or`,
    )
    expect(text).toContain(`order by ${name} desc, answer."level" asc limit 2`)
    const later = pageStatement(
      { ...small, columns: small.columns.slice(1, 2) },
      { ...all, order },
      { limit: 1, after: { keys: ['x'] } },
    )
    expect(later.text).toContain(`where (${name} < $1::text::text or ${name} = $1::text::text and false)`)
  })

  test('of a function, or sorted by lengths of time, is counted', () => {
    expect(pageStatement(call, { ...all, select: ['at', 'n'] }, { limit: 5, after: { skip: 10 } }).text).toBe(
      'select answer."at", answer."n" from (select * from analytics.online()) answer limit 6 offset 10',
    )
    expect(pageStatement(call, { ...all, order: readOrder(call, 'n') }, { limit: 5, after: { keys: [] } }).text).toBe(
      'select answer.* from (select * from analytics.online()) answer order by answer."n" asc, answer."at" asc, answer."online" asc limit 6 offset 0',
    )
    const byLength = { ...all, order: readOrder(small, 'kept') }
    expect(pageStatement(small, byLength, { limit: 5 }).text).toMatch(
      /^select answer\.\* .* order by answer\."kept" asc, .* limit 6 offset 0$/,
    )
    expect([hasKeys(small, all), hasKeys(small, byLength), hasKeys(call, all)]).toEqual([true, false, false])
    expect(hasKeys(small, { order: readOrder(small, 'level') })).toBe(true)
  })
})

test.each([
  ['seen_at', instant, 'instant, ISO 8601 in UTC'],
  ['day', 'date', 'day, ISO 8601 in UTC'],
  ['kept', 'interval', 'length of time, such as 2 days 03:04:05'],
  ['coverage', 'double precision', 'share, 0 to 1'],
  ['share', 'real', 'share, 0 to 1'],
  ['imported', 'numeric', 'share, 0 to 1'],
  ['seconds', 'bigint', 'seconds'],
  ['held_seconds_least', 'integer', 'seconds'],
  ['secondsheld', 'integer', undefined],
  ['playtime_hours', 'numeric', 'hours'],
  ['hours_ago', 'numeric', undefined],
  ['days_held', 'integer', 'days'],
  ['seen_days', 'smallint', 'days'],
  ['loot_percent', 'integer', 'percent'],
  ['percent_loot', 'integer', undefined],
  ['total_avg', 'numeric', 'players'],
  ['hidden_max', 'integer', 'players'],
  ['online', 'integer', 'players'],
  ['onlines', 'integer', undefined],
  ['was_online', 'integer', undefined],
  ['stored', 'bigint', 'emeralds or pieces'],
  ['storage_limit', 'bigint', 'emeralds or pieces'],
  ['generation', 'bigint', 'emeralds or pieces an hour'],
  ['generations', 'bigint', undefined],
  ['contributed', 'bigint', 'experience points'],
  ['not_contributed', 'bigint', undefined],
  ['season_rating', 'integer', 'points'],
  ['rating_estimate', 'integer', 'points'],
  ['level', 'integer', undefined],
  ['seconds', 'text', undefined],
  ['hours', 'integer', 'hours'],
  ['percent', 'real', 'percent'],
  // Longer names mean something else, and lists of instants and days are none.
  ['loot_coverage', 'integer', undefined],
  ['coverages', 'integer', undefined],
  ['subtotal_avg', 'integer', undefined],
  ['total_avg_rank', 'integer', undefined],
  ['unstored', 'integer', undefined],
  ['stored_stacks', 'integer', undefined],
  ['regeneration', 'integer', undefined],
  ['contributed_rank', 'integer', undefined],
  ['season_rating_rank', 'integer', undefined],
  ['days', 'date[]', undefined],
  ['spans', 'interval[]', undefined],
  ['coverage', 'an integer', undefined],
])('%s of type %s is in the unit %s', (name, type, unit) => {
  expect(unitOf({ name, type })).toBe(unit)
})
