import { z } from 'zod'
import type { Lane } from '../http/request.ts'
import type { PollCadence } from './poll-cadence.ts'

/** One request that may be on its way: the server may have counted it, or may yet. */
export interface Reservation {
  readonly id: string
  readonly lane: Lane
  /** When it was taken; ms since the epoch. The request leaves a moment later. */
  readonly sentAt: number
  /** When it lapses, because no request lasts so long: whoever took it is dead. */
  readonly until: number
}

/**
 * One window of the server's counter. Headers count whole seconds and answers travel, so its end is known as an interval
 * [earliest, latest] that every further answer of the same window narrows.
 */
export interface Window {
  readonly limit: number | null
  /** The lowest number any answer of this window named. Reservations are not subtracted yet. */
  readonly remaining: number
  readonly earliest: number
  readonly latest: number
  /** When its first answer came. */
  readonly openedAt: number
  /** Requests that these lanes have been given since. */
  readonly given: { readonly refresh: number; readonly backfill: number }
  /** True when no header spoke: our own count against an assumed limit. */
  readonly assumed: boolean
}

/**
 * What is known about the budget of one rate-limit bucket, as plain JSON so that processes can share it. Instants are ms
 * since the epoch.
 */
export interface BudgetState {
  /** Null before the first answer and after each window. */
  readonly window: Window | null
  /** When the last window ended. */
  readonly closedAt: number | null
  readonly blockedUntil: number | null
  /** The lone request that goes first into a new window, and until when it keeps all others back. */
  readonly probe: { readonly id: string; readonly until: number } | null
  readonly reservations: readonly Reservation[]
  /** The limit that headers named last. */
  readonly lastLimit: number | null
  /** Requests that ended in the running minute of the clock. */
  readonly counted: { readonly minute: number; readonly requests: number }
  /** When requests ended of the last minutes whose answers, if any, told nothing: whether they count, nobody knows. */
  readonly silent: readonly number[]
  /** How often live requests come, per route. */
  readonly pulses: Readonly<Record<string, PollCadence>>
  /** Until when each lane counts as wanting requests. */
  readonly wanted: { readonly refresh: number; readonly backfill: number }
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
      given: z.object({ refresh: count, backfill: count }),
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
  silent: z.array(instant).default([]),
  pulses: z.record(
    z.string(),
    z.object({ lastAt: instant, everyMs: z.number().nullable(), between: z.array(instant), waiting: z.array(instant) }),
  ),
  wanted: z.object({ refresh: instant, backfill: instant }),
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
  silent: [],
  pulses: {},
  wanted: { refresh: 0, backfill: 0 },
}

/** Reads a stored state. Null for what is none, such as one that another version of this program wrote. */
export function readBudgetState(value: unknown): BudgetState | null {
  const read = schema.safeParse(value)
  return read.success ? read.data : null
}
