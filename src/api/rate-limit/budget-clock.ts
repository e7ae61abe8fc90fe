import { LONGEST_WAIT } from '../http/response-headers.ts'
import type { BudgetState } from './budget-state.ts'

/** How far the clocks of two machines that share a budget may be apart, in ms. */
const CLOCK_TOLERANCE = 120_000

/**
 * The state without the instants that only a clock which was ahead can have stored: after the clock is set back they would
 * leave the bucket without room until their day comes.
 * @param now ms since the epoch
 */
export function discardFuture(state: BudgetState, now: number): BudgetState {
  const horizon = now + LONGEST_WAIT + CLOCK_TOLERANCE
  const isPossible = (at: number) => at <= horizon
  const keep = (at: number | null) => (at !== null && isPossible(at) ? at : null)
  if (instantsOf(state).every(isPossible)) return state
  const { window, probe, reservations, silent, pulses, wanted } = state
  return {
    ...state,
    window: window !== null && isPossible(window.latest) ? window : null,
    closedAt: keep(state.closedAt),
    blockedUntil: keep(state.blockedUntil),
    probe: probe !== null && isPossible(probe.until) ? probe : null,
    reservations: reservations.filter(({ until }) => isPossible(until)),
    silent: silent.filter(isPossible),
    pulses: Object.fromEntries(Object.entries(pulses).filter(([, { lastAt }]) => isPossible(lastAt))),
    wanted: { refresh: keep(wanted.refresh) ?? 0, backfill: keep(wanted.backfill) ?? 0 },
  }
}

function instantsOf(state: BudgetState): number[] {
  const { window, closedAt, blockedUntil, probe, reservations, silent, pulses, wanted } = state
  return [
    window?.latest ?? 0,
    closedAt ?? 0,
    blockedUntil ?? 0,
    probe?.until ?? 0,
    ...reservations.map(({ until }) => until),
    ...silent,
    ...Object.values(pulses).map(({ lastAt }) => lastAt),
    wanted.refresh,
    wanted.backfill,
  ]
}
