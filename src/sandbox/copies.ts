import { type Copy, copyOf } from './http/answer.ts'

/** Makes the body of a copy; `edition` counts the copies made under this name. */
export type Produce = (edition: number) => unknown

/**
 * Keeps produced copies: each is made at the first request after the previous one expired, stamped with the whole
 * second, and then served unchanged until `producedAt + maxAge` (API reference 2.3). Expired ones are forgotten now and then.
 */
export function createCopies() {
  const kept = new Map<string, { copy: Copy; edition: number }>()
  let sweepAt = 1000
  return (name: string, maxAge: number, now: number, produce: Produce): Copy => {
    const last = kept.get(name)
    if (last && now < last.copy.producedAt + maxAge * 1000) return last.copy
    const edition = (last?.edition ?? -1) + 1
    const copy = copyOf(produce(edition), Math.floor(now / 1000) * 1000, maxAge)
    kept.set(name, { copy, edition })
    if (kept.size > sweepAt) {
      for (const [key, one] of kept) if (now >= one.copy.producedAt + one.copy.maxAge * 1000) kept.delete(key)
      sweepAt = 1000 + 2 * kept.size
    }
    return copy
  }
}
