import { ApiError, Unauthorized } from '../../api/errors.ts'
import type { Random } from '../../app/clock.ts'
import { RetryableError } from '../../app/errors.ts'
import type { Engine } from '../engine.ts'
import type { ExtractOptions, Worklist } from '../resource.ts'
import { refresh } from '../run/refresh.ts'
import { failedResult, type RunResult } from '../run/run-result.ts'
import { startRunSummary } from '../run/run-summary.ts'
import { createBackoff } from '../schedule/backoff.ts'
import type { LastSaid } from '../validate/guard-actions.ts'
import { openRefusals } from '../worklist/run-refusals.ts'
import { releaseKey } from '../worklist/work-items.ts'
import {
  type Among,
  type Campaign,
  claimOpen,
  countOpen,
  finishCampaign,
  freeLeases,
  latestAnswered,
} from './campaign.ts'

/** How a backfill goes through the keys of a worklist. */
export interface BackfillOptions extends Pick<ExtractOptions, 'signal' | 'onProgress'> {
  readonly campaign: Campaign
  /** Only these keys. */
  readonly only?: readonly string[] | undefined
  /** At most that many keys in this call. */
  readonly limit?: number | undefined
  /** Keys asked for at once. */
  readonly concurrency: number
  readonly random: Random
  /** After an outage: takes the lock again that says that this backfill lives. False when another has it. */
  relock(): Promise<boolean>
}

/** What a backfill came to. */
export interface BackfillResult {
  readonly run: RunResult
  /** Keys of the campaign that are still to ask; null when the database could not say. */
  readonly left: number | null
}

/** After so many keys in a row that could not be asked for, the service or the database is taken to be away. */
const patience = 5
/** How often one key is asked for before it is given up, while others are answered. */
const maxTries = 3
/** Keys taken at once: enough to keep the requests going, few enough to be asked for within their lease. */
const batch = 20
/** How long to wait for keys that other processes have, ms. */
const idle = 5000

/**
 * Asks for every key of the campaign that is not done, in the lowest lane. Each answer is one transaction, and a kill
 * loses what is in flight. Keys that fail come again at the end. While the API or the database is away it waits, however
 * long, and goes on.
 */
