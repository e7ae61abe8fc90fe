import * as pg from 'drizzle-orm/pg-core'
import { describe, expect, test } from 'vitest'
import { bytes, instant, textInstant } from '../../src/db/columns.ts'
import { columnCheck } from '../../src/sync/normalize/column-check.ts'

const table = pg.pgTable('any', {
  integer: pg.integer(),
  bigint: pg.bigint({ mode: 'number' }),
  double: pg.doublePrecision(),
  real: pg.real(),
  text: pg.text(),
  texts: pg.text().array(),
  boolean: pg.boolean(),
  uuid: pg.uuid(),
  instant: instant(''),
  textInstant: textInstant(''),
  json: pg.jsonb(),
  required: pg.integer().notNull(),
  filled: pg.integer().notNull().default(1),
  bytes: bytes(''),
  date: pg.date(),
})
type Name = Exclude<
  keyof typeof table,
  '_' | '$inferSelect' | '$inferInsert' | 'getSQL' | 'shouldOmitSQLParens' | 'enableRLS'
>
const said = (name: Name, value: unknown, longest?: number) => columnCheck(table[name], longest)(value)

const uuid = '01234567-89ab-cdef-0123-456789abcdef'

describe('a value that its column takes', () => {
  test.each<readonly [Name, readonly unknown[]]>([
    ['integer', [0, -1, 2 ** 31 - 1, 1 - 2 ** 31, null, undefined]],
    ['bigint', [0, 2 ** 53 - 1, 1 - 2 ** 53]],
    ['double', [0.5, 2 ** 53 - 1, 1 - 2 ** 53]],
    ['real', [0, -0, 0.5, 1e38, -1e38, 1e-40]],
    ['text', ['', 'a', '\u{1F600}', 'a'.repeat(10_000)]],
    ['texts', [[], ['a', ''], [null]]],
    ['boolean', [true, false]],
    ['uuid', [uuid, uuid.toUpperCase(), uuid.replaceAll('-', '')]],
    ['instant', [new Date(0), '2026-06-01T00:00:00Z']],
    ['textInstant', ['2026-06-01T00:00:00.123456Z']],
    ['json', [{}, 'a', null]],
    ['required', [0]],
    ['filled', [1, null, undefined]],
  ])('of the type %s', (name, values) => {
    for (const value of values) expect([value, said(name, value)]).toEqual([value, undefined])
  })
})

describe('a value that its column does not take', () => {
  test.each<readonly [Name, unknown, string]>([
    ['integer', 2 ** 31, 'must be a whole number of 32 bits, got 2147483648'],
    ['integer', -(2 ** 31), 'must be a whole number of 32 bits, got -2147483648'],
    ['integer', 0.5, 'must be a whole number of 32 bits, got 0.5'],
    ['integer', '1', 'must be a whole number of 32 bits, got "1"'],
    ['bigint', 2 ** 53, 'must be a whole number below 2^53, got 9007199254740992'],
    ['double', 2 ** 53, 'must be a number up to 2^53, got 9007199254740992'],
    ['double', Number.NaN, 'must be a number up to 2^53, got null'],
    ['double', '1', 'must be a number up to 2^53, got "1"'],
    ['real', 1e39, 'must be a number of 32 bits, got 1e+39'],
    ['real', 1e-50, 'must be a number of 32 bits, got 1e-50'],
    ['real', '1', 'must be a number of 32 bits, got "1"'],
    ['text', 1, 'must be text, got 1'],
    ['text', 'a\0', 'holds a character that cannot be stored: "a\\u0000"'],
    ['texts', 'a', 'must be a list, got "a"'],
    ['texts', ['a', 1], 'must be text, got 1'],
    ['boolean', 1, 'must be true or false, got 1'],
    ['uuid', 'x', 'must be a uuid, got "x"'],
    ['uuid', 1, 'must be a uuid, got 1'],
    ['instant', '2026-06-31T00:00:00Z', 'must be an instant (ISO 8601), got "2026-06-31T00:00:00Z"'],
    ['textInstant', 1, 'must be an instant (ISO 8601), got 1'],
    ['required', null, 'is missing'],
    ['required', undefined, 'is missing'],
  ])('of the type %s: %j', (name, value, reason) => {
    expect(said(name, value)).toBe(reason)
  })

  test('is shown, cut to sixty characters', () => {
    expect(said('boolean', 'a'.repeat(58))).toBe(`must be true or false, got "${'a'.repeat(58)}"`)
    expect(said('boolean', 'a'.repeat(59))).toBe(`must be true or false, got "${'a'.repeat(56)}...`)
    // JSON has no word for it.
    expect(said('boolean', Symbol('x'))).toBe('must be true or false, got Symbol(x)')
  })

  test('may be a text that is too long for an index', () => {
    expect([said('text', 'aaa', 3), said('text', 'aaaa', 3)]).toEqual([
      undefined,
      'must be text of at most 3 characters, got 4',
    ])
  })
})

test('a column whose values cannot be checked is a mistake in the program', () => {
  expect(() => columnCheck(table.date)).toThrow('column date: values of type date cannot be checked')
  expect(() => columnCheck(table.bytes)).toThrow('column bytes: values of type bytea cannot be checked')
})
