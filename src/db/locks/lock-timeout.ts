import { systemClock } from '../../base/clock.ts'
import { RetryableError } from '../../base/errors.ts'
import type { Database, Sql } from '../database.ts'
import { sqlState } from '../sql-errors.ts'

/** How long a statement may wait for a lock, ms: every writer of the table waits behind it. */
const LOCK_TIMEOUT_MS = 3000
/** How often the blockers are read, ms. */
const READ_EVERY_MS = 1000

/** Another session that holds, or waits for, the lock. */
interface Blocker {
  readonly pid: number
  readonly application: string | null
  readonly user: string | null
  /** When its transaction began; null where this user may not see that. */
  readonly since: Date | null
}

/** A statement waited too long for a lock; the message names the holder. */
export class LockTimeout extends RetryableError {}

/**
 * Runs a transaction that changes tables as a whole. Behind a long query of a dashboard it gives up after some seconds, so
 * that no writer has to wait longer.
 * @param prepare run first, while it may wait as long as it must
 * @throws LockTimeout
 */
export async function withLockTimeout<T>(
  db: Database,
  what: string,
  work: (sql: Sql) => Promise<T>,
  prepare: (sql: Sql) => Promise<unknown> = async () => undefined,
): Promise<T> {
  const seen: { blockers: readonly Blocker[] } = { blockers: [] }
  try {
    return await db.transaction(async (sql) => {
      await prepare(sql)
      if (db.kind === 'embedded') return await work(sql)
      const [session] = await sql.query<{ pid: number }>(
        `select pg_backend_pid() as pid, set_config('lock_timeout', $1, true)`,
        [String(LOCK_TIMEOUT_MS)],
      )
      const stop = watchBlockers(db, session?.pid ?? 0, seen)
      return await work(sql).finally(stop)
    })
  } catch (error) {
    if (sqlState(error) !== '55P03') throw error
    const blockers = seen.blockers.map(blockerText).join('; ')
    throw new LockTimeout(
      `${what} waited ${LOCK_TIMEOUT_MS / 1000} s for a lock that ${blockers || 'another session'} holds; try again later`,
      { context: { sqlState: '55P03' } },
    )
  }
}

/** The same database, but none of its transactions waits long for a lock. */
export function limitLockWaits(db: Database, what: string): Database {
  return {
    ...db,
    query: (text, params) => withLockTimeout(db, what, (sql) => sql.query(text, params)),
    transaction: (work) => withLockTimeout(db, what, work),
  }
}

/**
 * Locks a partitioned table where this transaction holds a lock on one of its partitions. A writer that has the table and waits for the
 * partition would be a deadlock, and Postgres may end either: this gives up before it looks for one (`deadlock_timeout`).
 * @throws LockTimeout
 */
export async function lockBesideWriters(sql: Sql, table: string): Promise<void> {
  await sql.query(
    `select set_config('lock_timeout',
                       greatest(1, least($1, 800 * extract(epoch from current_setting('deadlock_timeout')::interval)))::int::text, true)`,
    [LOCK_TIMEOUT_MS],
  )
  try {
    await sql.query(`lock table only ${table} in access exclusive mode`)
  } catch (error) {
    if (sqlState(error) !== '55P03') throw error
    throw new LockTimeout(`another session uses ${table}, and this gave way; try again later`)
  }
}

/** Reads on another connection which sessions block this one: after the timeout they are unknown. */
function watchBlockers(db: Database, pid: number, seen: { blockers: readonly Blocker[] }): () => void {
  const read = async () => {
    const found = await db.query<Blocker>(
      `select pid, application_name as application, usename::text as "user", coalesce(xact_start, backend_start) as since
         from pg_stat_activity where pid = any(pg_blocking_pids($1::int)) order by pid`,
      [pid],
    )
    if (found.length > 0) seen.blockers = found
  }
  const over = new AbortController()
  const keepReading = async () => {
    // The server's timeout runs in real time, whatever the clock of the program.
    for (;;) {
      await systemClock.sleep(READ_EVERY_MS, over.signal)
      await read().catch(() => undefined)
    }
  }
  keepReading().catch(() => undefined)
  return () => over.abort()
}

function blockerText({ pid, application, user, since }: Blocker): string {
  const name = application || 'without an application_name'
  return `pid ${pid} (${name}, user ${user ?? 'unknown'}${since ? `, since ${since.toISOString()}` : ''})`
}
