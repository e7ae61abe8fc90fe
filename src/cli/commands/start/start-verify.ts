import { type App, openDatabase } from '../../../app/app.ts'
import { messageOf } from '../../../base/errors.ts'
import type { Database } from '../../../db/database.ts'
import { storeSettings } from '../../../lake/lake-store.ts'
import { verifyConfiguredLake } from '../../../lake/verify-places.ts'
import { gauge, type Metric } from '../../../monitoring/metrics.ts'
import { resources } from '../../../resources/index.ts'
import {
  foundText,
  lastVerification,
  recordVerification,
  type Verification,
} from '../../../sync/verify/verification.ts'
import { type Verified, verifyDatabase } from '../../../sync/verify/verify.ts'

const HOUR = 3_600_000

/** How long after a verification the next one is due, ms: where it found nothing wrong, and where it did. */
const WEEK = 7 * 24 * HOUR
const DAY = 24 * HOUR

/** A process verifies nothing in its first hour, ms: what came due while it was down goes first. */
const FIRST = HOUR

/**
 * Verifies the database once a week until the signal. What fails is logged and tried again in an hour; syncs go on. From a connection of
 * its own; of the embedded database, which has one, from a copy of its files.
 */
export async function keepVerified(app: App, db: Database, stopping: AbortSignal): Promise<void> {
  const { clock, log } = app
  let startedAt = clock.now()
  while (!stopping.aborted) {
    let wait = HOUR
    try {
      const last = await lastVerification(db)
      const now = clock.now()
      // A clock that was ahead says nothing of what is due now.
      startedAt = Math.min(startedAt, now)
      const isKnown = last !== undefined && last.at.getTime() <= now
      const due = isKnown ? last.at.getTime() + (last.wrong > 0 ? DAY : WEEK) : 0
      wait = Math.max(due, startedAt + FIRST) - now
      if (wait <= 0) {
        say(app, await verifyOnce(app, db, stopping))
        continue
      }
    } catch (error) {
      if (stopping.aborted) return
      wait = HOUR
      log.warn({ err: error }, `the database could not be verified, which is tried again: ${messageOf(error)}`)
    }
    await clock.sleep(wait, stopping).catch(() => undefined)
  }
}

async function verifyOnce(app: App, shared: Database, signal: AbortSignal): Promise<Verification> {
  const { clock } = app
  const began = clock.now()
  const db = await openDatabase(app, ['verify'], { shares: 'copy', thread: true, stopWaiting: signal, ending: signal })
  try {
    const checks = [...(await verifyDatabase(db, resources, { signal })), ...(await verifyLakeOf(app, signal))]
    const at = new Date(clock.now())
    return await recordVerification(shared, checks, { at, seconds: Math.round((at.getTime() - began) / 1000) })
  } finally {
    await db.close()
  }
}

/** Of the lake that it exports into: the indexes, and what is in its newest month. A bucket that is away says nothing of the database. */
async function verifyLakeOf(app: App, signal: AbortSignal): Promise<Verified[]> {
  const { lake } = app.config
  try {
    if (lake === undefined) return []
    return await verifyConfiguredLake(lake, { settings: storeSettings(app), signal, isBrief: true })
  } catch (error) {
    signal.throwIfAborted()
    app.log.warn({ err: error }, `the lake could not be verified: ${messageOf(error)}`)
    return []
  }
}

function say({ log }: App, done: Verification): void {
  const { checks, seconds, wrong } = done
  if (wrong === 0) log.info({ checks, seconds }, 'the database is verified')
  else
    log.error(
      { checks, seconds, wrong },
      `verify found rows that are wrong; \`wynnsync verify\` shows them: ${foundText(done)}`,
    )
}

/** What verification found wrong, for /healthz; nothing where all is well, or the database is away. */
export async function verifyWarnings(db: Database): Promise<string[]> {
  const last = await lastVerification(db).catch(() => undefined)
  return last && last.wrong > 0 ? [`verify found rows that are wrong: ${foundText(last)}`] : []
}

/** Age and result of the last verification; none before the first. */
export async function verifyMetrics({ clock }: App, db: Database): Promise<Metric[]> {
  const last = await lastVerification(db).catch(() => undefined)
  if (!last) return []
  const age = Math.max(0, clock.now() - last.at.getTime()) / 1000
  return [
    gauge('wynnsync_verify_age_seconds', 'Age of the last verification by start.', [{ value: age }]),
    gauge('wynnsync_verify_wrong_rows', 'Rows that it found wrong.', [{ value: last.wrong }]),
  ]
}
