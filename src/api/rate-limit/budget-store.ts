import type { BudgetState } from './budget-state.ts'

/** The next state, and what the caller gets. */
export interface Step<T> {
  readonly state: BudgetState
  readonly result: T
}

/** Where the budgets of one credential are kept, and which bucket each route draws from. */
export interface BudgetStore {
  /**
   * Changes the state of one bucket, which is locked meanwhile.
   * @param step from the stored state (null: none yet) to the next; pure, because it may run again
   * @throws RetryableError when the state cannot be reached now
   */
  change<T>(bucket: string, step: (state: BudgetState | null) => Step<T>): Promise<T>
  /** The bucket that the responses of a route name; null while unknown. */
  bucketOf(route: string): Promise<string | null>
  /** The buckets of all known routes with the same first segment: a guess for a route whose own is unknown. Optional. */
  bucketsNear?(route: string): Promise<readonly string[]>
  /** Stores the bucket that a response of the route names. */
  learn(route: string, bucket: string): Promise<void>
}

/** `guild` of `/guild/list/territory`. */
export function firstSegment(route: string): string {
  return route.split('/')[1] ?? ''
}

/** Budgets that only this process draws from; they end with it. */
export function memoryBudget(): BudgetStore {
  const states = new Map<string, BudgetState>()
  const buckets = new Map<string, string>()
  return {
    async change(bucket, step) {
      const { state, result } = step(states.get(bucket) ?? null)
      states.set(bucket, state)
      return result
    },
    bucketOf: async (route) => buckets.get(route) ?? null,
    bucketsNear: async (route) => {
      const near = [...buckets].filter(([other]) => firstSegment(other) === firstSegment(route))
      return [...new Set(near.map(([, bucket]) => bucket))]
    },
    learn: async (route, bucket) => void buckets.set(route, bucket),
  }
}
