import type { App } from '../../../app/app.ts'
import type { Database } from '../../../db/database.ts'
import { LockTimeout } from '../../../db/locks/lock-timeout.ts'
import { growingTables, passingTables, resources } from '../../../resources/index.ts'
import { expireRaw, rawDays } from '../../../sync/archive/archive-retention.ts'
import { compactCoverage } from '../../../sync/coverage/compact.ts'
import { materializeCoverage } from '../../../sync/coverage/count.ts'
import { expireLedger, expirePassing, passingName } from '../../../sync/retention/expiry.ts'
import { isMaintenanceDue, maintain, maintenanceTime } from '../../../sync/retention/maintain.ts'
import { namesOf } from '../../../sync/retention/partitions.ts'
import { daysBefore, type Retention, readRetention } from '../../../sync/retention/retention.ts'

/** What of the app it takes to look after its tables. */
type Kept = Pick<App, 'clock' | 'log'> & { readonly config: Pick<App['config'], 'retention' | 'rawDays'> }

/**
 * The configured retention.
 * @throws UsageError that names every part that cannot be read
 */
export function retentionOf({ config }: Pick<Kept, 'config'>): Retention {
  return readRetention(
    config.retention,
    growingTables.map((growing) => namesOf(growing).table.replace(/^.*\./, '')),
    passingTables.map(passingName),
  )
}

/**
 * Looks after the tables that grow, counts the hours of the ledger, thins it out, and tells the log what it did.
 * @throws RetryableError when the database is away or busy: to be tried again later; LockTimeout when all but a table was done
 * @throws UsageError as `retentionOf`
 */
export async function maintainDatabase(db: Database, app: Kept): Promise<void> {
  const retention = retentionOf(app)
  const now = await maintenanceTime(db, new Date(app.clock.now()))
  let left: LockTimeout | undefined
  const done = await maintain(db, { now, tables: growingTables, retention }).catch((error: unknown) => {
    if (!(error instanceof LockTimeout)) throw error
    left = error
    return { created: [], moved: 0, rolledUp: [], removed: 0 }
  })
  if (!done) return
  await materializeCoverage(db, { now, resources })
  const ledger = retention.get('ledger')
  const compacted = ledger ? await compactCoverage(db, { before: daysBefore(now, ledger.fine), resources }) : null
  const gone = await expire(db, retention, now)
  if (gone > 0) app.log.info({ rows: gone }, 'what is older than all retention removed')
  const days = rawDays(resources, app.config.rawDays)
  const expired = await expireRaw(db, { days, now: now.getTime() })
  if (expired > 0) app.log.info({ answers: expired }, 'old raw answers removed')
  const { created, moved, rolledUp, removed } = done
  if (created.length > 0) app.log.info({ partitions: created.length, moved }, 'partitions made')
  if (rolledUp.length > 0 || removed > 0) app.log.info({ partitions: rolledUp, removed }, 'old samples thinned out')
  if (compacted && compacted.runs + compacted.observations > 0) app.log.info({ ...compacted }, 'old ledger thinned out')
  if (left) throw left
}

/** Removes what no coarser tier keeps: of the ledger, and of tables that have none. Returns how many rows went. */
async function expire(db: Database, retention: Retention, now: Date): Promise<number> {
  let gone = 0
  for (const passing of passingTables) {
    const keep = retention.get(passingName(passing))
    if (keep) gone += await expirePassing(db, passing, daysBefore(now, keep.fine), now)
  }
  const coarse = retention.get('ledger')?.coarse
  for (const { name } of coarse === undefined ? [] : resources)
    gone += await expireLedger(db, name, daysBefore(now, coarse ?? 0))
  return gone
}

/** The same when nobody did it for a day; one small query otherwise. */
export async function maintainDaily(db: Database, app: Kept): Promise<void> {
  const now = await maintenanceTime(db, new Date(app.clock.now()))
  if (await isMaintenanceDue(db, { now, tables: growingTables })) await maintainDatabase(db, app)
}
