import { FatalError } from '../../base/errors.ts'
import { holderText } from '../../db/locks/held-locks.ts'
import { type ExtractOptions, isWorklist, type Resource, type Worklist } from '../declare/resource.ts'
import type { Engine } from './engine.ts'
import { ingest } from './ingest.ts'
import { recordOutage } from './outages.ts'
import { startRun } from './outcomes.ts'
import { logOfRun } from './run-log.ts'
import { type RunResult, resultOf, skippedResult } from './run-result.ts'
import { runWorklist, type WorklistOptions } from './run-worklist.ts'

/** How to run a resource; all but the options of extraction are for worklists. */
export type RunOptions = Partial<WorklistOptions>

/**
 * Runs a resource once: one that is one response as a worklist of one key, under a lock. Never throws for what the API or a
 * record does wrong: that is in the result and in the ledger.
 * @throws what the database throws before the first request; what ends all work
 */
export function runResource(
  resource: Resource | Worklist,
  engine: Engine,
  options: RunOptions = {},
): Promise<RunResult> {
  return isWorklist(resource) ? runWorklist(resource, engine, options) : runWhole(resource, engine, options)
}

async function runWhole(resource: Resource, engine: Engine, options: ExtractOptions): Promise<RunResult> {
  const run = startRun({ resource }, engine)
  const log = logOfRun(run)
  const lockName = `wynnsync ${resource.name}`
  const lock = await engine.db.tryLock(lockName)
  if (!lock) {
    const reason = await holderText(engine.db, lockName)
    log.info({}, `skipped: ${reason}`)
    return skippedResult(resource.name, reason)
  }
  try {
    await recordOutage(engine, resource.name)
    const { run: row, guarded, error, renewAt } = await ingest(run, options)
    if (!row) throw new FatalError(`${resource.name} has no ledger row`)
    return { ...resultOf(row, guarded, error), ...(renewAt ? { renewAt } : {}) }
  } finally {
    // When the database is gone the lock is gone with it.
    await lock.release().catch((cause: unknown) => log.warn({ err: cause }, 'the lock could not be released'))
  }
}
