import { migrateDatabase, openDatabase } from '../../../app/app.ts'
import { UsageError } from '../../../base/errors.ts'
import { wholeNumber } from '../../../base/settings.ts'
import { visibleLine } from '../../../base/terminal-text.ts'
import { NothingThere } from '../../../db/connect.ts'
import type { Database } from '../../../db/database.ts'
import { type Imported, importLake, priceOf } from '../../../lake/import/import.ts'
import type { ImportOptions } from '../../../lake/import/plan.ts'
import { storeSettings } from '../../../lake/lake-store.ts'
import { type LakePlace, MOST_BYTES, openPlace } from '../../../lake/read/place.ts'
import { inWorkFolder } from '../../../lake/read/work-folder.ts'
import { type Context, withDatabase, withProgress, writeSummary } from '../../context.ts'
import { exitCode } from '../../exit-codes.ts'
import { formatTable } from '../../output/table.ts'
import { bytesText, durationText } from '../../output/units.ts'

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
  for (const other of [
    'limit',
    'only',
    'since',
    'fetchedBefore',
    'restart',
    'from',
    'fromGit',
    'map',
    'detect',
    'yes',
    'dates',
    'acceptBaseUrl',
  ])
    if (flags[other] !== undefined) throw new UsageError('--from-lake takes --dry-run and --max-bytes only')
  if (name !== undefined)
    throw new UsageError(
      `--from-lake imports all resources of a lake: its ledger says when each was observed, and must not say so of what is not imported; leave out ${name}`,
    )
  const { app, signal } = context
  const place = openPlace(fromLake, storeSettings(app))
  const limits = { clock: app.clock, maxBytes: wholeNumber('--max-bytes', maxBytes, Number.MAX_SAFE_INTEGER) }
  if (dryRun) return await showPrice(context, place, limits)
  const work = async (db: Database) => {
    const { done, seconds } = await withProgress(context, 'lake', async (onProgress) => {
      const imported = await importLake(db, place, { ...limits, signal, onProgress })
      if (db.kind === 'server' && imported.files > 0) await db.query('analyze')
      return imported
    })
    writeSummary(context, { place: fromLake, ...done, seconds }, importedText(done, seconds), refusalsOf(done))
    return done.refused.length > 0 || done.tables.some(({ refused }) => refused > 0) ? exitCode.rejected : exitCode.done
  }
  return await withDatabase(context, 'backfill from a lake', work, { access: 'create', alone: true })
}

/** Where there is no history yet, the price is that of an empty one, which is none of this user's. */
async function showPrice(context: Context, place: LakePlace, limits: Pick<ImportOptions, 'clock' | 'maxBytes'>) {
  const show = async (db: Database) => {
    const { plan } = await priceOf(db, place, limits)
    const { files, rows, bytes, known, refused, notTaken } = plan
    const seconds = Math.ceil(rows / ROWS_PER_SECOND)
    const price = { place: place.place, files, rows, bytes, known, seconds, refused, notTaken }
    const text = `${rows.toLocaleString('en-US')} rows in ${files} files, ${bytesText(bytes)}: about ${durationText(seconds)}\n`
    writeSummary(context, price, text, refusalsOf({ refused, notTaken }))
    return exitCode.done
  }
  return await withDatabase(context, 'the price of a lake', show).catch(async (error: unknown) => {
    if (!(error instanceof NothingThere)) throw error
    context.progress.during('the price of a lake')
    return await inWorkFolder(async (folder) => {
      const config = { ...context.app.config, databaseUrl: undefined, dataDir: folder }
      const db = await openDatabase({ ...context.app, config }, ['the price of a lake'], {
        durable: false,
        thread: true,
      })
      try {
        await migrateDatabase(db, context.app)
        return await show(db)
      } finally {
        await db.close()
      }
    })
  })
}

const columns = ['table', 'rows', 'taken', 'refused', 'restricted', 'conflicts'] as const

/** What was imported from a lake, for a person. */
export function importedText(done: Imported, seconds: number): string {
  const { tables, files, bytes, known } = done
  const table = tables.length > 0 ? formatTable(columns, tables) : ''
  const before = known > 0 ? `; ${known} files were imported before` : ''
  return `${table}${files} files, ${bytesText(bytes)}, in ${durationText(seconds)}${before}\n`
}

/** How many files and tables that are refused are printed; the JSON has all. A lake of others may list any number. */
const PRINTED_LINES = 20

/** What was not imported, and why. */
export function refusalsOf({ refused, notTaken }: Pick<Imported, 'refused' | 'notTaken'>): string {
  const lines = refused.slice(0, PRINTED_LINES).map(({ what, reason }) => `refused: ${what}: ${reason}`)
  if (refused.length > PRINTED_LINES) lines.push(`and ${refused.length - PRINTED_LINES} more; --json has all`)
  if (refused.length > 0)
    lines.push('the same command imports what is refused once it is right: copied or exported again')
  if (notTaken.length > 0) lines.push(`not imported: ${notTaken.join(', ')}`)
  return lines.map((line) => `${visibleLine(line)}\n`).join('')
}
