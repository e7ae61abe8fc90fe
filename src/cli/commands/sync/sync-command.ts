import type { Option } from 'commander'
import type { Api } from '../../../api/client.ts'
import type { WalkProgress } from '../../../api/walk.ts'
import { type App, openDatabase } from '../../../app/app.ts'
import { admissionOf, engineOf, openSharedApi } from '../../../app/app-api.ts'
import { messageOf, RetryableError, UsageError } from '../../../base/errors.ts'
import { wholeNumber } from '../../../base/settings.ts'
import { beforeOthers, type Lock } from '../../../db/database.ts'
import { expectScheduled } from '../../../monitoring/expectations.ts'
import { hasWatches, watchingOf, webhookOf } from '../../../monitoring/receivers.ts'
import type { Watching } from '../../../monitoring/watches/watching.ts'
import { resourcesNamed, worklists } from '../../../resources/index.ts'
import { isWorklist, type Resource, type Worklist } from '../../../sync/declare/resource.ts'
import type { Engine } from '../../../sync/run/engine.ts'
import { type RunOptions, runResource } from '../../../sync/run/run-resource.ts'
import { failedResult, type RunResult, skippedResult } from '../../../sync/run/run-result.ts'
import { type Context, migrateShown, writeSummary } from '../../context.ts'
import { exitCodeOfRuns } from '../../exit-codes.ts'
import { maintainDaily, prepareTables, retentionOf } from '../../maintenance.ts'
import { keysNamed } from '../../named-keys.ts'
import { repeatable } from '../../options.ts'
import { openOutages } from '../../outage-file.ts'
import { publicResult, runSummary } from '../../output/run-summary.ts'

type Synced = Resource | Worklist

interface SyncFlags {
  readonly walk?: boolean
  readonly accept?: boolean
  readonly acceptBaseUrl?: boolean
  readonly limit?: string
  /** The names of keys, by the `keyFlag` of their worklist. */
  readonly [keyFlag: string]: unknown
}

/** A flag for each worklist: `--guild <name>`. */
export const keyFlags: readonly Option[] = worklists.map(({ keyFlag }) =>
  repeatable(`--${keyFlag} <name>`, `only this ${keyFlag}, by uuid or exact name; may be given again`),
)

/** How long a webhook may delay the end of the process, ms: two tries. */
const WEBHOOK_TIMEOUT_MS = 11_500

/** `sync [resource...]`: one pass over the named resources. Returns the exit code. */
export async function syncCommand(context: Context, flags: SyncFlags, names: readonly string[]): Promise<number> {
  // Keys without a resource mean just the resources of these keys.
  const ofKeys = worklists.filter(({ keyFlag }) => namesOf(flags, keyFlag).length > 0)
  const wanted = names.length > 0 ? names : ofKeys.map(({ name }) => name)
  if (flags.accept && wanted.length === 0) {
    throw new UsageError(
      '--accept is for a response that you have checked: name it, as in wynnsync sync items --accept',
    )
  }
  const chosen = resourcesNamed(wanted)
  for (const { name, keyFlag } of ofKeys)
    if (!chosen.some((one) => one.name === name)) throw new UsageError(`--${keyFlag} does nothing without ${name}`)
  // Wrong names and numbers fail before anything is opened.
  resourcesNamed(Object.keys(context.app.config.plausibleShares))
  retentionOf(context.app)
  if (flags.limit !== undefined) wholeNumber('--limit', flags.limit)
  if (flags.limit !== undefined && !chosen.some(isWorklist))
    throw new UsageError(`--limit does nothing without a worklist: ${worklists.map(({ name }) => name).join(', ')}`)
  const webhook = await webhookOf(context.app)
  const runs = await syncAll(chosen, flags, context)
  writeSummary(context, { runs: runs.map(publicResult) }, runSummary(runs))
  // Last, so that a slow webhook delays no sync.
  for (const run of runs) webhook.ran(run)
  await webhook.close(WEBHOOK_TIMEOUT_MS)
  return exitCodeOfRuns(runs)
}

