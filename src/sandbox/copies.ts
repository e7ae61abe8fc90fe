import { type Copy, copyOf } from './answer.ts'

/** Makes the body of a copy; `edition` counts the copies made under this name. */
export type Produce = (edition: number) => unknown

/**
 * Keeps produced copies: each is made at the first request after the previous one expired, stamped with the whole
 * second, and then served unchanged until `producedAt + maxAge` (API reference 2.3).
 */
export function createCopies() {
  const kept = new Map<string, { copy: Copy; edition: number }>()
  return (name: string, maxAge: number, now: number, produce: Produce): Copy => {
    const last = kept.get(name)
    if (last && now < last.copy.producedAt + maxAge * 1000) return last.copy
    const edition = (last?.edition ?? -1) + 1
    const copy = copyOf(produce(edition), Math.floor(now / 1000) * 1000, maxAge)
    kept.set(name, { copy, edition })
    return copy
  }
}
