/** An impossible instant of a record: it is left out, the record is kept. */
export interface IgnoredInstant {
  /** The field that holds it, such as `acquired`. */
  readonly field: string
  /** What the record is about, where that may be named. */
  readonly of?: string
  /** It lies before the game began, and not after the response. */
  readonly isEarly?: boolean
}

/** The game began in 2013: nothing speaks for an earlier instant. Ms since the epoch. */
export const earliest = Date.UTC(2013, 0, 1)

/** The response of a record, as `normalize` sees it. */
export interface ResponseContext {
  /** The instant that the response speaks for, ms since the epoch. */
  readonly observedAt: number
}

/** The instant of a response is rounded, and its records may come from another clock; ms. */
const tolerance = 120_000

/** An instant (ISO 8601), or null when it lies before the game began, or after the response. Without a response it is kept. */
export function possible<Instant extends string | null | undefined>(
  instant: Instant,
  context: ResponseContext | undefined,
  ignored: IgnoredInstant[],
  what: IgnoredInstant,
): Instant | null {
  if (instant === null || instant === undefined) return instant
  // What is no instant at all is not ignored: the record with it goes to quarantine.
  const at = Date.parse(instant)
  const isEarly = at < earliest
  if (context === undefined || !(isEarly || at > context.observedAt + tolerance)) return instant
  ignored.push(isEarly ? { ...what, isEarly } : what)
  return null
}
