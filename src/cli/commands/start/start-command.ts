import { setMaxListeners } from 'node:events'
import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import type { Api } from '../../../api/client.ts'
import { type App, migrateDatabase, openDatabase } from '../../../app/app.ts'
import { admissionOf, engineOf, openSharedApi } from '../../../app/app-api.ts'
import { followSignal, systemClock } from '../../../base/clock.ts'
import { codeOf, messageOf, RetryableError } from '../../../base/errors.ts'
import type { Database } from '../../../db/database.ts'
import { readHolder } from '../../../db/embedded/folder-lock.ts'
import { readHeldLocks } from '../../../db/locks/held-locks.ts'
import { LockTimeout } from '../../../db/locks/lock-timeout.ts'
import type { HttpServer } from '../../../monitoring/listen.ts'
import {
  type Monitoring,
  type MonitoringFlags,
  openMonitoring,
  WEBHOOK_TIMEOUT,
} from '../../../monitoring/monitoring.ts'
import { watchingOf } from '../../../monitoring/receivers.ts'
import { resources, resourcesNamed } from '../../../resources/index.ts'
import { setExpectedInterval } from '../../../sync/ledger/gaps.ts'
import { type Admission, endsWork } from '../../../sync/run/admission.ts'
import type { Outages } from '../../../sync/run/outages.ts'
import { faultsOnce } from '../../../sync/run/run-log.ts'
import type { RunResult } from '../../../sync/run/run-result.ts'
import { createBackoff } from '../../../sync/schedule/backoff.ts'
import { schedulesOf } from '../../../sync/schedule/configured-schedules.ts'
import { cronTicker } from '../../../sync/schedule/node-cron.ts'
import { expectedSeconds, runSchedule, type Scheduled } from '../../../sync/schedule/schedule.ts'
import { clockTicker, nextTick } from '../../../sync/schedule/ticker.ts'
import { type Context, writeResult } from '../../context.ts'
import { exitCode } from '../../exit-codes.ts'
import { maintainDatabase, prepareTables, retentionOf } from '../../maintenance.ts'
import { refuseWithout } from '../../options.ts'
import { openOutages } from '../../outage-file.ts'
import { durationText } from '../../output/units.ts'
import type { WebFlags, webOptionsOf } from '../serve/open-web.ts'
import { checkLake, keepLake, lakeMetrics } from './start-lake.ts'
import { keepVerified, verifyMetrics, verifyWarnings } from './start-verify.ts'

/** How long in-flight requests may take to end after a SIGTERM, and all else, ms. The program itself ends within two seconds more; Docker kills after ten. */
const REQUESTS_END_MS = 5000
const ALL_ENDS_MS = 6500
/** How long another `start` may take to end, and how often it is looked at, ms. */
const OTHER_ENDS_MS = 30_000
const LOOK_EVERY_MS = 200
/** How often maintenance runs and the log has sums, ms. */
const HOUR = 3_600_000

interface StartFlags extends MonitoringFlags, StartWebFlags {
  readonly replace?: boolean
  readonly acceptBaseUrl?: boolean
}

/** `start`: syncs everything when it is due, until SIGTERM or Ctrl-C. Returns the exit code. */
export async function startCommand(context: Context, flags: StartFlags): Promise<number> {
  return await endsInTime(context, start(context, flags))
}

/** The result of work, and soon after a signal the end of it, whatever goes on: what is not committed then is as after a kill. */
async function endsInTime({ app, signal }: Context, work: Promise<number>): Promise<number> {
  const over = new AbortController()
  const late = new Promise<number>((resolve) => {
    const wait = async () => {
      await systemClock.sleep(ALL_ENDS_MS, over.signal)
      app.log.warn({}, 'ends before all is done: the next start does it again')
      resolve(exitCode.done)
    }
    signal.addEventListener('abort', () => void wait().catch(() => undefined), { once: true })
  })
  return await Promise.race([work, late]).finally(() => over.abort())
}

