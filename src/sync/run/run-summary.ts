import { randomUUID } from 'node:crypto'
import { RetryableError } from '../../app/errors.ts'
import { countLosses } from '../drift/shape-changes.ts'
import type { Engine } from '../engine.ts'
import { type Counts, noCounts } from '../load/load-counts.ts'
import { appendDrift, appendRun, type RunRow, type RunStatus } from '../record/ledger.ts'
import { notifyChannel } from '../record/notifications.ts'
import type { ResourceBase } from '../resource.ts'
import { appendGuardActions, type GuardAction } from '../validate/guard-actions.ts'
import { reportDrift } from './report-run.ts'
import { logOfRun, type RunLog } from './run-log.ts'
import { type RunResult, resultOf } from './run-result.ts'

/** What the answer about one key came to. */
export interface KeyResult extends Counts {
  readonly status: RunStatus | 'hidden' | 'gone'
  readonly reason: string | null
  /** The instant the answer speaks for, ms since the epoch; 0 when it was not accepted. */
  readonly observedAt: number
  /** Fields that its record had before and has not any more. */
  readonly lost?: readonly string[]
  /** What guards did about it. */
  readonly guarded: readonly GuardAction[]
}

/** A run over a worklist, summed up key by key. */
export interface RunSummary {
  /** Id of the run, for the observation rows of its answers. */
  readonly runId: string
  readonly startedAt: Date
  /** Its own log. */
  readonly log: RunLog
  /** A key was asked for and answered. */
  add(key: string, told: KeyResult): void
  /** The run ends because a guard does not believe so many answers: it counts as rejected. */
  reject(keys: number, action: GuardAction): void
  /** A key could not be asked for. */
  miss(key: string, why: string): void
  /**
   * Writes the ledger row of the run.
   * @param asked keys that were asked for
   * @param failed what ended the run early; undefined when nothing did
   * @throws what the database throws
   */
  close(asked: number, failed?: unknown): Promise<RunResult>
}

/** Begins to count; the run starts now. */
export function startRunSummary(
  resource: ResourceBase,
  { db, api, clock, program, notifies, ...engine }: Engine,
): RunSummary {
  const startedAt = new Date(clock.now())
  const sentBefore = api.requestsSent()
  const runId = randomUUID()
  const log = logOfRun(engine.log, { resource: resource.name, runId })
  const total = { ...noCounts }
  const reasons: string[] = []
  const guarded: GuardAction[] = []
  const losses = countLosses()
  let observedAt = 0
  let missed = 0
  const statuses = new Set<KeyResult['status']>()
  let rejection: GuardAction | undefined

  return {
    runId,
    startedAt,
    log,
    add(key, told) {
      statuses.add(told.status)
      observedAt = Math.max(observedAt, told.observedAt)
      for (const count of Object.keys(total) as (keyof typeof total)[]) total[count] += told[count]
      guarded.push(...told.guarded)
      if (told.observedAt > 0) losses.add(key, told.lost ?? [])
      if (told.reason) reasons.push(`${key}: ${told.reason}`)
    },
    reject(keys, action) {
      rejection = action
      total.rejected += keys
      guarded.push(action)
      reasons.unshift(action.reason)
    },
    miss(key, why) {
      missed += 1
      reasons.push(`${key}: ${why}`)
    },
    async close(asked, failed) {
      const written = total.inserted + total.changed + total.closed + total.events
      const doubt = total.rejected + total.quarantined + missed > 0
      const nothing = statuses.size === 1 && statuses.has('stale') ? 'stale' : 'unchanged'
      const ended = failed !== undefined ? 'failed' : rejection ? 'rejected' : undefined
      const status = ended ?? (doubt ? 'partial' : written > 0 ? 'ok' : nothing)
      const row: RunRow & { status: typeof status } = {
        ...total,
        runId,
        resource: resource.name,
        status,
        reason: reasons.length > 0 ? reasons.slice(0, 5).join('; ') : null,
        error: failed === undefined ? null : failed instanceof Error ? failed.message : String(failed),
        startedAt,
        finishedAt: new Date(clock.now()),
        observedAt: observedAt > 0 ? new Date(observedAt) : null,
        pages: asked,
        requests: api.requestsSent() - sentBefore,
        program,
      }
      const drift = await db.transaction(async (sql) => {
        await appendRun(sql, row)
        if (rejection) await appendGuardActions(sql, { ...row, at: row.finishedAt }, [rejection])
        const drift = await appendDrift(sql, { ...row, at: row.observedAt ?? row.finishedAt }, losses.found())
        // What the answers changed was told with each of them.
        if (notifies)
          await notifyChannel(sql, { ...row, at: row.finishedAt, drift, guarded: rejection ? [rejection] : [] })
        return drift
      })
      reportDrift(log, drift)
      log.info({ keys: asked, ...total }, status)
      const result = resultOf(row, status, row.error ?? row.reason ?? null)
      return { ...result, guarded, temporary: failed instanceof RetryableError }
    },
  }
}
