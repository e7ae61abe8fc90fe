import { version } from '../../../app/app.ts'
import { visibleLine } from '../../../base/terminal-text.ts'
import type { Database } from '../../../db/database.ts'
import { type BackedUp, backupDatabase } from '../../../lake/backup/backup.ts'
import { PlaceOfAnother } from '../../../lake/changes.ts'
import { storeSettings } from '../../../lake/lake-store.ts'
import { type ConsentFlags, consent } from '../../ask.ts'
import { type Context, withDatabase, withProgress, writeSummary } from '../../context.ts'
import { bytesText, durationText } from '../../output/units.ts'
import { placeOf } from './place.ts'

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
        (onProgress) => backupDatabase(db, place, { ...options, replace, onProgress }),
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
  await withDatabase(context, 'backup', work)
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
