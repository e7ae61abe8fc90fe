import { migrateDatabase, openDatabase } from '../app/app.ts'
import type { Database, Sql } from '../db/database.ts'
import type { Context } from './context.ts'

/** How a command uses the database. */
export interface DatabaseUse {
  /** Whether the first SIGINT or SIGTERM ends the command; for commands that only read. */
  readonly isInterruptible?: boolean
  /** Whether the database is brought up to date first; default true. */
  readonly migrates?: boolean
}

/**
 * Runs work with an open, migrated database, and closes it.
 * @param holds what the command does, shown to a process that finds the embedded database in use
 */
export async function withDatabase<T>(
  context: Context,
  holds: string,
  work: (db: Database) => Promise<T>,
  { isInterruptible = false, migrates = true }: DatabaseUse = {},
): Promise<T> {
  const { app, signal, restoreSignals } = context
  // A server cancels the statement. The embedded database blocks this thread, where no handler of a signal could run.
  if (isInterruptible && app.config.databaseUrl === undefined) restoreSignals?.()
  const db = await openDatabase(app, [holds], isInterruptible ? { signal, isBrief: true } : {})
  try {
    if (migrates) await migrateDatabase(db, app)
    return await work(db)
  } finally {
    await db.close()
  }
}

/** Runs work in a transaction that is rolled back, and returns its result. */
export async function rolledBack<T>(db: Database, work: (sql: Sql) => Promise<T>): Promise<T> {
  const rollback = new Error('rolled back')
  const done: { result?: T } = {}
  await db
    .transaction(async (sql) => {
      done.result = await work(sql)
      throw rollback
    })
    .catch((error: unknown) => {
      if (error !== rollback) throw error
    })
  return done.result as T
}