export async function walkBackfill(
  resource: Worklist,
  shared: Engine,
  options: BackfillOptions,
): Promise<BackfillResult> {
  // As in any run: the ledger wants its own requests.
  const engine = { ...shared, api: shared.api.withRecorder(() => {}) }
  const { db, clock } = engine
  const { campaign, only, limit = Number.POSITIVE_INFINITY, signal } = options
  const among: Among = { resource: resource.name, since: campaign.since, only }
  const extract: ExtractOptions = { lane: 'backfill', ...(signal ? { signal } : {}) }
  const tally = startRunSummary(resource, engine)
  const { log } = tally
  const said: LastSaid = new Map()
  const refusals = openRefusals(resource, engine, tally)
  const backoff = createBackoff({ first: 1000, longest: 60_000 }, options.random)
  const running = new Map<string, Promise<void>>()
  const asked = new Set<string>()
  const tries = new Map<string, number>()
  const givenUp = new Set<string>()
  /** Taken and not yet asked for; failed and to be asked for again; failed so often that one may ask whose fault it is. */
  let ahead: string[] = []
  const later: string[] = []
  let suspects: { readonly key: string; readonly why: string }[] = []
  let failures = 0
  let answered = 0
  let count: number | null = null
  let failed: unknown

  async function ask(key: string): Promise<void> {
    try {
      const taken = await refresh(resource, engine, tally.runId, key, extract, said)
      tally.add(key, taken)
      await refusals.add(key, taken)
      failures = 0
      answered += 1
      options.onProgress?.({ page: answered, pages: null, records: answered, count })
    } catch (error) {
      if (signal?.aborted) return
      await releaseKey(db, resource.name, key).catch(() => undefined)
      blame(key, error)
    }
  }

  function blame(key: string, error: unknown): void {
    const ofKey = isRefusal(error)
    failures += 1
    if (!(error instanceof RetryableError) && (!ofKey || failures >= patience)) {
      failed = error
      return
    }
    const why = error instanceof Error ? error.message : String(error)
    const times = (tries.get(key) ?? 0) + 1
    tries.set(key, times)
    log.warn({ key, err: error }, why)
    if (ofKey) giveUp(key, why)
    else if (times < maxTries) later.push(key)
    else suspects.push({ key, why })
  }

  function giveUp(key: string, why: string): void {
    givenUp.add(key)
    tally.miss(key, why)
  }

  async function next(): Promise<string | undefined> {
    if (ahead.length === 0 && asked.size < limit) {
      const except = [...later, ...givenUp, ...running.keys()]
      ahead = await claimOpen(db, { ...among, except }, Math.min(batch, limit - asked.size), clock.now())
    }
    const ready = ahead.shift()
    if (ready !== undefined) return ready
    const again = later.shift()
    if (again === undefined) return undefined
    const [free] = await claimOpen(db, { ...among, only: [again] }, 1, clock.now())
    // Answered meanwhile, or another process has it: then it turns up again when that one gives it back.
    return free ?? (await next())
  }

  /** Waits until the API and the database answer; true when they had been away. */
  async function recover(): Promise<boolean> {
    for (let away = false; ; away = true) {
      const wait = backoff.failed()
      if (away) log.warn({}, `trying again in ${Math.round(wait / 1000)} s`)
      await clock.sleep(wait, signal)
      try {
        await askWitness()
        // A database that was away, however shortly, has forgotten the lock, and leases may have run out.
        if (!(await options.relock())) throw new RetryableError('another backfill has taken over; waiting for it')
        await freeLeases(db, resource.name)
        ahead = []
        backoff.worked()
        return away
      } catch (error) {
        if (signal?.aborted || !(error instanceof RetryableError)) throw error
        log.warn({ err: error }, error.message)
      }
    }
  }

  /** Asks for what was answered before; a refusal is an answer too. */
  async function askWitness(): Promise<void> {
    const witness = (await latestAnswered(db, resource.name)) ?? later[0] ?? suspects[0]?.key
    if (witness === undefined) return
    try {
      tally.add(witness, await refresh(resource, engine, tally.runId, witness, extract, said))
    } catch (error) {
      if (!isRefusal(error)) throw error
    }
  }

  /** After failures: finds out whether it was the service or the keys. */
  async function settleBlame(): Promise<void> {
    await Promise.all(running.values())
    const wereAway = await recover()
    for (const { key, why } of suspects) {
      if (wereAway) later.push(key)
      else giveUp(key, why)
    }
    if (wereAway) tries.clear()
    suspects = []
    failures = 0
  }

  async function step(): Promise<boolean> {
    const key = await next()
    if (key !== undefined) {
      asked.add(key)
      running.set(
        key,
        ask(key).finally(() => running.delete(key)),
      )
      if (running.size >= options.concurrency) await Promise.race(running.values())
      return true
    }
    if (running.size > 0) {
      await Promise.race(running.values())
      return true
    }
    if (asked.size >= limit || suspects.length > 0) return suspects.length > 0
    const { keys } = await countOpen(db, { ...among, except: [...givenUp] })
    if (keys > 0) await clock.sleep(idle, signal)
    return keys > 0
  }

  try {
    count = Math.min(limit, (await countOpen(db, among)).keys)
    for (let more = true; more; ) {
      signal?.throwIfAborted()
      if (failed !== undefined || refusals.doubt() !== undefined) break
      if (failures >= patience || suspects.length > 0) await settleBlame()
      more = await step().catch(async (error: unknown) => {
        if (signal?.aborted || !(error instanceof RetryableError)) throw error
        log.warn({ err: error }, error.message)
        await settleBlame()
        return true
      })
    }
  } catch (error) {
    failed = error
  }
  await Promise.all(running.values())
  return await conclude()

  async function conclude(): Promise<BackfillResult> {
    try {
      await refusals.close(failed === undefined)
      await freeLeases(db, resource.name)
      const { keys: left } = await countOpen(db, { ...among, only: undefined })
      if (left === 0) await finishCampaign(db, campaign, new Date(clock.now()))
      return { run: await tally.close(asked.size, failed), left }
    } catch (error) {
      log.warn({ err: error }, 'the end could not be written down')
      return { run: failedResult(resource.name, failed ?? error), left: null }
    }
  }
}

/** The API answers, but not about this key. */
function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && !(error instanceof Unauthorized)
}
