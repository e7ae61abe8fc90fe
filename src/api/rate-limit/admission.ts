import type { Lane } from '../http/request.ts'
import { available, opensAt } from './budget.ts'
import type { BudgetState } from './budget-state.ts'

/** The highest priority first. */
export const LANES = ['live', 'refresh', 'backfill'] as const

/** The requests of one lane of a bucket. */
export interface LaneLoad {
  readonly waiting: number
  /** Those that are reserving now, with the outcome open. */
  readonly reserving: number
  /** When to try although the known state leaves no room, because other processes may have made some; ms since the epoch. */
  readonly recheckAt: number
}

/** What a lane may do now. */
interface Admission {
  /** How many of its requests may reserve at a time. */
  readonly limit: number
  /** True when the known state leaves no room, and one request tries all the same. */
  readonly isRecheck: boolean
}

/** What the lanes of a bucket may do, and when to decide again if nothing happens (ms since the epoch, or infinity). */
export interface Admissions {
  readonly lanes: Readonly<Record<Lane, Admission>>
  readonly decideAgainAt: number
}

const CLOSED: Admission = { limit: 0, isRecheck: false }

/**
 * Decides which lanes of a bucket may reserve: as many as the known state has room for, the higher lanes first.
 * @param known the newest state this process has seen; null before the first one, when one request tries
 * @param now ms since the epoch
 */
export function admit(known: BudgetState | null, loads: Readonly<Record<Lane, LaneLoad>>, now: number): Admissions {
  const lanes: Record<Lane, Admission> = { live: CLOSED, refresh: CLOSED, backfill: CLOSED }
  let ahead = 0
  let decideAgainAt = Infinity
  for (const lane of LANES) {
    const { waiting, reserving, recheckAt } = loads[lane]
    const admission = admitLane(known, lane, loads[lane], ahead, now)
    const admitted = Math.min(waiting, Math.max(0, admission.limit - reserving))
    lanes[lane] = admission
    ahead += reserving + admitted
    // An alarm without requests would keep the process alive.
    if (waiting === admitted || reserving + admitted > 0 || known === null) continue
    decideAgainAt = Math.min(decideAgainAt, recheckAt, opensAt(known, now, lane) ?? Infinity)
  }
  return { lanes, decideAgainAt }
}

function admitLane(known: BudgetState | null, lane: Lane, load: LaneLoad, ahead: number, now: number): Admission {
  const { waiting, reserving, recheckAt } = load
  const room = roomFor(known, lane, now) - ahead
  const limit = Math.min(reserving + waiting, Math.max(0, room))
  if (limit > reserving || reserving > 0 || waiting === 0) return { limit, isRecheck: false }
  // A request that finds no room makes the other lane leave some of the window to this one.
  const isUnrecorded = lane !== 'live' && known !== null && known.wantedUntil[lane] <= now
  return recheckAt <= now || isUnrecorded ? { limit: 1, isRecheck: true } : CLOSED
}

/** How many requests of the lane the known state has room for. Before the first state, one. */
export function roomFor(known: BudgetState | null, lane: Lane, now: number): number {
  return known === null ? 1 : available(known, now, lane)
}
