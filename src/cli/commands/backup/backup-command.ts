import { resolve } from 'node:path'
import { version } from '../../../app/app.ts'
import { UsageError } from '../../../base/errors.ts'
import { visibleLine } from '../../../base/terminal-text.ts'
import type { Database } from '../../../db/database.ts'
import { type BackedUp, backupDatabase } from '../../../lake/backup/backup.ts'
import { NoBackup } from '../../../lake/backup/manifest.ts'
import { type Restored, restoreDatabase } from '../../../lake/backup/restore.ts'
import { PlaceOfAnother } from '../../../lake/changes.ts'
import { storeSettings } from '../../../lake/lake-store.ts'
import { resources } from '../../../resources/index.ts'
import { type Verified, verifyDatabase } from '../../../sync/verify/verify.ts'
import { type ConsentFlags, consent } from '../../ask.ts'
import { type Context, migrateShown, withDatabase, withProgress, writeSummary } from '../../context.ts'
import { exitCode } from '../../exit-codes.ts'
import { formatTable } from '../../output/table.ts'
import { bytesText, durationText } from '../../output/units.ts'
import { withoutWriters } from '../../without-writers.ts'

/** @throws UsageError when the place of a backup is neither a folder nor a bucket */
function placeOf(given: string): string {
  if (/^s3:\/\//i.test(given)) return given
  if (given.trim() === '' || /^[a-z][a-z0-9+.-]+:\/\//i.test(given))
    throw new UsageError('the place of a backup must be a folder or s3://bucket/prefix')
  return resolve(given)
}

/** `backup PLACE`: makes a folder or bucket of files equal to the database. */
export async function backupCommand(context: Context, flags: ConsentFlags, given: string): Promise<void> {
  const { app, signal } = context
  const { dryRun = false, yes = false } = flags
  const place = placeOf(given)
  const options = { clock: app.clock, program: version, dryRun, signal, settings: storeSettings(app) }
  const work = async (db: Database) => {
    const write = (replace: boolean) =>
      withProgress(
        context,
        'backup',
        (onProgress, onLooked) => backupDatabase(db, place, { ...options, replace, onProgress, onLooked }),
        place,
      )
    const { done, seconds } = await write(yes).catch(async (error: unknown) => {
      if (!(error instanceof PlaceOfAnother) || !process.stdin.isTTY) throw error
      const question = `${visibleLine(error.message)}. Replace it by this one's?`
      await consent(context, flags, { command: 'backup', question })
      return await write(true)
    })
    writeSummary(context, { place, dryRun, ...done, seconds }, backedUpText(place, done, { dryRun, seconds }))
  }
  await withDatabase(context, 'backup', work, { isLong: true })
}

function backedUpText(
  place: string,
  done: BackedUp,
  { dryRun, seconds }: { dryRun: boolean; seconds: number },
): string {
  const [rows, writtenRows] = [done.rows, done.writtenRows].map((count) => count.toLocaleString('en-US'))
  const has = `${rows} rows in ${done.files} files`
  return dryRun
    ? `would write ${writtenRows} rows in ${done.written} files; ${place} would have ${has}; nothing was changed\n`
    : `${writtenRows} rows in ${done.written} files written in ${durationText(seconds)}; ${place} has ${has}, ${bytesText(done.bytes)}\n`
}

/** `restore PLACE`: loads a backup into an empty database, and verifies it. Returns the exit code. */
export async function restoreCommand(
  context: Context,
  { ifAny = false }: { readonly ifAny?: boolean },
  given: string,
): Promise<number> {
  const place = placeOf(given)
  const work = async (db: Database) => {
    await migrateShown(db, context, { duringMove: true })
    return await withoutWriters(db, () => run(context, db, place)).catch((error: unknown) => {
      if (!ifAny || !(error instanceof NoBackup)) throw error
      const json = { place, target: db.place, at: null, program: null, tables: [], ...NOTHING }
      writeSummary(context, json, `${visibleLine(error.message)}: nothing was loaded\n`)
      return exitCode.done
    })
  }
  return await withDatabase(context, 'restore', work, { access: 'migrate', alone: true })
}

const NOTHING = { files: 0, rows: 0, bytes: 0, resumed: 0, wrong: 0, seconds: 0 }

async function run(context: Context, db: Database, place: string): Promise<number> {
  const { app, signal, progress } = context
  const onChecked = (records: number, count: number) => progress.seen('restore', { records, count }, 'files')
  const { done, seconds } = await withProgress(context, 'restore', (onProgress) =>
    restoreDatabase(db, place, { signal, settings: storeSettings(app), onChecked, onProgress }),
  )
  progress.begin('verify')
  const onVerified = (records: number, count: number) => progress.seen('verify', { records, count }, 'checks')
  const checks = await verifyDatabase(db, resources, { signal, onProgress: onVerified }).finally(() => progress.end())
  const failed = checks.filter((check) => check.wrong > 0)
  const wrong = failed.reduce((sum, check) => sum + check.wrong, 0)
  writeSummary(
    context,
    { place, target: db.place, ...done, wrong, seconds },
    textOf(done, failed, { place, db, seconds }),
  )
  return wrong > 0 ? exitCode.rejected : exitCode.done
}

function textOf(
  { at, tables, rows, files, bytes, resumed }: Restored,
  failed: readonly Verified[],
  { place, db, seconds }: { readonly place: string; readonly db: Database; readonly seconds: number },
): string {
  const filled = tables.filter((table) => table.rows > 0)
  const again = resumed > 0 ? ` (${resumed} tables by an earlier call)` : ''
  const verified =
    failed.length === 0
      ? 'verify finds nothing wrong\n'
      : `${formatTable(['check', 'table', 'wrong', 'meaning'], failed)}verify finds what is wrong; \`wynnsync verify\` shows the rows\n`
  return `${formatTable(['table', 'rows'], filled)}
${rows.toLocaleString('en-US')} rows of ${files} files, ${bytesText(bytes)}, as of ${at}, loaded${again} in ${durationText(seconds)}: ${place} -> ${db.place}
${verified}`
}
