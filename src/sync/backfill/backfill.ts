import { isOfRequest } from '../../api/errors.ts'
import type { Random } from '../../base/clock.ts'
import { messageOf, RetryableError, reach } from '../../base/errors.ts'
import type { ExtractOptions, Worklist } from '../declare/resource.ts'
import { endsWork } from '../run/admission.ts'
import type { Engine } from '../run/engine.ts'
import { ingest } from '../run/ingest.ts'
import { failedResult, type RunResult } from '../run/run-result.ts'
import { WorklistRun } from '../run/worklist-run.ts'
import { createBackoff } from '../schedule/backoff.ts'
import { releaseKey } from '../worklist/work-items.ts'
import {
  type BackfillEvent,
  type BackfillState,
  type BackfillStep,
  initialState,
  nextStep,
  reduce,
} from './backfill-state.ts'
import {
  type Campaign,
  claimOpen,
  countOpen,
  finishCampaign,
  freeLeases,
  latestAnswered,
  type OpenKeys,
  setSince,
} from './campaign.ts'

/** How a backfill goes through the keys of a worklist. */
interface BackfillOptions extends Pick<ExtractOptions, 'signal' | 'onProgress'> {
  readonly campaign: Campaign
  /** Only these keys. */
  readonly only?: readonly string[] | undefined
  /** At most that many keys in this call. */
  readonly limit?: number | undefined
  /** Requests in flight at once. */
  readonly concurrency: number
  readonly random: Random
  /** After an outage: takes the lock again that says that this backfill lives. False when another has it. */
  relock(): Promise<boolean>
}

export interface BackfillResult {
  readonly run: RunResult
  /** Keys of the campaign that are still open; null when the database could not say. */
  readonly left: number | null
}

/** How long to wait for keys that other processes hold, ms. */
const idle = 5000

/**
 * Requests every open key of the campaign, in the lowest lane. Each response is one transaction, and a kill loses what is
 * in flight. Keys that fail come again at the end. While the API or the database is away it waits, however long, and
 * goes on.
 * @throws what ends all work
 */
export async function walkBackfill(
  resource: Worklist,
  shared: Engine,
  options: BackfillOptions,
): Promise<BackfillResult> {
  const campaign = await begunByNow(shared, options.campaign)
  const walk = openWalk(resource, shared, { ...options, campaign })
  const { engine, run, open, signal } = walk
  let error: unknown
  try {
    walk.total = Math.min(walk.state.limit, (await countOpen(engine.db, open)).keys)
    for (let more = true; more; ) {
      signal?.throwIfAborted()
      const step = run.massRefusal() === undefined ? nextStep(walk.state) : ({ type: 'end' } as const)
      more = await perform(walk, step).catch((failure: unknown) => {
        if (step.type === 'recover' || signal?.aborted || !(failure instanceof RetryableError)) throw failure
        run.log.warn({ err: failure }, failure.message)
        dispatch(walk, { type: 'interrupted' })
        return true
      })
    }
  } catch (failure) {
    error = failure
  }
  await Promise.all(walk.running.values())
  const ended = error ?? walk.state.failure?.error
  if (endsWork(ended)) throw ended
  return await close(walk, campaign, ended)
}

/** A campaign that a clock which was ahead began would count no response as done until then. */
async function begunByNow({ db, clock }: Engine, campaign: Campaign): Promise<Campaign> {
  const now = new Date(clock.now())
  return campaign.since > now ? await setSince(db, campaign, now) : campaign
}

interface Walk {
  readonly resource: Worklist
  readonly engine: Engine
  readonly options: BackfillOptions
  readonly signal: AbortSignal | undefined
  readonly open: OpenKeys
  readonly run: WorklistRun
  readonly backoff: ReturnType<typeof createBackoff>
  /** The requests in flight, by key. None of them rejects. */
  readonly running: Map<string, Promise<void>>
  /** Keys to request; null until they are counted. */
  total: number | null
  state: BackfillState
}

function openWalk(resource: Worklist, shared: Engine, options: BackfillOptions): Walk {
  // As in any run: the ledger counts the requests of this one only.
  const engine = { ...shared, api: shared.api.withRecorder(() => {}) }
  const { campaign, only, limit = Number.POSITIVE_INFINITY, concurrency, random, signal } = options
  return {
    resource,
    engine,
    options,
    signal,
    open: { resource: resource.name, since: campaign.since, only },
    run: new WorklistRun(resource, engine),
    backoff: createBackoff({ first: 1000, longest: 60_000 }, random),
    running: new Map(),
    total: null,
    state: initialState({ limit, concurrency }),
  }
}

