import { describe, expect, test } from 'vitest'
import { FatalError } from '../../src/base/errors.ts'
import type { Sql } from '../../src/db/database.ts'
import { openServer } from '../../src/db/server/server.ts'
import { rowsOf } from '../../src/questions/asking/ask.ts'
import { WrongArgument } from '../../src/questions/asking/readable.ts'
import { problemOf } from '../../src/web/http/problems.ts'
import { afterwards } from '../support/afterwards.ts'
import { runInside } from '../support/cli-inside.ts'
import { testDatabaseUrl } from '../support/postgres.ts'

const nothing = { filters: [], order: [], select: [] }
const instant = { name: 'at', type: 'timestamp with time zone' }
const fails = (sqlState: string): Pick<Sql, 'query'> => ({
  query: () => Promise.reject(new FatalError('refused', { context: { sqlState } })),
})
const askedWith = (sqlState: string, value: string) =>
  rowsOf(fails(sqlState) as Sql, { text: '', values: [] }, { ...nothing, args: [{ ...instant, value }] }).then(
    () => undefined,
    (error: unknown) => error,
  )

describe('a data exception of a question', () => {
  test.each(['22007', '22008', '22P02', '22003'])(
    '%s is a wrong request where an argument cannot be read',
    async (state) => {
      const error = await askedWith(state, 'soon')
      expect(error).toBeInstanceOf(WrongArgument)
      expect(problemOf(error)).toMatchObject({ problem: 'bad-argument', details: { argument: 'at' } })
    },
  )

  test.each(['22007', '22008', '22P02', '22003'])('%s is none where all can be read', async (state) => {
    const error = await askedWith(state, '2026-05-01T20:00Z')
    expect(error).toBeInstanceOf(FatalError)
    expect(problemOf(error).problem).toBe('internal')
  })

  test.each(['22012', '22021', '22023', '2201W', '22P05', '22000'])('%s is never one', async (state) => {
    expect(problemOf(await askedWith(state, 'soon')).problem).toBe('internal')
  })
})

test('a question that divides by zero is a failure of the program, and one that is asked wrongly is not', async () => {
  const url = await testDatabaseUrl()
  const db = await openServer(url)
  afterwards(() => db.close())
  await db.query(
    `create or replace function analytics.item_at(internal_name text, at timestamptz default now()) returns jsonb
     language sql stable return to_jsonb(1 / (extract(year from at)::int - extract(year from at)::int))`,
  )
  const query = (...args: string[]) => runInside(['query', ...args], { DATABASE_URL: url })
  const broken = await query('item_at', 'bow', '2026-05-01')
  expect([broken.code, broken.err]).toEqual([1, expect.stringContaining('division by zero')])
  const wrong = await query('item_at', 'bow', 'soon')
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('at must be an instant')])
  const short = await query('online_total', '-1d', 'now', '1 second')
  expect([short.code, short.err]).toEqual([
    2,
    expect.stringContaining('step must be a length of time of at least one minute'),
  ])
})
