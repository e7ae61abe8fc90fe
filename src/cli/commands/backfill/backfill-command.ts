import { type App, migrateDatabase, openDatabase } from '../../../app/app.ts'
import { engineOf, openSharedApi } from '../../../app/app-api.ts'
import { UsageError } from '../../../app/errors.ts'
import { wholeNumber } from '../../../app/whole-number.ts'
import type { Database } from '../../../db/database.ts'
import { readHolder } from '../../../db/embedded/folder-lock.ts'
import { resourcesNamed } from '../../../resources/index.ts'
import { type BackfillResult, walkBackfill } from '../../../sync/backfill/backfill.ts'
import {
  beginCampaign,
  countOpen,
  finishCampaign,
  freeLeases,
  latestCampaign,
  listKeys,
  setSince,
  unfinishedCampaign,
} from '../../../sync/backfill/campaign.ts'
import type { Price } from '../../../sync/backfill/plan.ts'
import type { Engine } from '../../../sync/engine.ts'
import { isWorklist, type Resource, type Worklist } from '../../../sync/resource.ts'
import { isAccepted, type RunResult, skippedResult } from '../../../sync/run/run-result.ts'
import { type Context, exitCode } from '../../context.ts'
import { keysNamed } from '../sync/named-keys.ts'
import { exitCodeOf, summary, withoutVerdict } from '../sync/sync-command.ts'
import { dryRun } from './backfill-dry-run.ts'
import { finishedAt, tellFinished } from './backfill-finished.ts'
import { priceOfPages, priceOfWorklist, showPrice, type Wanted } from './backfill-price.ts'
import { fillWorklist, walkPages } from './backfill-runs.ts'

/** Flags of `backfill`. */
export interface BackfillFlags {
  readonly dryRun?: boolean
  readonly limit?: string
  readonly only?: readonly string[]
  readonly since?: string
  readonly restart?: boolean
}

/** What can be asked for as a whole. */
const backfilled = ['guilds', 'players', 'items', 'recipes']

/** `backfill <resource>`: says what it takes, then asks for everything there is. Returns the exit code. */
export async function backfillCommand(
  name: string | undefined,
  flags: BackfillFlags,
  context: Context,
): Promise<number> {
  const { app } = context
  const [resource] = name !== undefined && backfilled.includes(name) ? resourcesNamed([name]) : []
  if (!resource) {
    throw new UsageError(`backfill wants one of ${backfilled.join(', ')}${name === undefined ? '' : `, found ${name}`}`)
  }
  const wanted = wantedOf(resource, flags, app)
  if (await isBackfilling(resource, app)) return tellSkipped(resource, context)
  // A sync of the same that finds the embedded database in use need not wait: this one does its work.
  const db = await openDatabase(app, [holdOf(resource), `sync ${resource.name}`], { frugal: true })
  try {
    await migrateDatabase(db, app)
    const finished = await finishedAt(db, resource, wanted)
    if (finished) return tellFinished(resource, finished, context, flags.dryRun === true)
    if (flags.dryRun) return await dryRun(resource, wanted, db, context)
    const lock = await db.tryLock(lockOf(resource))
    if (!lock) return tellSkipped(resource, context)
    const api = openSharedApi(app, db)
    try {
      const engine = engineOf(app, db, api)
      const { run, left, price } = isWorklist(resource)
        ? await backfillKeys(resource, engine, wanted, lock, context)
        : await backfillPages(resource, engine, wanted, context)
      return tellEnd({ run, left, price }, context)
    } finally {
      await api.close()
    }
  } finally {
    context.progress.end()
    await db.close()
  }
}

/** @throws UsageError when a flag is wrong, or means nothing for this resource */
function wantedOf(resource: Resource | Worklist, flags: BackfillFlags, app: App): Wanted {
  const { limit, only, since, restart } = flags
  if (!isWorklist(resource) && (limit ?? only ?? since) !== undefined) {
    throw new UsageError(`${resource.name} is a walk over pages from first to last: it takes no limit, only or since`)
  }
  const instant = since === undefined ? undefined : Date.parse(since)
  if (instant !== undefined && !(instant <= app.clock.now())) {
    throw new UsageError(`--since wants an instant that is over, such as 2026-05-01T08:00:00Z, found ${since}`)
  }
  return {
    limit: limit === undefined ? undefined : wholeNumber('--limit', limit),
    names: only ?? [],
    since: instant === undefined ? undefined : new Date(instant),
    restart: restart === true,
  }
}

