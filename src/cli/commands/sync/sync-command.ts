import type { WalkProgress } from '../../../api/pages.ts'
import { migrateDatabase, openDatabase } from '../../../app/app.ts'
import { engineOf, openSharedApi } from '../../../app/app-api.ts'
import { RetryableError, UsageError } from '../../../app/errors.ts'
import { visibleLine } from '../../../app/terminal-text.ts'
import { wholeNumber } from '../../../app/whole-number.ts'
import { readHolder } from '../../../db/embedded/folder-lock.ts'
import { expectScheduled } from '../../../monitoring/expectations.ts'
import { webhookOf } from '../../../monitoring/monitoring.ts'
import { resourcesNamed } from '../../../resources/index.ts'
import type { Engine } from '../../../sync/engine.ts'
import { type ExtractOptions, isWorklist, type Resource, type Worklist } from '../../../sync/resource.ts'
import { runResource } from '../../../sync/run/run.ts'
import { failedResult, type RunResult, skippedResult } from '../../../sync/run/run-result.ts'
import { runWorklist } from '../../../sync/run/run-worklist.ts'
import { type Context, exitCode } from '../../context.ts'
import { formatTable } from '../../output/table.ts'
import { maintainDaily, retentionOf } from '../start/maintenance.ts'
import { openOutages } from '../start/outage-file.ts'
import { keysNamed } from './named-keys.ts'

type Synced = Resource | Worklist

export interface SyncOptions {
  /** Page by page, even where the API gives everything at once. */
  readonly walk?: boolean
  /** Take the answer of what is named although it looks implausible. */
  readonly accept?: boolean
  /** How many keys of a worklist to ask for, instead of what the budget window allows. */
  readonly limit?: string
  /** Guilds by uuid, prefix or exact name: only these. */
  readonly guild?: readonly string[]
  /** Players by uuid or name: only these. */
  readonly player?: readonly string[]
}

/** `sync [resource...]`: one pass over the named resources. Returns the exit code. */
export async function syncCommand(names: readonly string[], options: SyncOptions, context: Context): Promise<number> {
  const { guild = [], player = [] } = options
  // Who names guilds or players means just those.
  const meant = [...(guild.length > 0 ? ['guilds'] : []), ...(player.length > 0 ? ['players'] : [])]
  const wanted = names.length > 0 ? names : meant
  if (options.accept && wanted.length === 0) {
    throw new UsageError('--accept is for what you looked at: name it, as in wynnsync sync items --accept')
  }
  const chosen = resourcesNamed(wanted)
  // Names that nothing has would be shares that nothing heeds.
  resourcesNamed(Object.keys(context.app.config.plausibleShares))
  retentionOf(context.app)
  if (options.limit !== undefined) wholeNumber('--limit', options.limit)
  const runs = await syncAll(chosen, options, context)
  const { out, flags } = context
  if (flags.json) out.write(`${JSON.stringify({ runs: runs.map(withoutVerdict) })}\n`)
  else if (!flags.quiet) out.write(summary(runs))
  // Only now: whoever does not answer the webhook holds up no sync.
  const webhook = webhookOf(context.app)
  for (const run of runs) webhook.ran(run)
  await webhook.close(LAST_WORDS)
  return exitCodeOf(runs)
}

/** Runs the resources one after the other; a failure of the database itself becomes the result of what it kept from running. */
async function syncAll(chosen: readonly Synced[], options: SyncOptions, context: Context): Promise<RunResult[]> {
  const { app, signal, progress } = context
  if (await isHeldForSame(chosen, context)) return chosen.map(({ name }) => skippedResult(name))
  const runs: RunResult[] = []
  const outages = openOutages(app)
  try {
    const db = await openDatabase(app, chosen.map(holdOf), { frugal: true })
    const api = openSharedApi(app, db)
    try {
      await migrateDatabase(db, app)
      for (const resource of chosen) {
        progress.begin(resource.name)
        // Who asks for somebody by name promises nothing about the rest.
        if (!options.guild?.length && !options.player?.length) await expectScheduled(db, resource, app)
        const unit = isWorklist(resource) ? 'keys' : 'records'
        const onProgress = (seen: WalkProgress) => progress.seen(resource.name, seen, unit)
        runs.push(
          await runOne(
            resource,
            { ...engineOf(app, db, api, options), outages },
            { ...options, signal, onProgress },
            context,
          ),
        )
        progress.end()
      }
      // What was synced is in; this can wait for tomorrow.
      await maintainDaily(db, app).catch((error: unknown) =>
        app.log.warn({ err: error }, `upkeep failed: ${error instanceof Error ? error.message : String(error)}`),
      )
    } finally {
      await api.close()
      await db.close()
    }
  } catch (error) {
    progress.end()
    if (error instanceof UsageError) throw error
    app.log.error({ err: error }, error instanceof Error ? error.message : String(error))
    const reached = new Set(runs.map((run) => run.resource))
    if (error instanceof RetryableError && !signal.aborted)
      for (const { name } of chosen) if (!reached.has(name)) outages.note(name, app.clock.now(), error.message)
    runs.push(...chosen.filter(({ name }) => !reached.has(name)).map(({ name }) => failedResult(name, error)))
  }
  return runs
}

