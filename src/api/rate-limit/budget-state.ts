import { z } from 'zod'
import type { Lane } from '../http/request.ts'
import type { PollCadence } from './poll-cadence.ts'

/** One request that may be in flight: the server has counted it, or may yet. */
export interface Reservation {
  readonly id: string
  readonly lane: Lane
  /** When it was made; ms since the epoch. The request is sent a moment later. */
  readonly sentAt: number
  /** When it expires: no request lasts so long, so its process was killed. */
  readonly until: number
}

/**
 * One window of the server's counter. Headers count whole seconds and responses travel, so its end is known as an interval
 * [earliest, latest] that every further response of the same window narrows.
 */
export interface Window {
  readonly limit: number | null
  /** The lowest number of any response of this window. Reservations are not subtracted yet. */
  readonly remaining: number
  readonly earliest: number
  readonly latest: number
  /** When its first response came. */
  readonly openedAt: number
  /** Requests granted to these lanes since. */
  readonly granted: { readonly refresh: number; readonly backfill: number }
  /** True without headers: our own count against an assumed limit. */
  readonly assumed: boolean
}

/**
 * What is known about the budget of one rate-limit bucket, as plain JSON so that processes can share it. Instants are ms
 * since the epoch.
 */
export interface BudgetState {
  /** Null before the first response and after each window. */
  readonly window: Window | null
  /** When the last window ended. */
  readonly closedAt: number | null
  readonly blockedUntil: number | null
  /** The request that goes alone into a new window, and until when it keeps all others back. */
  readonly probe: { readonly id: string; readonly until: number } | null
  readonly reservations: readonly Reservation[]
  /** The limit of the last headers. */
  readonly lastLimit: number | null
  /** Requests that ended in the running minute of the clock. */
  readonly counted: { readonly minute: number; readonly requests: number }
  /** When requests of the last minutes ended without a response of the API: the server may have counted them or not. */
  readonly uncounted: readonly number[]
  /** How often live requests come, per route. */
  readonly cadences: Readonly<Record<string, PollCadence>>
  /** Until when each lane counts as wanting requests. */
  readonly wantedUntil: { readonly refresh: number; readonly backfill: number }
}

const instant = z.number()
const count = z.number().min(0)
const schema = z.object({
  window: z
    .object({
      limit: count.nullable(),
      remaining: count,
      earliest: instant,
      latest: instant,
      openedAt: instant,
      granted: z.object({ refresh: count, backfill: count }),
      assumed: z.boolean(),
    })
    .nullable(),
  closedAt: instant.nullable(),
  blockedUntil: instant.nullable(),
  probe: z.object({ id: z.string(), until: instant }).nullable(),
  reservations: z.array(
    z.object({ id: z.string(), lane: z.enum(['live', 'refresh', 'backfill']), sentAt: instant, until: instant }),
  ),
  lastLimit: count.nullable(),
  counted: z.object({ minute: z.number(), requests: count }),
  uncounted: z.array(instant).default([]),
  cadences: z.record(
    z.string(),
    z.object({ lastAt: instant, everyMs: z.number().nullable(), between: z.array(instant), waiting: z.array(instant) }),
  ),
  wantedUntil: z.object({ refresh: instant, backfill: instant }),
})

/** The state of a bucket that nothing is known about. */
export const emptyBudget: BudgetState = {
  window: null,
  closedAt: null,
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
  const read = schema.safeParse(value)
  return read.success ? read.data : null
}
