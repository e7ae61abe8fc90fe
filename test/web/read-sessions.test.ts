import { expect, test } from 'vitest'
import type { Sql } from '../../src/db/database.ts'
import { onSessions } from '../../src/web/read-sessions.ts'
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
