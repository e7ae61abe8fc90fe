/** The middle of some numbers; NaN of none. */
export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((left, right) => left - right)
  const middle = sorted.length / 2
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle) - 1] ?? Number.NaN)) / 2
}

/** What `work` gives and how long it takes, in ms. */
export function timed<T>(work: () => T): { result: T; ms: number } {
  const started = performance.now()
  const result = work()
  return { result, ms: performance.now() - started }
}

/** What `work` resolves to and how long it takes, in ms. */
export async function timedAsync<T>(work: () => Promise<T>): Promise<{ result: T; ms: number }> {
  const started = performance.now()
  const result = await work()
  return { result, ms: performance.now() - started }
}

/** Collects garbage where node runs with --expose-gc, so that one measurement does not pay for the one before. */
export function collectGarbage(): void {
  globalThis.gc?.()
}
