import { type App, openDatabase } from '../../../app/app.ts'
import { admissionOf, engineOf, openSharedApi } from '../../../app/app-api.ts'
import { UsageError } from '../../../base/errors.ts'
import { wholeNumber } from '../../../base/settings.ts'
import type { Sql } from '../../../db/database.ts'
import { readHolder } from '../../../db/embedded/folder-lock.ts'
import { resources } from '../../../resources/index.ts'
import { latestCampaign } from '../../../sync/backfill/campaign.ts'
import { isWorklist, type Resource, type Worklist } from '../../../sync/declare/resource.ts'
import { skippedResult } from '../../../sync/run/run-result.ts'
import { type Context, migrateShown, writeSummary } from '../../context.ts'
import { exitCode, exitCodeOfRuns } from '../../exit-codes.ts'
import { prepareTables } from '../../maintenance.ts'
import { instantFlag, refuseWithout } from '../../options.ts'
import { publicResult, runSummary } from '../../output/run-summary.ts'
import { type Backfilled, backfillKeys, backfillPages, dryRun, type Wanted } from './backfill-pages.ts'

interface BackfillFlags {
  readonly dryRun?: boolean
  readonly limit?: string
  readonly only?: readonly string[]
  readonly fetchedBefore?: string
  /** The older name of `fetchedBefore`. */
  readonly since?: string
  readonly restart?: boolean
  readonly acceptBaseUrl?: boolean
}

/** `backfill <resource>`: prints an estimate, then fetches everything there is. Returns the exit code. */
export async function backfillCommand(
  context: Context,
  flags: BackfillFlags,
  name: string | undefined,
): Promise<number> {
  const { app } = context
  refuseWithout(flags, '--from-git', ['--map', '--detect', '--yes'])
  refuseWithout(flags, '--from-lake', ['--max-bytes'])
  const backfilled = resources.filter(({ backfill }) => backfill !== undefined)
  const resource = backfilled.find((candidate) => candidate.name === name)
  if (!resource) {
    const got = name === undefined ? '' : `, got ${name}`
    throw new UsageError(
      `the resource of a backfill must be one of ${backfilled.map((candidate) => candidate.name).join(', ')}${got}`,
    )
  }
  const wanted = wantedOf(resource, flags, app)
  if (await isBackfilling(resource, app)) return skip(resource, context)
  context.progress.during('backfill')
  // A sync of the same resource that finds the embedded database in use need not wait: the backfill does its work.
  const db = await openDatabase(app, [holdOf(resource), `sync ${resource.name}`], {
    lowMemory: true,
    thread: true,
    shares: 'writes',
    stopWaiting: context.signal,
  })
  try {
    await migrateShown(db, context)
    const finished = await finishedAt(db, resource, wanted)
    if (finished) return reportFinished(resource, finished, flags.dryRun === true, context)
    if (flags.dryRun) return await dryRun(resource, wanted, db, context)
    const takeLock = () => db.tryLock(`wynnsync ${holdOf(resource)}`)
    const lock = await takeLock()
    if (!lock) return skip(resource, context)
    const admission = await admissionOf(app, db, flags)
    const api = openSharedApi(app, db)
    try {
      const engine = engineOf(app, db, api, { admission })
      await prepareTables(db, app, [resource])
      const ended = isWorklist(resource)
        ? await backfillKeys(resource, engine, wanted, { lock, takeLock }, context)
        : await backfillPages(resource, engine, wanted, context)
      return reportEnd(ended, resource, context)
    } finally {
      await api.close()
    }
  } finally {
    context.progress.during('closing the database, which is copied once a day')
    await db.close()
    context.progress.stop()
  }
}

/** @throws UsageError when a flag is wrong, or means nothing for this resource */
function wantedOf(resource: Resource | Worklist, flags: BackfillFlags, app: App): Wanted {
  const { limit, only = [], restart = false } = flags
  const [flag, before] =
    flags.fetchedBefore === undefined ? ['--since', flags.since] : ['--fetched-before', flags.fetchedBefore]
  if (!isWorklist(resource) && (limit ?? flags.only ?? before) !== undefined) {
    throw new UsageError(
      `${resource.name} is a walk over pages from first to last: it takes no --limit, --only or --fetched-before`,
    )
  }
  const since = instantFlag(flag ?? '', before, app)
  if (since && since.getTime() > app.clock.now()) {
    throw new UsageError(`${flag} must be an instant in the past, got ${before}`)
  }
  return {
    limit: limit === undefined ? undefined : wholeNumber('--limit', limit) || undefined,
    names: only,
    since,
    restart,
  }
}

/**
 * When the latest backfill of a resource finished. Undefined while there is something to do: it has not finished, or the
 * call names keys or an instant, or begins anew.
 */
async function finishedAt(sql: Sql, { name }: Resource | Worklist, wanted: Wanted): Promise<Date | undefined> {
  if (wanted.restart || wanted.since || wanted.names.length > 0) return undefined
  return (await latestCampaign(sql, name))?.finishedAt ?? undefined
}

function reportFinished({ name }: Resource | Worklist, at: Date, isDryRun: boolean, context: Context): number {
  const finished = at.toISOString()
  const run = { ...skippedResult(name), status: 'unchanged' }
  const json = isDryRun ? { resource: name, keys: 0, requests: 0 } : { plan: null, run, left: 0 }
  const text = `${name}: the backfill finished at ${finished}, so nothing is requested; --restart begins anew\n`
  writeSummary(context, { ...json, finishedAt: finished }, text)
  return exitCode.done
}

function reportEnd({ run, left, price }: Backfilled, resource: Resource | Worklist, context: Context): number {
  context.progress.end()
  writeSummary(context, { plan: price, run: publicResult(run), left }, runSummary([run]) + remark(resource, left))
  const code = exitCodeOfRuns([run])
  // Some keys failed: another call may succeed.
  return code === exitCode.done && run.status === 'partial' ? exitCode.tryLater : code
}

function remark(resource: Resource | Worklist, left: number | null): string {
  const { name } = resource
  if (left === 0) return `${name}: nothing is left to fetch\n`
  if (isWorklist(resource)) return `${name}: ${left ?? 'some'} are left to fetch; the next call continues\n`
  // What an interrupted walk has not seen may be gone or not: only a whole one can say.
  return `${name}: not all pages were fetched; the next call begins with the first page again\n`
}

function skip({ name }: Resource | Worklist, context: Context): number {
  const json = { plan: null, run: skippedResult(name), left: null }
  writeSummary(context, json, `skipped: another backfill of ${name} is running\n`)
  return exitCode.done
}

function holdOf({ name }: Resource | Worklist): string {
  return `backfill ${name}`
}

/** Whether another process has the embedded database open and backfills the same. */
async function isBackfilling(resource: Resource | Worklist, { config }: App): Promise<boolean> {
  if (config.databaseUrl) return false
  const holder = await readHolder(config.dataDir)
  return holder?.holds.includes(holdOf(resource)) ?? false
}
