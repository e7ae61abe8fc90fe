import { AsyncLocalStorage } from 'node:async_hooks'
import { performance } from 'node:perf_hooks'
import type { Database, Sql, SqlValue } from '../db/database.ts'
import { READER } from '../db/reader.ts'
import { onSessions } from './read-sessions.ts'

/** So many statements of one page run at once; a session begins with the first that needs it. */
const SESSIONS = { server: 2, embedded: 1 }

/** What statements answered, by the statement and its values. */
export type Answers = Map<string, readonly unknown[]>

/** How the server reads its database. */
export interface Reader {
  /**
   * Runs work in read-only transactions whose statements may each take `timeoutMs`: several at once, where the database can. Equal
   * statements run once.
   */
  read<T>(work: (sql: Sql) => Promise<T>): Promise<T>
  /** The same with the rights of the reader role, where the user of the database has it: schema `analytics` alone. */
  ask<T>(work: (sql: Sql) => Promise<T>): Promise<T>
  /** Runs all that one request reads: on the embedded database, which has one session, all of it together may take `timeoutMs`. */
  request<T>(work: () => Promise<T>): Promise<T>
}

/**
 * @param timeoutMs how long a statement may take; on the embedded database a transaction, or a whole request
 * @param kept what `read` was answered before, where all is as of one instant; left out: each work has answers of its own
 */
export async function openReader(db: Database, timeoutMs: number, kept?: Answers): Promise<Reader> {
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
  const read = <T>(work: (sql: Sql) => Promise<T>) =>
    onSessions((serve) => inside(readOnly, serve), SESSIONS[db.kind], work)
  return {
    read: (work) => read((sql) => work(once(sql, kept ?? new Map()))),
    ask: (work) => inside(hasRole ? asReader : readOnly, work),
    request: (work) => endsAt.run(performance.now() + timeoutMs, work),
  }
}

/** Of so many statements the answers are kept, and of none with more than so many rows. */
const [STATEMENTS, ROWS] = [300, 5000]

/** Asks what was asked before no more. What has not come yet is shared by one work alone: it may end before the answer. */
function once(sql: Sql, kept: Answers): Sql {
  const asked = new Map<string, Promise<unknown[]>>()
  const query = async <Row>(text: string, values?: readonly SqlValue[]) => {
    const key = JSON.stringify([text, values])
    const answer = kept.get(key) ?? asked.get(key) ?? sql.query(text, values)
    if (answer instanceof Promise) asked.set(key, answer)
    const rows = await answer
    kept.delete(key)
    if (rows.length <= ROWS) kept.set(key, rows)
    const [oldest] = kept.keys()
    if (kept.size > STATEMENTS && oldest !== undefined) kept.delete(oldest)
    return [...rows] as Row[]
  }
  return { ...sql, query }
}
