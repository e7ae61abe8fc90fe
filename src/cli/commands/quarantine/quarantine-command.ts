import { admissionOf, engineOf, openSharedApi } from '../../../app/app-api.ts'
import { UsageError } from '../../../base/errors.ts'
import { visibleLine } from '../../../base/terminal-text.ts'
import type { Database, Sql } from '../../../db/database.ts'
import { resources, resourcesNamed, worklists } from '../../../resources/index.ts'
import { isWorklist } from '../../../sync/declare/resource.ts'
import { type QuarantinedRecord, rawRecord, readQuarantine } from '../../../sync/overview/quarantined.ts'
import { runResource } from '../../../sync/run/run-resource.ts'
import type { RunResult } from '../../../sync/run/run-result.ts'
import { type Context, showResult, tableWidth, withDatabase, writeSummary } from '../../context.ts'
import { exitCodeOfRuns } from '../../exit-codes.ts'
import { publicResult, runSummary } from '../../output/run-summary.ts'
import { boldFirstLine, formatTable } from '../../output/table.ts'
import { minuteText, shortened } from '../../output/units.ts'

const worklistNames = worklists.map(({ name }) => name)

/** `quarantine list [resource...]`: records that could not be read. */
export async function quarantineList(
  context: Context,
  { all = false }: { readonly all?: boolean },
  names: readonly string[],
): Promise<void> {
  const resources = names.length === 0 ? [] : resourcesNamed(names).map(({ name }) => name)
  const read = (db: Sql) => readQuarantine(db, { resources, ids: [], worklists: worklistNames })
  const found = await withDatabase(context, 'quarantine', read, { isInterruptible: true })
  const quarantine = found.filter(({ isOver }) => all || !isOver)
  const over = found.length - quarantine.length
  const more = over > 0 ? `${over} more are over; --all shows them\n` : ''
  const table = quarantine.length === 0 ? 'Nothing is in quarantine.\n' : tableOf(quarantine, tableWidth(context))
  await showResult(context, { quarantine }, `${table}${more}`, boldFirstLine)
}

function tableOf(records: readonly QuarantinedRecord[], width?: number): string {
  return formatTable(
    ['id', 'resource', 'key', 'path', 'what is wrong', 'first seen', 'run', 'state'],
    records.map((record) => ({
      ...record,
      path: record.path || '(the whole)',
      'what is wrong': shortened(visibleLine(record.reason), 80),
      'first seen': minuteText(record.firstSeenAt),
      run: record.runId.slice(0, 8),
      state: record.isOver ? 'over' : 'open',
    })),
    { width },
  )
}

/** `quarantine show <id>`: one record with its raw value. */
export async function quarantineShow(context: Context, _flags: object, id: string): Promise<void> {
  const work = async (db: Sql) => {
    const [record] = await recordsOf(db, [id])
    if (!record) throw new UsageError(`nothing in quarantine has the id ${id}; wynnsync quarantine --all lists it all`)
    return { record, raw: await rawRecord(db, record.id) }
  }
  const { record, raw } = await withDatabase(context, 'quarantine', work, { isInterruptible: true })
  const text = `${tableOf([record], tableWidth(context))}\n${JSON.stringify(raw, null, 2)}\n`
  await showResult(context, { ...record, raw }, text, boldFirstLine)
}

/**
 * The records with these ids; of none, all that are not over.
 * @throws UsageError when an id is none, or nothing has it
 */
export async function recordsOf(db: Sql, ids: readonly string[]): Promise<QuarantinedRecord[]> {
  const wrong = ids.find((id) => !/^[1-9]\d{0,17}$/.test(id))
  if (wrong !== undefined) throw new UsageError(`a record in quarantine has a number, got ${wrong}`)
  const found = await readQuarantine(db, { resources: [], ids, worklists: worklistNames })
  const missing = ids.find((id) => !found.some((record) => record.id === id))
  if (missing !== undefined)
    throw new UsageError(`nothing in quarantine has the id ${missing}; wynnsync quarantine --all lists it all`)
  return ids.length > 0 ? found : found.filter(({ isOver }) => !isOver)
}

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
