import { and, eq } from 'drizzle-orm'
import { ASSUMED_LIMIT } from '../../../api/http/response-headers.ts'
import type { App } from '../../../app/app.ts'
import { chooseCredential } from '../../../app/stored-credential.ts'
import { FatalError } from '../../../base/errors.ts'
import { readOnlyReason } from '../../../db/access.ts'
import type { Database, Lock, Sql } from '../../../db/database.ts'
import { anyOf, typed } from '../../../db/typed.ts'
import { resources } from '../../../resources/index.ts'
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
import { lastLimit, type Price, priceOf } from '../../../sync/backfill/plan.ts'
import { isWorklist, type Resource, type Worklist } from '../../../sync/declare/resource.ts'
import { isAccepted, lastAccepted } from '../../../sync/ledger/ledger.ts'
import { endsWork } from '../../../sync/run/admission.ts'
import type { Engine } from '../../../sync/run/engine.ts'
import { runResource } from '../../../sync/run/run-resource.ts'
import { failedResult, type RunResult } from '../../../sync/run/run-result.ts'
import { createBackoff } from '../../../sync/schedule/backoff.ts'
import { workItem } from '../../../sync/tables/ledger.ts'
import { addKeys } from '../../../sync/worklist/work-items.ts'
import { type Context, rolledBack, writeResult } from '../../context.ts'
import { exitCode } from '../../exit-codes.ts'
import { keysKnown, keysNamed } from '../../named-keys.ts'
import { bytesText, durationText } from '../../output/units.ts'

export interface Wanted {
  readonly limit: number | undefined
  readonly names: readonly string[]
  readonly since: Date | undefined
  readonly restart: boolean
}

/** Records of one page, as observed; the API reference (4.1) does not say. */
const pageSize = 20

/** The resource that lists the keys of a worklist. */
function sourceOf({ keySource }: Worklist): Resource {
  const found = resources.find((candidate) => candidate.name === keySource)
  if (!found || isWorklist(found)) throw new FatalError(`there is no resource ${keySource}`)
  return found
}

async function keyCount(sql: Sql, { name }: Worklist): Promise<number> {
  return await typed(sql).$count(workItem, eq(workItem.resource, name))
}

/**
 * Estimates the fetch of the keys that are not done.
 * @param unknown names that take a request of their own to resolve
 */
async function estimateWorklist(
  sql: Sql,
  resource: Worklist,
  { since, only, limit, unknown, isReadOnly = false }: Pick<Wanted, 'limit'> & Meant,
  app: App,
): Promise<Price> {
  const assumptions: string[] = []
  const isEmpty = only === undefined && (await keyCount(sql, resource)) === 0
  const guess = estimateOf(resource)
  if (isEmpty) {
    const why = `${sourceOf(resource).name} was never synced, it is synced first`
    const whyReadOnly = 'the worklist is empty, and this database is read-only'
    assumptions.push(`${guess.keys} ${resource.name}: ${isReadOnly ? whyReadOnly : why}`)
  } else if (isReadOnly) assumptions.push('the worklist is as the last sync left it: the database is read-only')
  if (only && !isReadOnly) await addKeys(sql, resource.name, only)
  const unlisted = only && isReadOnly ? await countUnlisted(sql, resource.name, only) : 0
  const open = isEmpty
    ? { keys: guess.keys, fresh: guess.keys }
    : await countOpen(sql, { resource: resource.name, since, only })
  if (unknown.length > 0) assumptions.push(`the API knows ${unknown.join(', ')}`)
  const keys = Math.min(limit ?? Number.POSITIVE_INFINITY, open.keys + unlisted + unknown.length)
  const fresh = Math.min(keys, open.fresh + unlisted + unknown.length)
  const requests = keys + (isEmpty ? 1 : 0) + unknown.length
  const perMinute = await limitOf(sql, resource.route, app, assumptions)
  return await priceOf(sql, resource, { keys, fresh, again: keys - fresh, requests, perMinute, assumptions }, guess)
}

interface Meant {
  readonly since: Date
  readonly only: readonly string[] | undefined
  readonly unknown: readonly string[]
  /** Nothing may be written: keys that are not on the worklist are counted instead of listed. */
  readonly isReadOnly?: boolean
}

