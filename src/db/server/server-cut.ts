/** The work in flight on one connection. */
export interface Underway {
  /** Runs work; it fails at the latest when the connection ends. */
  use<T>(work: () => Promise<T>): Promise<T>
  cut(): void
}

/**
 * Keeps work from outliving its connection. postgres.js forgets a statement that it is given between the error of a socket
 * and its end, such as the rollback of a transaction that just failed: no response would ever come.
 */
export function underway(): Underway {
  const failing = new Set<(reason: Error) => void>()
  return {
    async use(work) {
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
    cut() {
      // After postgres.js' own error, which has the reason.
      setImmediate(() => {
        const reason = Object.assign(new Error('the connection was cut'), { code: 'CONNECTION_CLOSED' })
        for (const fail of failing) fail(reason)
      })
    },
  }
}
