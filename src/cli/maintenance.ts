import type { App } from '../app/app.ts'
import type { Database } from '../db/database.ts'
import { LockTimeout } from '../db/locks/lock-timeout.ts'
import { growingTables, passingTables, resources } from '../resources/index.ts'
import { expireRaw, rawDays } from '../sync/archive/archive-retention.ts'
import { compactCoverage, materializeCoverage } from '../sync/coverage/coverage.ts'
import type { Resource, Worklist } from '../sync/declare/resource.ts'
import { pruneOutbox } from '../sync/outbox/outbox.ts'
import { expireLedger, expireTable, expiringName } from '../sync/retention/expiry.ts'
import { isMaintenanceDue, maintain, maintenanceTime, makeMonths } from '../sync/retention/maintain.ts'
import { namesOf } from '../sync/retention/partitions.ts'
import { daysBefore, type Retention, readRetention } from '../sync/retention/retention.ts'

type Settings = { readonly config: Pick<App['config'], 'retention' | 'rawDays'> }
type Maintained = Pick<App, 'clock' | 'log'> & Settings

/**
 * The configured retention.
 * @throws UsageError that names every part that cannot be read
 */
export function retentionOf({ config }: Settings): Retention {
  return readRetention(
    config.retention,
    growingTables.map((growing) => namesOf(growing).table.replace(/^.*\./, '')),
    passingTables.map(expiringName),
  )
}

/**
 * Creates partitions, materializes coverage, compacts samples and ledger, removes what is past retention; logs what it did.
 * @throws RetryableError when the database is unreachable or busy; LockTimeout when all but one table was done
 * @throws UsageError as `retentionOf`
 */
export async function maintainDatabase(db: Database, app: Maintained): Promise<void> {
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
  if (gone > 0) app.log.info({ rows: gone }, 'rows past their retention removed')
  await pruneOutbox(db, now)
  const days = rawDays(resources, app.config.rawDays)
  const expired = await expireRaw(db, { days, now: now.getTime() })
  if (expired > 0) app.log.info({ responses: expired }, 'old archived responses removed')
  const { created, moved, rolledUp, removed } = done
  if (created.length > 0) app.log.info({ partitions: created.length, moved }, 'partitions created')
  if (rolledUp.length > 0 || removed > 0) app.log.info({ partitions: rolledUp, removed }, 'old samples compacted')
  if (compacted && compacted.runs + compacted.observations > 0) app.log.info({ ...compacted }, 'old ledger compacted')
  if (left) throw left
}

/** Removes what no coarser tier keeps: of the ledger, and of tables that have none. Returns the number of rows. */
async function expire(db: Database, retention: Retention, now: Date): Promise<number> {
  let gone = 0
  for (const passing of passingTables) {
    const keep = retention.get(expiringName(passing))
    if (keep) gone += await expireTable(db, passing, daysBefore(now, keep.fine), now)
  }
  const coarse = retention.get('ledger')?.coarse
  for (const resource of coarse === undefined ? [] : resources)
    gone += await expireLedger(db, resource, daysBefore(now, coarse ?? 0))
  return gone
}

/** Makes the partitions that rows of these resources go into; where that fails, maintenance does it later, and says why. */
export async function prepareTables(
  db: Database,
  { clock, log }: Maintained,
  scheduled: readonly Pick<Resource | Worklist, 'retained'>[],
): Promise<void> {
  const tables = scheduled.flatMap(({ retained = [] }) => retained)
  if (tables.length === 0) return
  try {
    await makeMonths(db, { now: await maintenanceTime(db, new Date(clock.now())), tables })
  } catch (error) {
    log.debug({ err: error }, 'no partitions were made ahead')
  }
}

/** The same when the last maintenance was a day ago; one small query otherwise. */
export async function maintainDaily(db: Database, app: Maintained): Promise<void> {
  const now = await maintenanceTime(db, new Date(app.clock.now()))
  if (await isMaintenanceDue(db, { now, tables: growingTables })) await maintainDatabase(db, app)
}
