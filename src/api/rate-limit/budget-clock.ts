import { LONGEST_WAIT } from '../http/response-headers.ts'
import type { BudgetState } from './budget-state.ts'

/** How far the clocks of two machines that share a budget may be apart, in ms. */
const CLOCK_TOLERANCE = 120_000

/**
 * The state without the instants that only a clock which was ahead can have stored: after the clock is set back they would
 * leave the bucket without room until then.
 * @param now ms since the epoch
 */
export function discardFuture(state: BudgetState, now: number): BudgetState {
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
