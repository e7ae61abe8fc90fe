import { openDatabase } from '../app/app.ts'
import type { Database } from '../db/database.ts'
import type { Context } from './context.ts'

/**
 * Opens the database for a command that ends at the first SIGINT or SIGTERM: what runs on a server is cancelled there. The
 * embedded database works in this thread, in which no handler could run meanwhile, so the signal ends the process itself.
 */
export async function openInterruptible(
  { app, signal, restoreSignals }: Context,
  holds: readonly string[],
): Promise<Database> {
  if (app.config.databaseUrl === undefined) restoreSignals?.()
  return await openDatabase(app, holds, { signal })
}
