import type { Lane } from '../http/request.ts'
import { available, opensAt } from './budget.ts'
import type { BudgetState } from './budget-state.ts'

/** The highest priority first. */
export const LANES = ['live', 'refresh', 'backfill'] as const

/** The requests of one lane of a bucket. */
export interface LaneLoad {
  readonly waiting: number
  /** Those that ask the store for a reservation and have no response yet. */
  readonly asking: number
  /** When to ask although the known state leaves no room, because other processes may have made some; ms since the epoch. */
  readonly recheckAt: number
}

/** What a lane may do now. */
export interface Admission {
  /** How many of its requests may ask for a reservation at a time. */
  readonly limit: number
  /** True when the known state leaves no room, and one request finds out whether that is still so. */
  readonly isRecheck: boolean
}

/** What the lanes of a bucket may do, and when to decide again if nothing happens (ms since the epoch, or infinity). */
export interface Admissions {
  readonly lanes: Readonly<Record<Lane, Admission>>
  readonly decideAgainAt: number
}

const CLOSED: Admission = { limit: 0, isRecheck: false }

/**
 * Decides which lanes of a bucket may ask for reservations: as many as the known state has room for, the higher lanes first.
 * @param known the newest state this process has seen; null before the first one, when one request finds out
 * @param now ms since the epoch
 */
export function admit(known: BudgetState | null, loads: Readonly<Record<Lane, LaneLoad>>, now: number): Admissions {
  const lanes: Record<Lane, Admission> = { live: CLOSED, refresh: CLOSED, backfill: CLOSED }
  let ahead = 0
  let decideAgainAt = Infinity
  for (const lane of LANES) {
    const { waiting, asking, recheckAt } = loads[lane]
    const admission = admitLane(known, lane, loads[lane], ahead, now)
    const admitted = Math.min(waiting, Math.max(0, admission.limit - asking))
    lanes[lane] = admission
    ahead += asking + admitted
    // An alarm without requests would keep the process alive.
    if (waiting === admitted || asking + admitted > 0 || known === null) continue
    decideAgainAt = Math.min(decideAgainAt, recheckAt, opensAt(known, now, lane) ?? Infinity)
  }
  return { lanes, decideAgainAt }
}

function admitLane(known: BudgetState | null, lane: Lane, load: LaneLoad, ahead: number, now: number): Admission {
  const { waiting, asking, recheckAt } = load
  const room = roomFor(known, lane, now) - ahead
  const limit = Math.min(asking + waiting, Math.max(0, room))
  if (limit > asking || asking > 0 || waiting === 0) return { limit, isRecheck: false }
  // A request that asks in vain makes the other lane leave some of the window to this one.
  const isUnannounced = lane !== 'live' && known !== null && known.wanted[lane] <= now
  return recheckAt <= now || isUnannounced ? { limit: 1, isRecheck: true } : CLOSED
}

/** How many requests of the lane the known state has room for. Before the first state, one. */
export function roomFor(known: BudgetState | null, lane: Lane, now: number): number {
  return known === null ? 1 : available(known, now, lane)
}
