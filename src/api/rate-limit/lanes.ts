import type { Lane } from '../http/request.ts'
import type { BudgetState, Window } from './budget-state.ts'
import { pollsDue } from './poll-cadence.ts'

/** For so long after it asked, a lane counts as wanting requests, in ms. */
const WANTS_FOR = 5000
/** Before a window ends, refreshes and backfills have shared it out; then each takes what is left, so that nothing is lost; ms. */
const LAST_PART = 10_000
/** What each window keeps for live polls that no cadence announces, such as the first one of a crontab. */
const UNANNOUNCED = 2
/** That long before a window can end, refreshes and backfills get what no poll has taken; of a short window a tenth; ms. */
const RELEASED_FOR = 2000
/** A poll that is expected so shortly before a window can end may as well come after, ms. */
const ABOUT_THE_END = 1000
/** How a window is shared out between them while both want requests: a backfill gets one of five. */
const SHARE = { refresh: 0.8, backfill: 0.2 } as const

/**
 * What of the `free` requests of a window one lane may take. Live requests take all. The others leave one for every live
 * poll that is due before the window ends, and each leaves the other its share while that wants requests; less and less
 * of it as time goes by without its being used.
 */
export function roomFor(state: BudgetState, window: Window, free: number, now: number, lane: Lane): number {
  if (lane === 'live') return free
  const rest = free - keptForPolls(state, window, now) - keptUnannounced(state, window, now, lane)
  const other = lane === 'refresh' ? 'backfill' : 'refresh'
  if (now >= state.wanted[other]) return rest
  const total = window.given.refresh + window.given.backfill + Math.max(0, rest)
  const unused = Math.max(0, SHARE[other] * total - window.given[other])
  return rest - Math.round(unused * timeLeft(window, now))
}

/**
 * One for each live poll that is due before the window ends. In its last part, one for all of those that are due about when
 * it ends: the first of them finds the next window, where the others have room, and what was kept for them would be lost.
 */
function keptForPolls({ pulses }: BudgetState, window: Window, now: number): number {
  if (now < releasedAt(window)) return pollsDue(pulses, now, window.latest)
  const before = pollsDue(pulses, now, window.earliest - ABOUT_THE_END, { punctual: true })
  const all = pollsDue(pulses, now, window.latest, { punctual: true })
  return before + Math.min(1, all - before)
}

/**
 * A backfill takes all there is in seconds, so that a poll of another process must find room whether it was expected or
 * not. Refreshes leave it too, but not in a bucket without live polls.
 */
function keptUnannounced({ pulses }: BudgetState, window: Window, now: number, lane: Lane): number {
  if (now >= releasedAt(window)) return 0
  return lane === 'backfill' || Object.keys(pulses).length > 0 ? UNANNOUNCED : 0
}

/** When a window releases what it keeps for unannounced live polls; ms since the epoch. */
export function releasedAt({ openedAt, earliest }: Window): number {
  return earliest - Math.min(RELEASED_FOR, Math.max(0, earliest - openedAt) / 10)
}

/** From 1, when the window opens, to 0, when its last part begins. */
function timeLeft({ openedAt, earliest }: Window, now: number): number {
  const end = earliest - LAST_PART
  return now >= end ? 0 : Math.min(1, (end - now) / (end - openedAt))
}

/** Notes that a lane wants requests now, and still will when it may ask again at `at`. */
export function want(state: BudgetState, lane: Lane, at: number): BudgetState {
  if (lane === 'live') return state
  const until = Math.max(state.wanted[lane], at + WANTS_FOR)
  return { ...state, wanted: { ...state.wanted, [lane]: until } }
}

/** Notes that a lane got a request. */
export function give(state: BudgetState, lane: Lane, now: number): BudgetState {
  if (lane === 'live') return state
  const wanting = want(state, lane, now)
  const { window } = wanting
  if (window === null) return wanting
  return { ...wanting, window: { ...window, given: { ...window.given, [lane]: window.given[lane] + 1 } } }
}
