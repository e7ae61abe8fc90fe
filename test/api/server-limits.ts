import type { Clock } from '../../src/base/clock.ts'
import type { Reply } from './server.ts'

/** A counter of requests per minute of the clock, like the real service's, that refuses what is above the limit. */
export interface Limiter {
  /** Counts one request and says with which headers, and whether, it is answered. */
  count(): Reply & { readonly refused: boolean }
  /** Requests per window, refused ones included, by the window's number since the first. */
  readonly windows: readonly number[]
  readonly refusals: () => number
}

export function createLimiter(options: {
  readonly clock: Clock
  readonly limit: number
  readonly reset: 'delta' | 'epoch' | 'epoch ms' | 'none'
  readonly bucket?: string
  /** Requests of others that use the same counter, per window. */
  readonly others?: number
}): Limiter {
  const { clock, limit, reset, bucket = 'ITEMS', others = 0 } = options
  const counts = new Map<number, number>()
  let refused = 0
  return {
    get windows() {
      return [...counts.entries()].sort(([a], [b]) => a - b).map(([, count]) => count)
    },
    refusals: () => refused,
    count() {
      const now = clock.now()
      const minute = Math.floor(now / 60_000)
      const count = (counts.get(minute) ?? 0) + 1
      counts.set(minute, count)
      const over = count + others > limit
      if (over) refused++
      const end = (minute + 1) * 60_000
      const left = { delta: Math.floor((end - now) / 1000), epoch: end / 1000, 'epoch ms': end, none: 0 }[reset]
      const headers = {
        'RateLimit-Bucket': bucket,
        'RateLimit-Limit': String(limit),
        'RateLimit-Remaining': String(Math.max(0, limit - others - count)),
        'RateLimit-Reset': String(left),
        Date: new Date(now).toUTCString(),
      }
      const told = reset === 'none' ? { Date: headers.Date } : headers
      if (!over) return { refused: false, status: 200, headers: told, body: { count } }
      return {
        refused: true,
        status: 429,
        headers: told,
        body: { error: 'TooManyRequest', detail: 'slow down', code: 429 },
      }
    },
  }
}
