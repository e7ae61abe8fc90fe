import { existsSync } from 'node:fs'
import { rmdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import { version } from '../../../app/app.ts'
import { RetryableError, UsageError } from '../../../base/errors.ts'
import { wholeNumber } from '../../../base/settings.ts'
import { visibleLine } from '../../../base/terminal-text.ts'
import { NO_RIGHT, READ_ONLY } from '../../../db/access.ts'
import type { Database } from '../../../db/database.ts'
import { holderText } from '../../../db/locks/held-locks.ts'
import { sqlState } from '../../../db/sql-errors.ts'
import { PlaceOfAnother } from '../../../lake/changes.ts'
import { type Exported, exportLake } from '../../../lake/export.ts'
import { exportFile } from '../../../lake/file/export-file.ts'
import { fileKind, storeSettings } from '../../../lake/lake-store.ts'
import { askLake } from '../../../lake/query.ts'
import { MOST_BYTES, openPlace } from '../../../lake/read/place.ts'
import { type ConsentFlags, consent } from '../../ask.ts'
import {
  type Context,
  rowLimit,
  showResult,
  tableWidth,
  withDatabase,
  withProgress,
  writeSummary,
} from '../../context.ts'
import { durationFlag, refuseIn } from '../../options.ts'
import { formatTable } from '../../output/table.ts'
import { bytesText, durationText } from '../../output/units.ts'

const NO_PLACE = 'the place of a lake is empty: name a folder'

interface ExportFlags extends ConsentFlags {
  readonly people?: boolean
  readonly keepReplaced?: string
  /** The older name of `keepReplaced`. */
  readonly keep?: string
  readonly replace?: boolean
}

/** `lake export PLACE`: makes a folder or bucket of Parquet files, or one file, equal to the database. */
export async function lakeExport(context: Context, flags: ExportFlags, place: string) {
  const { app, signal } = context
  const { people = false, dryRun = false } = flags
  const yes = flags.yes === true || flags.replace === true
  const keepMs =
    flags.keepReplaced === undefined
      ? durationFlag('--keep', flags.keep ?? '24h')
      : durationFlag('--keep-replaced', flags.keepReplaced)
  const lake = /^s3:\/\//i.test(place) ? place : folderOf(place)
  const options = { clock: app.clock, program: version, people, keepMs, dryRun, signal, settings: storeSettings(app) }
  const kind = fileKind(lake)
  if (kind && /^s3:/i.test(lake))
    throw new UsageError(`one file is written on this machine, not into a bucket: ${place}`)
  if (kind) refuseIn('lake export of one file', flags, ['--keep-replaced', '--keep'])
  const isNew = !existsSync(lake)
  const work = async (db: Database) => {
    const lock = await takeLock(db)
    if (!lock)
      throw new RetryableError(`${await holderText(db, 'wynnsync lake', 'has been exporting')}; try again later`)
    const write = (replace: boolean) =>
      withProgress(
        context,
        'lake',
        (onProgress, onLooked) => {
          const all = { ...options, replace, onProgress, onLooked }
          return kind ? exportFile(db, lake, kind, all) : exportLake(db, lake, all)
        },
        lake,
      )
    try {
      const { done, seconds } = await write(yes).catch(async (error: unknown) => {
        if (!(error instanceof PlaceOfAnother) || !process.stdin.isTTY) throw error
        const question = `${visibleLine(error.message)}. Replace it by this one's?`
        await consent(context, flags, { command: 'lake export', question })
        return await write(true)
      })
      writeSummary(
        context,
        { place: lake, people, dryRun, ...done, seconds },
        exportedText(lake, done, { dryRun, seconds }),
      )
    } finally {
      await lock.release()
      // A dry run leaves nothing.
      if (dryRun && isNew) await rmdir(lake).catch(() => undefined)
    }
  }
  return await withDatabase(context, 'lake export', work, { isLong: true })
}

function exportedText(lake: string, done: Exported, { dryRun, seconds }: { dryRun: boolean; seconds: number }): string {
  const [rows, writtenRows] = [done.rows, done.writtenRows].map((count) => count.toLocaleString('en-US'))
  const has = `${rows} rows in ${done.files} ${done.files === 1 ? 'file' : 'files'}`
  return dryRun
    ? `would write ${writtenRows} rows in ${done.written} ${done.written === 1 ? 'file' : 'files'}; ${lake} would have ${has}; nothing was changed\n`
    : `${writtenRows} rows in ${done.written} ${done.written === 1 ? 'file' : 'files'} written in ${durationText(seconds)}; ${lake} has ${has}, ${bytesText(done.bytes)}\n`
}

/** The lock of exports from a database; one that cannot be written, such as a standby, has none. Null: another export has it. */
async function takeLock(db: Database) {
  return await db.tryLock('wynnsync lake').catch((error: unknown) => {
    if ([READ_ONLY, NO_RIGHT].includes(String(sqlState(error)))) return { release: async () => {} }
    throw error
  })
}

/** @throws UsageError when a place is no folder */
function folderOf(place: string): string {
  if (place.trim() === '') throw new UsageError(NO_PLACE)
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(place)) throw new UsageError(`the place of a lake must be a folder, not ${place}`)
  return resolve(place)
}

/** `lake query PLACE NAME`: answers a question about a lake. */
export async function lakeQuery(
  context: Context,
  flags: { readonly limit?: string; readonly maxBytes?: string },
  place: string,
  name: string,
) {
  if (place.trim() === '') throw new UsageError(NO_PLACE)
  const { app, err, signal } = context
  const limit = rowLimit(context, flags.limit, !context.flags.json)
  context.progress.during('lake query')
  const found = await askLake(openPlace(place, storeSettings(app)), name, {
    // One row more than is shown: whether there are more.
    limit: limit > 0 ? limit + 1 : 0,
    signal,
    maxBytes: wholeNumber('--max-bytes', flags.maxBytes ?? MOST_BYTES, Number.MAX_SAFE_INTEGER),
  })
  const rows = limit > 0 ? found.slice(0, limit) : found
  const columns = Object.keys(rows[0] ?? {})
  const text = rows.length === 0 ? 'no rows\n' : formatTable(columns, rows, { width: tableWidth(context) })
  await showResult(context, rows, text)
  if (found.length > rows.length && !context.flags.quiet) err.write(`the first ${limit} rows; --limit 0 for all\n`)
}
