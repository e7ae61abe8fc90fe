import type { Clock } from '../../app/clock.ts'

/** How old a page may be, how old while a new one is made, ms, and how many are kept. */
const [FRESH, SHOWN, MOST] = [10_000, 60_000, 200]

interface Kept<T> {
  readonly madeAt: number
  readonly page: Promise<T>
  /** When its successor was begun. */
  renewedAt?: number
}

/**
 * Keeps pages for a few seconds, so that many readers of one page cost as much as one. Those who come together share the
 * making; who comes later sees the page before until the new one is there.
 */
export function createPageCache<T>(
  clock: Clock,
  { fresh = FRESH, shown = SHOWN } = {},
): (key: string, make: () => Promise<T>) => Promise<T> {
  const kept = new Map<string, Kept<T>>()
  const keep = (key: string, one: Kept<T>) => {
    kept.delete(key)
    kept.set(key, one)
    const [oldest] = kept.keys()
    if (kept.size > MOST && oldest !== undefined) kept.delete(oldest)
  }
  return (key, make) => {
    const now = clock.now()
    const found = kept.get(key)
    const age = found ? now - found.madeAt : shown
    if (found && age < fresh) return found.page
    if (found && age < shown) {
      if (found.renewedAt === undefined || now - found.renewedAt >= fresh) {
        found.renewedAt = now
        const page = make()
        // One that fails leaves the page before, until that is too old.
        page.then(() => keep(key, { madeAt: now, page })).catch(() => undefined)
      }
      return found.page
    }
    const page = make()
    const one = { madeAt: now, page }
    keep(key, one)
    // The next one tries again.
    page.catch(() => {
      if (kept.get(key) === one) kept.delete(key)
    })
    return page
  }
}
