import { type Counts, isAccepted, noCounts, type RunStatus } from '../ledger/ledger.ts'
import type { GuardAction } from '../respond/guard-actions.ts'
import type { Outcome } from '../respond/record-outcome.ts'

/** A run over the keys of a worklist, summed up key by key. */
export interface RunSummary {
  readonly counts: Counts
  readonly statuses: ReadonlySet<Outcome['status']>
  /** The first ones. */
  readonly reasons: readonly string[]
  readonly guarded: readonly GuardAction[]
  /** The latest instant that an accepted response speaks for, ms since the epoch; 0 without one. */
  readonly observedAt: number
  /** Keys whose request failed. */
  readonly missed: number
  /** Why all refusals of the run were rejected. */
  readonly rejection?: GuardAction
}

export const emptySummary: RunSummary = {
  counts: noCounts,
  statuses: new Set(),
  reasons: [],
  guarded: [],
  observedAt: 0,
  missed: 0,
}

/** So many reasons stand in the ledger row. */
const mostReasons = 5

export function addOutcome(summary: RunSummary, outcome: Outcome & { readonly refusal?: unknown }): RunSummary {
  const { key, status, observedAt, guarded, reason, refusal } = outcome
  const counts = Object.entries(summary.counts).map(([name, sum]) => [name, sum + outcome[name as keyof Counts]])
  const added = {
    ...summary,
    counts: Object.fromEntries(counts) as Counts,
    statuses: summary.statuses.has(status) ? summary.statuses : new Set([...summary.statuses, status]),
    guarded: guarded.length === 0 ? summary.guarded : [...summary.guarded, ...guarded],
    observedAt: isAccepted(status) ? Math.max(summary.observedAt, observedAt?.getTime() ?? 0) : summary.observedAt,
  }
  // The reason of a refusal stands with its observation.
  return reason && !refusal ? withReason(added, `${key}: ${reason}`) : added
}

export function addMissed(summary: RunSummary, key: string, reason: string): RunSummary {
  return withReason({ ...summary, missed: summary.missed + 1 }, `${key}: ${reason}`)
}

/** Rejects the refusals of so many keys: the whole run counts as rejected. */
export function rejectKeys(summary: RunSummary, keys: number, rejection: GuardAction): RunSummary {
  const { counts, guarded, reasons } = summary
  return {
    ...summary,
    rejection,
    counts: { ...counts, rejected: counts.rejected + keys },
    guarded: [...guarded, rejection],
    reasons: [rejection.reason, ...reasons],
  }
}

/** The status of a run that nothing ended early. */
export function statusOf({ counts, statuses, missed, rejection }: RunSummary): RunStatus {
  if (rejection) return 'rejected'
  if (counts.rejected + counts.quarantined + missed > 0) return 'partial'
  if (counts.inserted + counts.changed + counts.closed + counts.events > 0) return 'ok'
  return statuses.size === 1 && statuses.has('stale') ? 'stale' : 'unchanged'
}

/** The first reasons, as the ledger row has them. */
export function reasonOf({ reasons }: RunSummary): string | null {
  return reasons.length > 0 ? reasons.slice(0, mostReasons).join('; ') : null
}

function withReason(summary: RunSummary, reason: string): RunSummary {
  const { reasons } = summary
  return reasons.length < mostReasons ? { ...summary, reasons: [...reasons, reason] } : summary
}
