import { AsyncLocalStorage } from 'node:async_hooks'
import { performance } from 'node:perf_hooks'
import type { Database, Sql } from '../db/database.ts'
import { READER } from '../db/reader.ts'
import { onSessions } from './read-sessions.ts'

/** So many statements of one page run at once on a server. */
const SESSIONS = 2

/** How the server reads its database. */
export interface Reader {
  /** Runs work in read-only transactions whose statements may each take `timeoutMs`: several at once, where the database can. */
  read<T>(work: (sql: Sql) => Promise<T>): Promise<T>
  /** The same with the rights of the reader role, where the user of the database has it: schema `analytics` alone. */
  ask<T>(work: (sql: Sql) => Promise<T>): Promise<T>
  /** Runs all that one request reads: on the embedded database, which has one session, all of it together may take `timeoutMs`. */
  request<T>(work: () => Promise<T>): Promise<T>
}

/** @param timeoutMs how long a statement may take; on the embedded database a transaction, or a whole request */
export async function openReader(db: Database, timeoutMs: number): Promise<Reader> {
  // What a page asks is answered sooner than compiled; a week of the map is sorted in memory.
  const readOnly = `set transaction read only; set local jit = off; set local work_mem = '16MB'; set local statement_timeout = ${timeoutMs}`
  const asReader = `${readOnly}; set local role ${READER}`
  const endsAt = new AsyncLocalStorage<number>()
  const inside = <T>(begin: string, work: (sql: Sql) => Promise<T>) =>
    db.transaction(
      async (sql) => {
        await sql.query(begin)
        return await work(sql)
      },
      { limitMs: (endsAt.getStore() ?? performance.now() + timeoutMs) - performance.now() },
    )
  const hasRole = await inside(asReader, async () => true).catch(() => false)
  return {
    read: (work) =>
      db.kind === 'server' ? onSessions((serve) => inside(readOnly, serve), SESSIONS, work) : inside(readOnly, work),
    ask: (work) => inside(hasRole ? asReader : readOnly, work),
    request: (work) => endsAt.run(performance.now() + timeoutMs, work),
  }
}
