import { admitReaders, olderText } from '../../../app/app.ts'
import { RetryableError } from '../../../base/errors.ts'
import { readOnlyReason } from '../../../db/access.ts'
import type { Database } from '../../../db/database.ts'
import { type Context, migrateShown, withDatabase, writeSummary } from '../../context.ts'

/** `migrate`: brings the database up to date. */
export async function migrateCommand(context: Context): Promise<void> {
  const work = async (db: Database) => {
    const { applied, newer, postponed } = await migrateShown(db, context, { again: true })
    if (postponed) throw new RetryableError(postponed)
    if ((await readOnlyReason(db)) === null) await admitReaders(db)
    const lines = [
      ...applied,
      ...(newer ? [olderText(newer.version)] : []),
      `${db.place}: ${applied.length > 0 ? 'up to date' : 'was up to date already'}`,
    ]
    writeSummary(context, { database: db.place, applied }, `${lines.join('\n')}\n`)
  }
  return await withDatabase(context, 'migrate', work, { isInterruptible: true, access: 'migrate', alone: true })
}
