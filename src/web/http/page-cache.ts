import type { Clock } from '../../app/clock.ts'

/** How long a page is kept, ms, and how many are. */
const [KEPT, MOST] = [10_000, 200]

/** Keeps pages for a few seconds, so that many readers of one page cost as much as one. Those who come together share the making. */
export function createPageCache(clock: Clock): (key: string, make: () => Promise<string>) => Promise<string> {
  const kept = new Map<string, { readonly until: number; readonly text: Promise<string> }>()
  return (key, make) => {
    const now = clock.now()
    const found = kept.get(key)
    if (found && now < found.until) return found.text
    const text = make()
    kept.delete(key)
    kept.set(key, { until: now + KEPT, text })
    const [oldest] = kept.keys()
    if (kept.size > MOST && oldest !== undefined) kept.delete(oldest)
    // The next one tries again.
    text.catch(() => kept.delete(key))
    return text
  }
}
