import { describe, expect, test } from 'vitest'
import {
  hasKeys,
  KEYS,
  pageStatements,
  readOrder,
  shownStatement,
  statementFor,
} from '../../src/questions/asking/ask.ts'
import { filterOf } from '../../src/questions/asking/filters.ts'
import { unreadable } from '../../src/questions/asking/readable.ts'
import { givenWords } from '../../src/questions/asking/words.ts'
import { callOf, nameColumn, type Question, usageOf } from '../../src/questions/questions.ts'
import { call, column, instant, refusal, view } from './one-question.ts'

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
      'ask: wynnsync query online [step]',
      '  step: a length of time: 1 hour, 1 day',
      narrowing,
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
      'a whole number such as 7',
      'a whole number such as 7',
      ...Array(4).fill('a number such as 0.5'),
      'a uuid such as 123e4567-e89b-12d3-a456-426614174000',
      'a length of time such as 15m, 24h, 7d or 1 hour',
      'true or false',
      'a JSON document',
      'a JSON document',
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
    expect(pageStatements(small, all, { limit: 2 })).toEqual([
      { text: `select answer.*, ${keys} from (select * from analytics.bow) answer ${by} limit 3`, values: [] },
    ])
    const filters = [filterOf({ name: 'level', type: 'integer' }, '7')]
    const of = `select answer.*, ${keys} from (select * from analytics.bow where level = $1::text::integer) answer`
    const after = { keys: ['5', null, 'h'] }
    expect(pageStatements(small, { ...all, filters }, { limit: 2, after })).toEqual([
      {
        text:
          `${of} where answer."level" >= $4::text::integer and ` +
          `((answer."level" > $2::text::integer or answer."level" is null) or answer."level" = $2::text::integer and ` +
          `(false or ${name} is null and ((${tags} > $3::text::text or ${tags} is null) or ${tags} = $3::text::text and false))) ${by} limit 3`,
        values: ['7', '5', 'h', '5'],
      },
      { text: `${of} where answer."level" is null ${by} limit 3`, values: ['7'] },
    ])
  })

  test('begins by its own index where no order is asked for: the first text is in the order of the database', () => {
    const named = { ...small, columns: small.columns.slice(1) }
    const [first] = pageStatements(named, all, { limit: 2 })
    expect(first?.text).toContain(`order by answer."name" asc, ${tags} asc limit 3`)
    const [next] = pageStatements(named, all, { limit: 2, after: { keys: ['n', 'h'] } })
    expect(next?.text).toContain('where answer."name" >= $3::text::text and ((answer."name" > $1::text::text or')
  })

  test('goes the other way where rows are sorted so', () => {
    const order = readOrder(small, 'name.desc')
    const after = { keys: [null, '5', 'h'] }
    const [one] = pageStatements(
      { ...small, columns: small.columns.slice(0, 2) },
      { ...all, order },
      { limit: 1, after },
    )
    expect(one?.text).toContain(
      `where (${name} is not null or ${name} is null and ((answer."level" > $1::text::integer or answer."level" is null) or`,
    )
    expect(one?.text).toContain(`order by ${name} desc, answer."level" asc limit 2`)
    const later = pageStatements(
      { ...small, columns: small.columns.slice(1, 2) },
      { ...all, order },
      { limit: 1, after: { keys: ['x'] } },
    )
    expect(later.map(({ text }) => text)).toEqual([
      expect.stringContaining(
        `where ${name} <= $2::text::text and (${name} < $1::text::text or ${name} = $1::text::text and false)`,
      ),
    ])
  })

  test('of a function, or sorted by lengths of time, is counted', () => {
    const textOf = (...asked: Parameters<typeof pageStatements>) =>
      pageStatements(...asked)
        .map(({ text }) => text)
        .join()
    expect(textOf(call, { ...all, select: ['at', 'n'] }, { limit: 5, after: { skip: 10 } })).toBe(
      'select answer."at", answer."n" from (select * from analytics.online()) answer limit 6 offset 10',
    )
    expect(textOf(call, { ...all, order: readOrder(call, 'n') }, { limit: 5, after: { keys: [] } })).toBe(
      'select answer.* from (select * from analytics.online()) answer order by answer."n" asc, answer."at" asc, answer."online" asc limit 6 offset 0',
    )
    const byLength = { ...all, order: readOrder(small, 'kept') }
    expect(textOf(small, byLength, { limit: 5 })).toMatch(
      /^select answer\.\* .* order by answer\."kept" asc, .* limit 6 offset 0$/,
    )
    expect([hasKeys(small, all), hasKeys(small, byLength), hasKeys(call, all)]).toEqual([true, false, false])
    expect(hasKeys(small, { order: readOrder(small, 'level') })).toBe(true)
  })
})
