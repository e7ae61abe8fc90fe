import { expect, test } from 'vitest'
import type { Database, Sql } from '../../src/db/database.ts'
import { onSessions } from '../../src/web/read-sessions.ts'
import { openReader } from '../../src/web/reading.ts'
import { testDatabase } from '../support/postgres.ts'

const pidOf = async (sql: Sql, seconds = 0) =>
  (await sql.values('select pg_backend_pid() from pg_sleep($1)', [seconds]))[0]?.[0]

test('statements that wait for each other run on one session, others on as many as may be', async () => {
  const db = await testDatabase('server')
  const inOrder = await onSessions(db.transaction, 2, async (sql) => [await pidOf(sql), await pidOf(sql)])
  expect(new Set(inOrder).size).toBe(1)
  const atOnce = await onSessions(db.transaction, 2, (sql) => Promise.all([1, 2, 3, 4].map(() => pidOf(sql, 0.1))))
  expect(new Set(atOnce).size).toBe(2)
})

test('more readers than there are sessions do not block each other', async () => {
  const db = await testDatabase('server')
  const read = () => onSessions(db.transaction, 2, (sql) => Promise.all([pidOf(sql, 0.02), pidOf(sql, 0.02)]))
  expect(await Promise.all(Array.from({ length: 12 }, read))).toHaveLength(12)
})

test('a statement that fails, and a session that cannot be opened, fail the work', async () => {
  const db = await testDatabase('server')
  await expect(
    onSessions(db.transaction, 2, (sql) => Promise.all([pidOf(sql, 0.1), sql.query('select 1/0')])),
  ).rejects.toThrow('division by zero')
  const closed = () => Promise.reject(new Error('no session'))
  await expect(onSessions(closed, 2, (sql) => sql.query('select 1'))).rejects.toThrow('no session')
  expect(await onSessions(db.transaction, 2, (sql) => sql.values('select 1'))).toEqual([[1]])
})

test('equal statements of one work are asked once, and again by the next; one that failed is not kept', async () => {
  const db = await testDatabase('server')
  let asked = 0
  const counting = (sql: Sql): Sql => ({
    ...sql,
    query: (text, values) => {
      if (text.startsWith('select')) asked++
      return sql.query(text, values)
    },
  })
  const counted: Database = {
    ...db,
    transaction: (work, options) => db.transaction((sql) => work(counting(sql)), options),
  }
  const twice = (sql: Sql, value: number) =>
    Promise.all([1, 2].map(() => sql.query<{ one: number }>('select $1::int as one', [value])))
  const reader = await openReader(counted, 5000)
  asked = 0
  const rows = await reader.read(async (sql) => [await twice(sql, 1), await twice(sql, 2), await twice(sql, 1)])
  expect(rows.flat(2).map(({ one }) => one)).toEqual([1, 1, 2, 2, 1, 1])
  expect(asked).toBe(2)
  await reader.read((sql) => twice(sql, 1))
  expect(asked).toBe(3)
  const kept = await openReader(counted, 5000, new Map())
  asked = 0
  for (const value of [1, 1, 0]) {
    const found = kept.read((sql) => sql.query('select 1 / $1::int as one', [value]))
    await (value === 0 ? expect(found).rejects.toThrow('division by zero') : found)
  }
  expect(asked).toBe(2)
  await expect(kept.read((sql) => sql.query('select 1 / $1::int as one', [0]))).rejects.toThrow('division by zero')
  expect(asked).toBe(3)
  const ended = kept.read((sql) =>
    Promise.all([
      ...[1, 2].map((one) => sql.query(`select pg_sleep(0.1), ${one}`)),
      sql.query('select 7 as late'),
      Promise.reject(new Error('ended')),
    ]),
  )
  await expect(ended).rejects.toThrow('ended')
  expect(await kept.read((sql) => sql.query('select 7 as late'))).toEqual([{ late: 7 }])
})

test('what a sync interrupts on the embedded database begins anew, and asks nothing twice', async () => {
  const asked: string[] = []
  let isInterrupted = false
  const query = async (text: string) => {
    asked.push(text)
    if (text !== 'second' || isInterrupted) return []
    isInterrupted = true
    throw new Error('interrupted')
  }
  const sql = { query } as unknown as Sql
  const transaction = async <T>(work: (sql: Sql) => Promise<T>) => await work(sql).catch(() => work(sql))
  const reader = await openReader({ kind: 'embedded', transaction } as unknown as Database, 1000)
  asked.length = 0
  const answer = await reader.read(async (given) => {
    await given.query('first')
    await Promise.all(['second', 'third'].map((text) => given.query(text)))
    return 'made'
  })
  expect(answer).toBe('made')
  expect(asked.filter((text) => !text.startsWith('set'))).toEqual(['first', 'second', 'third', 'second'])
})
