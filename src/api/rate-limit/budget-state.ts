import * as z from 'zod'

/** Ms since the epoch. */
const instant = z.number()
const count = z.number().min(0)
const lane = z.enum(['live', 'refresh', 'backfill'])

const reservation = z
  .object({
    id: z.string(),
    lane,
    /** When it was made. The request is sent a moment later. */
    sentAt: instant,
    /** When it expires: no request lasts so long, so its process was killed. */
    until: instant,
  })
  .readonly()

const window = z
  .object({
    limit: count.nullable(),
    /** The lowest number of any response of this window. Reservations are not subtracted yet. */
    remaining: count,
    earliest: instant,
    latest: instant,
    /** When its first response came. */
    openedAt: instant,
    /** Requests granted to these lanes since. */
    granted: z.object({ refresh: count, backfill: count }).readonly(),
    /** Requests of all lanes that were granted since it opened, and the one that opened it where its response counts it. */
    sent: count.default(0),
    /** True without headers: our own count against an assumed limit. */
    assumed: z.boolean(),
  })
  .readonly()

const cadence = z
  .object({
    /** The last poll that follows the interval. */
    lastAt: instant,
    /** Null while there was only one. */
    everyMs: z.number().nullable(),
    /** Those of the last two minutes that came in between: other processes, which poll every minute at most. */
    between: z.array(instant).readonly(),
    /** Those that found no room and have no reservation yet. */
    waiting: z.array(instant).readonly(),
  })
  .readonly()

const budget = z
  .object({
    /** Null before the first response and after each window. */
    window: window.nullable(),
    /** When the last window ended. */
    closedAt: instant.nullable(),
    /** What the last window had left at its end; null when it was not known. */
    leftAtEnd: count.nullable().default(null),
    /** How many windows in a row have only gone on counting where the one before had ended, by its headers. */
    continued: count.default(0),
    /** Until when `RateLimit-Reset` is not believed: it was wrong. */
    resetDistrustedUntil: instant.default(0),
    /** When the block ends that followed the last 429; null since a response that was none. */
    blockedUntil: instant.nullable(),
    /** The request that goes alone into a new window, and until when it keeps all others back. */
    probe: z.object({ id: z.string(), until: instant }).readonly().nullable(),
    reservations: z.array(reservation).readonly(),
    /** The limit of the last headers. */
    lastLimit: count.nullable(),
    /** Requests that ended in the running minute of the clock. */
    counted: z.object({ minute: z.number(), requests: count }).readonly(),
    /** When requests of the last minutes ended without a response of the API: the server may have counted them or not. */
    uncounted: z.array(instant).readonly(),
    /** How often live requests come, per route. */
    cadences: z.record(z.string(), cadence).readonly(),
    /** Until when each lane counts as wanting requests. */
    wantedUntil: z.object({ refresh: instant, backfill: instant }).readonly(),
  })
  .readonly()

/** One request that may be in flight: the server has counted it, or may yet. */
export type Reservation = z.infer<typeof reservation>

/**
 * One window of the server's counter. Headers count whole seconds and responses travel, so its end is known as an interval
 * [earliest, latest] that every further response of the same window narrows.
 */
export type Window = z.infer<typeof window>

/** How often live requests of one route come. Instants are when a request was due. */
export type PollCadence = z.infer<typeof cadence>

/** What is known about the budget of one rate-limit bucket, as plain JSON so that processes can share it. */
export type BudgetState = z.infer<typeof budget>

/** The state of a bucket that nothing is known about. */
export const emptyBudget: BudgetState = {
  window: null,
  closedAt: null,
  leftAtEnd: null,
  continued: 0,
  resetDistrustedUntil: 0,
  blockedUntil: null,
  probe: null,
  reservations: [],
  lastLimit: null,
  counted: { minute: 0, requests: 0 },
  uncounted: [],
  cadences: {},
  wantedUntil: { refresh: 0, backfill: 0 },
}

/** Reads a stored state. Null for what is none, such as one that another version of this program wrote. */
export function readBudgetState(value: unknown): BudgetState | null {
  const read = budget.safeParse(value)
  return read.success ? read.data : null
}
