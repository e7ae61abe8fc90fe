import { FatalError } from '../../../base/errors.ts'
import type { Lock } from '../../../db/database.ts'
import { walkBackfill } from '../../../sync/backfill/backfill.ts'
import {
  beginCampaign,
  countOpen,
  finishCampaign,
  freeLeases,
  latestCampaign,
  setSince,
  unfinishedCampaign,
} from '../../../sync/backfill/campaign.ts'
import type { Price } from '../../../sync/backfill/plan.ts'
import type { Resource, Worklist } from '../../../sync/declare/resource.ts'
import { isAccepted } from '../../../sync/ledger/ledger.ts'
import { endsWork } from '../../../sync/run/admission.ts'
import type { Engine } from '../../../sync/run/engine.ts'
import { runResource } from '../../../sync/run/run-resource.ts'
import { failedResult, type RunResult } from '../../../sync/run/run-result.ts'
import { createBackoff } from '../../../sync/schedule/backoff.ts'
import { addKeys } from '../../../sync/worklist/work-items.ts'
import type { Context } from '../../context.ts'
import { keysNamed } from '../../named-keys.ts'
import { estimatePages, estimateWorklist, keyCount, showPrice, sourceOf, type Wanted } from './backfill-estimate.ts'

export interface Backfilled {
  readonly run: RunResult
  /** Keys that are left; null: not known. */
  readonly left: number | null
  readonly price: Price
}

/**
 * Fetches all keys of a worklist, or the named ones.
 * @param locking the lock that keeps other backfills of the same resource out, and how to take it again
 */
export async function backfillKeys(
  resource: Worklist,
  engine: Engine,
  wanted: Wanted,
  locking: { readonly lock: Lock; readonly takeLock: () => Promise<Lock | null> },
  context: Context,
): Promise<Backfilled> {
  const { db, clock } = engine
  const { app, signal, progress } = context
  // No other backfill runs, because of the lock: leases that are held were left by a dead one.
  await freeLeases(db, resource.name)
  await fillWorklist(resource, engine, context)
  const only = wanted.names.length > 0 ? await keysNamed(resource, engine, wanted.names) : undefined
  if (only) await addKeys(db, resource.name, only)
  const campaign = await campaignOf(resource, engine, wanted)
  const price = await estimateWorklist(db, resource, { ...wanted, since: campaign.since, only, unknown: [] }, app)
  showPrice(price, context)
  progress.begin(resource.name)
  let held: Lock | null = locking.lock
  const { run, left } = await walkBackfill(resource, engine, {
    campaign,
    only,
    limit: wanted.limit,
    concurrency: app.config.concurrency,
    random: app.random,
    signal,
    onProgress: (seen) => progress.seen(resource.name, seen, 'keys'),
    relock: async () => {
      await held?.release()
      held = await locking.takeLock()
      return held !== null
    },
  })
  const seconds = Math.round((clock.now() - campaign.startedAt.getTime()) / 1000)
  app.log.info({ resource: resource.name, seconds }, 'backfill ended')
  return { run, left, price }
}

export async function backfillPages(
  resource: Resource,
  engine: Engine,
  wanted: Wanted,
  context: Context,
): Promise<Backfilled> {
  const { db, clock } = engine
  const price = await estimatePages(db, resource, context.app)
  showPrice(price, context)
  context.progress.begin(resource.name)
  const { name } = resource
  const now = new Date(clock.now())
  const campaign =
    (wanted.restart ? undefined : await unfinishedCampaign(db, name)) ??
    (await beginCampaign(db, { resource: name, since: now, startedAt: now, keys: price.keys }))
  const run = await walkPages(resource, engine, context)
  const isDone = isAccepted(run.status)
  if (isDone) await finishCampaign(db, campaign, new Date(clock.now()))
  return { run, left: isDone ? 0 : null, price }
}

/** The campaign to continue, or a new one. */
async function campaignOf(resource: Worklist, { db, clock, log }: Engine, { since, restart, names }: Wanted) {
  const now = new Date(clock.now())
  const latest = await latestCampaign(db, resource.name)
  // Named keys are fetched beside a finished campaign, without a new one for all keys.
  if (latest?.finishedAt && names.length > 0 && !restart && !since) return latest
  const unfinished = restart ? undefined : await unfinishedCampaign(db, resource.name)
  if (unfinished) {
    log.info({ resource: resource.name, since: unfinished.since.toISOString() }, 'continuing the unfinished backfill')
    return since ? await setSince(db, unfinished, since) : unfinished
  }
  const begin = since ?? now
  const { keys } = await countOpen(db, { resource: resource.name, since: begin })
  return await beginCampaign(db, { resource: resource.name, since: begin, startedAt: now, keys })
}

/** Puts the keys on the worklist; when there are none, first syncs the resource that lists them. */
async function fillWorklist(resource: Worklist, engine: Engine, context: Context): Promise<void> {
  const { db, clock, log } = engine
  const { signal } = context
  const source = sourceOf(resource)
  const backoff = createBackoff({ first: 1000, longest: 60_000 }, context.app.random)
  await resource.plan(db, new Date(clock.now()))
  if ((await keyCount(db, resource)) > 0) return
  log.info({ resource: resource.name }, `the worklist is empty: syncing ${source.name} first`)
  for (;;) {
    signal.throwIfAborted()
    const run = await runResource(source, engine, { signal })
    if (run.status === 'failed' && !run.temporary) throw new FatalError(`${source.name}: ${run.error}`)
    await resource.plan(db, new Date(clock.now()))
    if (run.observedAt !== null && run.status !== 'rejected') return
    if ((await keyCount(db, resource)) > 0) return
    const wait = backoff.failed()
    log.warn({ resource: source.name }, `${run.error ?? run.status}; trying again in ${Math.round(wait / 1000)} s`)
    await clock.sleep(wait, signal)
  }
}

/** One walk from the first page to the last; after an outage again from the start, since unchanged pages write nothing. */
async function walkPages(resource: Resource, engine: Engine, context: Context): Promise<RunResult> {
  const { clock, log } = engine
  const { app, signal, progress } = context
  const backoff = createBackoff({ first: 1000, longest: 60_000 }, app.random)
  for (;;) {
    const run = await runResource(resource, engine, {
      walk: true,
      lane: 'backfill',
      signal,
      onProgress: (seen) => progress.seen(resource.name, seen),
    }).catch((error: unknown) => {
      if (endsWork(error)) throw error
      return failedResult(resource.name, error)
    })
    if (run.status !== 'failed' || !run.temporary || signal.aborted) return run
    const wait = backoff.failed()
    log.warn({ resource: resource.name }, `${run.error}; trying again in ${Math.round(wait / 1000)} s`)
    await clock.sleep(wait, signal).catch(() => undefined)
    if (signal.aborted) return run
  }
}
