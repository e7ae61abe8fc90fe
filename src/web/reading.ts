import { AsyncLocalStorage } from 'node:async_hooks'
import { performance } from 'node:perf_hooks'
import type { Database, Sql, SqlValue } from '../db/database.ts'
import { READER } from '../db/reader.ts'
import { onSessions } from './read-sessions.ts'

/** So many statements of one page run at once on a server; a session begins with the first that needs it. */
const SESSIONS_OF_PAGE = 2

/** How long idle work waits and runs, ms: on a database that is never free, or slow, it would begin again and again for pages that are not asked for. */
const IDLE_WORK_MS = 60_000

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
  /** Runs work on the embedded database while it is free, anew after each interruption. @throws when the signal is aborted, or a minute is over */
  whileIdle<T>(signal: AbortSignal, work: (sql: Sql) => Promise<T>): Promise<T>
  /** Runs all that one request reads: on the embedded database, which has one session, all of it together may take `timeoutMs`. */
  request<T>(work: () => Promise<T>): Promise<T>
  /** Runs what goes on after its request: each of its transactions may take `timeoutMs`. */
  beyond<T>(work: () => Promise<T>): Promise<T>
}

/**
 * @param timeoutMs how long a statement may take; on the embedded database a transaction, or a whole request
 * @param kept what `read` was answered before, where all is as of one instant; left out: each work has answers of its own
 */
export async function openReader(db: Database, timeoutMs: number, kept?: Answers): Promise<Reader> {
  // What a page asks is answered sooner than compiled; a week of the map is sorted in memory.
  const readOnly = `set transaction read only; set local jit = off; set local work_mem = '16MB'; set local statement_timeout = ${timeoutMs}`
  const asReader = `${readOnly}; set local role ${READER}`
  const endsAt = new AsyncLocalStorage<number | undefined>()
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
    read: (work) => {
      const answers: Answers = kept ?? new Map()
      // Where a sync goes before, all of it begins anew, but for what was answered.
      if (db.kind === 'embedded') return inside(readOnly, (sql) => work(once(sql, answers)))
      return onSessions(
        (serve) => inside(readOnly, serve),
        SESSIONS_OF_PAGE,
        (sql) => work(once(sql, answers)),
      )
    },
    whileIdle: async (signal, work) => {
      const answers: Answers = new Map()
      const begun = async (sql: Sql) => {
        await sql.query(readOnly)
        return await work(once(sql, answers))
      }
      return await db.transaction(begun, { whileIdle: signal, limitMs: IDLE_WORK_MS })
    },
    ask: (work) => inside(hasRole ? asReader : readOnly, work),
    request: (work) => endsAt.run(performance.now() + timeoutMs, work),
    beyond: (work) => endsAt.run(undefined, work),
  }
}

/** Of so many statements the answers are kept. */
const KEPT_STATEMENTS = 300
/** An answer with more rows is not kept. */
const KEPT_ROWS = 5000

/** Asks what was asked before no more. What has not come yet is shared by one work alone: it may end before the answer. */
function once(sql: Sql, kept: Answers): Sql {
  const asked = new Map<string, Promise<unknown[]>>()
  const query = async <Row>(text: string, values?: readonly SqlValue[]) => {
    const key = JSON.stringify([text, values])
    const answer = kept.get(key) ?? asked.get(key) ?? sql.query(text, values)
    if (answer instanceof Promise) asked.set(key, answer)
    const rows = await answer
    kept.delete(key)
    if (rows.length <= KEPT_ROWS) kept.set(key, rows)
    const [oldest] = kept.keys()
    if (kept.size > KEPT_STATEMENTS && oldest !== undefined) kept.delete(oldest)
    return [...rows] as Row[]
  }
  return { ...sql, query }
}
