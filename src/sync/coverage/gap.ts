/** How often something is expected from an instant on, in order of time. */
export interface Expected {
  /** Ms since the epoch. */
  readonly from: number
  /** Seconds; null: not at all. */
  readonly every: number | null
}

/** A stretch of time in which `missed` observations should have been made; 0: none were expected. Ms since the epoch. */
export interface Gap {
  readonly began: number
  readonly ended: number
  readonly missed: number
}

/** Two observations; ms since the epoch. */
export interface Between {
  readonly began: number
  readonly ended: number
  /** How far apart they are for the purpose of being on time, ms. */
  readonly distance: number
  /** All expectations there are, at least one; the first holds for the time before it, too. */
  readonly expected: readonly Expected[]
}

/**
 * What was missed between two observations. The next one is on time until half its time has passed again, so that
 * neither drift nor a retry is a gap. Where the expectation changed in between, each part is a gap of its own.
 */
export function gapsBetween({ began, ended, distance, expected }: Between): Gap[] {
  if (ended <= began || distance <= 0) return []
  return expected.flatMap(({ from, every }, nth) => {
    const begins = nth === 0 ? began : Math.max(from, began)
    const until = expected[nth + 1]?.from ?? Number.POSITIVE_INFINITY
    const ends = Math.min(until, began + distance)
    if (begins >= ends) return []
    const missed = every === null ? 0 : missedIn((ends - begins) / 1000 / every)
    if (missed === 0 && every !== null) return []
    return [{ began: begins, ended: until < began + distance ? until : ended, missed }]
  })
}

/** Observations that are missing in a stretch of so many periods, between one at its beginning and one at its end. */
function missedIn(periods: number): number {
  return Math.max(0, Math.ceil(periods - 0.5) - 1)
}
