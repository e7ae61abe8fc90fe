import { bigint, boolean, doublePrecision, integer, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { describe, expect, test } from 'vitest'
import { bytes, instant } from '../../src/db/columns.ts'
import { bulkTable, copyRows, insertRows } from '../../src/sync/sql/history-sql.ts'
import { fieldChange } from '../../src/sync/tables/ledger.ts'
import { kindsOfPart, testDatabase } from '../support/postgres.ts'

const columns = {
  n: integer('n'),
  large: bigint('large', { mode: 'number' }),
  share: doublePrecision('share'),
  isOn: boolean('is_on'),
  word: text('position'),
  words: text('words').array(),
  at: instant('When.'),
  raw: bytes('Raw.'),
  doc: jsonb('doc'),
  id: uuid('id'),
}
const [first, second, part] = ['first', 'second', 'part'].map((name) => bulkTable(pgTable(name, columns)))
const types =
  'n int, large int8, share float8, is_on bool, position text, words text[], at timestamptz, raw bytea, doc jsonb, id uuid'

const rows = [
  {
    n: 1,
    large: 2 ** 52,
    share: 0.1,
    isOn: true,
    word: 'a\tb\\c\n"q" \'s\' {1,2}',
    words: ['x', '\\', 'a"b\t', null, '', 'NULL'],
  },
  { n: 2, at: '2026-06-01T10:00:00.123456Z', raw: new Uint8Array([0, 92, 10]), doc: { text: 'a\tb\\c\n"q"' } },
  { n: 3, at: 'infinity', doc: 'null', words: [], word: 'NULL' },
  { n: 4, at: new Date(1234), doc: ['list', [1]], word: '' },
  { n: 5, doc: '{"text": "of a document"}', id: '00000000-0000-4000-8000-00000000000a', share: -1e-7, isOn: false },
  { n: 6 },
]

describe.each(kindsOfPart)('rows that one statement writes on the %s database', (kind) => {
  test('are the same as those that COPY writes, of every type', async () => {
    const db = await testDatabase(kind, { migrated: false })
    if (!first || !second || !part) throw new Error('a table is missing')
    for (const name of ['first', 'second', 'part']) await db.query(`create table ${name} (${types})`)
    await db.query('alter table second add unique (n)')
    await db.query('alter table part add foreign key (n) references second (n)')
    const filled: Record<string, unknown> = { large: null }
    const numbered = function* () {
      for (const [nth, row] of rows.entries()) {
        filled.large = nth
        yield row
      }
    }
    await copyRows(db, first, numbered(), filled)
    await insertRows(db, [
      { table: second, rows: numbered(), filled },
      { table: part, rows: rows.slice(0, 2), filled: {} },
    ])
    const written = await db.values('select *, doc::text from first order by n')
    expect(written).toHaveLength(rows.length)
    expect(await db.values('select *, doc::text from second order by n')).toEqual(written)
    expect(await db.values('select large from part order by n')).toEqual([[2 ** 52], [null]])
    await insertRows(db, [{ table: part, rows: [], filled: {} }])
  })
})

test('a table is read once, however many responses write it', () => {
  expect(bulkTable(fieldChange)).toBe(bulkTable(fieldChange))
  expect(bulkTable(fieldChange).name).toBe('game.field_change')
})
