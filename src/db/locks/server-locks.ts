import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { RetryableError } from '../../base/errors.ts'
import type { Lock } from '../database.ts'
import { endSession, type Session, transactionPooling } from '../server/server-sessions.ts'
import { isHeld } from './held-locks.ts'

/** The connection that locks live on, and what it holds. */
interface Keeper {
  /** Its locks end with it. */
  readonly session: Session
  /** Postgres would give the same session the same lock twice. */
  readonly held: Set<string>
  /** Key of the advisory lock that proves that this connection exists; as text, because it has 64 bits. */
  readonly key: string
}

const TAKE = `
  insert into sync.lock as held (name, session_key, backend_pid, process_id, host, application, since)
  values ($1, $2::bigint, pg_backend_pid(), $3::int, $4, current_setting('application_name'), clock_timestamp())
  on conflict (name) do update
     set session_key = excluded.session_key, backend_pid = excluded.backend_pid, process_id = excluded.process_id,
         host = excluded.host, application = excluded.application, since = excluded.since
   where not ${isHeld}
  returning true as taken, ${isHeld} as proven`

/**
 * Named locks of this process: rows of sync.lock, each held while the connection that took it exists. All of them live on
 * one connection of their own, so that holding many never starves the pool; they end with it, also when the process dies.
 * After a cut the next lock opens another one at once: left to itself, postgres.js waits up to 20 s before it connects
 * again.
 *
 * An advisory lock alone would be simpler, but any login can take one whose key it knows or reads in pg_locks.
 *
 * @param open opens that connection, on the first lock
 */
export function sessionLocks(
  open: () => Promise<Session>,
  place: string,
): {
  tryLock(name: string): Promise<Lock | null>
  close(): Promise<void>
} {
  let current: { readonly ready: Promise<Keeper>; session?: Session } | undefined

  function keeper(): Promise<Keeper> {
    if (current && !current.session?.lost) return current.ready
    current?.session?.destroy()
    const begun: NonNullable<typeof current> = {
      ready: beginKeeper(open).then(
        (ready) => {
          begun.session = ready.session
          return ready
        },
        (error: unknown) => {
          // The next lock tries again.
          if (current === begun) current = undefined
          throw error
        },
      ),
    }
    current = begun
    return begun.ready
  }

  return {
    async tryLock(name) {
      const { held, session, key } = await keeper()
      const { client, work } = session
      if (held.has(name)) return null
      held.add(name)
      try {
        const [row] = await work.use(async () => client.unsafe(TAKE, [name, key, process.pid, hostname()]))
        // A pooler gave this statement another session than the one that has the advisory lock.
        if (row?.taken === true && row.proven !== true) throw transactionPooling(place)
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
              client.unsafe('delete from sync.lock where name = $1 and session_key = $2::bigint', [name, key]),
            )
        },
      }
    },
    async close() {
      const last = await current?.ready.catch(() => undefined)
      last?.held.clear()
      if (last) await endSession(last.session, 5)
    },
  }
}

/** Opens the connection and takes the advisory lock that proves that it exists. A lock row may be lost in a crash of the server. */
async function beginKeeper(open: () => Promise<Session>): Promise<Keeper> {
  const session = await open()
  const key = String(randomBytes(8).readBigInt64BE())
  try {
    const [row] = await session.work.use(async () =>
      session.client.unsafe(
        `select pg_try_advisory_lock($1::bigint) as taken, set_config('synchronous_commit', 'off', false)`,
        [key],
      ),
    )
    if (row?.taken !== true) throw new RetryableError('the key of this connection is taken; try again')
    return { session, held: new Set(), key }
  } catch (error) {
    session.destroy()
    throw error
  }
}
