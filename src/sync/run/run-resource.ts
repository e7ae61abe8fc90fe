import { isOfRequest } from '../../api/errors.ts'
import { FatalError, InterruptedError, RetryableError } from '../../base/errors.ts'
import { holderText } from '../../db/locks/held-locks.ts'
import { type ExtractOptions, isWorklist, type Resource, type Worklist } from '../declare/resource.ts'
import { addKeys, claimKey, claimNamed, countDue, releaseKey } from '../worklist/work-items.ts'
import { endsWork } from './admission.ts'
import type { Engine } from './engine.ts'
import { ingest, startRun } from './ingest.ts'
import { recordOutage } from './outages.ts'
import { logOfRun } from './run-log.ts'
import { type RunResult, resultOf, skippedResult } from './run-result.ts'
import { WorklistRun } from './worklist-run.ts'

export interface WorklistOptions extends ExtractOptions {
  /** Request that many keys instead of what the current budget window allows; infinite: those that are due. */
  readonly limit?: number
  readonly keys?: readonly string[]
  /** Go on until this instant (ms since the epoch), as fast as the budget allows; waits when no key is due. */
  readonly until?: number
  /** No further key is begun once it is aborted; those under way go on. */
  readonly stopping?: AbortSignal
  /** Keys that are requested at once; default: one. */
  readonly concurrency?: number
}

/** How long to wait before looking again whether a key is due, ms. */
const idle = 5000

/** A clock that is put right by no more than this was not set back, ms. */
const CLOCK_TOLERANCE_MS = 60_000

/**
 * Refreshes the most urgent keys of a worklist, a few at a time, until the limit is reached or the current budget window
 * is spent. Each key's response is one transaction with its observation row; a kill loses at most what is in flight.
 */
async function runWorklist(resource: Worklist, shared: Engine, options: WorklistOptions): Promise<RunResult> {
  // Of a client that several runs use at once, the ledger counts this run's requests.
  const engine = { ...shared, api: shared.api.withRecorder(() => {}) }
  await engine.admission?.checkSchema(engine.db)
  const driver = new Driver(resource, engine, options)
  try {
    await recordOutage(engine, resource.name)
    await driver.list()
    await resource.plan(engine.db, new Date(engine.clock.now()))
    await driver.count()
    // The first response shows the budget; then several keys are requested at once.
    await driver.work(1)
    await Promise.all(Array.from({ length: options.concurrency ?? 1 }, () => driver.work()))
  } catch (error) {
    if (endsWork(error)) throw error
    driver.fail(error)
  }
  return await driver.close()
}

/** Whether another key may respond all the same: the request failed, or the API refuses it with whatever status. */
function mayBeOfOne(error: unknown): error is Error {
  return error instanceof RetryableError || isOfRequest(error)
}

/** Claims keys and takes them through the pipeline, as `allowance` below allows. */
class Driver {
  readonly #run: WorklistRun
  readonly #resource: Worklist
  readonly #engine: Engine
  readonly #options: WorklistOptions
  /** A key that is named twice is requested once. */
  readonly #named: readonly string[] | undefined
  #progress = noProgress
  /** Keys that were due when the run began. */
  #due = Number.POSITIVE_INFINITY

  constructor(resource: Worklist, engine: Engine, options: WorklistOptions) {
    this.#resource = resource
    this.#engine = engine
    this.#options = options
    this.#named = options.keys && [...new Set(options.keys)]
    this.#run = new WorklistRun(resource, engine)
  }

