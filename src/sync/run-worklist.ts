import { randomUUID } from 'node:crypto'
import { Forbidden, NotFound } from '../api/errors.ts'
import { RetryableError } from '../errors.ts'
import { forgetAbsences } from './absent.ts'
import { type Absorbed, absorb } from './absorb.ts'
import { appendObservation, appendRun, type RunRow } from './ledger.ts'
import { prepare } from './prepare.ts'
import type { ExtractOptions, Worklist } from './resource.ts'
import { type Engine, type RunResult, reportDrift, resultOf } from './run.ts'
import { endGone } from './settle.ts'
import { claimKeys, claimNamed, lastOfKey, postponeKey, settleKey } from './work-items.ts'

export interface WorklistOptions extends ExtractOptions {
  /** Ask for that many keys instead of what the current budget window allows. */
  readonly limit?: number
  /** Ask for just these keys. */
  readonly keys?: readonly string[]
  readonly concurrency: number
}

/** After so many keys in a row that could not be asked for, the service is taken to be away. */
const patience = 5

/** Requests that one window has for guests (API reference 2.2); for servers that tell nothing of their budget. */
const assumedWindow = 50

/**
 * Refreshes the most urgent keys of a worklist, a few at a time, until the limit is reached or the current budget window
 * is spent. Each key's answer is one transaction with its observation row; a kill loses at most what is in flight.
 */
export async function runWorklist(resource: Worklist, engine: Engine, options: WorklistOptions): Promise<RunResult> {
  const { db, api, clock, log } = engine
  const started = clock.now()
  const sentBefore = api.requestsSent()
  const runId = randomUUID()
  const total = { records: 0, inserted: 0, changed: 0, closed: 0, unchanged: 0, events: 0, rejected: 0, quarantined: 0 }
  const reasons: string[] = []
  let observedAt = 0
  let asked = 0
  /** Keys in a row that could not be asked for, and all of them. */
  let failures = 0
  let missed = 0
  let failed: unknown

  /** How many more keys may be asked for. Until the first answer tells the budget, one. */
  const allowance = (): number => {
    if (options.keys) return options.keys.length - asked
    if (options.limit !== undefined) return options.limit - asked
    if (asked === 0) return 1
    return api.remaining(resource.route) ?? assumedWindow - asked
  }
  const next = async (): Promise<string | undefined> => {
    if (options.signal?.aborted || failed !== undefined || allowance() <= 0) return undefined
    asked += 1
    const named = options.keys?.[asked - 1]
    const claimed =
      named === undefined
        ? await claimKeys(db, resource.name, 1, clock.now())
        : await claimNamed(db, resource.name, [named], clock.now())
    if (claimed[0] === undefined) asked -= 1
    return claimed[0]
  }
  const one = async (key: string): Promise<void> => {
    try {
      const absorbed = await refresh(resource, engine, runId, key, options)
      failures = 0
      observedAt = Math.max(observedAt, absorbed.observedAt)
      for (const count of Object.keys(total) as (keyof typeof total)[]) total[count] += absorbed[count]
      if (absorbed.reason) reasons.push(`${key}: ${absorbed.reason}`)
    } catch (error) {
      await postponeKey(db, resource.name, key, clock.now())
      if (!(error instanceof RetryableError)) throw error
      failures += 1
      missed += 1
      reasons.push(`${key}: ${error.message}`)
      log.warn({ resource: resource.name, key, err: error }, error.message)
      if (failures >= patience) failed = error
    }
  }
  const worker = async (): Promise<void> => {
    for (let key = await next(); key !== undefined; key = await next()) {
      await one(key)
      options.onProgress?.({ page: asked, pages: options.limit ?? null, records: asked, count: options.limit ?? null })
    }
  }
  try {
    await resource.plan(db, new Date(started))
    // The first answer tells how much may be asked for; then several go side by side.
    const first = await next()
    if (first !== undefined) await one(first)
    await Promise.all(Array.from({ length: options.concurrency }, worker))
  } catch (error) {
    failed = error
    log.error(
      { resource: resource.name, err: error },
      `failed: ${error instanceof Error ? error.message : String(error)}`,
    )
  }

  const written = total.inserted + total.changed + total.closed + total.events
  const doubt = total.rejected + total.quarantined + missed > 0
  const status = failed !== undefined ? 'failed' : doubt ? 'partial' : written > 0 ? 'ok' : 'unchanged'
  const row: RunRow & { status: typeof status } = {
    ...total,
    runId,
    resource: resource.name,
    status,
    reason: reasons.length > 0 ? reasons.slice(0, 5).join('; ') : null,
    error: failed === undefined ? null : failed instanceof Error ? failed.message : String(failed),
    startedAt: new Date(started),
    finishedAt: new Date(clock.now()),
    observedAt: observedAt > 0 ? new Date(observedAt) : null,
    pages: asked,
    requests: api.requestsSent() - sentBefore,
    program: engine.program,
  }
  await appendRun(db, row)
  log.info({ resource: resource.name, run: runId, keys: asked, ...total }, status)
  return { ...resultOf(row, status, row.error ?? row.reason ?? null), temporary: failed instanceof RetryableError }
}