type Ended = Pick<BackfillResult, 'run' | 'left'> & { readonly price: Price }
type Held = NonNullable<Awaited<ReturnType<Database['tryLock']>>>

async function backfillKeys(
  resource: Worklist,
  engine: Engine,
  wanted: Wanted,
  lock: Held,
  context: Context,
): Promise<Ended> {
  const { db, clock } = engine
  const { app, signal, progress } = context
  // The lock says that no other backfill lives: what one holds was left by a dead one.
  await freeLeases(db, resource.name)
  await fillWorklist(resource, engine, context)
  const only = wanted.names.length > 0 ? await keysNamed(resource, engine, wanted.names) : undefined
  if (only) await listKeys(db, resource.name, only)
  const campaign = await campaignOf(resource, engine, wanted)
  const price = await priceOfWorklist(db, resource, { ...wanted, since: campaign.since, only, unknown: [] }, app)
  showPrice(price, context)
  progress.begin(resource.name)
  let held: Held | null = lock
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
      held = await db.tryLock(lockOf(resource))
      return held !== null
    },
  })
  app.log.info(
    { resource: resource.name, seconds: Math.round((clock.now() - campaign.startedAt.getTime()) / 1000) },
    'backfill ended',
  )
  return { run, left, price }
}

async function backfillPages(resource: Resource, engine: Engine, wanted: Wanted, context: Context): Promise<Ended> {
  const { db, clock } = engine
  const price = await priceOfPages(db, resource, context.app)
  showPrice(price, context)
  context.progress.begin(resource.name)
  const { name } = resource
  const now = new Date(clock.now())
  const campaign =
    (wanted.restart ? undefined : await unfinishedCampaign(db, name)) ??
    (await beginCampaign(db, { resource: name, since: now, startedAt: now, keys: price.keys }))
  const run = await walkPages(resource, engine, context)
  if (isAccepted(run.status)) await finishCampaign(db, campaign, new Date(clock.now()))
  return { run, left: run.status === 'failed' ? null : 0, price }
}

/** The campaign to go on with, or a new one. */
async function campaignOf(resource: Worklist, { db, clock, log }: Engine, { since, restart, names }: Wanted) {
  const now = new Date(clock.now())
  const latest = await latestCampaign(db, resource.name)
  // Named keys are asked for beside it, and do not begin all the others anew.
  if (latest?.finishedAt && names.length > 0 && !restart && !since) return latest
  const unfinished = restart ? undefined : await unfinishedCampaign(db, resource.name)
  if (unfinished) {
    log.info({ resource: resource.name, since: unfinished.since.toISOString() }, 'going on with what was not finished')
    return since ? await setSince(db, unfinished, since) : unfinished
  }
  const begin = since ?? now
  const { keys } = await countOpen(db, { resource: resource.name, since: begin })
  return await beginCampaign(db, { resource: resource.name, since: begin, startedAt: now, keys })
}

function tellEnd({ run, left, price }: Ended, { out, flags, progress }: Context): number {
  progress.end()
  if (flags.json) out.write(`${JSON.stringify({ plan: price, run: withoutVerdict(run), left })}\n`)
  else if (!flags.quiet) out.write(summary([run]) + remark(run, left))
  const code = exitCodeOf([run])
  // Some could not be asked for: calling again is worth it.
  return code === exitCode.done && run.status === 'partial' ? exitCode.tryLater : code
}

function remark({ resource, status }: RunResult, left: number | null): string {
  if (left === 0) return status === 'skipped' ? '' : `${resource}: nothing is left to ask\n`
  return `${resource}: ${left ?? 'some'} are left to ask; call it again to go on\n`
}

function tellSkipped({ name }: Resource | Worklist, { out, flags }: Context): number {
  if (flags.json) out.write(`${JSON.stringify({ plan: null, run: skippedResult(name), left: null })}\n`)
  else if (!flags.quiet) out.write(`skipped: another backfill of ${name} is running\n`)
  return exitCode.done
}

function holdOf({ name }: Resource | Worklist): string {
  return `backfill ${name}`
}

function lockOf(resource: Resource | Worklist): string {
  return `wynnsync ${holdOf(resource)}`
}

/** The embedded database has one process at a time; whether it is another backfill of the same, its lock says. */
async function isBackfilling(resource: Resource | Worklist, { config }: App): Promise<boolean> {
  if (config.databaseUrl) return false
  const holder = await readHolder(config.dataDir)
  return holder?.holds.includes(holdOf(resource)) ?? false
}
