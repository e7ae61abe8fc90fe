import { migrateDatabase } from '../../../app/app.ts'
import type { Database } from '../../../db/database.ts'
import { readDrift } from '../../../sync/drift/drift-overview.ts'
import { type Context, exitCode } from '../../context.ts'
import { openInterruptible } from '../../interruptible.ts'
import { driftText } from './status-drift.ts'
import { readOverview } from './status-overview.ts'
import { statusText } from './status-text.ts'

export interface StatusFlags {
  /** Show it again every few seconds. */
  readonly watch?: boolean
  /** Only what the API sends that the program does not know. */
  readonly drift?: boolean
}

/** Seconds between two looks. */
const EVERY = 5

/** `status`: how fresh everything is, what the API still allows, what was missed, what failed. Returns the exit code. */
export async function statusCommand({ watch = false, drift = false }: StatusFlags, context: Context): Promise<number> {
  const { app, out, flags, signal } = context
  const db = await openInterruptible(context, ['status'])
  try {
    await migrateDatabase(db, app)
    while (!signal.aborted) {
      const [json, text] = drift ? await driftOf(db) : await overviewOf(db, app.clock.now())
      if (flags.json) out.write(`${JSON.stringify(json)}\n`)
      else {
        if (watch) out.clear()
        out.write(text)
      }
      if (!watch) break
      await app.clock.sleep(EVERY * 1000, signal).catch(() => undefined)
      if (!out.isTTY && !flags.json) out.write('\n')
    }
    return exitCode.done
  } finally {
    await db.close()
  }
}

async function driftOf(db: Database): Promise<[json: object, text: string]> {
  const drift = await readDrift(db)
  return [{ drift }, driftText(drift)]
}

async function overviewOf(db: Database, now: number): Promise<[json: object, text: string]> {
  const overview = await readOverview(db, now)
  return [overview, statusText(overview, now)]
}