/** Asks for one key and takes the answer in. */
async function refresh(resource: Worklist, engine: Engine, runId: string, key: string, options: ExtractOptions) {
  const { db, api, clock, guards, log } = engine
  let hidden: string | undefined
  const extraction = await resource.extractOne(api, key, options).catch((error: unknown) => {
    if (error instanceof Forbidden) hidden = error.message
    else if (!(error instanceof NotFound)) throw error
    return undefined
  })
  const preparation = extraction && prepare(resource, extraction.records)
  const now = clock.now()
  const ledger = { resource: resource.name, key, runId, receivedAt: new Date(now) }
  const outcome = await db.transaction(async (sql) => {
    if (hidden !== undefined) {
      // Private is not gone: what was known of it is neither confirmed nor ended.
      await appendObservation(sql, { ...ledger, status: 'hidden', reason: hidden })
      await settleKey(sql, resource.name, { key, now })
      return { ...nothingAbsorbed, closed: 0, observedAt: 0 }
    }
    const last = await lastOfKey(sql, resource.name, key)
    if (!extraction || !preparation) {
      // A refusal has no instant of its own; by a clock that is behind the service's it still comes after the last answer.
      const at = new Date(Math.max(now, (last?.observedAt ?? 0) + 1))
      const { closed, gone } = await endGone(sql, resource, key, { absences: guards.absences, at })
      await appendObservation(sql, { ...ledger, status: 'gone', reason: 'the API does not know it any more' })
      await settleKey(sql, resource.name, { key, now, gone })
      return { ...nothingAbsorbed, closed, observedAt: 0 }
    }
    const absorbed = await absorb(sql, resource, { extraction, preparation, last, guards, runId, scope: key })
    const { status, reason, contentHash, records } = absorbed
    await forgetAbsences(sql, resource.name, [key])
    const accepted = status === 'ok' || status === 'unchanged' || status === 'partial'
    const observedAt = new Date(extraction.observedAt)
    await appendObservation(sql, { ...ledger, observedAt, status, reason })
    await settleKey(
      sql,
      resource.name,
      accepted ? { key, now, accepted: { observedAt, contentHash, records } } : { key, now },
    )
    return { ...absorbed, observedAt: accepted ? extraction.observedAt : 0 }
  })
  reportDrift(log, resource.name, outcome.drift)
  return outcome
}

const nothingAbsorbed: Omit<Absorbed, 'closed' | 'contentHash' | 'living' | 'status'> = {
  reason: null,
  records: 0,
  inserted: 0,
  changed: 0,
  unchanged: 0,
  events: 0,
  rejected: 0,
  quarantined: 0,
  drift: [],
}
