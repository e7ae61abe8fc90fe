import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { FatalError, RecordError } from '../../src/base/errors.ts'
import { copyText } from '../../src/db/bulk/copy-text.ts'
import { FOREVER } from '../../src/db/bulk/values.ts'
import { bothKinds, temporaryFolder, testDatabase } from '../support/postgres.ts'

const NASTY = [
  '',
  ' ',
  'tab\there',
  'line\nfeed',
  'carriage\rreturn',
  'back\\slash',
  '\\N',
  '\\.',
  'N',
  'single \' and double "',
  '\uE000 private use',
  '𝄞 beyond the first plane',
  '\u0001\u001f\u007f',
  '{"a":1}',
  'ends with \\',
]

describe.each(bothKinds)('COPY on the %s database', (kind) => {
  test('brings every string back as it was, and tells an empty one from NULL', async () => {
    const db = await testDatabase(kind, { migrated: false })
    await db.query('create table words (position int, word text)')
    const rows = [...NASTY, null, undefined].map((word, position) => [position, word])
    expect(await db.copy('words', ['position', 'word'], rows)).toBe(rows.length)
    expect(await db.values('select word from words order by position')).toStrictEqual(
      rows.map(([, word]) => [word ?? null]),
    )
  })

  test('takes a CSV file with every string in it, and tells an empty one from NULL', async () => {
    const db = await testDatabase(kind, { migrated: false })
    await db.query('create table words (position int, word text)')
    const path = join(await temporaryFolder(), 'words.csv')
    const lines = NASTY.map((word, position) => `${position},"${word.replaceAll('"', '""')}"\n`)
    await writeFile(path, `${lines.join('')}${NASTY.length},\\N\n`)
    await db.copyCsv('words', ['position', 'word'], path)
    expect(await db.values('select word from words order by position')).toStrictEqual(
      [...NASTY, null].map((word) => [word]),
    )
  })

  test('writes numbers, booleans, Dates, bytes, JSON and arrays as their columns want them', async () => {
    const db = await testDatabase(kind, { migrated: false })
    await db.query('create table things (n int8, b bool, at timestamptz, raw bytea, doc jsonb, tags text[], f float8)')
    const rows = [
      [1, true, new Date(1234), new Uint8Array([0, 92, 10]), { text: 'a\tb\\c\n"q"' }, ['x', '\\', 'a"b\t', null], 0.1],
      [2n ** 40n, false, FOREVER, new Uint8Array(), ['list', 1], [], -1e-7],
      [null, null, null, null, null, null, null],
    ]
    await db.copy('things', ['n', 'b', 'at', 'raw', 'doc', 'tags', 'f'], rows)
    expect(await db.values('select * from things order by n')).toStrictEqual([
      rows[0],
      [2 ** 40, ...(rows[1] ?? []).slice(1)],
      rows[2],
    ])
  })

  test('inside a transaction is rolled back with it', async () => {
    const db = await testDatabase(kind, { migrated: false })
    await db.query('create table words (word text)')
    const failed = db.transaction(async (sql) => {
      await sql.copy('words', ['word'], [['a'], ['b']])
      expect(await sql.query('select count(*) as n from words')).toEqual([{ n: 2 }])
      throw new Error('enough')
    })
    await expect(failed).rejects.toThrow('enough')
    expect(await db.query('select count(*) as n from words')).toEqual([{ n: 0 }])
  })

  test('reaches a temporary table of its transaction', async () => {
    const db = await testDatabase(kind, { migrated: false })
    const words = await db.transaction(async (sql) => {
      await sql.query('create temporary table staging (word text) on commit drop')
      await sql.copy('staging', ['word'], [['a']])
      return sql.query('select word from staging')
    })
    expect(words).toEqual([{ word: 'a' }])
  })

  test('goes in whole or not at all, and the database works on', async () => {
    const db = await testDatabase(kind, { migrated: false })
    await db.query('create table keys (key int primary key, word text not null)')
    const duplicate = db.copy(
      'keys',
      ['key', 'word'],
      [
        [1, 'a'],
        [1, 'b'],
      ],
    )
    await expect(duplicate).rejects.toThrow(FatalError)
    await expect(duplicate).rejects.toMatchObject({ context: { sqlState: '23505', constraint: 'keys_pkey' } })
    function* lateFailure() {
      for (let key = 0; key < 100_000; key++) yield [key, key === 99_999 ? null : 'x'.repeat(20)]
    }
    await expect(db.copy('keys', ['key', 'word'], lateFailure())).rejects.toMatchObject({
      context: { sqlState: '23502' },
    })
    expect(await db.copy('keys', ['key', 'word'], [[7, 'fine']])).toBe(1)
    expect(await db.query('select key from keys')).toEqual([{ key: 7 }])
  })

  test('a failure inside a transaction keeps its reason', async () => {
    const db = await testDatabase(kind, { migrated: false })
    await db.query('create table keys (key int primary key)')
    const failed = db.transaction((sql) => sql.copy('keys', ['key'], [[1], [1]]))
    await expect(failed).rejects.toMatchObject({ context: { sqlState: '23505' } })
    expect(await db.query('select * from keys')).toEqual([])
  })

  test('refuses the character U+0000, naming the column, and stores nothing', async () => {
    const db = await testDatabase(kind, { migrated: false })
    await db.query('create table words (a text, b text)')
    const failed = db.copy(
      'words',
      ['a', 'b'],
      [
        ['fine', 'fine'],
        ['fine', 'not \u0000 fine'],
      ],
    )
    await expect(failed).rejects.toThrow(RecordError)
    await expect(failed).rejects.toThrow('column b')
    expect(await db.query('select * from words')).toEqual([])
  })

  test('of 100 000 rows does not gather them in memory', async () => {
    const db = await testDatabase(kind, { migrated: false })
    await db.query('create table words (word text)')
    const before = process.memoryUsage().heapUsed
    let highest = 0
    function* rows() {
      for (let count = 0; count < 100_000; count++) {
        if (count % 10_000 === 0) highest = Math.max(highest, process.memoryUsage().heapUsed - before)
        yield [`${count}`.padEnd(500, 'x')]
      }
    }
    expect(await db.copy('words', ['word'], rows())).toBe(100_000)
    // 50 MB of text went through; what is gathered is a chunk of at most 256 KB, the rest is garbage not yet collected.
    expect(highest).toBeLessThan(45_000_000)
  })

  test('of no rows is fine', async () => {
    const db = await testDatabase(kind, { migrated: false })
    await db.query('create table words (word text)')
    expect(await db.copy('words', ['word'], [])).toBe(0)
  })
})

test('COPY text is made in chunks, while the rows are asked for one by one', () => {
  let asked = 0
  function* rows() {
    for (;;) {
      asked++
      yield ['x'.repeat(100)]
    }
  }
  const chunks = copyText(['word'], rows())
  expect(chunks.next().value?.rows).toBe(asked)
  expect(asked).toBeLessThan(700)
})
