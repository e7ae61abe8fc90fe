import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openRecordedResponses, type RecordedResponses } from '../../../api/recordings/recorded.ts'
import { version } from '../../../app/app.ts'
import { engineOf } from '../../../app/app-api.ts'
import { UsageError } from '../../../app/errors.ts'
import { visibleLine } from '../../../app/terminal-text.ts'
import type { Database } from '../../../db/database.ts'
import { resourcesNamed } from '../../../resources/index.ts'
import { type LoadedFolder, loadRecorded } from '../../../sync/backfill/backfill-recorded.ts'
import { type Context, writeSummary } from '../../context.ts'
import { withDatabase } from '../../database.ts'
import { exitCode } from '../../exit-codes.ts'
import { formatTable } from '../../output/table.ts'

/** Flags of `backfill --from`. */
export interface BackfillFromFlags {
  readonly from: string
  readonly [flag: string]: unknown
}

/** `backfill [resource] --from FOLDER`: loads recorded responses instead of the API. Returns the exit code. */
export async function backfillFromCommand(
  context: Context,
  flags: BackfillFromFlags,
  name: string | undefined,
): Promise<number> {
  const { app, signal, progress } = context
  const { from } = flags
  for (const flag of ['dryRun', 'limit', 'only', 'since', 'restart']) {
    if (flags[flag] !== undefined) throw new UsageError('--from loads all that was recorded; it takes a resource only')
  }
  const resources = resourcesNamed(name === undefined ? [] : [name])
  const recorded = openFolder(from)
  const work = async (db: Database) => {
    progress.begin('recordings')
    const engine = engineOf(app, db, recorded.apiAsOf(app.clock.now()))
    // The ledger has what guards did with each of thousands of responses; the log need not.
    const { log } = app
    const quieter = {
      debug: log.debug.bind(log),
      info: log.debug.bind(log),
      warn: log.warn.bind(log),
      error: log.error.bind(log),
    }
    return await loadRecorded(
      recorded,
      { ...engine, program: `${version}, from recordings`, log: quieter },
      {
        resources,
        signal,
        onProgress: (done, of) =>
          progress.seen('recordings', { page: done, pages: of, records: done, count: of }, 'responses'),
      },
    )
  }
  const loaded = await withDatabase(context, 'backfill from recordings', work).finally(() => progress.end())
  // With a resource named, the other recordings are none of its business.
  const unknown = name === undefined ? [...loaded.unknown].map(([request, answers]) => ({ request, answers })) : []
  const { resources: counts, broken } = loaded
  writeSummary(context, { from, resources: counts, broken, unknown }, textOf(loaded, unknown))
  const isDoubtful = broken.length > 0 || counts.some((row) => row.rejected + row.quarantined > 0)
  return isDoubtful ? exitCode.rejected : exitCode.done
}

function openFolder(folder: string): RecordedResponses {
  if (existsSync(join(folder, 'index.jsonl'))) return openRecordedResponses(folder)
  throw new UsageError(`--from must be a folder with an index.jsonl of recorded responses; there is none in ${folder}`)
}

const columns = ['resource', 'responses', 'new', 'changed', 'gone', 'events', 'unchanged', 'stale', 'rejected'] as const

function textOf({ resources, broken }: LoadedFolder, unknown: readonly { request: string; answers: number }[]): string {
  const rows = resources.map((row) => ({ ...row, responses: row.answers, new: row.inserted, gone: row.closed }))
  const skipped = unknown.map(
    ({ request, answers }) => `${visibleLine(request)}: no resource; ${answers} responses skipped`,
  )
  return formatTable(columns, rows) + [...skipped, ...broken.map(visibleLine)].map((line) => `${line}\n`).join('')
}
