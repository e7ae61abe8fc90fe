import { LONGEST_WAIT, type RateLimitReading } from '../http/response-headers.ts'
import type { BudgetState, Window } from './budget-state.ts'
import { dropIdleCadences } from './poll-cadence.ts'

const MINUTE = 60_000
const SECOND = 1000
/** How far the clocks of two machines that share a budget may be apart, in ms. */
const CLOCK_TOLERANCE = 120_000

/**
 * The state without the instants that only a clock which was ahead can have stored: after the clock is set back they would
 * leave the bucket without room until then.
 * @param now ms since the epoch
 */
function discardFuture(state: BudgetState, now: number): BudgetState {
  const isPossible = (at: number) => at <= now + LONGEST_WAIT + CLOCK_TOLERANCE
  const keep = (at: number | null) => (at !== null && isPossible(at) ? at : null)
  const { window, probe, wantedUntil } = state
  return {
    ...state,
    window: window !== null && isPossible(window.latest) ? window : null,
    closedAt: keep(state.closedAt),
    blockedUntil: keep(state.blockedUntil),
    probe: probe !== null && isPossible(probe.until) ? probe : null,
    reservations: state.reservations.filter(({ until }) => isPossible(until)),
    uncounted: state.uncounted.filter(isPossible),
    cadences: Object.fromEntries(Object.entries(state.cadences).filter(([, { lastAt }]) => isPossible(lastAt))),
    wantedUntil: { refresh: keep(wantedUntil.refresh) ?? 0, backfill: keep(wantedUntil.backfill) ?? 0 },
  }
}

/** The state without what has ended at `now`: window, probe, reservations of killed processes. */
export function expireReservations(stored: BudgetState, now: number): BudgetState {
  const state = discardFuture(stored, now)
  const { probe, reservations } = state
  const ended = state.window !== null && now >= state.window.latest
  const closedAt = ended && state.window !== null ? state.window.latest : state.closedAt
  const expired = reservations.filter(({ until }) => until <= now)
  let window = ended ? null : state.window
  if (window !== null && expired.length > 0) {
    // The server has counted them; those of an earlier window do not matter any more.
    const since = window.openedAt
    const counted = expired.filter(({ sentAt }) => sentAt >= since).length
    window = { ...window, remaining: Math.max(0, window.remaining - counted) }
  }
  return {
    ...state,
    window,
    closedAt,
    probe: probe !== null && probe.until <= now ? null : probe,
    reservations: reservations.filter(({ until }) => until > now),
    uncounted: state.uncounted.filter((at) => at > now - 2 * MINUTE),
    cadences: dropIdleCadences(state.cadences, now),
  }
}

/** Records the rate-limit headers of a response. */
export function observe(
  state: BudgetState,
  reading: RateLimitReading,
  sentAt: number,
  receivedAt: number,
  now: number,
): BudgetState {
  const { limit, remaining } = reading
  const current = { ...expireReservations(state, now), lastLimit: limit ?? state.lastLimit }
  const { window, closedAt, blockedUntil } = current
  if (remaining === null || (blockedUntil !== null && now < blockedUntil)) return current
  const { earliest, latest } = windowEnd(reading, sentAt, receivedAt)
  const fresh: Window = {
    limit,
    remaining,
    earliest,
    latest,
    openedAt: receivedAt,
    granted: { refresh: 0, backfill: 0 },
    assumed: false,
  }
  if (window === null || window.assumed) {
    const isOfClosedWindow = closedAt !== null && sentAt < closedAt && earliest <= closedAt
    return isOfClosedWindow ? current : expireReservations({ ...current, window: fresh }, now)
  }
  if (earliest > window.latest) {
    // No window begins before the last one has ended: a header that says so is wrong, and its request counts in this one.
    const isNext = receivedAt >= window.earliest
    const same = { ...window, remaining: Math.min(window.remaining, remaining) }
    const next = isNext ? { ...current, closedAt: window.latest, window: fresh } : { ...current, window: same }
    return expireReservations(next, now)
  }
  if (latest < window.earliest) {
    if (sentAt < window.openedAt) return current
    // A response to a request that left after this window opened is of no earlier one: the window's end is wrong.
    const corrected = { ...window, remaining: Math.min(window.remaining, remaining), earliest, latest }
    return expireReservations({ ...current, window: corrected }, now)
  }
  const narrowed: Window = {
    ...window,
    limit: limit ?? window.limit,
    remaining: Math.min(window.remaining, remaining),
    earliest: Math.max(window.earliest, earliest),
    latest: Math.min(window.latest, latest),
  }
  return expireReservations({ ...current, window: narrowed }, now)
}

/**
 * The window of a response without numbers: our own count against a limit.
 * @param assumedLimit requests a minute, when no header ever named a limit
 */
export function assumedWindow(
  state: BudgetState,
  reading: RateLimitReading | null,
  receivedAt: number,
  assumedLimit: number,
): Window {
  const limit = reading?.limit ?? state.lastLimit ?? assumedLimit
  const left = Math.max(0, limit - state.counted.requests)
  const end = windowEnd(reading, receivedAt, receivedAt)
  return { limit, remaining: left, ...end, openedAt: receivedAt, granted: { refresh: 0, backfill: 0 }, assumed: true }
}

/**
 * Requests of a window without a response of the API. Its later responses may not count them, as an error of a gateway is
 * none of its requests. But they were sent, and they count as sent.
 */
export function uncountedRequests({ uncounted }: BudgetState, { earliest, openedAt, assumed }: Window): number {
  // Our own count, from which an assumed window began, has those before.
  const since = assumed ? openedAt + 1 : earliest - MINUTE
  return uncounted.filter((at) => at >= since).length
}

/** The interval in which the window ends: the header was written between `sentAt` and `receivedAt`, give or take a second. */
function windowEnd(reading: RateLimitReading | null, sentAt: number, receivedAt: number) {
  if (reading === null || reading.resetAt === null) {
    // Which of two minutes counted a request that was on its way while one ended is unknown.
    const endAfter = (at: number) => (Math.floor(at / MINUTE) + 1) * MINUTE
    return { earliest: endAfter(sentAt) - SECOND, latest: endAfter(receivedAt) + SECOND }
  }
  const { resetAt, resetSlack } = reading
  return { earliest: resetAt - (receivedAt - sentAt) - SECOND, latest: resetAt + resetSlack }
}
