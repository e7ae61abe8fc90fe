import type { Lane } from '../http/request.ts'
import type { RateLimitReading } from '../http/response-headers.ts'
import type { BudgetState, Reservation } from './budget-state.ts'
import { assume, expireReservations, observe, uncountedRequests } from './budget-window.ts'
import { give, releasedAt, roomFor, want } from './lanes.ts'
import { hold, idleAt, recordPoll } from './poll-cadence.ts'

/** A reservation lapses after this, in ms: by then the server has counted its request, or it never arrived. */
export const RESERVATION_LASTS = 90_000
/** For so long the first request of a window keeps all others back, in ms: its sender may have been killed. */
export const PROBE_LASTS = 10_000

/** How soon to look again while another process's request is under way whose response may bring room, ms. */
const LOOK_AGAIN = 200
/** How soon to look again whether another lane leaves more room, ms. */
const LOOK_FOR_TURN = 1000

const MINUTE = 60_000

/**
 * The requests one bucket still allows, as far as its answers tell: pure functions from state to state, so that any number
 * of processes can share a budget. They hold no timer and read no clock; `now` is ms since the epoch. The rules that keep it
 * from overdrawing:
 * - every reservation counts as not yet counted by the server, so `available = lowest remaining - reservations`; as the
 *   answers come in, nothing of this is lost, and what a killed process held lapses;
 * - answers come out of order: one of the same window can only lower `remaining`, one of an earlier window says nothing;
 * - when the window has ended, and at the very start, one request goes out alone, because somebody else may be using
 *   the same address or token: its answer tells the numbers of the new window. When it tells nothing, the next one follows
 *   at the pace of the limit;
 * - what ended in silence counts in its window, whatever later answers say.
 * Without headers it counts its own requests per minute of the clock against an assumed limit. `reserve`, `settle` and
 * `release` do nothing new when they are repeated for the same reservation: a transaction whose commit was lost on the
 * way may run again.
 */

/** How many requests of this lane may leave now. */
export function available(state: BudgetState, now: number, lane: Lane): number {
  const current = expireReservations(state, now)
  const { window, blockedUntil, probe, reservations } = current
  if (blockedUntil !== null && now < blockedUntil) return 0
  if (window === null) return probe === null ? 1 : 0
  const left = window.remaining - reservations.length - uncountedRequests(current, window)
  return Math.max(0, roomFor(current, window, left, now, lane))
}

/**
 * How many refreshes the running window still allows, as its headers told; 0 while blocked. Null when they have not: then
 * `available` is a guess.
 */
export function remaining(state: BudgetState, now: number): number | null {
  const { window, blockedUntil } = expireReservations(state, now)
  const isBlocked = blockedUntil !== null && now < blockedUntil
  return (window === null || window.assumed) && !isBlocked ? null : available(state, now, 'refresh')
}

/** Who asks for a request. */
export interface Asking {
  readonly id: string
  readonly lane: Lane
  /** The live poll that is wanted, and since when; null for a repeat, and in the other lanes. */
  readonly poll: { readonly route: string; readonly at: number } | null
}

/** Takes one request from the budget when there is one for the lane; says null when there is none. */
export function reserve(
  state: BudgetState,
  { id, lane, poll }: Asking,
  now: number,
): { state: BudgetState; result: Reservation | null } {
  let current = expireReservations(state, now)
  if (poll !== null) current = { ...current, pulses: recordPoll(current.pulses, poll.route, poll.at) }
  const known = current.reservations.find((one) => one.id === id)
  if (known !== undefined) return { state: current, result: known }
  const isShut = available(current, now, lane) === 0
  if (poll !== null) current = { ...current, pulses: hold(current.pulses, poll.route, poll.at, isShut) }
  if (isShut) {
    return { state: want(current, lane, Math.max(now, opensAt(current, now, lane) ?? now)), result: null }
  }
  const taken: Reservation = { id, lane, sentAt: now, until: now + RESERVATION_LASTS }
  const probe = current.window === null ? { id, until: now + PROBE_LASTS } : current.probe
  const reservations = [...current.reservations, taken]
  return { state: give({ ...current, probe, reservations }, lane, now), result: taken }
}

/** What a route brings along from the budget it had while its bucket was unknown. */
export type Belongings = Pick<BudgetState, 'reservations' | 'pulses'>

/**
 * Takes out what belongs to another bucket: one request, or everything that a provisional bucket holds. Of one request the
 * probe stays: the others that wait here look for the bucket instead.
 */
export function surrender(
  state: BudgetState,
  ticket: Reservation,
  { all }: { readonly all: boolean },
): { state: BudgetState; result: Belongings } {
  const others = state.reservations.filter((one) => one.id !== ticket.id)
  if (!all) return { state: { ...state, reservations: others }, result: { reservations: [ticket], pulses: {} } }
  return { state: { ...state, reservations: [] }, result: { reservations: [ticket, ...others], pulses: state.pulses } }
}

