import { RetryableError } from '../../app/errors.ts'
import type { Engine } from '../engine.ts'
import type { ExtractOptions, Worklist } from '../resource.ts'
import type { LastSaid } from '../validate/guard-actions.ts'
import { openRefusals } from '../worklist/run-refusals.ts'
import { claimKeys, claimNamed, postponeKey, releaseKey } from '../worklist/work-items.ts'
import { recordOutage } from './outages.ts'
import { refresh } from './refresh.ts'
import type { RunResult } from './run-result.ts'
import { startRunSummary } from './run-summary.ts'

export interface WorklistOptions extends ExtractOptions {
  /** Ask for that many keys instead of what the current budget window allows. */
  readonly limit?: number
  /** Ask for just these keys. */
  readonly keys?: readonly string[]
  /** Go on until this instant (ms since the epoch), as fast as the budget lets requests leave; waits when no key is due. */
  readonly until?: number
  /** No further key is begun once it is aborted; those under way go on. */
  readonly stopping?: AbortSignal
  readonly concurrency: number
}

/** After so many keys in a row that could not be asked for, the service is taken to be away. */
const patience = 5

/** How long to wait before looking again whether a key is due, ms. */
const idle = 5000

/** Requests that one window has for guests (API reference 2.2); for servers that tell nothing of their budget. */
const assumedWindow = 50

/**
 * Refreshes the most urgent keys of a worklist, a few at a time, until the limit is reached or the current budget window
 * is spent. Each key's answer is one transaction with its observation row; a kill loses at most what is in flight.
 */
export async function runWorklist(resource: Worklist, shared: Engine, options: WorklistOptions): Promise<RunResult> {
  // Of a client that several runs use at once, the ledger wants this run's requests.
  const engine = { ...shared, api: shared.api.withRecorder(() => {}) }
  const { db, api, clock } = engine
  const tally = startRunSummary(resource, engine)
  const { log } = tally
  const said: LastSaid = new Map()
  const refusals = openRefusals(resource, engine, tally)
  // A key that is named twice is asked once.
  const named = options.keys && [...new Set(options.keys)]
  let asked = 0
  /** Keys that are being asked for. */
  let underWay = 0
  /** Keys in a row that could not be asked for. */
  let failures = 0
  let lastFailure: unknown
  let failed: unknown

  /** How many more keys may be asked for. Until the first answer tells the budget, one. */
  const allowance = (): number => {
    if (options.until !== undefined) return clock.now() < options.until ? 1 : 0
    if (named) return named.length - asked
    if (options.limit !== undefined) return options.limit - asked
    if (asked === 0) return 1
    // What is under way may have no request in the budget yet: counted twice rather than not at all. The last one knows.
    const left = api.remaining(resource.route)
    return left === null ? assumedWindow - asked : left - underWay
  }
  const next = async (): Promise<string | undefined> => {
    const isOver = options.signal?.aborted || options.stopping?.aborted || failed !== undefined
    if (isOver || refusals.doubt() !== undefined || allowance() <= 0) return undefined
    const claimed = await claim()
    if (claimed !== undefined || options.until === undefined) return claimed
    await clock
      .sleep(Math.min(idle, options.until - clock.now()), options.stopping ?? options.signal)
      .catch(() => undefined)
    // At the very start the lists that keys come from may only just have arrived.
    if (asked === 0) await resource.plan(db, new Date(clock.now()))
    return await next()
  }
  const claim = async (): Promise<string | undefined> => {
    asked += 1
    underWay += 1
    const wanted = named?.[asked - 1]
    const claimed =
      wanted === undefined
        ? await claimKeys(db, resource.name, 1, clock.now(), tally.runId)
        : await claimNamed(db, resource.name, [wanted], clock.now(), tally.runId)
    if (claimed[0] === undefined) {
      asked -= 1
      underWay -= 1
    }
    return claimed[0]
  }
  const one = async (key: string): Promise<void> => {
    try {
      const taken = await refresh(resource, engine, tally.runId, key, options, said)
      tally.add(key, taken)
      failures = 0
      await refusals.add(key, taken)
    } catch (error) {
      if (options.signal?.aborted) return await releaseKey(db, resource.name, key)
      await postponeKey(db, resource.name, key, clock.now())
      if (!(error instanceof RetryableError)) throw error
      failures += 1
      lastFailure = error
      tally.miss(key, error.message)
      log.warn({ key, err: error }, error.message)
      if (failures >= patience) failed = error
    } finally {
      underWay -= 1
    }
  }
  const worker = async (): Promise<void> => {
    for (let key = await next(); key !== undefined; key = await next()) {
      await one(key)
      options.onProgress?.({ page: asked, pages: options.limit ?? null, records: asked, count: options.limit ?? null })
    }
  }
  try {
    await recordOutage(engine, resource.name)
    await resource.plan(db, new Date(clock.now()))
    // The first answer tells how much may be asked for; then several go side by side.
    const first = await next()
    if (first !== undefined) await one(first)
    await Promise.all(Array.from({ length: options.concurrency }, worker))
  } catch (error) {
    failed = error
    log.error({ err: error }, `failed: ${error instanceof Error ? error.message : String(error)}`)
  }

  // Few keys, and none of them answered: the service is as much away as after many.
  if (asked > 0 && failures === asked) failed ??= lastFailure
  await refusals.close(failed === undefined && !options.signal?.aborted).catch((error: unknown) => {
    failed ??= error
  })
  return await tally.close(asked, failed)
}
