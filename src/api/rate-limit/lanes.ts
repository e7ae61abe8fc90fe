import type { Lane } from '../http/request.ts'
import type { BudgetState, Window } from './budget-state.ts'
import { pollsDue } from './poll-cadence.ts'

/** How long a lane counts as wanting requests after its last one, ms. */
const WANTS_FOR = 5000
/** In this last part of a window each lane takes what is left, so that nothing is lost; ms. */
const LAST_PART = 10_000
/** What each window keeps for live polls that no cadence predicts, such as the first one of a crontab. */
const UNPREDICTED = 2
/** How long before a window can end refreshes and backfills get what no poll has taken; of a short window a tenth; ms. */
const RELEASED_FOR = 2000
/** A poll that is predicted so shortly before a window can end may as well come after, ms. */
const NEAR_THE_END = 1000
/** How a window is shared out between them while both want requests: a backfill gets one of five. */
const SHARE = { refresh: 0.8, backfill: 0.2 } as const

/**
 * How many of the `free` requests of a window one lane may take. Live requests take all. The others leave one for every live
 * poll that is due before the window ends, and each leaves the other its share while that wants requests: the less, the
 * longer the share is unused.
 */
export function laneRoom(state: BudgetState, window: Window, free: number, now: number, lane: Lane): number {
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
  const before = pollsDue(cadences, now, window.earliest - NEAR_THE_END, { punctual: true })
  const all = pollsDue(cadences, now, window.latest, { punctual: true })
  return before + Math.min(1, all - before)
}

/**
 * A backfill takes all there is in seconds, and a poll of another process needs room whether it was predicted or not.
 * Refreshes leave it too, but not in a bucket without live polls.
 */
function keptUnpredicted({ cadences }: BudgetState, window: Window, now: number, lane: Lane): number {
  if (now >= releasedAt(window)) return 0
  return lane === 'backfill' || Object.keys(cadences).length > 0 ? UNPREDICTED : 0
}

/** When a window releases what it keeps for unpredicted live polls; ms since the epoch. */
export function releasedAt({ openedAt, earliest }: Window): number {
  return earliest - Math.min(RELEASED_FOR, Math.max(0, earliest - openedAt) / 10)
}

/** From 1, when the window opens, to 0, when its last part begins. */
function timeLeft({ openedAt, earliest }: Window, now: number): number {
  const end = earliest - LAST_PART
  return now >= end ? 0 : Math.min(1, (end - now) / (end - openedAt))
}

/** Records that a lane wants requests until some time after `at`. */
export function recordDemand(state: BudgetState, lane: Lane, at: number): BudgetState {
  if (lane === 'live') return state
  const until = Math.max(state.wantedUntil[lane], at + WANTS_FOR)
  return { ...state, wantedUntil: { ...state.wantedUntil, [lane]: until } }
}

/** Records that a lane got a request. */
export function recordGrant(state: BudgetState, lane: Lane, now: number): BudgetState {
  if (lane === 'live') return state
  const next = recordDemand(state, lane, now)
  const { window } = next
  if (window === null) return next
  return { ...next, window: { ...window, granted: { ...window.granted, [lane]: window.granted[lane] + 1 } } }
}