async function countUnlisted(sql: Sql, resource: string, keys: readonly string[]): Promise<number> {
  const named = [...new Set(keys)]
  const isListed = and(eq(workItem.resource, resource), anyOf(workItem.key, named))
  return named.length - (await typed(sql).$count(workItem, isListed))
}

/** Estimates a walk through all pages. Changes of known records are not counted: they cannot be foreseen. */
async function estimatePages(sql: Sql, resource: Resource, app: App): Promise<Price> {
  const guess = estimateOf(resource)
  const currentKeys = (await lastAccepted(sql, resource.name))?.currentKeys ?? undefined
  const assumptions = [`${pageSize} records on a page`]
  if (currentKeys === undefined) assumptions.push(`${guess.keys} ${resource.name}: they were never synced`)
  const keys = currentKeys ?? guess.keys
  const requests = Math.ceil(keys / pageSize)
  const perMinute = await limitOf(sql, resource.route, app, assumptions)
  const fresh = currentKeys === undefined ? keys : 0
  return await priceOf(sql, resource, { keys, fresh, again: 0, requests, perMinute, assumptions }, guess)
}

/** Prints the estimate, before the work begins. */
function showPrice(price: Price, context: Context, isResult = false): void {
  if (!isResult && (context.flags.json || context.flags.quiet)) return
  const { resource, keys, requests, minutes, rows, bytes, assumptions } = price
  const number = (value: number) => value.toLocaleString('en-US')
  const text =
    `${resource}: ${number(keys)} to fetch in ${number(requests)} requests, about ${durationText(60 * minutes)}; ` +
    `about ${number(rows)} rows, ${bytesText(Math.ceil(bytes / 1e6) * 1e6)}\n${assumptions.map((assumption) => `  assumed: ${assumption}\n`).join('')}`
  writeResult(context, price, text)
}

/** Requests per minute: of the latest rate-limit headers, else what the API grants guests and tokens (API reference 2.2). */
async function limitOf(sql: Sql, route: string, { config }: App, assumptions: string[]): Promise<number> {
  const guest = isGuest(config)
  const known = await lastLimit(sql, { route, server: new URL(config.baseUrl).origin, guest })
  if (known !== undefined) return known
  const limit = guest ? ASSUMED_LIMIT.guest : ASSUMED_LIMIT.token
  assumptions.push(`${limit} requests a minute, what the API grants ${guest ? 'guests' : 'a token'}`)
  return limit
}

function isGuest(config: App['config']): boolean {
  try {
    return chooseCredential(config) === null
  } catch {
    // A stored credential that cannot be used is not sent either.
    return true
  }
}

function estimateOf({ name, backfill }: Resource | Worklist) {
  if (!backfill) throw new FatalError(`${name} declares no backfill`)
  return backfill
}

/** `backfill --dry-run`: prints the estimate and changes nothing. Returns the exit code. */
export async function dryRun(
  resource: Resource | Worklist,
  wanted: Wanted,
  db: Database,
  context: Context,
): Promise<number> {
  // Planning writes; a read-only database is estimated by the worklist of the last sync.
  const isReadOnly = (await readOnlyReason(db)) !== null
  const price = !isWorklist(resource)
    ? await estimatePages(db, resource, context.app)
    : isReadOnly
      ? await estimateWanted(db, resource, { ...wanted, isReadOnly }, context.app)
      : await rolledBack(db, async (sql) => {
          await resource.plan(sql, new Date(context.app.clock.now()))
          return await estimateWanted(sql, resource, wanted, context.app)
        })
  showPrice(price, context, true)
  return exitCode.done
}

async function estimateWanted(
  sql: Sql,
  resource: Worklist,
  wanted: Wanted & { readonly isReadOnly?: boolean },
  app: App,
): Promise<Price> {
  const { keys, unknown } = await keysKnown(resource, sql, wanted.names)
  const unfinished = wanted.restart ? undefined : await unfinishedCampaign(sql, resource.name)
  const since = wanted.since ?? unfinished?.since ?? new Date(app.clock.now())
  const only = wanted.names.length > 0 ? keys : undefined
  return await estimateWorklist(sql, resource, { ...wanted, since, only, unknown }, app)
}

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
