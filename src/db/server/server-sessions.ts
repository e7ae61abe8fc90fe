import type postgres from 'postgres'

/** One connection of the pool. */
export interface Session {
  readonly client: postgres.Sql
  /** The connection is gone or cannot be trusted; the pool throws it away. */
  lost: boolean
  /** What is in flight on the connection. */
  readonly work: ReturnType<typeof underway>
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

/**
 * A pool of postgres.js clients with one connection each, opened when they are first needed. postgres.js has a pool of its
 * own, but does not report which connection was cut: the next statement of a transaction on it is then written to a socket
 * that is gone, and the exception of that ends the process. Here `lost` can be checked first.
 */
export function sessionPool(open: (cut: () => void) => postgres.Sql, size: number) {
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
    /** Lends a session to `work`, after waiting for a free one. */
    async use<T>(work: (session: Session) => Promise<T>): Promise<T> {
      const session = await take()
      return await session.work.use(() => work(session)).finally(() => giveBack(session))
    },
    /** Ends all of them; statements that run have `seconds` to finish. */
    async close(seconds: number): Promise<void> {
      await Promise.all([...all].map(({ client }) => client.end({ timeout: seconds })))
    },
  }
}

/**
 * Keeps work from outliving its connection. postgres.js forgets a statement that it is given between the error of a socket
 * and its end, such as the rollback of a transaction that just failed: no response would ever come.
 */
function underway() {
  const failing = new Set<(reason: Error) => void>()
  return {
    /** Runs work; it fails at the latest when the connection ends. */
    async use<T>(work: () => Promise<T>): Promise<T> {
      let fail: (reason: Error) => void = () => undefined
      const cut = new Promise<never>((_, reject) => {
        fail = reject
      })
      failing.add(fail)
      try {
        return await Promise.race([work(), cut])
      } finally {
        failing.delete(fail)
      }
    },
    cut(): void {
      // After postgres.js' own error, which has the reason.
      setImmediate(() => {
        const reason = Object.assign(new Error('the connection was cut'), { code: 'CONNECTION_CLOSED' })
        for (const fail of failing) fail(reason)
      })
    },
  }
}
