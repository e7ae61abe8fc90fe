import { UsageError } from '../../../app/errors.ts'
import { wholeNumber } from '../../../app/whole-number.ts'
import { importLake, priceOf } from '../../../lake/import/import.ts'
import { storeSettings } from '../../../lake/lake-store.ts'
import { MOST_BYTES, openPlace } from '../../../lake/read/place.ts'
import { type Context, writeSummary } from '../../context.ts'
import { withDatabase } from '../../database.ts'
import { exitCode } from '../../exit-codes.ts'
import { bytesText, durationText } from '../../output/units.ts'
import { importedText, linesOf } from './imported-text.ts'

interface FromLakeFlags {
  readonly fromLake?: string
  readonly maxBytes?: string
  readonly dryRun?: boolean
  readonly [flag: string]: unknown
}

/** Rows a second that two slow cores import; for the estimate. */
const ROWS_PER_SECOND = 10_000

/** `backfill --from-lake PLACE`: imports what another database recorded. Returns the exit code. */
export async function backfillFromLake(
  context: Context,
  { fromLake = '', maxBytes = MOST_BYTES, dryRun = false, ...flags }: FromLakeFlags,
  name: string | undefined,
): Promise<number> {
  for (const other of ['limit', 'only', 'since', 'restart', 'from', 'fromGit', 'map', 'detect'])
    if (flags[other] !== undefined) throw new UsageError('--from-lake takes --dry-run and --max-bytes only')
  if (name !== undefined) throw new UsageError('--from-lake imports all resources of a lake')
  const { app, progress, signal } = context
  const place = openPlace(fromLake, storeSettings(app))
  const limits = { clock: app.clock, maxBytes: wholeNumber('--max-bytes', maxBytes, Number.MAX_SAFE_INTEGER) }
  return await withDatabase(context, 'backfill from a lake', async (db) => {
    if (dryRun) {
      const { plan } = await priceOf(db, place, limits)
      const { files, rows, bytes, known, refused, notTaken } = plan
      const seconds = Math.ceil(rows / ROWS_PER_SECOND)
      const price = { place: fromLake, files, rows, bytes, known, seconds, refused, notTaken }
      const text = `${rows.toLocaleString('en-US')} rows in ${files} files, ${bytesText(bytes)}: about ${durationText(seconds)}\n`
      writeSummary(context, price, text + linesOf({ refused, notTaken }))
      return exitCode.done
    }
    progress.begin('lake')
    const began = app.clock.now()
    const done = await importLake(db, place, {
      ...{ ...limits, signal },
      onProgress: (table, records, count) => progress.seen(table, { page: 1, pages: null, records, count }, 'rows'),
    }).finally(() => progress.end())
    if (db.kind === 'server' && done.files > 0) await db.query('analyze')
    const seconds = Math.round((app.clock.now() - began) / 1000)
    writeSummary(context, { place: fromLake, ...done, seconds }, importedText(done, seconds))
    return done.refused.length > 0 || done.tables.some(({ refused }) => refused > 0) ? exitCode.rejected : exitCode.done
  })
}
