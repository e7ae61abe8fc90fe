import type { App } from '../app/app.ts'
import { type Clock, within } from '../base/clock.ts'
import { wholeNumber } from '../base/settings.ts'
import type { Database } from '../db/database.ts'
import { lastAcceptedRuns, readDatingRemarks, readMeasures } from '../sync/overview/overview.ts'
import type { RunResult } from '../sync/run/run-result.ts'
import { createMeter, type Meter, type Metric, metricsText, type Stuck, type Watched } from './metrics.ts'
import { webhookOf } from './receivers.ts'

export interface MonitoringFlags {
  readonly metricsPort?: string
  readonly metricsHost?: string
}

export type Monitoring = Awaited<ReturnType<typeof openMonitoring>>

/** How long a query for metrics and health may take, ms. */
const DATABASE_TIMEOUT_MS = 3000
/** From when on a database without an answer is a problem, ms: on a busy machine, and behind a long transaction of the embedded database, it is late. */
const SILENT_DATABASE_MS = 15_000
/** Remarks about clocks are made once an hour: what holds was noted since. */
const REMARKED_HOURS = 2
/** How long a receiver may delay the end of the process, ms. */
export const WEBHOOK_TIMEOUT = 2000

/** What is not monitored here. */
interface Others {
  metrics(): Promise<readonly Metric[]>
  warnings(): Promise<readonly string[]>
}

/**
 * Starts counting, serves the metrics where a port is given, and notifies the webhook.
 * @throws UsageError when the port is unavailable
 */
export async function openMonitoring(
  app: App,
  db: Database,
  watched: readonly Watched[],
  { metricsPort, metricsHost = '127.0.0.1' }: MonitoringFlags,
  others: Others = { metrics: async () => [], warnings: async () => [] },
) {
  const { clock, log } = app
  const meter = createMeter(watched, clock)
  const names = watched.map(({ resource }) => resource)
  const measures = shared(() => inTime(readMeasures(db, names, clock.now()), clock))
  const databaseProblem = pingOf(db, clock)
  const remarks = shared(() => inTime(readDatingRemarks(db, clock.now(), REMARKED_HOURS), clock))
  const serve = async (port: string) => {
    // The HTTP server is loaded only when it is used.
    const { serveMetrics } = await import('./metrics-server.ts')
    return await serveMetrics({
      host: metricsHost,
      hostNames: app.config.metricsHosts,
      port: wholeNumber('--metrics-port', port, 65_535),
      metrics: async () => metricsText([...meter.metrics(await measures()), ...(await others.metrics())]),
      problems: async () => [...(await databaseProblem()), ...(await stuckIn(db, meter, clock)).map(problemText)],
      warnings: async () => [
        ...((await remarks()) ?? []).map(({ resource, reason }) => `${resource}: ${reason}`),
        ...((await inTime(others.warnings(), clock)) ?? []),
      ],
    })
  }
  const server = metricsPort === undefined ? undefined : await serve(metricsPort)
  if (server) log.info({ url: `${server.url}/metrics` }, 'metrics are served')
  const webhook = await webhookOf(app)
  webhook.notify({ event: 'start', resource: null, message: `started with ${names.length} resources` })
  return {
    request: meter.request,
    run: (result: RunResult): void => {
      meter.run(result)
      webhook.ran(result)
    },
    /** The process begins to shut down. */
    stopping: (): void => webhook.notify({ event: 'stop', resource: null, message: 'shutting down' }),
    /** Stops serving, and waits a moment for the webhook. */
    close: async (): Promise<void> => {
      await server?.close()
      await webhook.close(WEBHOOK_TIMEOUT)
    },
  }
}

/** Asks the database for a sign of life, with one query at a time: what is wrong, if anything. */
function pingOf(db: Database, clock: Clock): () => Promise<readonly string[]> {
  let unansweredSince: number | undefined
  let running: Promise<void> | undefined
  let problem: string | undefined
  const ping = async () => {
    try {
      await db.query('select 1')
      unansweredSince = undefined
      problem = undefined
    } catch {
      problem = 'the database is unreachable'
    } finally {
      running = undefined
    }
  }
  return async () => {
    // By a clock that was set back, it would be silent for no time.
    unansweredSince = Math.min(unansweredSince ?? clock.now(), clock.now())
    running ??= ping()
    await within(clock, DATABASE_TIMEOUT_MS, running)
    if (problem !== undefined) return [problem]
    const silence = unansweredSince === undefined ? 0 : clock.now() - unansweredSince
    return silence < SILENT_DATABASE_MS ? [] : [`the database has not answered for ${Math.round(silence / 1000)} s`]
  }
}

/** What is stuck also by the ledger: another process may have synced it meanwhile. */
async function stuckIn(db: Database, meter: Meter, clock: Clock): Promise<readonly Stuck[]> {
  const names = meter.stuck().map(({ resource }) => resource)
  if (names.length === 0) return []
  return meter.stuck((await inTime(lastAcceptedRuns(db, names), clock)) ?? undefined)
}

function problemText({ resource, since, last }: Stuck): string {
  return `${resource}: no accepted response since ${new Date(since).toISOString()}; the last run: ${last ?? 'none has ended'}`
}

/** Null when the work fails or takes too long. */
async function inTime<T>(work: Promise<T>, clock: Clock): Promise<T | null> {
  return (await within(clock, DATABASE_TIMEOUT_MS, work).catch(() => null)) ?? null
}

/** Several callers at once share one result, so that frequent scrapes do not pile up work. */
function shared<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined
  return () => {
    running ??= work().finally(() => {
      running = undefined
    })
    return running
  }
}
