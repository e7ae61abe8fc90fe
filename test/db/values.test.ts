import { describe, expect, test } from 'vitest'
import { FOREVER, NEVER } from '../../src/db/bulk/values.ts'
import { bothKinds, testDatabase } from '../support/postgres.ts'

describe.each(bothKinds)('on the %s database', (kind) => {
  test('every type comes back as the interface promises', async () => {
    const db = await testDatabase(kind, { migrated: false })
    const [row] = await db.query(`select
      7::int2 as small, 12::int4 as middle, 9007199254740991::int8 as big, 12.5::numeric as exact, 0.25::float8 as float,
      true as yes, 'text' as text, null as nothing, 'c0ffee00-0000-4000-8000-000000000001'::uuid as id,
      '2026-03-04 05:06:07.891+02'::timestamptz as instant, '2026-03-04'::date as day,
      '{"a":[1,"x",null]}'::jsonb as document, '\\x00ff10'::bytea as bytes,
      'infinity'::timestamptz as forever, '-infinity'::timestamptz as never`)
    expect(row).toStrictEqual({
      small: 7,
      middle: 12,
      big: 9007199254740991,
      exact: 12.5,
      float: 0.25,
      yes: true,
      text: 'text',
      nothing: null,
      id: 'c0ffee00-0000-4000-8000-000000000001',
      instant: new Date('2026-03-04T03:06:07.891Z'),
      day: '2026-03-04',
      document: { a: [1, 'x', null] },
      bytes: new Uint8Array([0, 255, 16]),
      forever: FOREVER,
      never: NEVER,
    })
  })

  test('arrays go in and come out as arrays, with NULLs, quotes, braces and the word NULL in them', async () => {
    const db = await testDatabase(kind, { migrated: false })
    const texts = ['plain', 'with "quotes"', 'back\\slash', '{brace,comma}', 'NULL', '', null, ' blank ', 'tab\t']
    const [row] = await db.query(
      `select $1::text[] as texts, $2::int8[] as numbers, $3::timestamptz[] as instants, $4::bytea[] as bytes,
              $5::uuid[] as ids, $6::text[] as empty, '{{1,2},{3,4}}'::int[] as nested, '[0:1]={a,b}'::text[] as shifted,
              $7::jsonb[] as documents, $8::bool[] as flags`,
      [
        texts,
        [1, 2, null],
        [new Date(0), FOREVER],
        [new Uint8Array([1, 2]), new Uint8Array()],
        ['c0ffee00-0000-4000-8000-000000000001'],
        [],
        [{ a: '"' }, { b: [1] }],
        [true, false, null],
      ],
    )
    expect(row).toStrictEqual({
      texts,
      numbers: [1, 2, null],
      instants: [new Date(0), FOREVER],
      bytes: [new Uint8Array([1, 2]), new Uint8Array()],
      ids: ['c0ffee00-0000-4000-8000-000000000001'],
      empty: [],
      nested: [
        [1, 2],
        [3, 4],
      ],
      shifted: ['a', 'b'],
      documents: [{ a: '"' }, { b: [1] }],
      flags: [true, false, null],
    })
  })

  test('a jsonb parameter takes an object, an array, or JSON text, and encodes none of them twice', async () => {
    const db = await testDatabase(kind, { migrated: false })
    const [row] = await db.query(
      `select $1::jsonb as object, $2::jsonb as list, $3::jsonb as text, jsonb_typeof($3::jsonb) as kind, $4::jsonb as word,
              $5::jsonb as number, $6::jsonb as nothing`,
      [{ a: { b: 'ü"' } }, [1, 'two', null], '{"c":3}', '"word"', 5, null],
    )
    expect(row).toStrictEqual({
      object: { a: { b: 'ü"' } },
      list: [1, 'two', null],
      text: { c: 3 },
      kind: 'object',
      word: 'word',
      number: 5,
      nothing: null,
    })
  })

  test('plain parameters keep their value: numbers, booleans, bigints, Dates, bytes, text', async () => {
    const db = await testDatabase(kind, { migrated: false })
    const at = new Date('2026-01-02T03:04:05.678Z')
    const [row] = await db.query(
      'select $1::int8 as n, $2::bool as b, $3::int8 as big, $4::timestamptz as at, $5::bytea as bytes, $6::text as t, $7::text as instant, $8::float8 as f',
      [42, false, 1234567890123n, at, new Uint8Array([0, 1, 254]), "it's \\ \uE000 𝄞", at, 1e300],
    )
    expect(row).toStrictEqual({
      n: 42,
      b: false,
      big: 1234567890123,
      at,
      bytes: new Uint8Array([0, 1, 254]),
      t: "it's \\ \uE000 𝄞",
      instant: at.toISOString(),
      f: 1e300,
    })
  })

  test('values come as arrays in select order, even when two columns have one name', async () => {
    const db = await testDatabase(kind, { migrated: false })
    expect(await db.values('select 1 as a, $1::text as a, null as b', ['x'])).toStrictEqual([[1, 'x', null]])
    expect(await db.values('select 1 where false')).toStrictEqual([])
  })

  test('text without parameters may hold several statements, and the rows of the last one come back', async () => {
    const db = await testDatabase(kind, { migrated: false })
    expect(await db.query('create table t (a int); insert into t values (1), (2); select a from t')).toStrictEqual([
      { a: 1 },
      { a: 2 },
    ])
    expect(await db.values('select 1 as x; select a from t order by a desc')).toStrictEqual([[2], [1]])
    expect(await db.query('insert into t values (3)')).toStrictEqual([])
    expect(await db.query('')).toStrictEqual([])
  })

  test('sessions run in UTC', async () => {
    const db = await testDatabase(kind, { migrated: false })
    expect(await db.query(`select '2026-07-01T12:00:00Z'::timestamptz::text as noon`)).toStrictEqual([
      { noon: '2026-07-01 12:00:00+00' },
    ])
  })
})
