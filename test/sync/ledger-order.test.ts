import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { testDatabase } from '../support/postgres.ts'

const source = fileURLToPath(new URL('../../src/', import.meta.url))

/** The latest of a resource, and the order that its index has. */
const latestRun = (order: string) =>
  `explain select run_id from sync.run where resource = 'items' and status in ('ok', 'unchanged', 'partial') order by ${order} limit 1`

test('The latest run is found by the index of runs only in the order that the index has', async () => {
  const db = await testDatabase('server')
  await db.query(
    `insert into sync.run (run_id, resource, status, started_at, finished_at, observed_at, program)
     select gen_random_uuid(), 'items', 'unchanged', at, at, at, 'test'
       from generate_series(timestamptz '2026-01-01', '2026-02-01', '1 minute') at`,
  )
  await db.query('analyze sync.run')
  const planOf = async (order: string) => JSON.stringify(await db.query(latestRun(order)))
  for (const order of ['observed_at desc nulls last', 'started_at desc nulls last'])
    expect([order, await planOf(order)]).toEqual([order, expect.not.stringContaining('Sort')])
  // Which is why the next test is there.
  expect(await planOf('observed_at desc')).toContain('Sort')
})

test('Every query for the latest runs asks in the order that their index has', () => {
  const unsuited: string[] = []
  for (const path of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
    if (!/\.(ts|sql)$/.test(path)) continue
    const text = readFileSync(join(source, path), 'utf8')
    for (const [, query = ''] of text.matchAll(/from sync\.run\b((?:(?!\bfrom\b)[\s\S])*?)\blimit\b/g))
      for (const [order] of query.matchAll(/order by (\w+\.)?(observed_at|started_at) desc\b(?! nulls last)[^\n]*/g))
        unsuited.push(`${path}: ${order}`)
    for (const [order] of text.matchAll(/\bdesc\((run|backfill)\.(observedAt|startedAt)\)/g))
      unsuited.push(`${path}: ${order}`)
  }
  expect(unsuited).toEqual([])
})
