import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openRecordedAnswers, type RecordedAnswers } from '../../../api/recordings/recorded.ts'
import { migrateDatabase, openDatabase, version } from '../../../app/app.ts'
import { engineOf } from '../../../app/app-api.ts'
import { UsageError } from '../../../app/errors.ts'
import { visibleLine } from '../../../app/terminal-text.ts'
import { resourcesNamed } from '../../../resources/index.ts'
import { type LoadedFolder, loadRecorded } from '../../../sync/backfill/backfill-recorded.ts'
import { type Context, exitCode } from '../../context.ts'
import { formatTable } from '../../output/table.ts'

/** Flags of `backfill --from`. */
export interface BackfillFromFlags {
  readonly from: string
  readonly [flag: string]: unknown
}

/** `backfill [resource] --from FOLDER`: loads recorded answers instead of asking the API. Returns the exit code. */
export async function backfillFromCommand(
  name: string | undefined,
  flags: BackfillFromFlags,
  context: Context,
): Promise<number> {
  const { app, signal, progress } = context
  const { from } = flags
  for (const flag of ['dryRun', 'limit', 'only', 'since', 'restart']) {
    if (flags[flag] !== undefined) throw new UsageError('--from loads all that was recorded; it takes a resource only')
  }
  const resources = resourcesNamed(name === undefined ? [] : [name])
  const recorded = openFolder(from)
  const db = await openDatabase(app, ['backfill from recordings'])
  try {
    await migrateDatabase(db, app)
    progress.begin('recordings')
    const engine = engineOf(app, db, recorded.apiAsOf(app.clock.now()))
    // What a guard says of one answer in thousands is in the ledger.
    const { log } = app
    const quieter = {
      debug: (fields: object, message: string) => log.debug(fields, message),
      info: (fields: object, message: string) => log.debug(fields, message),
      warn: (fields: object, message: string) => log.warn(fields, message),
      error: (fields: object, message: string) => log.error(fields, message),
    }
    const loading = { ...engine, program: `${version}, from recordings`, log: quieter }
    const loaded = await loadRecorded(recorded, loading, {
      resources,
      signal,
      onProgress: (done, of) =>
        progress.seen('recordings', { page: done, pages: of, records: done, count: of }, 'answers'),
    })
    progress.end()
    return tell(from, loaded, name === undefined, context)
  } finally {
    progress.end()
    await db.close()
  }
}

function openFolder(folder: string): RecordedAnswers {
  if (existsSync(join(folder, 'index.jsonl'))) return openRecordedAnswers(folder)
  throw new UsageError(`--from wants a folder with an index.jsonl of recorded answers; there is none in ${folder}`)
}

const columns = ['resource', 'answers', 'new', 'changed', 'gone', 'events', 'unchanged', 'stale', 'rejected'] as const

function tell(from: string, loaded: LoadedFolder, isAll: boolean, { out, flags }: Context): number {
  const { resources, broken } = loaded
  // Who names one resource knows that the folder holds others.
  const unknown = isAll ? [...loaded.unknown].map(([request, answers]) => ({ request, answers })) : []
  if (flags.json) out.write(`${JSON.stringify({ from, resources, broken, unknown })}\n`)
  else if (!flags.quiet) {
    out.write(
      formatTable(
        columns,
        resources.map((one) => ({ ...one, new: one.inserted, gone: one.closed })),
      ),
    )
    for (const { request, answers } of unknown)
      out.write(`nobody asks for ${visibleLine(request)}: ${answers} answers passed over\n`)
    for (const message of broken) out.write(`${visibleLine(message)}\n`)
  }
  const isDoubtful = broken.length > 0 || resources.some((one) => one.rejected + one.quarantined > 0)
  return isDoubtful ? exitCode.rejected : exitCode.done
}