/** Takes over what was noted elsewhere, before it was known that it belongs to this bucket. */
export function adopt(state: BudgetState, { reservations, pulses }: Belongings, now: number): BudgetState {
  const byId = new Map([...state.reservations, ...reservations].map((one) => [one.id, one]))
  return expireReservations({ ...state, reservations: [...byId.values()], pulses: { ...pulses, ...state.pulses } }, now)
}

/** Gives back a reservation whose request never left. */
export function release(state: BudgetState, id: string, now: number): BudgetState {
  const probe = state.probe?.id === id ? null : state.probe
  return expireReservations({ ...state, probe, reservations: state.reservations.filter((one) => one.id !== id) }, now)
}

/** Ends every reservation at once: whoever made them is known to be dead. */
export function expireAllReservations(state: BudgetState, now: number): BudgetState {
  const reservations = state.reservations.map((one) => ({ ...one, until: now }))
  return expireReservations({ ...state, reservations, probe: null }, now)
}

/** How a sent request ended, as far as the budget is concerned. */
export interface Settlement {
  /** Null when the answer had no rate-limit headers, or there was no answer. */
  readonly reading: RateLimitReading | null
  /** False when nothing came back, or only an error from in front of the API that says nothing about its limits. */
  readonly answered: boolean
  /** When the headers arrived. */
  readonly receivedAt: number
  /** The limit per minute to assume when no header names one. */
  readonly assumedLimit: number
}

/** The request came back, or failed. */
export function settle(state: BudgetState, ticket: Reservation, settlement: Settlement, now: number): BudgetState {
  const { reading, answered, receivedAt } = settlement
  const isOpen = state.reservations.some((one) => one.id === ticket.id)
  let next = release(state, ticket.id, now)
  if (isOpen) next = { ...next, counted: countOne(next, receivedAt) }
  if (reading !== null && reading.remaining !== null) return observe(next, reading, ticket.sentAt, receivedAt, now)
  next = { ...next, lastLimit: reading?.limit ?? next.lastLimit }
  if (!isOpen) return next
  if (!answered) next = { ...next, silent: [...next.silent, receivedAt] }
  const { window, blockedUntil } = next
  if (window !== null && !answered) return next
  if (window !== null) return { ...next, window: { ...window, remaining: Math.max(0, window.remaining - 1) } }
  if (blockedUntil !== null && now < blockedUntil) return next
  if (!answered) {
    // At this pace as many as leave in a minute are no more than one window's.
    const until = now + Math.ceil(MINUTE / Math.max(1, next.lastLimit ?? settlement.assumedLimit))
    return { ...next, probe: { id: `after ${ticket.id}`, until } }
  }
  return expireReservations({ ...next, window: assume(next, reading, receivedAt, settlement.assumedLimit) }, now)
}

/** Nothing may leave before `until`. */
export function block(stored: BudgetState, until: number, now: number): BudgetState {
  if (until <= now) return stored
  const state = expireReservations(stored, now)
  const blockedUntil = Math.max(state.blockedUntil ?? until, until)
  const closedAt = Math.max(state.closedAt ?? blockedUntil, blockedUntil)
  return { ...state, blockedUntil, closedAt, window: null, probe: null }
}

/** True when only another lane keeps this one back: it may get its turn at any time. */
export function waitsForTurn(state: BudgetState, now: number, lane: Lane): boolean {
  return available({ ...state, wanted: { refresh: now, backfill: now } }, now, lane) > 0
}

/**
 * How long until other processes may have made room that the state does not show yet, ms; Infinity when they cannot.
 * @param isOwn whether this process sent the request of a reservation, and so learns of its response by itself
 */
export function lookAgainIn(state: BudgetState, now: number, lane: Lane, isOwn: (id: string) => boolean): number {
  const { probe, window, reservations } = expireReservations(state, now)
  if (probe !== null && !isOwn(probe.id)) return LOOK_AGAIN
  // A response that came out of order may have counted a request whose reservation still counts: until that one ends.
  const isCounted = window !== null && window.remaining > 0 && reservations.some(({ id }) => !isOwn(id))
  if (lane === 'live' && isCounted) return LOOK_AGAIN
  return waitsForTurn(state, now, lane) ? LOOK_FOR_TURN : Infinity
}

/** When waiting alone brings room for the lane; null when only an answer can. */
export function opensAt(state: BudgetState, now: number, lane: Lane): number | null {
  const { blockedUntil, window, probe, wanted, reservations, pulses } = expireReservations(state, now)
  const lapses = reservations.reduce((first, one) => Math.min(first, one.until), Number.POSITIVE_INFINITY)
  const moments = [
    blockedUntil,
    window === null ? null : releasedAt(window),
    window?.latest,
    probe?.until,
    wanted.refresh,
    wanted.backfill,
    lapses,
    ...Object.values(pulses).map(idleAt),
  ].filter((at) => at !== null && at !== undefined && at > now && Number.isFinite(at))
  const inOrder = moments.map(Number).sort((a, b) => a - b)
  return inOrder.find((at) => available(state, at, lane) > 0) ?? null
}

function countOne({ counted }: BudgetState, receivedAt: number) {
  const minute = Math.floor(receivedAt / MINUTE)
  return { minute, requests: counted.minute === minute ? counted.requests + 1 : 1 }
}
