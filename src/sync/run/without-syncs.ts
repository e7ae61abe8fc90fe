import type { Clock } from '../../base/clock.ts'
import { RetryableError } from '../../base/errors.ts'
import type { Database } from '../../db/database.ts'

/** How often a lock that a sync holds is asked for, once a second. */
const TRIES = 600

/** Runs work while no sync of these resources can begin. @throws RetryableError when one of them runs for minutes */
export async function withoutSyncsOf<T>(
  db: Database,
  names: readonly string[],
  { clock, signal }: { readonly clock: Clock; readonly signal?: AbortSignal | undefined },
  work: () => Promise<T>,
): Promise<T> {
  const locks: { release(): Promise<void> }[] = []
  try {
    for (const name of names) {
      for (let tries = 0; ; tries++) {
        const lock = await db.tryLock(`wynnsync ${name}`)
        if (lock) locks.push(lock)
        if (lock) break
        if (tries >= TRIES) throw new RetryableError(`a sync of ${name} does not end: try again later`)
        await clock.sleep(1000, signal)
      }
    }
    return await work()
  } finally {
    for (const lock of locks) await lock.release().catch(() => undefined)
  }
}
