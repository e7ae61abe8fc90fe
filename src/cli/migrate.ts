import { admitReaders, migrateDatabase, openDatabase } from '../app.ts'
import { type Context, exitCode } from './context.ts'

/** `migrate`: brings the database up to date. Returns the exit code. */
export async function migrateCommand({ app, out, flags }: Context): Promise<number> {
  const db = await openDatabase(app, ['migrate'])
  try {
    const { applied } = await migrateDatabase(db, app)
    await admitReaders(db)
    if (flags.json) out.write(`${JSON.stringify({ database: db.place, applied })}\n`)
    else if (!flags.quiet) {
      out.write(applied.length > 0 ? `${applied.join('\n')}\n` : '')
      out.write(applied.length > 0 ? `${db.place}: up to date\n` : `${db.place}: was up to date already\n`)
    }
    return exitCode.done
  } finally {
    await db.close()
  }
}
