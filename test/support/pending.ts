import diagnostics from 'node:diagnostics_channel'
import type { Clock } from '../../src/base/clock.ts'
import type { Database } from '../../src/db/database.ts'

/** What is under way outside of a virtual clock: its owner must not jump meanwhile. */
export interface Pending {
  /** For `virtualClock`'s `busy`. */
  readonly busy: () => boolean
  /** For the client's `onRequest`: a request has ended, its body unpacked. */
  readonly answered: () => void
  /** The same database; its statements count as under way. */
  watch(db: Database): Database
  /** The same clock for a server of this process; while it sleeps, its caller is not under way. */
  answering(clock: Clock): Clock
  /** Stops counting requests. */
  stop(): void
}

/** Lets time pass in small steps: should the clock once jump too early, then not far. */
export async function letPass(clock: Clock, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 1000) await clock.sleep(Math.min(1000, left))
}

/** Counts the requests of this process (undici tells of each) and the statements of the databases it watches. */
export function countPending(): Pending {
  let statements = 0
  let asleep = 0
  let requests = 0
  const began = () => {
    requests += 1
  }
  diagnostics.subscribe('undici:request:create', began)

  async function counted<T>(work: () => Promise<T>): Promise<T> {
    statements += 1
    try {
      return await work()
    } finally {
      statements -= 1
    }
  }
  return {
    busy: () => statements + requests - asleep > 0,
    answered: () => {
      requests -= 1
    },
    watch: (db) => ({
      kind: db.kind,
      place: db.place,
      query: (text, params) => counted(() => db.query(text, params)),
      values: (text, params) => counted(() => db.values(text, params)),
      copy: (table, columns, rows) => counted(() => db.copy(table, columns, rows)),
      copyCsv: (...given) => counted(() => db.copyCsv(...given)),
      transaction: (work) => counted(() => db.transaction(work)),
      tryLock: async (name) => {
        const lock = await counted(() => db.tryLock(name))
        return lock && { release: () => counted(() => lock.release()) }
      },
      close: () => db.close(),
    }),
    answering: (clock) => ({
      ...clock,
      sleep: async (ms, signal) => {
        asleep += 1
        await clock.sleep(ms, signal).finally(() => {
          asleep -= 1
        })
      },
    }),
    stop: () => void diagnostics.unsubscribe('undici:request:create', began),
  }
}
