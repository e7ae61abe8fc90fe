import type { Lane } from '../http/request.ts'
import type { RateLimitReading, Refusal } from '../http/response-headers.ts'
import { type BudgetState, emptyBudget, type Reservation, type Window } from './budget-state.ts'
import type { Step } from './budget-store.ts'
import {
  assumedWindow,
  distrustReset,
  expireReservations,
  idleAt,
  isBlocked,
  markWaiting,
  observe,
  pollsDue,
  recordPoll,
  uncountedRequests,
} from './budget-window.ts'

/** A reservation expires after this, ms: by then the server has counted its request, or it never arrived. */
export const RESERVATION_LASTS = 90_000
/** How long the first request of a window keeps all others back, ms: its sender may have been killed. */
export const PROBE_LASTS = 10_000

/** When to check again while a request of another process is in flight whose response may bring room, ms. */
const RECHECK_MS = 200
/** When to check again whether another lane leaves more room, ms. */
const RECHECK_LANES_MS = 1000

const MINUTE = 60_000
/** A wait that a 429 asks for is believed again and again only when it is at least so long, ms. */
const SHORT_WAIT_MS = 15_000

/**
 * The requests one bucket still allows, from the headers of its responses: pure functions from state to state, so that any
 * number of processes can share a budget. They hold no timer and read no clock; `now` is ms since the epoch. The rules that
 * prevent overdrawing:
 * - a reservation counts as not yet counted by the server, so `available = lowest remaining - reservations`; reservations of
 *   killed processes expire;
 * - responses come out of order: one of the same window can only lower `remaining`, one of an earlier window is ignored;
 * - when the window has ended, and at the very start, one request goes out alone, because other programs may use the same
 *   address or token: its response has the numbers of the new window. Without headers, the next one follows at the pace of
 *   the limit;
 * - a request without a response counts in its window, whatever later responses say; while no window is known, in the minute
 *   that follows it.
 * Without headers it counts its own requests per minute of the clock against an assumed limit. `reserve`, `complete` and
 * `release` do nothing new when they are repeated for the same reservation: a transaction whose commit was lost on the
 * way may run again.
 */

/** How many requests of this lane may be sent now. */
export function available(state: BudgetState, now: number, lane: Lane): number {
  const current = expireReservations(state, now)
  const { window, probe, reservations } = current
  if (isBlocked(current, now)) return 0
  if (window === null) return probe === null && (pacedUntil(current) ?? now) <= now ? 1 : 0
  const counted = window.remaining - reservations.length - uncountedRequests(current, window)
  const left = Math.min(counted, leftByOwnCount(window))
  return Math.max(0, laneRoom(current, window, left, now, lane))
}

/**
 * How many refreshes the running window still allows, from its headers; 0 while blocked. Null without headers, when
 * `available` is an estimate.
 */
export function remaining(state: BudgetState, now: number): number | null {
  const current = expireReservations(state, now)
  const isEstimate = (current.window === null || current.window.assumed) && !isBlocked(current, now)
  return isEstimate ? null : available(state, now, 'refresh')
}

/** What a reservation is wanted for. */
export interface ReservationRequest {
  /** Different for every request of every process. */
  readonly id: string
  readonly lane: Lane
  /** The live poll that is due, and since when; null for a repeat, and in the other lanes. */
  readonly poll: { readonly route: string; readonly at: number } | null
}

/** Reserves one request of the budget; null when it has none for the lane. */
export function reserve(
  state: BudgetState,
  { id, lane, poll }: ReservationRequest,
  now: number,
): Step<Reservation | null> {
  let current = expireReservations(state, now)
  if (poll !== null) current = { ...current, cadences: recordPoll(current.cadences, poll.route, poll.at) }
  const existing = current.reservations.find((reservation) => reservation.id === id)
  if (existing !== undefined) return { state: current, result: existing }
  const isClosed = available(current, now, lane) === 0
  if (poll !== null) current = { ...current, cadences: markWaiting(current.cadences, poll.route, poll.at, isClosed) }
  if (isClosed) {
    return { state: recordDemand(current, lane, Math.max(now, opensAt(current, now, lane) ?? now)), result: null }
  }
  const reservation: Reservation = { id, lane, sentAt: now, until: now + RESERVATION_LASTS }
  const probe = current.window === null ? { id, until: now + PROBE_LASTS } : current.probe
  const reservations = [...current.reservations, reservation]
  const window = current.window && { ...current.window, sent: current.window.sent + 1 }
  return { state: recordGrant({ ...current, window, probe, reservations }, lane, now), result: reservation }
}

