import type { App } from '../../../app/app.ts'
import type { Database } from '../../../db/database.ts'
import { storeSettings } from '../../../lake/lake-store.ts'
import { readDrift } from '../../../sync/overview/drift-overview.ts'
import { type Context, showResult, tableWidth, withDatabase, writeResult } from '../../context.ts'
import { readOverview } from './status-overview.ts'
import { driftText, statusColors, statusText } from './status-text.ts'

export interface StatusFlags {
  readonly watch?: boolean
  readonly drift?: boolean
}

/** How often `--watch` reads everything again, ms. */
const REFRESH = 5000

/** `status`: freshness, budgets, gaps, failures, sizes. */
export async function statusCommand(context: Context, { watch = false, drift = false }: StatusFlags): Promise<void> {
  const { app, out, flags, signal } = context
  const width = tableWidth(context)
  const read = async (db: Database) => (drift ? await driftOf(db, width) : await overviewOf(db, app, width))
  if (!watch) {
    const [json, text] = await withDatabase(context, 'status', read, { isInterruptible: true })
    return await showResult(context, json, text, statusColors)
  }
  const show = async (db: Database) => {
    while (!signal.aborted) {
      const [json, text] = await read(db)
      if (!flags.json) out.clear()
      writeResult(context, json, text, statusColors)
      await app.clock.sleep(REFRESH, signal).catch(() => undefined)
      if (!out.isTTY && !flags.json) out.write('\n')
    }
  }
  return await withDatabase(context, 'status', show, { isInterruptible: true })
}

async function driftOf(db: Database, width?: number): Promise<[json: object, text: string]> {
  const drift = await readDrift(db)
  return [{ drift }, driftText(drift, width)]
}

async function overviewOf(db: Database, app: App, width?: number): Promise<[json: object, text: string]> {
  const { clock, config } = app
  const now = clock.now()
  const lake = config.lake === undefined ? undefined : { place: config.lake, settings: storeSettings(app) }
  const overview = await readOverview(db, now, config, lake)
  return [overview, statusText(overview, now, width)]
}