  /** Puts on the worklist what the API lists, where no other resource does; without a list, what is known has its turn. */
  async list(): Promise<void> {
    const { db, api } = this.#engine
    const { name, listKeys } = this.#resource
    if (!listKeys || this.#named) return
    try {
      await addKeys(db, name, await listKeys(api, this.#options))
    } catch (error) {
      if (!mayBeOfOne(error)) throw error
      this.#advance({ type: 'claim' })
      this.#advance({ type: 'failure', error })
      this.#run.miss('the list of keys', error.message)
      this.#run.log.warn({ err: error }, error.message)
    }
  }

  /** Counts the keys that are due, where progress is shown or they are the limit: the first of many are due again before the last. */
  async count(): Promise<void> {
    const { db, clock } = this.#engine
    const { onProgress, limit } = this.#options
    if (onProgress || limit === Number.POSITIVE_INFINITY)
      this.#due = await countDue(db, this.#resource.name, clock.now())
  }

  /**
   * Refreshes keys until there is none left, or so many of them.
   * @throws what another key would not change
   */
  async work(most = Number.POSITIVE_INFINITY): Promise<void> {
    for (let refreshed = 0; refreshed < most; refreshed++) {
      const key = await this.#next()
      if (key === undefined) return
      try {
        await this.#run.add(key, await ingest(this.#run.contextOf(key), this.#options))
        this.#advance({ type: 'outcome' })
        const left = this.#engine.api.remaining(this.#resource.route)
        if (left !== null) this.#advance({ type: 'budget', left })
      } catch (error) {
        await this.#recordFailure(key, error)
      }
      this.#showProgress()
    }
  }

  #showProgress(): void {
    const { until, limit, onProgress } = this.#options
    const { requested, inFlight } = this.#progress
    const done = requested - inFlight
    const named = this.#named?.length
    const most = named ?? Math.min(this.#due, limit ?? requested + Math.max(0, this.#allowance()))
    const count = until === undefined ? Math.max(done, most) : null
    onProgress?.({ page: done, pages: count, records: done, count })
  }

  /** Claims the next key; waits for one until the deadline, if there is one. */
  async #next(): Promise<string | undefined> {
    const { clock, db } = this.#engine
    const { until, stopping, signal } = this.#options
    while (this.#mayGoOn()) {
      const key = await this.#claim()
      if (key !== undefined || until === undefined) return key
      await clock.sleep(Math.min(idle, until - clock.now()), stopping ?? signal).catch(() => undefined)
      // At the very start the lists that keys come from may only just have arrived.
      if (this.#progress.requested === 0) await this.#resource.plan(db, new Date(clock.now()))
    }
    return undefined
  }

  async #recordFailure(key: string, error: unknown): Promise<void> {
    const { db, clock } = this.#engine
    const { name } = this.#resource
    if (this.#options.signal?.aborted) {
      this.#advance({ type: 'aborted' })
      return await releaseKey(db, name, key)
    }
    this.#advance({ type: 'failure', error })
    await releaseKey(db, name, key, clock.now())
    if (!mayBeOfOne(error)) throw error
    this.#run.miss(key, error.message)
    this.#run.log.warn({ key, err: error }, error.message)
  }

  fail(error: unknown): void {
    this.#advance({ type: 'fatal', error })
  }

  async close(): Promise<RunResult> {
    const isSound = failureOf(this.#progress) === undefined && !this.#options.signal?.aborted
    await this.#run.endRefusals(isSound).catch((error: unknown) => this.#advance({ type: 'fatal', error }))
    return await this.#run.close(this.#progress.requested, failureOf(this.#progress) ?? this.#interruption())
  }

  /** Why the run ends before its time: a signal cut its requests, or came before the first response. */
  #interruption(): unknown {
    const { signal, stopping } = this.#options
    const ended = signal?.aborted ? signal : this.#run.hasResponse() ? undefined : stopping
    return ended?.reason instanceof InterruptedError ? ended.reason : undefined
  }

  #advance(event: ProgressEvent): void {
    this.#progress = advance(this.#progress, event)
  }

  #mayGoOn(): boolean {
    const { signal, stopping } = this.#options
    const { failure } = this.#progress
    if (signal?.aborted || stopping?.aborted || failure !== undefined || this.#run.massRefusal() !== undefined)
      return false
    return this.#allowance() > 0
  }

  /** How many more keys may be requested. */
  #allowance(): number {
    const { limit, until } = this.#options
    const now = this.#engine.clock.now()
    // By a clock that was set back since, the deadline would not come for as long.
    const isSetBack = now < this.#run.startedAt.getTime() - CLOCK_TOLERANCE_MS
    const beforeDeadline = until === undefined ? undefined : now < until && !isSetBack
    const budget = this.#engine.api.remaining(this.#resource.route)
    const most = limit === Number.POSITIVE_INFINITY ? this.#due : limit
    return allowance(this.#progress, { named: this.#named?.length, limit: most, beforeDeadline, budget })
  }

  async #claim(): Promise<string | undefined> {
    const { db, clock } = this.#engine
    const { name } = this.#resource
    const wanted = this.#named?.[this.#progress.requested]
    this.#advance({ type: 'claim' })
    const key = await (wanted === undefined
      ? claimKey(db, name, clock.now(), this.#run.runId)
      : claimNamed(db, name, wanted, clock.now(), this.#run.runId))
    if (key === undefined) this.#advance({ type: 'no key' })
    return key
  }
}

interface Progress {
  readonly requested: number
  /** Keys whose request is under way. */
  readonly inFlight: number
  /** How many keys the window of the first response has room for; absent: not known yet. */
  readonly room?: number
  /** Keys in a row whose request failed. */
  readonly failures: number
  readonly lastFailure?: unknown
  readonly failure?: unknown
}

export type ProgressEvent =
  | { readonly type: 'claim' }
  /** No key was due. */
  | { readonly type: 'no key' }
  | { readonly type: 'outcome' }
  /** A response showed what is left of the budget window. */
  | { readonly type: 'budget'; readonly left: number }
  | { readonly type: 'aborted' }
  /** A request failed, and another may not. */
  | { readonly type: 'failure'; readonly error: unknown }
  /** Nothing more can be done. */
  | { readonly type: 'fatal'; readonly error: unknown }

export const noProgress: Progress = { requested: 0, inFlight: 0, failures: 0 }

/** After so many keys in a row whose request failed, the service counts as away. */
const patience = 5

/** Requests that one window has for guests (API reference 2.2); for servers that send no budget. */
const assumedWindow = 50

export function advance(progress: Progress, event: ProgressEvent): Progress {
  const { requested, inFlight, failures, failure, room } = progress
  switch (event.type) {
    case 'claim':
      return { ...progress, requested: requested + 1, inFlight: inFlight + 1 }
    case 'no key':
      return { ...progress, requested: requested - 1, inFlight: inFlight - 1 }
    case 'outcome':
      return { ...progress, inFlight: inFlight - 1, failures: 0 }
    case 'budget':
      return { ...progress, room: room ?? requested + event.left - inFlight }
    case 'aborted':
      return { ...progress, inFlight: inFlight - 1 }
    case 'failure': {
      const failed = { ...progress, inFlight: inFlight - 1, failures: failures + 1, lastFailure: event.error }
      return failed.failures >= patience ? { ...failed, failure: failure ?? event.error } : failed
    }
    case 'fatal':
      return { ...progress, failure: failure ?? event.error }
  }
}

interface Bounds {
  /** Keys that are named. */
  readonly named?: number | undefined
  readonly limit?: number | undefined
  /** Whether a deadline bounds the run, and is still ahead. */
  readonly beforeDeadline?: boolean | undefined
  /** Requests that the budget window still allows; null when unknown. */
  readonly budget: number | null
}

/** How many more keys may be requested. Until the first response shows the budget, one. */
export function allowance({ requested, inFlight, room = Infinity }: Progress, bounds: Bounds): number {
  const { named, limit, beforeDeadline, budget } = bounds
  if (beforeDeadline !== undefined) return beforeDeadline ? 1 : 0
  if (named !== undefined) return named - requested
  if (limit !== undefined) return limit - requested
  if (requested === 0) return 1
  // What is under way may have no request in the budget yet: counted twice rather than not at all.
  // Where responses are slow, the next window begins meanwhile: without `room` the run would go on into it, and into all that follow.
  return Math.min(room - requested, budget === null ? assumedWindow - requested : budget - inFlight)
}

/** What ended the run; also where each of a few keys failed: the service is as much away as after many. */
export function failureOf({ requested, failures, failure, lastFailure }: Progress): unknown {
  return failure ?? (requested > 0 && failures === requested ? lastFailure : undefined)
}

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