async function start(context: Context, flags: StartFlags): Promise<number> {
  const { app } = context
  // Wrong names fail before anything is opened.
  resourcesNamed(Object.keys(app.config.plausibleShares))
  retentionOf(app)
  refuseWithout(flags, '--metrics-port', ['--metrics-host'])
  const webOptions = await startWebOptions(flags)
  await checkLake(app)
  const { scheduled, off } = schedulesOf(app.config.schedule, resources)
  const outages = openOutages(app)
  const missed = (error: RetryableError) => {
    if (error instanceof LockTimeout) return
    for (const { resource } of scheduled) outages.note(resource.name, app.clock.now(), error.message)
  }
  const rival = await folderHolder(app)
  if (rival && !flags.replace) return skipStart(context, rival)
  if (rival) await stopHolder(context, rival)
  context.progress.during('start')
  const holds = [startHold, ...scheduled.map(({ resource }) => `sync ${resource.name}`)]
  const db = await untilReached(context, missed, () =>
    openDatabase(app, holds, { thread: true, shares: 'writes', ending: context.signal }),
  )
  if (!db) return exitCode.done
  const opened = db
  let api: Api | undefined
  let monitoring: Monitoring | undefined
  let web: HttpServer | undefined
  let viewsDue = false
  try {
    const lock = await untilReached(context, missed, async () => {
      viewsDue = (await migrateDatabase(db, app)).postponed !== undefined
      return (await db.tryLock(startLock)) ?? 'held'
    })
    if (lock === 'held' && !flags.replace) return skipStart(context, await serverHolder(db))
    if (!lock || (lock === 'held' && !(await replaceHolder(context, db)))) return exitCode.done
    const admission = await untilReached(context, missed, () => admissionOf(app, db, flags))
    if (!admission) return exitCode.done
    const watched = scheduled.map((entry) => ({
      resource: entry.resource.name,
      everySeconds: expectedSeconds(entry, app.clock.now()),
    }))
    await untilReached(context, missed, async () => {
      const by = { setBy: 'start', at: new Date(app.clock.now()) } as const
      for (const expected of watched) await setExpectedInterval(db, { ...expected, ...by })
      for (const resource of off) await setExpectedInterval(db, { resource, everySeconds: null, ...by })
    })
    monitoring = await openMonitoring(app, db, watched, flags, {
      metrics: async () => [...(await lakeMetrics(app)), ...(await verifyMetrics(app, opened))],
      warnings: () => verifyWarnings(opened),
    })
    if (webOptions) web = await openStartWeb(context, db, webOptions)
    api = openSharedApi(app, db, monitoring.request)
    app.log.info({ database: db.place, resources: scheduled.length, off: off.length > 0 ? off : undefined }, 'started')
    context.progress.stop()
    await run(context, { db, api, scheduled, monitoring, outages, viewsDue, admission })
    app.log.info({}, 'stopped')
    return exitCode.done
  } finally {
    await web?.close()
    await monitoring?.close()
    await api?.close()
    await db.close()
  }
}

/** Stops the holder of the lock on a server and takes its place. False: the signal came first. @throws RetryableError */
async function replaceHolder(context: Context, db: Database): Promise<boolean> {
  const { clock } = context.app
  const holder = await serverHolder(db)
  if (holder) await stopHolder(context, holder)
  const giveUpAt = clock.now() + OTHER_ENDS_MS
  while (!context.signal.aborted) {
    if (await db.tryLock(startLock)) return true
    if (clock.now() >= giveUpAt) throw new RetryableError('the other `wynnsync start` has not ended; try again')
    await clock.sleep(LOOK_EVERY_MS, context.signal).catch(() => undefined)
  }
  return false
}

interface Started {
  readonly db: Database
  readonly api: Api
  readonly scheduled: readonly Scheduled[]
  readonly monitoring: Monitoring
  readonly outages: Outages
  readonly admission: Admission
  /** The views could not be replaced yet, because something else needs them. */
  readonly viewsDue: boolean
}

