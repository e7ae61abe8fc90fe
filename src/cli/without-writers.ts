import { RetryableError } from '../base/errors.ts'
import type { Database, Lock } from '../db/database.ts'
import { holderText, readHeldLocks } from '../db/locks/held-locks.ts'
import { resources } from '../resources/index.ts'

/** Held by what must be alone while it writes. */
const ALONE = 'wynnsync move'

/** Everything that takes a lock before it writes into a database. */
const names = ['start', 'maintain', 'replay', ...resources.flatMap(({ name }) => [name, `backfill ${name}`])].map(
  (name) => `wynnsync ${name}`,
)

/** Begins the names of the locks of syncs of worklists, of which there may be several at once. */
const SYNC = 'wynnsync sync '

/**
 * Runs work while no sync, backfill, replay or maintenance can begin on a database.
 * @throws RetryableError when one of them runs
 */
export async function withoutWriters<T>(db: Database, work: () => Promise<T>): Promise<T> {
  const locks: Lock[] = []
  try {
    for (const name of [ALONE, ...names]) {
      const lock = await db.tryLock(name)
      if (!lock) throw new RetryableError(`${db.place} is in use: ${await holderText(db, name)}; stop it and try again`)
      locks.push(lock)
    }
    const sync = (await readHeldLocks(db)).find(({ name }) => name.startsWith(SYNC))
    if (sync)
      throw new RetryableError(`${db.place} is in use: ${await holderText(db, sync.name)}; stop it and try again`)
    return await work()
  } finally {
    for (const lock of locks) await lock.release().catch(() => undefined)
  }
}

/**
 * Holds off `withoutWriters` while this process syncs worklists, which have no lock of their resource: several may sync them at once.
 * @returns undefined while `withoutWriters` goes on
 */
export async function tryWriting(db: Database): Promise<Lock | undefined> {
  // An embedded database has one process, which is alone where it must be.
  if (db.kind === 'embedded') return { release: async () => undefined }
  for (let nth = 1; ; nth++) {
    const lock = await db.tryLock(`${SYNC}${nth}`)
    if (!lock) continue
    // Each takes its own lock first and then looks for that of the other, so that one of them sees it.
    if ((await readHeldLocks(db, ALONE)).length === 0) return lock
    await lock.release()
    return undefined
  }
}
