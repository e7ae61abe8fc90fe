import type { WalkProgress } from '../api/pages.ts'
import { engineOf, migrateDatabase, openApi, openDatabase } from '../app.ts'
import { readHolder } from '../db/folder-lock.ts'
import { resourcesNamed } from '../resources/index.ts'
import type { Resource } from '../sync/resource.ts'
import { failedResult, type RunResult, runResource, skippedResult } from '../sync/run.ts'
import { type Context, exitCode } from './context.ts'
import { formatTable } from './table.ts'

export interface SyncOptions {
  /** Page by page, even where the API gives everything at once. */
  readonly walk?: boolean
  /** Take the next answer although it looks implausible. */
  readonly accept?: boolean
}

/** `sync [resource...]`: one pass over the named resources. Returns the exit code. */
export async function syncCommand(names: readonly string[], options: SyncOptions, context: Context): Promise<number> {
  const chosen = resourcesNamed(names)
  const runs = await syncAll(chosen, options, context)
  const { out, flags } = context
  if (flags.json) out.write(`${JSON.stringify({ runs: runs.map(withoutVerdict) })}\n`)
  else if (!flags.quiet) out.write(summary(runs))
  return exitCodeOf(runs)
}

/** Runs the resources one after the other; a failure of the database itself becomes the result of what it kept from running. */
async function syncAll(chosen: readonly Resource[], options: SyncOptions, context: Context): Promise<RunResult[]> {
  const { app, signal, progress } = context
  if (await isHeldForSame(chosen, context)) return chosen.map(({ name }) => skippedResult(name))
  const runs: RunResult[] = []
  try {
    const db = await openDatabase(app, chosen.map(holdOf))
    const api = openApi(app)
    try {
      await migrateDatabase(db, app)
      for (const resource of chosen) {
        progress.begin(resource.name)
        const onProgress = (seen: WalkProgress) => progress.seen(resource.name, seen)
        runs.push(await runResource(resource, engineOf(app, db, api, options), { ...options, signal, onProgress }))
        progress.end()
      }
    } finally {
      await api.close()
      await db.close()
    }
  } catch (error) {
    progress.end()
    app.log.error({ err: error }, error instanceof Error ? error.message : String(error))
    const reached = new Set(runs.map((run) => run.resource))
    runs.push(...chosen.filter(({ name }) => !reached.has(name)).map(({ name }) => failedResult(name, error)))
  }
  return runs
}

function holdOf(resource: Resource): string {
  return `sync ${resource.name}`
}

/** The embedded database has one process at a time: another one that syncs the same things makes this one needless. */
async function isHeldForSame(chosen: readonly Resource[], { app }: Context): Promise<boolean> {
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
