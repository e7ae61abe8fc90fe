import { setMaxListeners } from 'node:events'
import type { Api } from '../../../api/client.ts'
import { type App, migrateDatabase, openDatabase } from '../../../app/app.ts'
import { engineOf, openSharedApi } from '../../../app/app-api.ts'
import { systemClock } from '../../../app/clock.ts'
import { RetryableError } from '../../../app/errors.ts'
import type { Database } from '../../../db/database.ts'
import { readHeldLocks } from '../../../db/locks/held-locks.ts'
import { LockTimeout } from '../../../db/locks/lock-timeout.ts'
import { openWatch, type Watch, type WatchFlags } from '../../../monitoring/monitoring.ts'
import { resources, resourcesNamed } from '../../../resources/index.ts'
import { setExpectedInterval } from '../../../sync/coverage/coverage.ts'
import type { Outages } from '../../../sync/run/outages.ts'
import type { RunResult } from '../../../sync/run/run-result.ts'
import { createBackoff } from '../../../sync/schedule/backoff.ts'
import { schedulesOf } from '../../../sync/schedule/configured-schedules.ts'
import { expectedSeconds, runSchedule, type Scheduled } from '../../../sync/schedule/schedule.ts'
import { clockTicker, cronTicker } from '../../../sync/schedule/ticker.ts'
import { type Context, exitCode } from '../../context.ts'
import { messageOf } from '../doctor/doctor-checks.ts'
import { maintainDatabase, retentionOf } from './maintenance.ts'
import { openOutages } from './outage-file.ts'

/** What requests under way get to end by themselves after a SIGTERM, ms; the rest of ten seconds is for the database. */
const GRACE = 5000
/** Held for as long as it runs. */
const startLock = 'wynnsync start'
/** How often it says that it is alive, and looks after the database; ms. */
const HOUR = 3_600_000

/** `start`: syncs everything when it is due, until it is told to stop. Returns the exit code. */
export async function startCommand(context: Context, watching: WatchFlags = {}): Promise<number> {
  const { app, out, flags } = context
  // Names that nothing has would be shares that nothing heeds.
  resourcesNamed(Object.keys(app.config.plausibleShares))
  retentionOf(app)
  const { scheduled, off } = schedulesOf(app.config.schedule, resources, app.clock.now())
  const outages = openOutages(app)
  const missed = (error: RetryableError) => {
    if (error instanceof LockTimeout) return
    for (const { resource } of scheduled) outages.note(resource.name, app.clock.now(), error.message)
  }
  const db = await untilReached(context, missed, () => openDatabase(app, ['start', ...scheduled.map(holdOf)]))
  if (!db) return exitCode.done
  let api: Api | undefined
  let watch: Watch | undefined
  let viewsDue = false
  try {
    const lock = await untilReached(context, missed, async () => {
      viewsDue = (await migrateDatabase(db, app)).postponed !== undefined
      return (await db.tryLock(startLock)) ?? 'held'
    })
    if (lock === 'held') {
      const [holder] = await readHeldLocks(db, startLock)
      const who = holder ? `: process ${holder.pid} on ${holder.host} since ${holder.since.toISOString()}` : ''
      out.write(
        flags.json ? '{"status":"skipped"}\n' : `skipped: another \`wynnsync start\` uses this database${who}\n`,
      )
      // A supervisor must see that this one does nothing.
      return exitCode.tryLater
    }
    if (!lock) return exitCode.done
    await untilReached(context, missed, () => tellExpectations(db, { scheduled, off }, app.clock.now()))
    const watched = scheduled.map((one) => ({
      resource: one.resource.name,
      everySeconds: expectedSeconds(one, app.clock.now()),
    }))
    watch = await openWatch(app, db, watched, watching)
    api = openSharedApi(app, db, watch.request)
    app.log.info({ database: db.place, resources: scheduled.length, off: off.length > 0 ? off : undefined }, 'started')
    await run(context, { db, api, scheduled, watch, outages, viewsDue })
    app.log.info({}, 'stopped')
    return exitCode.done
  } finally {
    await watch?.close()
    await api?.close()
    await db.close()
  }
}

/** What a `start` runs with. */
interface Started {
  readonly db: Database
  readonly api: Api
  readonly scheduled: readonly Scheduled[]
  readonly watch: Watch
  readonly outages: Outages
  /** Views could not be replaced yet: somebody else's query was in the way. */
  readonly viewsDue: boolean
}