type RunOptions = SyncOptions & Required<Pick<ExtractOptions, 'signal' | 'onProgress'>>

async function runOne(resource: Synced, engine: Engine, options: RunOptions, { app }: Context): Promise<RunResult> {
  if (!isWorklist(resource)) return await runResource(resource, engine, options)
  const { limit: limitText, guild = [], player = [], ...extract } = options
  const limit = limitText === undefined ? undefined : wholeNumber('--limit', limitText)
  const named = resource.name === 'guilds' ? guild : player
  const keys = named.length > 0 ? await keysNamed(resource, engine, named) : undefined
  const { concurrency } = app.config
  return await runWorklist(resource, engine, {
    ...extract,
    concurrency,
    ...(limit === undefined ? {} : { limit }),
    ...(keys ? { keys } : {}),
  })
}

function holdOf(resource: Synced): string {
  return `sync ${resource.name}`
}

/** The embedded database has one process at a time: another one that syncs the same things makes this one needless. */
async function isHeldForSame(chosen: readonly Synced[], { app }: Context): Promise<boolean> {
  if (app.config.databaseUrl) return false
  const holder = await readHolder(app.config.dataDir)
  if (!holder || !chosen.every((resource) => holder.holds.includes(holdOf(resource)))) return false
  app.log.info({ pid: holder.pid, since: holder.startedAt }, 'skipped: another process is syncing the same')
  return true
}

/** What of a result belongs to the JSON of the contract. */
export function withoutVerdict({ temporary: _t, renewAt: _r, guarded: _g, runId: _i, ...run }: RunResult) {
  return run
}

/** The exit code that runs come to. */
export function exitCodeOf(runs: readonly RunResult[]): number {
  if (runs.some((run) => run.status === 'failed' && !run.temporary)) return exitCode.failed
  if (runs.some((run) => run.status === 'failed')) return exitCode.tryLater
  if (runs.some((run) => run.rejected > 0 || run.quarantined > 0)) return exitCode.rejected
  return exitCode.done
}

const columns = ['resource', 'status', 'records', 'new', 'changed', 'gone', 'requests', 'seconds'] as const

/** Runs as a table. */
export function summary(runs: readonly RunResult[]): string {
  const rows = runs.map((run) => ({
    ...run,
    new: run.inserted,
    gone: run.closed,
    seconds: Number((run.durationMs / 1000).toFixed(1)),
  }))
  return formatTable(columns, rows) + runs.flatMap(remarksOn).join('')
}

/** How long a webhook may keep a `sync` that is done, ms: two tries. */
const LAST_WORDS = 11_500

/** How many actions of guards are told in full. */
const toldInFull = 5

/** What went wrong in a run, then what its guards did beyond that. */
function remarksOn({ resource, error, guarded = [] }: RunResult): string[] {
  const others = guarded.filter(({ reason }) => !error?.includes(reason))
  const lines = others
    .slice(0, toldInFull)
    .map(({ guard, action, key, reason }) => `${key ? `${key}: ` : ''}${reason} (${guard}: ${action})`)
    .map(
      (line) => `${resource}: ${visibleLine(line)}
`,
    )
  const more = others.length - lines.length
  if (more > 0) lines.push(`${resource}: and ${more} more of the kind; see sync.guard_action\n`)
  return error ? [`${resource}: ${visibleLine(error)}\n`, ...lines] : lines
}
