import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openDuckDb } from '../../src/lake/duckdb.ts'
import { stageFile } from '../../src/lake/import/staged-file.ts'
import { temporaryFolder, testDatabase } from '../support/postgres.ts'

const texts = [
  '',
  ' lead',
  'trail ',
  'NULL',
  'null',
  '\\N',
  '"\\N"',
  '\\.',
  '\n\\.\n',
  'a\\.\n\\.\nb',
  '\\',
  '"',
  '""',
  ',',
  '\r',
  '\r\n',
  '\n',
  '\t',
  "'",
  '{}',
  '{NULL}',
  '\\x41',
  '\\u0000',
  'a,b"c\\d\ne',
  '\u0085\u2028',
  '\ufeff',
  '\u001b',
  'é😀',
]
const elements = [[], [''], ['NULL'], [null], [null, 'a', null], ['{', '}', ',', '"', '\\', '\\"', '\n', '\\N', ' ']]
const json = [
  ...texts.map((text) => JSON.stringify({ text: [text, null] })),
  'null',
  '"null"',
  '[]',
  '{}',
  '1e20',
  '0.10000000000000000000000000001',
  '12345678901234567890123',
  // A backslash behind which the rest is text.
  '"\\\\u0000"',
  '"\\\\\\\\ud800"',
  // Halves of a pair, as programs write that keep to ASCII.
  '"\\ud83d\\ude00"',
  '"a\\uD83D\\uDE00\\ud83d\\ude01"',
]
const doubles = ['1.5', '1e-7', '1e+300', '5e-324', '0.1', '1.2345678901234568e+17']
const instants = [
  '0001-06-01 00:00:00+00',
  '1899-12-31 23:59:59.000001+00',
  '1969-12-31 23:59:59.999999+00',
  '1970-01-01 00:00:00+00',
  '2026-05-01 12:00:00.12+00',
  '9999-12-30 23:59:59.999999+00',
]
/** Postgres stores none of these. */
const unfit = ['"\\u0000"', '"\\\\\\u0000"']
/** Nor these, which DuckDB writes into no file. */
const halves = ['"\\ud83d"', '"\\ude00"', '"\\ude00\\ud83d"', '"\\ud83d\\ud83d\\ude00"']

const columns = {
  i: 'integer',
  t: 'text',
  j: 'jsonb',
  a: 'text[]',
  d: 'double precision',
  w: 'timestamp with time zone',
}
const rules = { observed: [], until: new Date(), required: [], indexed: [] }

/** As SQL of DuckDB. */
function literal(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]::varchar[]`
  return `'${String(value).replaceAll("'", "''")}'`
}

test.each(['server', 'embedded'] as const)('values of a lake reach the %s database as they are', async (kind) => {
  const db = await testDatabase(kind, { migrated: false })
  const duck = await openDuckDb()
  const path = join(await temporaryFolder(), 'values.parquet')
  const rows = json.map((document, i) => [i, texts[i], document, elements[i], doubles[i], instants[i]])
  const wrong = unfit.map((document, nth) => [1000 + nth, null, document, null, null, null])
  const values = [...rows, ...wrong].map((row) => `(${row.map(literal).join(', ')})`).join(', ')
  await duck.run(
    `copy (select i::integer as i, t::varchar as t, j::json as j, a::varchar[] as a, d::double as d, w::timestamptz as w
             from (values ${values}) own(i, t, j, a, d, w)) to '${path}' (format parquet)`,
  )
  for (const half of halves)
    expect([half, (await duck.rows(`select json_valid('${half}') as is`))[0]?.is]).toEqual([half, false])
  for (const table of ['came', 'sent'])
    await db.query(
      `create table ${table} (${Object.entries(columns)
        .map((one) => one.join(' '))
        .join(', ')})`,
    )
  const table = { name: 'came', types: columns, hidden: [] }
  const file = { file: { rows: rows.length + wrong.length }, path, room: { bytes: 1e9 } }
  const found = await db.transaction((sql) =>
    stageFile(sql, duck, table, { ...file, staged: 'came', rules, leftOut: [] }),
  )
  duck.close()
  await db.copy('sent', Object.keys(columns), rows as never)
  expect(await db.query('(table came except table sent) union all (table sent except table came)')).toEqual([])
  expect(found).toEqual({ rows: rows.length, refused: unfit.length, nameless: 0 })
})
