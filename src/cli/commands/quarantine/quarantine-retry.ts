import { migrateDatabase, openDatabase } from '../../../app/app.ts'
import { engineOf, openSharedApi } from '../../../app/app-api.ts'
import type { Database } from '../../../db/database.ts'
import { resources } from '../../../resources/index.ts'
import type { Engine } from '../../../sync/engine.ts'
import type { QuarantinedRecord } from '../../../sync/record/quarantined.ts'
import { isWorklist } from '../../../sync/resource.ts'
import { runResource } from '../../../sync/run/run-resource.ts'
import type { RunResult } from '../../../sync/run/run-result.ts'
import { type Context, writeSummary } from '../../context.ts'
import { exitCodeOfRuns } from '../../exit-codes.ts'
import { publicResult, runSummary } from '../../output/run-summary.ts'
import { recordsOf } from './quarantine-command.ts'

/** `quarantine retry [id...]`: syncs again what the records are about. Returns the exit code. */
export async function quarantineRetry(context: Context, _flags: object, ids: readonly string[]): Promise<number> {
  const { app } = context
  const db = await openDatabase(app, ['quarantine retry'])
  const api = openSharedApi(app, db)
  try {
    await migrateDatabase(db, app)
    const records = await recordsOf(db, ids)
    const runs = await syncAgain(engineOf(app, db, api), records, context)
    const open = await stillOpen(db, records)
    const over = records.length - open
    const said =
      records.length === 0
        ? 'Nothing is in quarantine.\n'
        : `${runSummary(runs)}${over} of ${records.length} are over\n`
    writeSummary(context, { runs: runs.map(publicResult), records: records.length, over }, said)
    return exitCodeOfRuns(runs)
  } finally {
    await api.close()
    await db.close()
  }
}

/** One run of each resource; of a worklist, of the keys that have records in quarantine. */
async function syncAgain(
  engine: Engine,
  records: readonly QuarantinedRecord[],
  { app, signal }: Context,
): Promise<RunResult[]> {
  const runs: RunResult[] = []
  for (const resource of resources) {
    const keys = new Set(records.flatMap((record) => (record.resource === resource.name ? [record.key] : [])))
    if (keys.size === 0 || signal.aborted) continue
    const options = { signal, concurrency: app.config.concurrency }
    if (!isWorklist(resource)) {
      runs.push(await runResource(resource, engine, options))
      continue
    }
    const readable = [...keys].flatMap((key) => key ?? [])
    if (readable.length > 0) runs.push(await runResource(resource, engine, { ...options, keys: readable }))
  }
  return runs
}

async function stillOpen(db: Database, before: readonly QuarantinedRecord[]): Promise<number> {
  if (before.length === 0) return 0
  const after = await recordsOf(
    db,
    before.map(({ id }) => id),
  )
  return after.filter(({ isOver }) => !isOver).length
}