async function run({ app, signal }: Context, { db, api, scheduled, watch, outages, viewsDue }: Started): Promise<void> {
  const ending = new AbortController()
  // Every resource listens to both, and so does each of its requests.
  setMaxListeners(0, signal, ending.signal)
  const hurry = () => {
    app.log.info({}, 'shutting down: waiting for in-flight requests')
    watch.stopping()
    app.clock.sleep(GRACE, ending.signal).then(
      () => ending.abort(signal.reason),
      () => undefined,
    )
  }
  if (signal.aborted) hurry()
  else signal.addEventListener('abort', hurry, { once: true })
  const tally = hourly(app)
  const upkeep = keepUpkeep(app, db, signal, viewsDue)
  await runSchedule(
    { ...engineOf(app, db, api), outages },
    {
      scheduled,
      // In simulated time nothing rings by the machine's clock.
      ticker: app.clock === systemClock ? cronTicker : clockTicker(app.clock),
      random: app.random,
      concurrency: app.config.concurrency,
      stopping: signal,
      signal: ending.signal,
      onRun: (result) => {
        tally(result)
        watch.run(result)
      },
    },
  )
  ending.abort(signal.reason)
  await upkeep
}

/**
 * Makes partitions, thins out what is old, counts old hours: at once and then every hour. What fails, or waits for somebody
 * else's long query, is tried again after a minute, then later and later.
 * @param pending replaces views that could not be replaced when it started; false when they are not due
 */
async function keepUpkeep(app: App, db: Database, stopping: AbortSignal, pending: boolean): Promise<void> {
  const backoff = createBackoff({ first: 60_000, longest: HOUR }, app.random)
  let viewsDue = pending
  while (!stopping.aborted) {
    let wait = HOUR
    try {
      if (viewsDue) viewsDue = (await migrateDatabase(db, app)).postponed !== undefined
      await maintainDatabase(db, app)
      if (viewsDue) wait = backoff.failed()
      else backoff.worked()
    } catch (error) {
      wait = backoff.failed()
      const seconds = Math.round(wait / 1000)
      app.log.warn({ err: error }, `upkeep failed, and is tried again in ${seconds} s: ${messageOf(error)}`)
    }
    await app.clock.sleep(wait, stopping).catch(() => undefined)
  }
}

/** Repeats what a database that is away keeps from succeeding, until it is there. Undefined: told to stop before. */
async function untilReached<T>(
  { app, signal }: Context,
  missed: (error: RetryableError) => void,
  reach: () => Promise<T>,
): Promise<T | undefined> {
  const backoff = createBackoff({ first: 1000, longest: 60_000 }, app.random)
  while (!signal.aborted) {
    try {
      return await reach()
    } catch (error) {
      if (!(error instanceof RetryableError)) throw error
      missed(error)
      const wait = backoff.failed()
      app.log.warn({}, `${error.message}; trying again in ${Math.round(wait / 1000)} s`)
      await app.clock.sleep(wait, signal).catch(() => undefined)
    }
  }
  return undefined
}

async function tellExpectations(
  db: Database,
  { scheduled, off }: { scheduled: readonly Scheduled[]; off: readonly string[] },
  now: number,
): Promise<void> {
  const at = new Date(now)
  for (const one of scheduled) {
    const everySeconds = expectedSeconds(one, now)
    await setExpectedInterval(db, { resource: one.resource.name, everySeconds, toldBy: 'start', at })
  }
  for (const resource of off) await setExpectedInterval(db, { resource, everySeconds: null, toldBy: 'start', at })
}

function holdOf({ resource }: Scheduled): string {
  return `sync ${resource.name}`
}

/** Says once an hour what the last one brought: a line a poll would drown what matters. */
function hourly({ clock, log }: App): (result: RunResult) => void {
  let since = clock.now()
  const empty = { runs: 0, failed: 0, requests: 0, inserted: 0, changed: 0, events: 0 }
  let total = { ...empty }
  return (result) => {
    total = {
      runs: total.runs + 1,
      failed: total.failed + (result.status === 'failed' ? 1 : 0),
      requests: total.requests + result.requests,
      inserted: total.inserted + result.inserted,
      changed: total.changed + result.changed,
      events: total.events + result.events,
    }
    if (clock.now() - since < HOUR) return
    log.info(total, 'the last hour')
    since = clock.now()
    total = { ...empty }
  }
}
