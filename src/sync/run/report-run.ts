import type { RunRow } from '../record/ledger.ts'
import type { GuardAction } from '../validate/guard-actions.ts'
import type { LoadResult } from './load-response.ts'
import type { RunLog } from './run-log.ts'

/** Tells a run's log how it ended. */
export function reportRun(log: RunLog, { status, reason, inserted, changed, closed, unchanged, events }: RunRow) {
  const message = reason ? `${status}: ${reason}` : status
  const level = status === 'rejected' || status === 'partial' ? 'warn' : status === 'unchanged' ? 'debug' : 'info'
  log[level]({ inserted, changed, closed, unchanged, events }, message)
}

/** Tells the log what guards did, except what it knows as the reason of the run. */
export function reportGuards(log: RunLog, run: RunRow, guarded: readonly GuardAction[]): void {
  for (const { guard, action, key, reason } of guarded) {
    if (reason !== run.reason) log.info({ guard, action, key }, `${guard}: ${reason}`)
  }
}

const driftWords: Readonly<Record<string, string>> = {
  missing_field: 'the API does not send any more what it used to',
  retyped_field: 'the API sent another type than this program knows; the record is set aside or kept raw',
  returned_field: 'the API sends again what was missing or of another type',
}

/** Tells a run's log what the program did not know; once. */
export function reportDrift(log: RunLog, drift: LoadResult['drift']): void {
  for (const { kind, path, member } of drift) {
    log.warn(
      { kind, path, member },
      driftWords[kind] ?? 'the API sent something this program does not know yet; it is kept',
    )
  }
}