/** What moves with a route from the budget it had while its bucket was unknown. */
type Transfer = Pick<BudgetState, 'reservations' | 'cadences'>

/**
 * Takes out what belongs to another bucket: one request, or everything that a provisional bucket holds. Of one request the
 * probe stays: the others that wait here find the bucket in the store instead.
 */
export function transferOut(
  state: BudgetState,
  reservation: Reservation,
  { all }: { readonly all: boolean },
): Step<Transfer> {
  const others = without(state.reservations, reservation.id)
  if (!all) return { state: { ...state, reservations: others }, result: { reservations: [reservation], cadences: {} } }
  return {
    state: { ...state, reservations: [] },
    result: { reservations: [reservation, ...others], cadences: state.cadences },
  }
}

/** Adds what was recorded before the bucket was known. */
export function transferIn(state: BudgetState, { reservations, cadences }: Transfer, now: number): BudgetState {
  const kept = state.reservations.filter(({ id }) => reservations.every((moved) => moved.id !== id))
  const all = { reservations: [...kept, ...reservations], cadences: { ...cadences, ...state.cadences } }
  return expireReservations({ ...state, ...all }, now)
}

/** Gives back a reservation whose request was not sent. */
export function release(state: BudgetState, id: string, now: number): BudgetState {
  const probe = state.probe?.id === id ? null : state.probe
  return expireReservations({ ...state, probe, reservations: without(state.reservations, id) }, now)
}

/** Ends every reservation at once: the process that made them has ended. */
export function expireAllReservations(state: BudgetState, now: number): BudgetState {
  const reservations = state.reservations.map((reservation) => ({ ...reservation, until: now }))
  return expireReservations({ ...state, reservations, probe: null }, now)
}

/** How a sent request ended, as far as the budget is concerned. */
export interface Completion {
  /** Null when the response had no rate-limit headers, or there was no response. */
  readonly reading: RateLimitReading | null
  /** False without a response, or with an error of a gateway, which has nothing to do with the limits of the API. */
  readonly answered: boolean
  /** When the headers arrived. */
  readonly receivedAt: number
  /** Null without a 429: what follows from it. */
  readonly refusal?: Refusal | null
  /** The limit per minute to assume when no header names one. */
  readonly assumedLimit: number
}

/** Records how the request of a reservation ended. */
export function complete(
  state: BudgetState,
  reservation: Reservation,
  completion: Completion,
  now: number,
): BudgetState {
  const { reading, answered, receivedAt } = completion
  const isOpen = state.reservations.some(({ id }) => id === reservation.id)
  let next = release(afterRefusal(state, reservation, completion, now), reservation.id, now)
  if (isOpen) next = { ...next, counted: countOne(next, receivedAt) }
  const left = reading === null ? null : reading.remaining
  if (reading !== null && left !== null)
    return observe(next, { ...reading, remaining: left }, reservation.sentAt, receivedAt, now)
  next = { ...next, lastLimit: reading?.limit ?? next.lastLimit }
  if (!isOpen) return next
  if (!answered) next = { ...next, uncounted: [...next.uncounted, receivedAt] }
  const { window } = next
  if (window !== null && !answered) return next
  if (window !== null) return { ...next, window: { ...window, remaining: Math.max(0, window.remaining - 1) } }
  if (isBlocked(next, now)) return next
  if (!answered) {
    // A minute of this pace has no more requests than one window; with those about the window's end it is `pacedUntil` that counts.
    const until = now + Math.ceil(MINUTE / Math.max(1, next.lastLimit ?? completion.assumedLimit))
    return { ...next, probe: { id: `after ${reservation.id}`, until } }
  }
  return expireReservations({ ...next, window: assumedWindow(next, reading, receivedAt, completion.assumedLimit) }, now)
}

