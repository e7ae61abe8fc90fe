import type { Clock } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import { sqlState } from '../../db/sql-errors.ts'
import { statusOfError } from '../ledger/ledger.ts'
import type { Preparation } from '../normalize/prepare.ts'
import type { Outcome, RecordedDrift } from '../respond/record-outcome.ts'
import type { Engine, RunLog } from './engine.ts'

/** The engine's log for one run: every line carries its resource and its id. */
export function logOfRun(run: {
  readonly engine: Pick<Engine, 'log'>
  readonly resource: { readonly name: string }
  readonly runId: string
}): RunLog {
  const { log } = run.engine
  const bindings = { resource: run.resource.name, run: run.runId }
  return {
    debug: (fields, message) => log.debug({ ...bindings, ...fields }, message),
    info: (fields, message) => log.info({ ...bindings, ...fields }, message),
    warn: (fields, message) => log.warn({ ...bindings, ...fields }, message),
    error: (fields, message) => log.error({ ...bindings, ...fields }, message),
  }
}

export function logQuarantined(log: RunLog, { quarantined }: Preparation): void {
  for (const { key, path, reason } of quarantined.slice(0, 5)) log.warn({ key, path }, `record quarantined: ${reason}`)
}

/** How often a fault that lasts is logged, ms. */
const FAULT_EVERY_MS = 60_000

/** What makes two failures the same fault: of the server, whatever statement met it; else the message. */
export function faultOf(error: unknown): string {
  const state = sqlState(error) ?? ''
  return /^(08|53|57|58|25006)/.test(state) ? state : messageOf(error)
}

/** A log in which a fault that many runs meet is one line, and after a minute one with their number. */
export function faultsOnce(log: RunLog, clock: Clock): RunLog {
  const known = new Map<string, { readonly at: number; more: number }>()
  return {
    debug: (fields, message) => log.debug(fields, message),
    info: (fields, message) => log.info(fields, message),
    warn: (fields, message) => log.warn(fields, message),
    error: (fields, message) => {
      const now = clock.now()
      const fault = 'err' in fields ? faultOf(fields.err) : message
      const before = known.get(fault)
      if (before && Math.abs(now - before.at) < FAULT_EVERY_MS) {
        before.more += 1
        return
      }
      for (const [old, { at }] of known) if (Math.abs(now - at) > 60 * FAULT_EVERY_MS) known.delete(old)
      known.set(fault, { at: now, more: 0 })
      log.error(
        fields,
        before?.more ? `${message}; the same of ${before.more} other runs since the line before` : message,
      )
    },
  }
}

/** Logs why a run failed, or that a signal ended it. */
export function logFailure(log: RunLog, error: unknown): void {
  if (statusOfError(error) === 'interrupted') log.info({}, `${messageOf(error)}; the next run takes it up`)
  else log.error({ err: error }, `failed: ${messageOf(error)}`)
}

/** Logs what became of a response: its run, what guards did, and drift. */
export function logOutcome(log: RunLog, { status, run, guarded, drift }: Outcome): void {
  logDrift(log, drift)
  if (status === 'failed' || status === 'interrupted') return
  if (run) {
    const { reason, inserted, changed, closed, unchanged, events } = run
    const level = status === 'rejected' || status === 'partial' ? 'warn' : status === 'unchanged' ? 'debug' : 'info'
    log[level]({ inserted, changed, closed, unchanged, events }, reason ? `${status}: ${reason}` : status)
  }
  for (const { guard, action, key, reason } of guarded) {
    if (reason !== run?.reason) log.info({ guard, action, key }, `${guard}: ${reason}`)
  }
}

const driftMessages: Readonly<Record<string, string>> = {
  missing_field: 'the API does not send any more what it used to',
  retyped_field: 'the API sent another type than this program knows; the record is quarantined or kept raw',
  returned_field: 'the API sends again what was missing or of another type',
}

/** Logs what the program did not know; once. */
export function logDrift(log: RunLog, drift: readonly RecordedDrift[]): void {
  for (const { kind, path, member } of drift) {
    log.warn(
      { kind, path, member },
      driftMessages[kind] ?? 'the API sent something this program does not know yet; it is kept',
    )
  }
}
