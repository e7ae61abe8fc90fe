import type postgres from 'postgres'
import type { Lock } from './database.ts'

/**
 * Named locks of this process, as session-level advisory locks. All of them live on one connection of their own, so
 * that holding many never starves the pool; they end with it, also when the process dies.
 *
 * @param connect opens that connection, on the first lock
 */
export function sessionLocks(connect: () => postgres.Sql): {
  tryLock(name: string): Promise<Lock | null>
  close(): Promise<void>
} {
  // Postgres would give the same session the same lock twice.
  const held = new Set<string>()
  let session: postgres.Sql | undefined

  return {
    async tryLock(name) {
      if (held.has(name)) return null
      held.add(name)
      session ??= connect()
      const open = session
      try {
        const [row] = await open.unsafe('select pg_try_advisory_lock(hashtextextended($1, 0)) as taken', [name])
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
          if (held.delete(name)) await open.unsafe('select pg_advisory_unlock(hashtextextended($1, 0))', [name])
        },
      }
    },
    async close() {
      held.clear()
      await session?.end({ timeout: 5 })
    },
  }
}