/** @throws what ends all work: the tables are those of another version by now, or the responses of another API */
async function run(
  context: Context,
  { db, api, scheduled, monitoring, outages, viewsDue, admission }: Started,
): Promise<void> {
  const { app } = context
  const working = followSignal(context.signal)
  const { signal } = working
  let refusal: unknown
  const ending = new AbortController()
  // Every resource listens to both, and so does each of its requests.
  setMaxListeners(0, signal, ending.signal)
  const shutDown = () => {
    app.log.info({}, 'shutting down: waiting for in-flight requests')
    monitoring.stopping()
    app.clock.sleep(REQUESTS_END_MS, ending.signal).then(
      () => ending.abort(signal.reason),
      () => undefined,
    )
  }
  if (signal.aborted) shutDown()
  else signal.addEventListener('abort', shutDown, { once: true })
  const summarize = hourlySummary(app)
  const show = showRuns(context, db.place, scheduled)
  const onRefused = (error: unknown) => {
    refusal ??= error
    working.abort(error)
  }
  await prepareTables(
    db,
    app,
    scheduled.map(({ resource }) => resource),
  )
  const maintenance = keepMaintained(app, db, { stopping: signal, viewsDue, admission, onRefused })
  const watching = await watchingOf(app, db)
  await watching.begin()
  const delivering = watching.run(signal)
  const exporting = keepLake(app, db, signal)
  const verifying = keepVerified(app, db, signal)
  await runSchedule(
    { ...engineOf(app, db, api, { admission }), outages, log: faultsOnce(app.log, app.clock) },
    {
      scheduled,
      // node-cron knows only the machine's clock.
      ticker: (app.clock === systemClock ? cronTicker : clockTicker)(app.clock),
      random: app.random,
      concurrency: app.config.concurrency,
      stopping: signal,
      signal: ending.signal,
      onRefused,
      onRun: (result) => {
        summarize(result)
        show(result)
        monitoring.run(result)
      },
    },
  )
  ending.abort(signal.reason)
  await maintenance
  await watching.close(WEBHOOK_TIMEOUT)
  await Promise.all([delivering, exporting, verifying])
  if (refusal !== undefined) throw refusal
}

/**
 * Runs the maintenance of the database at once and then every hour. What fails, or waits for another session's long query,
 * is tried again after a minute, then later and later.
 * @param options.viewsDue replaces views that could not be replaced at the start; false when they are up to date
 * @param options.onRefused called when nothing may be written any more
 */
async function keepMaintained(
  app: App,
  db: Database,
  {
    stopping,
    admission,
    onRefused,
    ...pending
  }: Pick<Started, 'admission' | 'viewsDue'> & { stopping: AbortSignal; onRefused: (error: unknown) => void },
): Promise<void> {
  const backoff = createBackoff({ first: 60_000, longest: HOUR }, app.random)
  let { viewsDue } = pending
  while (!stopping.aborted) {
    let wait = HOUR
    try {
      await admission.checkSchema(db)
      if (viewsDue) viewsDue = (await migrateDatabase(db, app)).postponed !== undefined
      await maintainDatabase(db, app)
      if (viewsDue) wait = backoff.failed()
      else backoff.worked()
    } catch (error) {
      if (endsWork(error)) return onRefused(error)
      wait = backoff.failed()
      const seconds = Math.round(wait / 1000)
      app.log.warn({ err: error }, `maintenance failed, and is tried again in ${seconds} s: ${messageOf(error)}`)
    }
    await app.clock.sleep(wait, stopping).catch(() => undefined)
  }
}

/** Repeats what an unreachable database keeps from succeeding, until it succeeds. Undefined: the signal came first. */
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

/** On a terminal, whose log has warnings only: says what runs, then what came of each run, and when the next is due. */
function showRuns({ app, err, flags }: Context, place: string, scheduled: readonly Scheduled[]) {
  if (!err.isTTY || flags.quiet || app.log.isLevelEnabled('info')) return () => {}
  const expressions = new Map(scheduled.map(({ resource, expression }) => [resource.name, expression]))
  const width = Math.max(0, ...[...expressions.keys()].map(({ length }) => length))
  err.write(
    `syncing ${expressions.size} ${expressions.size === 1 ? 'resource' : 'resources'} into ${place}; Ctrl-C ends it\n`,
  )
  return ({ resource, status, inserted, changed, closed, events, renewAt }: RunResult): void => {
    const now = app.clock.now()
    const counts = Object.entries({ new: inserted, changed, gone: closed, events }).filter(([, rows]) => rows > 0)
    const next = renewAt ?? nextTick(expressions.get(resource) ?? '* * * * *', now)
    const parts = [status, ...counts.map(([what, rows]) => `${rows} ${what}`)]
    const due = durationText(Math.max(0, Math.round((next - now) / 1000)))
    err.write(
      `${new Date(now).toISOString().slice(11, 19)} ${resource.padEnd(width)} ${parts.join(', ')}; next in ${due}\n`,
    )
  }
}

const summed = ['requests', 'inserted', 'changed', 'events'] as const

/** Logs the sums of the last hour: a line per poll would hide what matters. */
function hourlySummary({ clock, log }: Pick<App, 'clock' | 'log'>): (result: RunResult) => void {
  const none = { runs: 0, failed: 0, requests: 0, inserted: 0, changed: 0, events: 0 }
  let since = clock.now()
  let total = { ...none }
  return (result) => {
    total.runs += 1
    total.failed += result.status === 'failed' ? 1 : 0
    for (const name of summed) total[name] += result[name]
    // Either way: a clock that was set back must not silence it.
    if (Math.abs(clock.now() - since) < HOUR) return
    log.info(total, 'the last hour')
    since = clock.now()
    total = { ...none }
  }
}

