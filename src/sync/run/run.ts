import { randomUUID } from 'node:crypto'
import { RetryableError } from '../../app/errors.ts'
import { holderText } from '../../db/locks/held-locks.ts'
import { answersIn, archiveResponse, lockArchive, recordResponses } from '../archive/archive.ts'
import { invalidateCoverage } from '../coverage/count.ts'
import { noteGap } from '../coverage/coverage.ts'
import { reshaped } from '../drift/shape-changes.ts'
import type { Engine } from '../engine.ts'
import { loadWithoutRefused } from '../load/load-without-refused.ts'
import { type Preparation, prepare } from '../normalize/prepare.ts'
import { appendDrift, appendRun, lastAccepted, type RunRow, type RunStatus } from '../record/ledger.ts'
import { notifyChannel } from '../record/notifications.ts'
import type { Extraction, ExtractOptions, Resource } from '../resource.ts'
import { appendGuardActions, movedActions } from '../validate/guard-actions.ts'
import { loadResponse, observedBy } from './load-response.ts'
import { recordOutage } from './outages.ts'
import { reportDrift, reportGuards, reportRun } from './report-run.ts'
import { logOfRun } from './run-log.ts'
import { type RunResult, resultOf, skippedResult } from './run-result.ts'

/**
 * Runs one resource once: lock, extract, prepare, absorb. Never throws for what the API or a record does wrong: that is
 * in the result and in the ledger.
 * @throws whatever the database throws before anything was asked of the API
 */
export async function runResource(
  resource: Resource,
  engine: Engine,
  options: ExtractOptions = {},
): Promise<RunResult> {
  const { db, clock } = engine
  const runId = engine.runId ?? randomUUID()
  const log = logOfRun(engine.log, { resource: resource.name, runId })
  const started = clock.now()
  const lockName = `wynnsync ${resource.name}`
  const lock = await db.tryLock(lockName)
  if (!lock) {
    const reason = await holderText(db, lockName)
    log.info({}, `skipped: ${reason}`)
    return skippedResult(resource.name, reason)
  }
  const ear = recordResponses(engine)
  const heading = () => ({
    runId,
    resource: resource.name,
    startedAt: new Date(started),
    requests: ear.api.requestsSent(),
    program: engine.program,
  })
  try {
    await recordOutage(engine, resource.name)
    const extraction = await resource.extract(ear.api, options)
    const preparation = prepare(resource, extraction.records, extraction)
    for (const bad of preparation.quarantined.slice(0, 5)) {
      log.warn({ key: bad.key, path: bad.path }, `record quarantined: ${bad.reason}`)
    }
    const { guards, privacy } = engine
    const answer = { extraction, guards, privacy, runId, receivedAt: clock.now() }
    const load = (storable: Preparation) =>
      db.transaction(async (sql) => {
        await lockArchive(sql, ear.heard)
        const last = await lastAccepted(sql, resource.name)
        const whole = { ...answer, preparation: storable, last }
        const { drift: novel, guarded: acted, ...absorbed } = await loadResponse(sql, resource, whole)
        const written = {
          ...heading(),
          ...absorbed,
          ...instantsOf(extraction, absorbed.status),
          finishedAt: new Date(clock.now()),
        }
        const { observedAt, startedAt, finishedAt } = written
        const { cacheSeconds } = resource
        await invalidateCoverage(sql, resource.name, written.living === null ? startedAt : (observedAt ?? startedAt))
        // Before the row itself: the gap reaches back to the one before.
        if (written.living !== null && observedAt !== null)
          await noteGap(sql, { resource: resource.name, cacheSeconds, observedAt, receivedAt: finishedAt })
        await appendRun(sql, written)
        await appendGuardActions(sql, { ...written, at: written.finishedAt }, acted)
        await archiveResponse(sql, ear.heard, {
          ...written,
          personal: resource.personal,
          takenAt: finishedAt,
          accepted: engine.guards.accept,
        })
        if (engine.notifies)
          await notifyChannel(sql, { ...written, at: finishedAt, counts: written, guarded: acted, drift: novel })
        return { row: written, drift: novel, guarded: acted }
      })
    const loading = { resource, preparation, at: new Date(extraction.observedAt) }
    const { row, drift, guarded } = await loadWithoutRefused(db, loading, load)
    reportDrift(log, drift)
    reportRun(log, row)
    reportGuards(log, row, guarded)
    const { renewAt } = extraction
    return { ...resultOf(row, row.status, row.reason), guarded, ...(renewAt ? { renewAt } : {}) }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    log.error({ err: error }, `failed: ${message}`)
    const row: RunRow = {
      ...heading(),
      status: 'failed',
      error: message,
      finishedAt: new Date(clock.now()),
    }
    const guarded = movedActions(error)
    const written = db.transaction(async (sql) => {
      await lockArchive(sql, ear.heard)
      await appendRun(sql, row)
      const novel = await appendDrift(sql, { ...row, at: row.finishedAt }, reshaped(error))
      await appendGuardActions(sql, { ...row, at: row.finishedAt }, guarded)
      const { personal } = resource
      await archiveResponse(sql, answersIn(ear), { ...row, personal, takenAt: row.finishedAt, observedAt: null })
      if (engine.notifies) await notifyChannel(sql, { ...row, at: row.finishedAt, guarded, drift: novel })
      reportDrift(log, novel)
    })
    // The database may be what failed; then the gap itself is all the ledger can show.
    await written.catch((cause: unknown) => {
      engine.outages?.note(resource.name, started, cause instanceof Error ? cause.message : String(cause))
      log.warn({ err: cause }, 'the failure could not be written down')
    })
    return { ...resultOf(row, 'failed', message), guarded, temporary: error instanceof RetryableError }
  } finally {
    // When the database is gone the lock is gone with it, and the result is told above already.
    await lock.release().catch((cause: unknown) => log.warn({ err: cause }, 'the lock could not be given back'))
  }
}

/** What the ledger says about an answer's time and extent. */
function instantsOf(extraction: Extraction, status: RunStatus) {
  const { observedFrom, complete, pages } = extraction
  const observedAt = observedBy(extraction, status)
  return { observedFrom: observedAt && new Date(observedFrom), observedAt, complete, pages }
}