/**
 * Until when requests without a response of the API, or in flight, fill a minute although no window is known: those about
 * when the last one ended may count in the new one. Null when there are fewer.
 */
function pacedUntil({ uncounted, reservations, lastLimit }: BudgetState): number | null {
  if (lastLimit === null) return null
  const sent = [...uncounted, ...reservations.map(({ sentAt }) => sentAt)].sort((a, b) => a - b)
  const first = sent.at(-Math.max(1, lastLimit))
  return first === undefined ? null : first + MINUTE
}

/** What our own requests leave of a window, whatever its headers say. */
function leftByOwnCount({ limit, sent, assumed }: Window): number {
  return assumed || limit === null ? Number.POSITIVE_INFINITY : limit - sent
}

/**
 * Closes the bucket after a 429. One that contradicts its headers, or that came again after a short wait,
 * says that the headers are wrong: then until the next minute.
 */
function afterRefusal(
  state: BudgetState,
  { sentAt }: Reservation,
  { refusal = null, answered, receivedAt }: Completion,
  now: number,
): BudgetState {
  const { blockedUntil } = state
  const isAfterBlock = blockedUntil !== null && sentAt >= blockedUntil
  if (refusal === null) return isAfterBlock && answered ? { ...state, blockedUntil: null } : state
  const until = receivedAt + refusal.wait
  const wasTooShort = isAfterBlock && refusal.wait < SHORT_WAIT_MS
  if (!wasTooShort && !refusal.contradictsHeaders) return block(state, until, now)
  const nextMinute = (Math.floor(receivedAt / MINUTE) + 1) * MINUTE
  return block(distrustReset(state, now), Math.max(until, nextMinute), now)
}

/** Keeps all requests back until `until`. */
export function block(stored: BudgetState, until: number, now: number): BudgetState {
  if (until <= now) return stored
  const state = expireReservations(stored, now)
  const blockedUntil = Math.max(state.blockedUntil ?? until, until)
  const closedAt = Math.max(state.closedAt ?? blockedUntil, blockedUntil)
  return { ...state, blockedUntil, closedAt, window: null, probe: null }
}

/** True when only another lane keeps this one back, which may change at any time. */
export function waitsForTurn(state: BudgetState, now: number, lane: Lane): boolean {
  return available({ ...state, wantedUntil: emptyBudget.wantedUntil }, now, lane) > 0
}

/**
 * How long until other processes may have made room that the state does not show yet, ms; Infinity when they cannot.
 * @param isOwn whether this process holds a reservation, and so receives its response
 */
export function recheckIn(state: BudgetState, now: number, lane: Lane, isOwn: (id: string) => boolean): number {
  const { probe, window, reservations } = expireReservations(state, now)
  if (probe !== null && !isOwn(probe.id)) return RECHECK_MS
  // A response that came out of order may have counted a request whose reservation still counts: until that one ends.
  const isCounted = window !== null && window.remaining > 0 && reservations.some(({ id }) => !isOwn(id))
  if (lane === 'live' && isCounted) return RECHECK_MS
  return waitsForTurn(state, now, lane) ? RECHECK_LANES_MS : Infinity
}

/** When waiting alone brings room for the lane; null when only a response can. */
export function opensAt(state: BudgetState, now: number, lane: Lane): number | null {
  const current = expireReservations(state, now)
  const { blockedUntil, window, probe, wantedUntil, reservations, cadences } = current
  const moments = [
    blockedUntil,
    pacedUntil(current),
    window && releasedAt(window),
    window?.latest,
    probe?.until,
    wantedUntil.refresh,
    wantedUntil.backfill,
    ...reservations.map(({ until }) => until),
    ...Object.values(cadences).map(idleAt),
  ]
  const later = moments.flatMap((at) => at ?? []).filter((at) => at > now)
  return later.sort((a, b) => a - b).find((at) => available(state, at, lane) > 0) ?? null
}

