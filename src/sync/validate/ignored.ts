/** An instant that a record tells and that cannot be: it is left out, the record is kept. */
export interface IgnoredInstant {
  /** The field that tells it, such as `acquired`. */
  readonly field: string
  /** What the record is about, where that may be named. */
  readonly of?: string
}

/** What `normalize` may know of the response that a record came with. */
export interface ResponseContext {
  /** The instant that the response speaks for, ms since the epoch. */
  readonly observedAt: number
}

/** The instant of a response is rounded, and its clock is not that of what it tells; ms. */
const tolerance = 120_000

/** An instant (ISO 8601) as it is told, or null when it lies after the response. Without a response it is kept. */
export function notAfter<Told extends string | null | undefined>(
  told: Told,
  context: ResponseContext | undefined,
  ignored: IgnoredInstant[],
  what: IgnoredInstant,
): Told | null {
  if (told === null || told === undefined) return told
  // What is no instant at all is not ignored: the record with it goes to quarantine.
  if (context === undefined || !(Date.parse(told) > context.observedAt + tolerance)) return told
  ignored.push(what)
  return null
}
