import { LONGEST_WAIT, type RateLimitReading } from '../http/response-headers.ts'
import type { BudgetState, PollCadence, Window } from './budget-state.ts'

const MINUTE = 60_000
const SECOND = 1000
/** How long `RateLimit-Reset` is not believed once it was wrong, ms: then it may have been put right. */
const DISTRUST_LASTS_MS = 3_600_000
/** In so many windows in a row the count must have gone on: others with the same budget may use up a new one. */
const CONTINUED_WINDOWS = 2
/** How far the clocks of two machines that share a budget may be apart, in ms. */
const CLOCK_TOLERANCE_MS = 120_000

/**
 * The state without the instants that only a clock which was ahead can have stored: after the clock is set back they would
 * leave the bucket without room until then.
 * @param now ms since the epoch
 */
function discardFuture(state: BudgetState, now: number): BudgetState {
  const isPossible = (at: number) => at <= now + LONGEST_WAIT + CLOCK_TOLERANCE_MS
  const keep = (at: number | null) => (isPossible(at ?? 0) ? at : null)
  const { window, probe, wantedUntil, resetDistrustedUntil } = state
  return {
    ...state,
    resetDistrustedUntil:
      resetDistrustedUntil <= now + DISTRUST_LASTS_MS + CLOCK_TOLERANCE_MS ? resetDistrustedUntil : 0,
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
  const ended = state.window !== null && now >= state.window.latest ? state.window : null
  let window = ended === null ? state.window : null
  if (window !== null) {
    // The server has counted them; those of an earlier window do not matter any more.
    const since = window.openedAt
    const counted = reservations.filter(({ sentAt, until }) => until <= now && sentAt >= since).length
    window = { ...window, remaining: Math.max(0, window.remaining - counted) }
  }
  return {
    ...state,
    window,
    closedAt: ended === null ? state.closedAt : ended.latest,
    leftAtEnd: ended === null ? state.leftAtEnd : leftOf(ended),
    probe: probe !== null && probe.until <= now ? null : probe,
    reservations: reservations.filter(({ until }) => until > now),
    uncounted: state.uncounted.filter((at) => at > now - 2 * MINUTE),
    cadences: dropIdleCadences(state.cadences, now),
  }
}

/** Whether all requests are kept back after a 429. */
export function isBlocked({ blockedUntil }: BudgetState, now: number): boolean {
  return now < (blockedUntil ?? 0)
}

function leftOf({ assumed, remaining }: Window): number | null {
  return assumed ? null : remaining
}

/** The state with `RateLimit-Reset` not believed for an hour. */
export function distrustReset(state: BudgetState, now: number): BudgetState {
  return { ...state, continued: 0, resetDistrustedUntil: now + DISTRUST_LASTS_MS }
}

/** The reading without a reset that is not believed: as if the header were absent. */
function believed<Reading extends RateLimitReading | null>(state: BudgetState, reading: Reading, now: number): Reading {
  return reading !== null && now < state.resetDistrustedUntil ? { ...reading, resetAt: null, resetSlack: 0 } : reading
}

/**
 * Judges the headers that open a window: where less is left than when the window before ended, that has not ended, and
 * `RateLimit-Reset` is wrong. A new window begins with what its limit allows.
 */
function judgeReset(state: BudgetState, remaining: number, now: number): BudgetState {
  const isSoonAfter = now - (state.closedAt ?? 0) < MINUTE
  const continued = isSoonAfter && remaining < (state.leftAtEnd ?? 0) ? state.continued + 1 : 0
  return continued >= CONTINUED_WINDOWS ? distrustReset(state, now) : { ...state, continued }
}

/** Records the rate-limit headers of a response that says how many requests are left. */
export function observe(
  state: BudgetState,
  given: RateLimitReading & { readonly remaining: number },
  sentAt: number,
  receivedAt: number,
  now: number,
): BudgetState {
  const { limit, remaining } = given
  const expired = { ...expireReservations(state, now), lastLimit: limit ?? state.lastLimit }
  const current = expired.window === null ? judgeReset(expired, remaining, now) : expired
  const reading = believed(current, given, now)
  const { window } = current
  const closedAt = current.closedAt ?? 0
  if (isBlocked(current, now)) return current
  const { earliest, latest } = windowEnd(reading, sentAt, receivedAt)
  const fresh: Window = {
    limit,
    remaining,
    earliest,
    latest,
    openedAt: receivedAt,
    granted: { refresh: 0, backfill: 0 },
    sent: remaining < (limit ?? 0) ? 1 : 0,
    assumed: false,
  }
  if (window === null || window.assumed) {
    const isOfClosedWindow = sentAt < closedAt && earliest <= closedAt
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
  const limit = state.lastLimit ?? assumedLimit
  const left = Math.max(0, limit - state.counted.requests)
  const end = windowEnd(believed(state, reading, receivedAt), receivedAt, receivedAt)
  const granted = { refresh: 0, backfill: 0 }
  return { limit, remaining: left, ...end, openedAt: receivedAt, granted, sent: 0, assumed: true }
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

type PollCadences = Readonly<Record<string, PollCadence>>

const SHORTEST_INTERVAL_MS = 5000
const LONGEST_INTERVAL_MS = 3_600_000

/** The interval assumed for a route that was polled once, ms, until a minute has passed without a poll. */
const FIRST_INTERVAL_MS = 10_000
const FIRST_INTERVAL_LASTS_MS = 60_000

/** Polls are predicted a little early: room kept for one too many costs less than a late poll. */
const EARLY_SHARE = 0.92

/** What comes sooner than this share of the interval does not follow it. */
const EARLIEST_SHARE = 0.75

/** How long room is kept for a waiting poll, ms; then its caller has given up. */
const WAITING_POLL_MS = 30_000

/** After so many intervals without a request, the route is not polled any more. */
const MISSED_INTERVALS = 3

/**
 * Records that a live request was due. The interval follows slowly, so that one odd gap changes little.
 * @param at ms since the epoch
 */
export function recordPoll(cadences: PollCadences, route: string, at: number): PollCadences {
  const known = cadences[route]
  if (known === undefined) return { ...cadences, [route]: { lastAt: at, everyMs: null, between: [], waiting: [] } }
  // The same poll tries again because there was no room.
  if (known.lastAt === at || known.between.includes(at)) return cadences
  const gap = at - known.lastAt
  if (gap < Math.max(SHORTEST_INTERVAL_MS, EARLIEST_SHARE * (known.everyMs ?? 0))) {
    const between = [...known.between.filter((earlier) => earlier > at - 2 * MINUTE), at]
    return { ...cadences, [route]: { ...known, between } }
  }
  const everyMs = Math.min(
    LONGEST_INTERVAL_MS,
    known.everyMs === null ? gap : Math.round((3 * known.everyMs + gap) / 4),
  )
  return { ...cadences, [route]: { ...known, lastAt: at, everyMs } }
}

/** Records whether the request that was due at `at` waits for room. */
export function markWaiting(cadences: PollCadences, route: string, at: number, isWaiting: boolean): PollCadences {
  const known = cadences[route]
  if (known === undefined || known.waiting.includes(at) === isWaiting) return cadences
  const others = known.waiting.filter((earlier) => earlier !== at && earlier > at - WAITING_POLL_MS)
  return { ...cadences, [route]: { ...known, waiting: isWaiting ? [...others, at] : others } }
}

/**
 * How many live requests are due between `now` and `end`: those that wait, those that the interval of each route predicts,
 * where an overdue one counts once, and those that came in between a minute before.
 * @param options.punctual predict them when the interval says, and not a little earlier
 */
export function pollsDue(
  cadences: PollCadences,
  now: number,
  end: number,
  { punctual = false }: { readonly punctual?: boolean } = {},
): number {
  const early = punctual ? 1 : EARLY_SHARE
  return Object.values(cadences).reduce((due, cadence) => {
    const waiting = cadence.waiting.filter((at) => now < at + WAITING_POLL_MS).length
    return due + waiting + dueByInterval(cadence, now, end, early) + dueInBetween(cadence, now, end)
  }, 0)
}

function dueByInterval({ lastAt, everyMs }: PollCadence, now: number, end: number, early: number): number {
  const every = early * (everyMs ?? FIRST_INTERVAL_MS)
  if (everyMs === null && now >= lastAt + FIRST_INTERVAL_LASTS_MS) return 0
  const next = Math.max(now, lastAt + every)
  return next < end ? 1 + Math.floor((end - next) / every) : 0
}

function dueInBetween({ lastAt, between }: PollCadence, now: number, end: number): number {
  const hasCome = (due: number) => [lastAt, ...between].some((at) => Math.abs(at - due) < SHORTEST_INTERVAL_MS)
  return between
    .map((at) => at + MINUTE)
    .filter((due) => due < end && now < due + SHORTEST_INTERVAL_MS && !hasCome(due)).length
}

/** Without the routes that are not polled any more. */
function dropIdleCadences(cadences: PollCadences, now: number): PollCadences {
  return Object.fromEntries(Object.entries(cadences).filter(([, cadence]) => now < idleAt(cadence)))
}

/** When a route is forgotten if no request comes; ms since the epoch. */
export function idleAt({ lastAt, everyMs }: PollCadence): number {
  return lastAt + (everyMs ?? LONGEST_INTERVAL_MS) * MISSED_INTERVALS + SHORTEST_INTERVAL_MS
}
