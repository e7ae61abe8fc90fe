import { once } from 'node:events'
import PQueue from 'p-queue'
import type { Random } from '../../base/clock.ts'
import { messageOf, RetryableError } from '../../base/errors.ts'
import { beforeOthers } from '../../db/database.ts'
import { isWorklist, type Resource, type Worklist } from '../declare/resource.ts'
import { endsWork } from '../run/admission.ts'
import type { Engine } from '../run/engine.ts'
import { type RunOptions, runResource } from '../run/run-resource.ts'
import { failedResult, type RunResult, skippedResult } from '../run/run-result.ts'
import { createBackoff } from './backoff.ts'
import { nextTick, periodSeconds, type Ticker } from './ticker.ts'

export interface Scheduled {
  readonly resource: Resource | Worklist
  /** Cron expression in UTC. */
  readonly expression: string
}

interface ScheduleOptions {
  readonly scheduled: readonly Scheduled[]
  readonly ticker: Ticker
  readonly random: Random
  /** Keys of a worklist requested at once. */
  readonly concurrency: number
  /** Nothing new begins once it is aborted; requests under way go on. */
  readonly stopping: AbortSignal
  /** Ends requests that are under way. */
  readonly signal: AbortSignal
  readonly onRun?: (result: RunResult) => void
  /** Called when nothing may be written any more, with the reason: `stopping` is to be aborted. */
  readonly onRefused?: (error: unknown) => void
}

/** A schedule of every minute, the finest that crontabs know, means: as often as the API has something new. */
const CONTINUOUS_SECONDS = 60
/** A worklist whose schedule is finer than this, in seconds, is worked on all the time. */
const WITHOUT_PAUSE_SECONDS = 300
/** Seconds after which a run is tried again after a failure: at first, and at most; for a live poll, its own pace. */
const FIRST_WAIT_SECONDS = 5
const LONGEST_WAIT_SECONDS = 300
const LONGEST_LIVE_WAIT_SECONDS = 60

/**
 * Runs every resource when it is due, until `stopping` is aborted and what was under way has ended. Never throws: whatever
 * the API or the database does, it tries again, later and later, and the time without observation is in the ledger.
 */
export async function runSchedule(engine: Engine, options: ScheduleOptions): Promise<void> {
  // Whole responses of several MB go one at a time: the memory that each takes would add up.
  const refreshes = new PQueue({ concurrency: 1 })
  await Promise.all(
    options.scheduled.map((one) => {
      const { resource } = one
      const start = () => runResource(resource, engine, optionsOf(one, options, engine.clock.now()))
      const run = resource.lane === 'live' ? (beforeOthers<RunResult>).bind(undefined, start) : start
      if (resource.lane === 'live' || isWorklist(resource)) return runWhenDue(engine, one, options, run)
      const inTurn = async () => (options.stopping.aborted ? skippedResult(resource.name) : await run())
      return runWhenDue(engine, one, options, () => refreshes.add(inTurn))
    }),
  )
}

/** Seconds between two observations that a schedule promises: what coverage is measured against. */
export function expectedSeconds({ resource, expression }: Scheduled, now: number): number {
  const period = periodSeconds(expression, now)
  return isContinuous(resource, period) ? Math.min(period, resource.cacheSeconds) : period
}

function isContinuous(resource: Resource | Worklist, period: number): boolean {
  return !isWorklist(resource) && resource.lane === 'live' && period <= CONTINUOUS_SECONDS
}

async function runWhenDue(
  engine: Engine,
  one: Scheduled,
  options: ScheduleOptions,
  run: () => Promise<RunResult>,
): Promise<void> {
  const { resource, expression } = one
  const { clock, log } = engine
  const { stopping, random, onRun } = options
  const live = resource.lane === 'live'
  const backoff = createBackoff(
    { first: FIRST_WAIT_SECONDS * 1000, longest: (live ? LONGEST_LIVE_WAIT_SECONDS : LONGEST_WAIT_SECONDS) * 1000 },
    random,
  )
  // A tick during a run makes the next run due at once, and so does one that was missed. Of a long sleep there are thousands.
  let tick = new AbortController()
  const onMissed = (at: Date) => {
    if (tick.signal.aborted) return
    log.warn({ resource: resource.name, due: at.toISOString() }, 'a run was missed: the machine slept or was busy')
    tick.abort()
  }
  const stop = options.ticker(resource.name, expression, () => tick.abort(), onMissed)
  try {
    while (!stopping.aborted) {
      tick = new AbortController()
      const result = await run().catch((error: unknown) => {
        const message = messageOf(error)
        log.error({ resource: resource.name, err: error }, message)
        // What a run throws comes of the database; all else is in its result.
        if (endsWork(error)) options.onRefused?.(error)
        if (error instanceof RetryableError) engine.outages?.note(resource.name, clock.now(), message)
        return failedResult(resource.name, error)
      })
      onRun?.(result)
      if (result.status === 'failed' || isRefused(one, result) || isTooEarly(one, result, clock.now())) {
        await pause(clock.sleep(backoff.failed(), stopping))
        continue
      }
      backoff.worked()
      const wait = restOf(one, result, clock.now(), random)
      if (wait !== 'until the next tick') await pause(clock.sleep(wait, stopping))
      else if (!tick.signal.aborted) await pause(once(tick.signal, 'abort', { signal: stopping }))
    }
  } finally {
    stop()
  }
}

function optionsOf({ resource, expression }: Scheduled, options: ScheduleOptions, now: number): RunOptions {
  const { signal, stopping, concurrency } = options
  const isEndless = isWorklist(resource) && periodSeconds(expression, now) < WITHOUT_PAUSE_SECONDS
  const until = isEndless ? { until: nextTick(expression, now) } : {}
  return { signal, stopping, concurrency, lane: resource.lane, ...until }
}

/**
 * A response dated before the last one, which was dated too late or was newer: any of the next may be worth more, and the
 * next tick of a coarse schedule is far.
 */
function isTooEarly({ resource, expression }: Scheduled, { status }: RunResult, now: number): boolean {
  return status === 'stale' && !isContinuous(resource, periodSeconds(expression, now))
}

/** The API refuses many keys at once: requests go on only after a pause. */
function isRefused({ resource }: Scheduled, { status }: RunResult): boolean {
  return isWorklist(resource) && status === 'rejected'
}

/** How long to rest after a run that did not fail, ms. */
function restOf({ resource, expression }: Scheduled, result: RunResult, now: number, random: Random) {
  const period = periodSeconds(expression, now)
  if (isWorklist(resource)) return period < WITHOUT_PAUSE_SECONDS ? 0 : 'until the next tick'
  if (!isContinuous(resource, period)) return 'until the next tick'
  const cache = resource.cacheSeconds * 1000
  // Another process has just sent the request; its response expires in a while.
  if (result.status === 'skipped') return cache / 2
  // The header counts whole seconds, and a little jitter keeps many clients from polling at the same instant.
  const jitter = 250 + 500 * random()
  const renewal = (result.renewAt ?? now + cache) - now
  // One that has expired while this one was loaded is asked for at once. A copy that will not expire for ages tells nothing: its own
  // time to live does.
  return (renewal <= 2 * cache ? Math.max(0, renewal) : cache) + jitter
}

/** Waits for the promise; an aborted wait is no failure. */
async function pause(rest: Promise<unknown>): Promise<void> {
  await rest.catch(() => undefined)
}