function dispatch(walk: Walk, event: BackfillEvent): void {
  walk.state = reduce(walk.state, event)
}

/** Does one step. Returns false at the end. */
async function perform(walk: Walk, step: BackfillStep): Promise<boolean> {
  const { engine, open, running } = walk
  const { db, clock } = engine
  switch (step.type) {
    case 'claim':
      dispatch(walk, {
        type: 'claimed',
        keys: await claimOpen(db, { ...open, except: step.except }, step.limit, clock.now()),
      })
      return true
    case 'request': {
      const isFree = !step.isRetry || (await claimOpen(db, { ...open, only: [step.key] }, 1, clock.now())).length > 0
      if (isFree) startRequest(walk, step.key)
      else dispatch(walk, { type: 'retry-dropped' })
      return true
    }
    case 'wait':
      await Promise.race(running.values())
      return true
    case 'recover':
      await Promise.all(running.values())
      dispatch(walk, { type: 'recovered', wasAway: await recover(walk) })
      return true
    case 'count': {
      const { keys } = await countOpen(db, { ...open, except: step.except })
      if (keys > 0) await clock.sleep(idle, walk.signal)
      dispatch(walk, { type: 'waited' })
      return keys > 0
    }
    case 'end':
      return false
  }
}

function startRequest(walk: Walk, key: string): void {
  dispatch(walk, { type: 'requested', key })
  walk.running.set(
    key,
    request(walk, key).finally(() => walk.running.delete(key)),
  )
}

async function request(walk: Walk, key: string): Promise<void> {
  const { resource, engine, run, total, signal, options } = walk
  try {
    await run.add(key, await ingest(run.contextOf(key), extractOptions(walk)))
    dispatch(walk, { type: 'response', key })
    const { responses } = walk.state
    options.onProgress?.({ page: responses, pages: null, records: responses, count: total })
  } catch (error) {
    if (signal?.aborted) return
    await releaseKey(engine.db, resource.name, key).catch(() => undefined)
    const cause = error instanceof RetryableError ? 'temporary' : isOfRequest(error) ? 'refused' : 'fatal'
    dispatch(walk, { type: 'failed', key, cause, error })
    if (!walk.state.failure) run.log.warn({ key, err: error }, messageOf(error))
  }
}

function extractOptions({ signal }: Walk): ExtractOptions {
  return { lane: 'backfill', ...(signal ? { signal } : {}) }
}

/** Waits until the API and the database respond; true when they had been away. */
async function recover(walk: Walk): Promise<boolean> {
  const { resource, engine, run, backoff, signal, options } = walk
  for (let wasAway = false; ; wasAway = true) {
    const wait = backoff.failed()
    if (wasAway) run.log.warn({}, `trying again in ${Math.round(wait / 1000)} s`)
    await engine.clock.sleep(wait, signal)
    try {
      await probe(walk)
      // A database that was away, however shortly, has lost the lock, and leases may have run out.
      if (!(await options.relock())) throw new RetryableError('another backfill has taken over; waiting for it')
      await freeLeases(engine.db, resource.name)
      backoff.worked()
      reach(`recovery: a backfill goes on${wasAway ? ' after the API or database was away' : ''}`)
      return wasAway
    } catch (error) {
      if (signal?.aborted || !(error instanceof RetryableError)) throw error
      run.log.warn({ err: error }, error.message)
    }
  }
}

/** Requests a key that had a response before; a refusal is a response too. */
async function probe(walk: Walk): Promise<void> {
  const { resource, engine, run, state } = walk
  const key = (await latestAnswered(engine.db, resource.name)) ?? state.retries[0] ?? state.suspects[0]?.key
  if (key === undefined) return
  try {
    run.addProbe(key, await ingest(run.contextOf(key), extractOptions(walk)))
  } catch (error) {
    if (error instanceof RetryableError || !isOfRequest(error)) throw error
  }
}

async function close(walk: Walk, campaign: Campaign, error: unknown): Promise<BackfillResult> {
  const { resource, engine, run, open, state } = walk
  const { db, clock } = engine
  try {
    for (const { key, reason } of state.givenUp) run.miss(key, reason)
    await run.endRefusals(error === undefined)
    await freeLeases(db, resource.name)
    const { keys: left } = await countOpen(db, { ...open, only: undefined })
    if (left === 0) await finishCampaign(db, campaign, new Date(clock.now()))
    return { run: await run.close(state.requested, error), left }
  } catch (failure) {
    run.log.error({ err: error ?? failure }, 'failed, and the end could not be recorded')
    return { run: failedResult(resource.name, error ?? failure), left: null }
  }
}
