import { RetryableError } from '../base/errors.ts'
import type { Database, Lock } from '../db/database.ts'
import { holderText } from '../db/locks/held-locks.ts'
import { resources } from '../resources/index.ts'

/** Everything that takes a lock before it writes into a database. */
const names = [
  ...['move', 'start', 'maintain', 'replay'],
  ...resources.flatMap(({ name }) => [name, `backfill ${name}`]),
].map((name) => `wynnsync ${name}`)

/**
 * Runs work while no sync, backfill, replay or maintenance can begin on a database.
 * @throws RetryableError when one of them runs
 */
export async function withoutWriters<T>(db: Database, work: () => Promise<T>): Promise<T> {
  const locks: Lock[] = []
  try {
    for (const name of names) {
      const lock = await db.tryLock(name)
      if (!lock) throw new RetryableError(`${db.place} is in use: ${await holderText(db, name)}; stop it and try again`)
      locks.push(lock)
    }
    return await work()
  } finally {
    for (const lock of locks) await lock.release().catch(() => undefined)
  }
}
