import type { App } from '../app/app.ts'
import type { Database } from '../db/database.ts'
import { resources } from '../resources/index.ts'
import type { Resource, Worklist } from '../sync/declare/resource.ts'
import { expectationAt, setExpectedInterval } from '../sync/ledger/gaps.ts'
import { schedulesOf } from '../sync/schedule/configured-schedules.ts'
import { periodSeconds } from '../sync/schedule/ticker.ts'

/**
 * Records how often a resource is synced that a crontab syncs: as the configuration says, else as it declares itself. Does
 * nothing while a `start` runs that has recorded it.
 */
export async function expectScheduled(db: Database, { name, schedule }: Resource | Worklist, app: App): Promise<void> {
  const now = app.clock.now()
  const at = new Date(now)
  const inForce = await expectationAt(db, name, at)
  if (inForce?.setBy === 'start' && (await isStarted(db))) return
  const { scheduled } = schedulesOf(app.config.schedule, resources)
  const expression = scheduled.find(({ resource }) => resource.name === name)?.expression ?? schedule
  const period = periodSeconds(expression, now)
  const everySeconds = Number.isFinite(period) ? period : null
  await setExpectedInterval(db, { resource: name, everySeconds, setBy: 'sync', at })
}

/** Whether a `wynnsync start` runs: it holds a lock for as long. */
async function isStarted(db: Database): Promise<boolean> {
  const lock = await db.tryLock('wynnsync start')
  await lock?.release()
  return lock === null
}
