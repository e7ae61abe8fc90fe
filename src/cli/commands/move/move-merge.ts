import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { version } from '../../../app/app.ts'
import type { Database } from '../../../db/database.ts'
import { exportLake } from '../../../lake/export.ts'
import { type Imported, importLake } from '../../../lake/import/import.ts'
import { openPlace } from '../../../lake/read/place.ts'
import { type Context, withProgress, writeSummary } from '../../context.ts'
import { exitCode } from '../../exit-codes.ts'
import { durationText } from '../../output/units.ts'
import { importedText, refusalsOf } from '../backfill/backfill-from-lake.ts'

/**
 * `move --to PLACE --merge`: the history of one database into another that has some, by the rules for a lake, through a lake in the
 * data folder, which goes when all of it is imported. Interrupted at any instant, the same call goes on. Returns the exit code.
 */
export async function mergeDatabases(context: Context, source: Database, target: Database): Promise<number> {
  const { app, signal } = context
  const folder = join(app.config.dataDir, 'lakes', 'merge')
  const merge: Parameters<typeof withProgress<Imported>>[2] = async (onProgress, onLooked) => {
    const { clock } = app
    // An interrupted merge of another database may have left its own there.
    const options = { clock, program: version, people: true, replace: true, keepMs: 0, signal }
    await exportLake(source, folder, { ...options, onProgress, onLooked })
    const limits = { clock, maxBytes: Number.MAX_SAFE_INTEGER, signal }
    const imported = await importLake(target, openPlace(folder), { ...limits, onProgress })
    if (target.kind === 'server') await target.query('analyze')
    await rm(folder, { recursive: true, force: true })
    return imported
  }
  const { done, seconds } = await withProgress(context, 'move', merge, folder)
  const text = `${importedText(done, seconds)}${source.place} -> ${target.place}, in ${durationText(seconds)}; ${source.place} is as it was\n`
  writeSummary(context, { source: source.place, target: target.place, ...done, seconds }, text, refusalsOf(done))
  return done.refused.length > 0 || done.tables.some(({ refused }) => refused > 0) ? exitCode.rejected : exitCode.done
}
