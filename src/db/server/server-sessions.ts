import type postgres from 'postgres'
import { type Underway, underway } from './server-cut.ts'

/** One connection of the pool. */
export interface Session {
  readonly client: postgres.Sql
  /** The connection is gone or cannot be trusted; the pool throws it away. */
  lost: boolean
  readonly work: Underway
}

/** @param open makes a client for one connection that calls `cut` when that connection ends */
export function openSession(open: (cut: () => void) => postgres.Sql): Session {
  const session: Session = {
    lost: false,
    work: underway(),
    client: open(() => {
      session.lost = true
      session.work.cut()
    }),
  }
  return session
}

/** Sessions to borrow, opened when they are first needed. */
export interface Sessions {
  /** Lends a session to `work`, after waiting for a free one. */
  use<T>(work: (session: Session) => Promise<T>): Promise<T>
  /** Ends all of them; statements that run have `seconds` to finish. */
  close(seconds: number): Promise<void>
}

/**
 * A pool of postgres.js clients with one connection each. postgres.js has a pool of its own, but does not report which
 * connection was cut: the next statement of a transaction on it is then written to a socket that is gone, and the
 * exception of that ends the process. Here `lost` can be checked first.
 */
export function sessionPool(open: (cut: () => void) => postgres.Sql, size: number): Sessions {
  const all = new Set<Session>()
  const idle: Session[] = []
  const waiting: ((session: Session) => void)[] = []

  function create(): Session {
    const session = openSession(open)
    all.add(session)
    return session
  }

  function discard(session: Session): void {
    all.delete(session)
    void session.client.end({ timeout: 0 })
  }

  async function take(): Promise<Session> {
    for (let session = idle.pop(); session; session = idle.pop()) {
      if (!session.lost) return session
      discard(session)
    }
    return all.size < size ? create() : new Promise((resolve) => waiting.push(resolve))
  }

  function giveBack(session: Session): void {
    if (session.lost) discard(session)
    const next = waiting.shift()
    if (next) next(session.lost ? create() : session)
    else if (!session.lost) idle.push(session)
  }

  return {
    async use(work) {
      const session = await take()
      try {
        return await session.work.use(() => work(session))
      } finally {
        giveBack(session)
      }
    },
    async close(seconds) {
      await Promise.all([...all].map(({ client }) => client.end({ timeout: seconds })))
    },
  }
}