interface StartWebFlags extends WebFlags {
  readonly webPort?: string
  readonly webHost?: string
}

type WebOptions = ReturnType<typeof webOptionsOf>

/** Where to serve; undefined without `--web-port`. The server is loaded only when it is used. @throws UsageError */
async function startWebOptions(given: StartWebFlags) {
  refuseWithout(given, '--web-port', ['--web-host', '--public', '--no-people', '--rate-limit', '--cors', '--mcp'])
  const { webPort: port, webHost: host, ...flags } = given
  if (port === undefined) return undefined
  const { webOptionsOf } = await import('../serve/open-web.ts')
  return webOptionsOf('--web-', port, host, flags)
}

/** Serves beside the sync: from connections of its own, so that no poll waits for a reader; the embedded database has one. */
async function openStartWeb(context: Context, db: Database, options: WebOptions): Promise<HttpServer> {
  const { openWeb } = await import('../serve/open-web.ts')
  const own = db.kind === 'server' ? await openDatabase(context.app, ['serve']) : undefined
  try {
    const server = await openWeb(context, own ?? db, { ...options, isBesideSync: true })
    context.app.log.info({ url: server.url }, 'pages and the read API are served')
    return { url: server.url, close: () => server.close().finally(() => own?.close()) }
  } catch (error) {
    await own?.close()
    throw error
  }
}

/** Held on a server for as long as `start` runs. */
const startLock = 'wynnsync start'

/** What the embedded database's lock says that `start` does, first of all. */
const startHold = 'start'

/** The process that runs `start` on this database. */
interface StartHolder {
  readonly pid: number
  readonly host: string
  /** ISO 8601, UTC. */
  readonly since: string
}

/** The holder of the embedded database, when it is a `start`; undefined with a server. */
async function folderHolder({ config }: Pick<App, 'config'>): Promise<StartHolder | undefined> {
  if (config.databaseUrl !== undefined) return undefined
  const holder = await readHolder(config.dataDir)
  if (holder?.holds[0] !== startHold) return undefined
  return { pid: holder.pid, host: holder.host, since: holder.startedAt }
}

/** The holder of the lock on a server; undefined when it has just ended. */
async function serverHolder(db: Database): Promise<StartHolder | undefined> {
  const [holder] = await readHeldLocks(db, startLock)
  return holder && { pid: holder.pid, host: holder.host, since: holder.since.toISOString() }
}

/** Another `start` runs. Not exit code 0: a supervisor must see that this process does nothing. */
function skipStart(context: Context, holder: StartHolder | undefined): number {
  const by = holder ? `: ${textOf(holder)}` : ''
  const text = `skipped: another \`wynnsync start\` uses this database${by}; --replace stops it and takes its place\n`
  if (context.flags.json) writeResult(context, { status: 'skipped', ...(holder ? { holder } : {}) }, '')
  context.err.write(text)
  return exitCode.tryLater
}

/**
 * Sends SIGTERM to the holder, which ends as after Ctrl-C.
 * @throws RetryableError with what to do, when it runs on another machine, belongs to another user, or another program
 * has its id now
 */
async function stopHolder({ err, flags }: Context, holder: StartHolder): Promise<void> {
  const { pid, host } = holder
  const cannot = (why: string) =>
    new RetryableError(`cannot stop ${textOf(holder)}: ${why}; stop it there: kill ${pid}`)
  if (host !== hostname()) throw cannot(`it runs on ${host}, this is ${hostname()}`)
  if (!(await isThisProgram(pid))) throw cannot('the process with this id here is another program')
  try {
    process.kill(pid, 'SIGTERM')
  } catch (error) {
    if (codeOf(error) === 'ESRCH') return
    throw cannot(String(codeOf(error)))
  }
  if (!flags.quiet) err.write(`waiting until ${textOf(holder)} has ended\n`)
}

function textOf({ pid, host, since }: StartHolder): string {
  return `process ${pid} on ${host} since ${since}`
}

/** In a container, a process of the same host name may have another id. True where there is no /proc, and for one that has ended. */
async function isThisProgram(pid: number): Promise<boolean> {
  const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  return line === '' || line.startsWith('wynnsync')
}
