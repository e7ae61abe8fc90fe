export interface Progress {
  readonly requested: number
  /** Keys whose request is under way. */
  readonly inFlight: number
  /** Keys in a row whose request failed. */
  readonly failures: number
  readonly lastFailure?: unknown
  readonly failure?: unknown
}

export type ProgressEvent =
  | { readonly type: 'claim' }
  /** No key was due. */
  | { readonly type: 'no key' }
  | { readonly type: 'outcome' }
  | { readonly type: 'aborted' }
  /** A request failed, and another may not. */
  | { readonly type: 'failure'; readonly error: unknown }
  /** Nothing more can be done. */
  | { readonly type: 'fatal'; readonly error: unknown }

export const noProgress: Progress = { requested: 0, inFlight: 0, failures: 0 }

/** After so many keys in a row whose request failed, the service counts as away. */
const patience = 5

/** Requests that one window has for guests (API reference 2.2); for servers that send no budget. */
const assumedWindow = 50

export function advance(progress: Progress, event: ProgressEvent): Progress {
  const { requested, inFlight, failures, failure } = progress
  switch (event.type) {
    case 'claim':
      return { ...progress, requested: requested + 1, inFlight: inFlight + 1 }
    case 'no key':
      return { ...progress, requested: requested - 1, inFlight: inFlight - 1 }
    case 'outcome':
      return { ...progress, inFlight: inFlight - 1, failures: 0 }
    case 'aborted':
      return { ...progress, inFlight: inFlight - 1 }
    case 'failure': {
      const failed = { ...progress, inFlight: inFlight - 1, failures: failures + 1, lastFailure: event.error }
      return failed.failures >= patience ? { ...failed, failure: failure ?? event.error } : failed
    }
    case 'fatal':
      return { ...progress, failure: failure ?? event.error }
  }
}

export interface Bounds {
  /** Keys that are named. */
  readonly named?: number | undefined
  readonly limit?: number | undefined
  /** Whether a deadline bounds the run, and is still ahead. */
  readonly beforeDeadline?: boolean | undefined
  /** Requests that the budget window still allows; null when unknown. */
  readonly budget: number | null
}

/** How many more keys may be requested. Until the first response shows the budget, one. */
export function allowance({ requested, inFlight }: Progress, bounds: Bounds): number {
  const { named, limit, beforeDeadline, budget } = bounds
  if (beforeDeadline !== undefined) return beforeDeadline ? 1 : 0
  if (named !== undefined) return named - requested
  if (limit !== undefined) return limit - requested
  if (requested === 0) return 1
  // What is under way may have no request in the budget yet: counted twice rather than not at all.
  return budget === null ? assumedWindow - requested : budget - inFlight
}

/** What ended the run; also where each of a few keys failed: the service is as much away as after many. */
export function failureOf({ requested, failures, failure, lastFailure }: Progress): unknown {
  return failure ?? (requested > 0 && failures === requested ? lastFailure : undefined)
}