function countOne({ counted }: BudgetState, receivedAt: number) {
  const minute = Math.floor(receivedAt / MINUTE)
  return { minute, requests: counted.minute === minute ? counted.requests + 1 : 1 }
}

function without(reservations: readonly Reservation[], id: string): Reservation[] {
  return reservations.filter((reservation) => reservation.id !== id)
}

/** How long a lane counts as wanting requests after its last one, ms. */
const LANE_WANTS_MS = 5000
/** In this last part of a window each lane takes what is left, so that nothing is lost; ms. */
const LAST_PART_MS = 10_000
/** What each window keeps for live polls that no cadence predicts, such as the first one of a crontab. */
const UNPREDICTED_POLLS = 2
/** How long before a window can end refreshes and backfills get what no poll has taken; of a short window a tenth; ms. */
const RELEASED_MS = 2000
/** A poll that is predicted so shortly before a window can end may as well come after, ms. */
const NEAR_THE_END_MS = 1000
/** How a window is shared out between them while both want requests: a backfill gets one of five. */
const SHARE = { refresh: 0.8, backfill: 0.2 } as const

/**
 * How many of the `free` requests of a window one lane may take. Live requests take all. The others leave one for every live
 * poll that is due before the window ends, and each leaves the other its share while that wants requests: the less, the
 * longer the share is unused.
 */
function laneRoom(state: BudgetState, window: Window, free: number, now: number, lane: Lane): number {
  if (lane === 'live') return free
  const rest = free - keptForPolls(state, window, now) - keptUnpredicted(state, window, now, lane)
  const other = lane === 'refresh' ? 'backfill' : 'refresh'
  if (now >= state.wantedUntil[other]) return rest
  const total = window.granted.refresh + window.granted.backfill + Math.max(0, rest)
  const unused = Math.max(0, SHARE[other] * total - window.granted[other])
  return rest - Math.round(unused * timeLeft(window, now))
}

/**
 * One for each live poll that is due before the window ends. In its last part, one for all of those that are due about when
 * it ends: the first of them opens the next window, where the others have room, and what was kept for them would be lost.
 */
function keptForPolls({ cadences }: BudgetState, window: Window, now: number): number {
  if (now < releasedAt(window)) return pollsDue(cadences, now, window.latest)
  const before = pollsDue(cadences, now, window.earliest - NEAR_THE_END_MS, { punctual: true })
  const all = pollsDue(cadences, now, window.latest, { punctual: true })
  return before + Math.min(1, all - before)
}

/**
 * A backfill takes all there is in seconds, and a poll of another process needs room whether it was predicted or not.
 * Refreshes leave it too, but not in a bucket without live polls.
 */
function keptUnpredicted({ cadences }: BudgetState, window: Window, now: number, lane: Lane): number {
  if (now >= releasedAt(window)) return 0
  return lane === 'backfill' || Object.keys(cadences).length > 0 ? UNPREDICTED_POLLS : 0
}

/** When a window releases what it keeps for unpredicted live polls; ms since the epoch. */
function releasedAt({ openedAt, earliest }: Window): number {
  return earliest - Math.min(RELEASED_MS, Math.max(0, earliest - openedAt) / 10)
}

/** From 1, when the window opens, to 0, when its last part begins. */
function timeLeft({ openedAt, earliest }: Window, now: number): number {
  const end = earliest - LAST_PART_MS
  return now >= end ? 0 : Math.min(1, (end - now) / (end - openedAt))
}

/** Records that a lane wants requests until some time after `at`. */
function recordDemand(state: BudgetState, lane: Lane, at: number): BudgetState {
  if (lane === 'live') return state
  const until = Math.max(state.wantedUntil[lane], at + LANE_WANTS_MS)
  return { ...state, wantedUntil: { ...state.wantedUntil, [lane]: until } }
}

/** Records that a lane got a request. */
function recordGrant(state: BudgetState, lane: Lane, now: number): BudgetState {
  if (lane === 'live') return state
  const next = recordDemand(state, lane, now)
  const { window } = next
  if (window === null) return next
  return { ...next, window: { ...window, granted: { ...window.granted, [lane]: window.granted[lane] + 1 } } }
}
