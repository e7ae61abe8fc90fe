import { RetryableError, UsageError } from '../base/errors.ts'
import type { RunResult } from '../sync/run/run-result.ts'

export const exitCode = { done: 0, failed: 1, usage: 2, rejected: 3, tryLater: 75 } as const

/** Every exit code of the public contract: what it means, and what to do. `docs/reference/exit-codes.md` lists the same. */
export const exitCodes = {
  done: {
    code: exitCode.done,
    meaning: 'done; also when nothing changed, or another process already runs it (status `skipped`)',
    advice: 'nothing',
  },
  failed: { code: exitCode.failed, meaning: 'failed', advice: 'read the message; `wynnsync doctor`' },
  usage: {
    code: exitCode.usage,
    meaning: 'wrong usage or configuration; a name that several have',
    advice: 'correct the command or the setting',
  },
  rejected: {
    code: exitCode.rejected,
    meaning: 'done, but something was rejected or quarantined',
    advice: '`wynnsync status`; the next good response usually puts it right',
  },
  tryLater: {
    code: exitCode.tryLater,
    meaning:
      'temporary: the API or the database could not be reached, or `start` found another `start` on this database',
    advice: 'try later',
  },
} as const

export function exitCodeOfError(error: unknown): number {
  if (error instanceof UsageError) return exitCode.usage
  return error instanceof RetryableError ? exitCode.tryLater : exitCode.failed
}

/** The exit code of several runs: failed goes before temporary, temporary before rejected. */
export function exitCodeOfRuns(runs: readonly RunResult[]): number {
  if (runs.some((run) => run.status === 'failed' && !run.temporary)) return exitCode.failed
  if (runs.some((run) => run.status === 'failed' || run.status === 'interrupted')) return exitCode.tryLater
  return runs.some((run) => run.rejected > 0 || run.quarantined > 0) ? exitCode.rejected : exitCode.done
}
