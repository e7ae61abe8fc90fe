import type { WalkProgress } from '../api/pages.ts'
import { engineOf, migrateDatabase, openApi, openDatabase } from '../app.ts'
import { readHolder } from '../db/folder-lock.ts'
import { UsageError } from '../errors.ts'
import { resourcesNamed } from '../resources/index.ts'
import { type ExtractOptions, isWorklist, type Resource, type Worklist } from '../sync/resource.ts'
import { type Engine, failedResult, type RunResult, runResource, skippedResult } from '../sync/run.ts'
import { runWorklist } from '../sync/run-worklist.ts'
import { type Context, exitCode } from './context.ts'
import { wholeNumber } from './numbers.ts'
import { formatTable } from './table.ts'

type Synced = Resource | Worklist

export interface SyncOptions {
  /** Page by page, even where the API gives everything at once. */
  readonly walk?: boolean
  /** Take the next answer although it looks implausible. */
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
  const chosen = resourcesNamed(names.length > 0 ? names : meant)
  if (options.limit !== undefined) wholeNumber('--limit', options.limit)
  const runs = await syncAll(chosen, options, context)
  const { out, flags } = context
  if (flags.json) out.write(`${JSON.stringify({ runs: runs.map(withoutVerdict) })}\n`)
  else if (!flags.quiet) out.write(summary(runs))
  return exitCodeOf(runs)
}

/** Runs the resources one after the other; a failure of the database itself becomes the result of what it kept from running. */
async function syncAll(chosen: readonly Synced[], options: SyncOptions, context: Context): Promise<RunResult[]> {
  const { app, signal, progress } = context
  if (await isHeldForSame(chosen, context)) return chosen.map(({ name }) => skippedResult(name))
  const runs: RunResult[] = []
  try {
    const db = await openDatabase(app, chosen.map(holdOf), { frugal: true })
    const api = openApi(app)
    try {
      await migrateDatabase(db, app)
      for (const resource of chosen) {
        progress.begin(resource.name)
        const unit = isWorklist(resource) ? 'keys' : 'records'
        const onProgress = (seen: WalkProgress) => progress.seen(resource.name, seen, unit)
        runs.push(await runOne(resource, engineOf(app, db, api, options), { ...options, signal, onProgress }, context))
        progress.end()
      }
    } finally {
      await api.close()
      await db.close()
    }
  } catch (error) {
    progress.end()
    if (error instanceof UsageError) throw error
    app.log.error({ err: error }, error instanceof Error ? error.message : String(error))
    const reached = new Set(runs.map((run) => run.resource))
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

/** The keys that names mean. A name that means several is reported with all of them, never guessed. */
async function keysNamed(resource: Worklist, { db, api }: Engine, names: readonly string[]): Promise<string[]> {
  const keys: string[] = []
  for (const name of names) {
    const known = await resource.find(db, name)
    const found = known.length > 0 ? known : await resource.lookUp(api, name)
    const [first, ...others] = found
    if (!first) throw new UsageError(`${resource.name}: nobody is called ${name}`)
    if (others.length > 0) {
      const lines = found.map(({ key, label }) => `  ${key}  ${label}`)
      throw new UsageError(`${resource.name}: several are called ${name}; name one by its uuid:\n${lines.join('\n')}`)
    }
    keys.push(first.key)
  }
  return keys
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

function withoutVerdict({ temporary: _, ...run }: RunResult) {
  return run
}

function exitCodeOf(runs: readonly RunResult[]): number {
  if (runs.some((run) => run.status === 'failed' && !run.temporary)) return exitCode.failed
  if (runs.some((run) => run.status === 'failed')) return exitCode.tryLater
  if (runs.some((run) => run.rejected > 0 || run.quarantined > 0)) return exitCode.setAside
  return exitCode.done
}

const columns = ['resource', 'status', 'records', 'new', 'changed', 'gone', 'requests', 'seconds'] as const

function summary(runs: readonly RunResult[]): string {
  const rows = runs.map((run) => ({
    ...run,
    new: run.inserted,
    gone: run.closed,
    seconds: Number((run.durationMs / 1000).toFixed(1)),
  }))
  const remarks = runs.filter((run) => run.error).map((run) => `${run.resource}: ${run.error}\n`)
  return formatTable(columns, rows) + remarks.join('')
}
