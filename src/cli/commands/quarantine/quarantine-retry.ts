import { admissionOf, engineOf, openSharedApi } from '../../../app/app-api.ts'
import type { Database } from '../../../db/database.ts'
import { resources } from '../../../resources/index.ts'
import { isWorklist } from '../../../sync/declare/resource.ts'
import type { QuarantinedRecord } from '../../../sync/overview/quarantined.ts'
import { runResource } from '../../../sync/run/run-resource.ts'
import type { RunResult } from '../../../sync/run/run-result.ts'
import { type Context, withDatabase, writeSummary } from '../../context.ts'
import { exitCodeOfRuns } from '../../exit-codes.ts'
import { publicResult, runSummary } from '../../output/run-summary.ts'
import { recordsOf } from './quarantine-command.ts'

/** `quarantine retry [id...]`: syncs again what the records are about. Returns the exit code. */
export async function quarantineRetry(context: Context, _flags: object, ids: readonly string[]): Promise<number> {
  return await withDatabase(
    context,
    'quarantine retry',
    async (db) => {
      const records = await recordsOf(db, ids)
      const runs = await syncAgain(db, records, context)
      const over = records.length - (await countOpen(db, records))
      const said =
        records.length === 0
          ? 'Nothing is in quarantine.\n'
          : `${runSummary(runs)}${over} of ${records.length} are over\n`
      writeSummary(context, { runs: runs.map(publicResult), records: records.length, over }, said)
      return exitCodeOfRuns(runs)
    },
    { access: 'change' },
  )
}

/** One run of each resource; of a worklist, of the keys that have records in quarantine. */
async function syncAgain(
  db: Database,
  records: readonly QuarantinedRecord[],
  { app, signal }: Context,
): Promise<RunResult[]> {
  const runs: RunResult[] = []
  const admission = await admissionOf(app, db)
  const api = openSharedApi(app, db)
  const engine = engineOf(app, db, api, { admission })
  const options = { signal, concurrency: app.config.concurrency }
  try {
    for (const resource of resources) {
      const wanted = new Set(records.flatMap((record) => (record.resource === resource.name ? [record.key] : [])))
      const keys = [...wanted].flatMap((key) => key ?? [])
      if (signal.aborted || (isWorklist(resource) ? keys : [...wanted]).length === 0) continue
      runs.push(await runResource(resource, engine, isWorklist(resource) ? { ...options, keys } : options))
    }
  } finally {
    await api.close()
  }
  return runs
}

async function countOpen(db: Database, before: readonly QuarantinedRecord[]): Promise<number> {
  if (before.length === 0) return 0
  const after = await recordsOf(
    db,
    before.map(({ id }) => id),
  )
  return after.filter(({ isOver }) => !isOver).length
}
