import { RetryableError, UsageError } from '../app/errors.ts'
import type { RunResult } from '../sync/run/run-result.ts'

/** Every exit code of the public contract: what it means, and what to do. `docs/reference/exit-codes.md` lists the same. */
export const exitCodes = {
  done: {
    code: 0,
    meaning: 'done; also when nothing changed, or another process already runs it (status `skipped`)',
    advice: 'nothing',
  },
  failed: { code: 1, meaning: 'failed', advice: 'read the message; `wynnsync doctor`' },
  usage: {
    code: 2,
    meaning: 'wrong usage or configuration; a name that several have',
    advice: 'correct the command or the setting',
  },
  rejected: {
    code: 3,
    meaning: 'done, but something was rejected or quarantined',
    advice: '`wynnsync status`; the next good response usually puts it right',
  },
  tryLater: {
    code: 75,
    meaning:
      'temporary: the API or the database could not be reached, or `start` found another `start` on this database',
    advice: 'try later',
  },
} as const

/** The codes by name. */
export const exitCode = {
  done: exitCodes.done.code,
  failed: exitCodes.failed.code,
  usage: exitCodes.usage.code,
  rejected: exitCodes.rejected.code,
  tryLater: exitCodes.tryLater.code,
} as const

/** The exit code of a command that threw. */
export function exitCodeOfError(error: unknown): number {
  if (error instanceof UsageError) return exitCode.usage
  return error instanceof RetryableError ? exitCode.tryLater : exitCode.failed
}

/** The exit code of several runs: failed goes before temporary, temporary before rejected. */
export function exitCodeOfRuns(runs: readonly RunResult[]): number {
  if (runs.some((run) => run.status === 'failed' && !run.temporary)) return exitCode.failed
  if (runs.some((run) => run.status === 'failed')) return exitCode.tryLater
  return runs.some((run) => run.rejected > 0 || run.quarantined > 0) ? exitCode.rejected : exitCode.done
}
