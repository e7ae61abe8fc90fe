import type { RateLimitReading } from './rate-limit.ts'

/** Proof that a request was counted against the budget; give it back with `settle`. */
export interface Ticket {
  /** ms since the epoch */
  readonly sentAt: number
}

/** How a sent request ended, as far as the budget is concerned. */
export interface Settlement {
  /** Null when the answer had no rate-limit headers, or there was no answer. */
  readonly reading: RateLimitReading | null
  /** False when nothing came back, or only an error from in front of the API that says nothing about its limits. */
  readonly answered: boolean
  /** When the headers arrived; ms since the epoch. */
  readonly receivedAt: number
}

/** The requests one bucket still allows, as far as its answers tell. Holds no timer and reads no clock. */
export interface Budget {
  /** How many requests may leave now. */
  available(now: number): number
  /**
   * How many requests the running window still allows, as its headers told; 0 while blocked. Null when they have not: then
   * `available` is a guess.
   */
  remaining(now: number): number | null
  /** Counts one request as sent. Only after `available` said there is room. */
  take(now: number): Ticket
  /** The request came back, or failed. */
  settle(ticket: Ticket, settlement: Settlement, now: number): void
  /** An answer about this bucket to a request that was not taken from this budget. */
  observe(reading: RateLimitReading, sentAt: number, receivedAt: number, now: number): void
  /** Nothing may leave before `until`; ms since the epoch. */
  block(until: number, now: number): void
  /** When waiting alone brings new room; null when only the answer of a request in flight can. */
  opensAt(now: number): number | null
}

/**
 * One window of the server's counter. Headers count whole seconds and answers travel, so its end is known as an interval
 * [earliest, latest] that every further answer of the same window narrows.
 */
interface Window {
  readonly limit: number | null
  /** The lowest number any answer of this window named. Requests in flight are not subtracted yet. */
  readonly remaining: number
  readonly earliest: number
  readonly latest: number
  /** True when no header spoke: our own count against an assumed limit. */
  readonly assumed: boolean
}

const MINUTE = 60_000
const SECOND = 1000

/**
 * A budget that learns from headers. The rules that keep it from overdrawing:
 * - every request in flight counts as not yet counted by the server, so `available = lowest remaining - in flight`;
 *   as the answers come in, nothing of this is lost;
 * - answers come out of order: one of the same window can only lower `remaining`, one of an earlier window says nothing;
 * - when the window has ended, and at the very start, one request goes out alone, because somebody else may be using
 *   the same address or token: its answer tells the numbers of the new window.
 * Without headers it counts its own requests per minute of the clock against `assumedLimit`.
 */
export function createBudget(assumedLimit: number): Budget {
  let window: Window | null = null
  let closedAt = Number.NEGATIVE_INFINITY
  let blockedUntil = Number.NEGATIVE_INFINITY
  let probe: Ticket | null = null
  let inFlight = 0
  let lastLimit: number | null = null
  let counted = { minute: 0, requests: 0 }

  function roll(now: number): void {
    if (window === null || now < window.latest) return
    closedAt = window.latest
    window = null
  }

  function available(now: number): number {
    roll(now)
    if (now < blockedUntil) return 0
    if (window === null) return probe === null ? 1 : 0
    return Math.max(0, window.remaining - inFlight)
  }

  function remaining(now: number): number | null {
    roll(now)
    return (window === null || window.assumed) && now >= blockedUntil ? null : available(now)
  }

  function take(now: number): Ticket {
    roll(now)
    const ticket = { sentAt: now }
    inFlight++
    if (window === null) probe = ticket
    return ticket
  }

  function settle(ticket: Ticket, { reading, answered, receivedAt }: Settlement, now: number): void {
    inFlight--
    const minute = Math.floor(receivedAt / MINUTE)
    counted = { minute, requests: counted.minute === minute ? counted.requests + 1 : 1 }
    if (ticket === probe) probe = null
    roll(now)
    if (reading !== null && reading.remaining !== null) observe(reading, ticket.sentAt, receivedAt, now)
    else if (window !== null) window = { ...window, remaining: Math.max(0, window.remaining - 1) }
    else if (answered && now >= blockedUntil) assume(reading, receivedAt)
  }

  function assume(reading: RateLimitReading | null, receivedAt: number): void {
    const limit = reading?.limit ?? lastLimit ?? assumedLimit
    const end = windowEnd(reading, receivedAt, receivedAt)
    window = { limit, remaining: Math.max(0, limit - counted.requests), ...end, assumed: true }
  }

  function observe(reading: RateLimitReading, sentAt: number, receivedAt: number, now: number): void {
    roll(now)
    lastLimit = reading.limit ?? lastLimit
    if (reading.remaining === null || now < blockedUntil) return
    const { limit, remaining } = reading
    const { earliest, latest } = windowEnd(reading, sentAt, receivedAt)
    const fresh = { limit, remaining, earliest, latest, assumed: false }
    if (window === null || window.assumed) {
      const ofClosedWindow = sentAt < closedAt && earliest <= closedAt
      if (!ofClosedWindow) window = fresh
    } else if (earliest > window.latest) {
      closedAt = window.latest
      window = fresh
    } else if (latest >= window.earliest) {
      window = {
        limit: limit ?? window.limit,
        remaining: Math.min(window.remaining, remaining),
        earliest: Math.max(window.earliest, earliest),
        latest: Math.min(window.latest, latest),
        assumed: false,
      }
    }
    roll(now)
  }

  function block(until: number, now: number): void {
    if (until <= now) return
    blockedUntil = Math.max(blockedUntil, until)
    closedAt = Math.max(closedAt, blockedUntil)
    window = null
    probe = null
  }

  function opensAt(now: number): number | null {
    roll(now)
    if (now < blockedUntil) return blockedUntil
    return window === null ? null : window.latest
  }

  return { available, remaining, take, settle, observe, block, opensAt }
}

/** The interval in which the window ends: the header was written between `sentAt` and `receivedAt`, give or take a second. */
function windowEnd(reading: RateLimitReading | null, sentAt: number, receivedAt: number) {
  if (reading === null || reading.resetAt === null) {
    const end = (Math.floor(receivedAt / MINUTE) + 1) * MINUTE
    return { earliest: end - SECOND, latest: end + SECOND }
  }
  const { resetAt, resetSlack } = reading
  return { earliest: resetAt - (receivedAt - sentAt) - SECOND, latest: resetAt + resetSlack }
}
