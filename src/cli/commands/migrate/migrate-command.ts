import { admitReaders, migrateDatabase, olderText } from '../../../app/app.ts'
import { RetryableError } from '../../../app/errors.ts'
import { readOnlyReason } from '../../../db/access.ts'
import { type Context, exitCode } from '../../context.ts'
import { openInterruptible } from '../../interruptible.ts'

/** `migrate`: brings the database up to date. Returns the exit code. */
export async function migrateCommand(context: Context): Promise<number> {
  const { app, out, flags } = context
  const db = await openInterruptible(context, ['migrate'])
  try {
    const { applied, newer, postponed } = await migrateDatabase(db, app, { again: true })
    if (postponed) throw new RetryableError(postponed)
    if ((await readOnlyReason(db)) === null) await admitReaders(db)
    if (flags.json) out.write(`${JSON.stringify({ database: db.place, applied })}\n`)
    else if (!flags.quiet) {
      out.write(applied.length > 0 ? `${applied.join('\n')}\n` : '')
      if (newer) out.write(`${olderText(newer.version)}\n`)
      out.write(applied.length > 0 ? `${db.place}: up to date\n` : `${db.place}: was up to date already\n`)
    }
    return exitCode.done
  } finally {
    await db.close()
  }
}
