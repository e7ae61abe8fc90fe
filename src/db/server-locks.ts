import type postgres from 'postgres'
import type { Lock } from './database.ts'
import { type Underway, underway } from './server-cut.ts'

/** The connection that locks live on, and what it holds. */
interface Keeper {
  readonly client: postgres.Sql
  /** Postgres would give the same session the same lock twice. */
  readonly held: Set<string>
  /** The connection is gone, and with it what it held. */
  lost: boolean
  readonly work: Underway
}

/**
 * Named locks of this process, as session-level advisory locks. All of them live on one connection of their own, so
 * that holding many never starves the pool; they end with it, also when the process dies. After a cut the next lock
 * opens another one at once: left to itself, postgres.js waits up to 20 s before it connects again.
 *
 * @param open makes a client for that connection, on the first lock; it calls `cut` when the connection ends
 */
export function sessionLocks(open: (cut: () => void) => postgres.Sql): {
  tryLock(name: string): Promise<Lock | null>
  close(): Promise<void>
} {
  let current: Keeper | undefined

  function keeper(): Keeper {
    if (current && !current.lost) return current
    void current?.client.end({ timeout: 0 })
    const fresh: Keeper = {
      held: new Set(),
      lost: false,
      work: underway(),
      client: open(() => {
        fresh.lost = true
        fresh.work.cut()
      }),
    }
    current = fresh
    return fresh
  }

  return {
    async tryLock(name) {
      const mine = keeper()
      const { held, client, work } = mine
      if (held.has(name)) return null
      held.add(name)
      try {
        const [row] = await work.use(async () =>
          client.unsafe('select pg_try_advisory_lock(hashtextextended($1, 0)) as taken', [name]),
        )
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
          if (held.delete(name) && !mine.lost)
            await work.use(async () => client.unsafe('select pg_advisory_unlock(hashtextextended($1, 0))', [name]))
        },
      }
    },
    async close() {
      current?.held.clear()
      await current?.client.end({ timeout: 5 })
    },
  }
}