/** Runs the resources one after the other. A failure of the database is the result of every resource that did not run. */
async function syncAll(chosen: readonly Synced[], flags: SyncFlags, context: Context): Promise<RunResult[]> {
  const { app, signal, progress } = context
  if (await isHeldForSame(chosen, app)) return chosen.map(({ name }) => skippedResult(name))
  const runs: RunResult[] = []
  progress.during('sync')
  try {
    await syncInto(runs, chosen, flags, context)
  } catch (error) {
    progress.stop()
    if (error instanceof UsageError) throw error
    app.log.error({ err: error }, messageOf(error))
    const missed = chosen.filter(({ name }) => !runs.some((run) => run.resource === name))
    if (error instanceof RetryableError && !signal.aborted) {
      const outages = openOutages(app)
      for (const { name } of missed) outages.note(name, app.clock.now(), error.message)
    }
    runs.push(...missed.map(({ name }) => failedResult(name, error)))
  }
  return runs
}

async function syncInto(
  runs: RunResult[],
  chosen: readonly Synced[],
  flags: SyncFlags,
  context: Context,
): Promise<void> {
  const { app, signal, progress } = context
  const db = await openDatabase(app, chosen.map(holdOf), { lowMemory: true, shares: 'writes', stopWaiting: signal })
  let api: Api | undefined
  let watching: Watching | undefined
  let writing: Lock | undefined
  try {
    await migrateShown(db, context)
    // Each of the others has a lock of its own.
    if (chosen.some(isWorklist)) {
      const { tryWriting } = await import('../../without-writers.ts')
      writing = await tryWriting(db)
      if (!writing) {
        const reason = `${db.place} is being moved, restored or repaired`
        app.log.info({}, `skipped: ${reason}`)
        runs.push(...chosen.map(({ name }) => skippedResult(name, reason)))
        return
      }
    }
    const admission = await admissionOf(app, db, flags)
    api = openSharedApi(app, db)
    const engine = {
      ...engineOf(app, db, api, { accept: flags.accept === true, admission }),
      outages: openOutages(app),
    }
    watching = (await hasWatches(app, db)) ? await watchingOf(app, db) : undefined
    const namesKeys = worklists.some(({ keyFlag }) => namesOf(flags, keyFlag).length > 0)
    await watching?.begin()
    for (const resource of chosen) {
      progress.begin(resource.name)
      // Syncing named keys promises nothing about the others.
      if (!namesKeys) await expectScheduled(db, resource, app)
      await prepareTables(db, app, [resource])
      const unit = isWorklist(resource) ? 'keys' : 'records'
      const onProgress = (seen: WalkProgress) => progress.seen(resource.name, seen, unit)
      const { concurrency } = app.config
      runs.push(await runOne(resource, engine, flags, { walk: flags.walk === true, signal, onProgress, concurrency }))
      progress.end()
    }
    await watching?.look(true)
    // What was synced is committed; maintenance can wait for tomorrow.
    progress.begin('maintenance')
    await maintainDaily(db, app).catch((error: unknown) =>
      app.log.warn({ err: error }, `maintenance failed: ${messageOf(error)}`),
    )
  } finally {
    await watching?.close(0)
    await api?.close()
    await writing?.release().catch(() => undefined)
    // An embedded database is copied once a day before it is closed.
    await db.close()
    progress.stop()
  }
}

/** Runs a resource; a worklist with the keys of the flags. */
async function runOne(resource: Synced, engine: Engine, flags: SyncFlags, options: RunOptions): Promise<RunResult> {
  const run = () => runResource(resource, engine, options)
  if (!isWorklist(resource)) return resource.lane === 'live' ? await beforeOthers(run) : await run()
  const names = namesOf(flags, resource.keyFlag)
  const keys = names.length > 0 ? await keysNamed(resource, engine, names) : undefined
  const limit = flags.limit === undefined ? undefined : wholeNumber('--limit', flags.limit) || Number.POSITIVE_INFINITY
  return await runResource(resource, engine, {
    ...options,
    ...(limit === undefined ? {} : { limit }),
    ...(keys ? { keys } : {}),
  })
}

function holdOf(resource: Synced): string {
  return `sync ${resource.name}`
}

/** Whether another process has the embedded database open and syncs the same resources. */
async function isHeldForSame(chosen: readonly Synced[], app: App): Promise<boolean> {
  if (app.config.databaseUrl) return false
  const { readHolder } = await import('../../../db/embedded/folder-lock.ts')
  const holder = await readHolder(app.config.dataDir)
  if (!holder || !chosen.every((resource) => holder.holds.includes(holdOf(resource)))) return false
  app.log.info({ pid: holder.pid, since: holder.startedAt }, 'skipped: another process is syncing the same')
  return true
}

/** The names that were given for a worklist. */
function namesOf(flags: Readonly<Record<string, unknown>>, keyFlag: string): readonly string[] {
  const names = flags[keyFlag]
  return Array.isArray(names) ? names : []
}
