import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type postgres from 'postgres'
import { RetryableError } from '../../app/errors.ts'
import type { Lock } from '../database.ts'
import { openSession, type Session } from '../server/server-sessions.ts'
import { isHeld } from './held-locks.ts'

/** The connection that locks live on, and what it holds. */
interface Keeper {
  /** Its locks end with it. */
  readonly session: Session
  /** Postgres would give the same session the same lock twice. */
  readonly held: Set<string>
  /** Key of the advisory lock that proves that this connection exists; as text, because it has 64 bits. */
  readonly key: string
  /** Resolves when the connection has that lock. */
  ready?: Promise<void>
}

const TAKE = `
  insert into sync.lock as held (name, session_key, backend_pid, process_id, host, application, since)
  values ($1, $2::bigint, pg_backend_pid(), $3::int, $4, current_setting('application_name'), clock_timestamp())
  on conflict (name) do update
     set session_key = excluded.session_key, backend_pid = excluded.backend_pid, process_id = excluded.process_id,
         host = excluded.host, application = excluded.application, since = excluded.since
   where not ${isHeld}
  returning true as taken`

/**
 * Named locks of this process: rows of sync.lock, each held while the connection that took it exists. All of them live on
 * one connection of their own, so that holding many never starves the pool; they end with it, also when the process dies.
 * After a cut the next lock opens another one at once: left to itself, postgres.js waits up to 20 s before it connects
 * again.
 *
 * An advisory lock alone would be simpler, but any login can take one whose key it knows or reads in pg_locks.
 *
 * @param open makes a client for that connection, on the first lock; it calls `cut` when the connection ends
 */
export function sessionLocks(open: (cut: () => void) => postgres.Sql): {
  tryLock(name: string): Promise<Lock | null>
  close(): Promise<void>
} {
  let current: Keeper | undefined

  function keeper(): Keeper {
    if (current && !current.session.lost) return current
    void current?.session.client.end({ timeout: 0 })
    current = { session: openSession(open), held: new Set(), key: String(randomBytes(8).readBigInt64BE()) }
    return current
  }

  return {
    async tryLock(name) {
      const mine = keeper()
      const { held, session } = mine
      const { client, work } = session
      if (held.has(name)) return null
      held.add(name)
      try {
        // A connection that could not be opened is tried again by the next lock.
        mine.ready ??= beginSession(mine).catch((error: unknown) => {
          delete mine.ready
          throw error
        })
        await mine.ready
        const [row] = await work.use(async () => client.unsafe(TAKE, [name, mine.key, process.pid, hostname()]))
        if (row?.taken !== true) {
          held.delete(name)
          return null
        }
      } catch (error) {
        held.delete(name)
        throw error
      }
      return {
        async release() {
          // A lock that was lost may be another's by now.
          if (held.delete(name) && !session.lost)
            await work.use(async () =>
              client.unsafe('delete from sync.lock where name = $1 and session_key = $2::bigint', [name, mine.key]),
            )
        },
      }
    },
    async close() {
      current?.held.clear()
      await current?.session.client.end({ timeout: 5 })
    },
  }
}

/** Takes the advisory lock that proves that this connection exists. A lock row may be lost in a crash of the server. */
async function beginSession({ session: { client, work }, key }: Keeper): Promise<void> {
  const [row] = await work.use(async () =>
    client.unsafe(`select pg_try_advisory_lock($1::bigint) as taken, set_config('synchronous_commit', 'off', false)`, [
      key,
    ]),
  )
  if (row?.taken !== true) throw new RetryableError('the key of this connection is taken; try again')
}
