import { type App, openDatabase, version } from '../../../app/app.ts'
import { messageOf } from '../../../base/errors.ts'
import type { Database } from '../../../db/database.ts'
import type { Exported } from '../../../lake/export.ts'
import { lakeState } from '../../../lake/index-file.ts'
import { storeSettings } from '../../../lake/lake-store.ts'
import { gauge, type Metric } from '../../../monitoring/metrics.ts'
import { nextTick } from '../../../sync/schedule/ticker.ts'

/** How long replaced files stay for readers that have them open, ms. */
const KEEP_REPLACED_MS = 86_400_000

/** @throws UsageError with the command that installs DuckDB, where a lake is configured and it is not there */
export async function checkLake({ config }: App): Promise<void> {
  if (config.lake === undefined) return
  const { loadDuckDb } = await import('../../../lake/duckdb.ts')
  await loadDuckDb()
}

/**
 * Keeps the configured lake up to date: an export at once, then by its schedule, until the signal. One that fails is logged and
 * tried at the next tick; syncs go on. From a connection of its own; of the embedded database, which has one, from a copy of its files.
 */
export async function keepLake(app: App, db: Database, stopping: AbortSignal): Promise<void> {
  const { config, clock, log } = app
  if (config.lake === undefined) return
  while (!stopping.aborted) {
    try {
      const done = await exportOnce(app, config.lake, db, stopping)
      if (done) log.info({ rows: done.writtenRows, files: done.written, bytes: done.bytes }, 'the lake is up to date')
      else log.info({}, 'the lake is left to another process that exports it')
    } catch (error) {
      if (stopping.aborted) return
      log.warn({ err: error }, `the lake could not be exported, which is tried again: ${messageOf(error)}`)
    }
    await clock.sleep(nextTick(config.lakeSchedule, clock.now()) - clock.now(), stopping).catch(() => undefined)
  }
}

async function exportOnce(app: App, place: string, shared: Database, signal: AbortSignal): Promise<Exported | null> {
  const { exportLake } = await import('../../../lake/export.ts')
  const settings = storeSettings(app)
  const lock = await shared.tryLock('wynnsync lake')
  if (!lock) return null
  try {
    const db = await openDatabase(app, ['lake'], { shares: 'copy', thread: true, stopWaiting: signal, ending: signal })
    try {
      // Names of people are in it only where `lake export --people` began it.
      const people = (await lakeState(place, settings))?.people ?? false
      const options = { clock: app.clock, program: version, people, keepMs: KEEP_REPLACED_MS, signal, settings }
      return await exportLake(db, place, { ...options, onProgress: () => {} })
    } finally {
      await db.close()
    }
  } finally {
    await lock.release()
  }
}

/** Age and size of the configured lake; none where there is none yet. */
export async function lakeMetrics(app: App): Promise<Metric[]> {
  const { config, clock } = app
  if (config.lake === undefined) return []
  // Prometheus gives a scrape ten seconds.
  const state = await lakeState(config.lake, storeSettings(app), AbortSignal.timeout(3000)).catch(() => undefined)
  if (!state) return []
  const age = Math.max(0, clock.now() - Date.parse(state.at)) / 1000
  return [
    gauge('wynnsync_lake_age_seconds', 'Age of the last export into the configured lake.', [{ value: age }]),
    gauge('wynnsync_lake_bytes', 'Bytes of the Parquet files of the configured lake.', [{ value: state.bytes }]),
  ]
}
