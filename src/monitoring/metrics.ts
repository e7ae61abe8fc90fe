import type { RequestEvent } from '../api/http/request-event.ts'
import { version } from '../app/app.ts'
import type { Clock } from '../app/clock.ts'
import type { Measures } from '../sync/normalize/measures.ts'
import { isAccepted, type RunResult } from '../sync/run/run-result.ts'
import { counter, histogram, type Metric, type Sample } from './metrics-text.ts'

/** What `start` counts of its own work. */
export interface Meter {
  /** A request that was sent. */
  request(event: RequestEvent): void
  /** A run that ended. */
  run(result: RunResult): void
  /** Everything as metrics. @param measures what the database says; null when it does not answer */
  metrics(measures: Measures | null): Metric[]
  /**
   * Resources of which no response was accepted for longer than their schedule explains.
   * @param accepted when other processes last accepted one
   */
  stuck(accepted?: ReadonlyMap<string, Date>): Stuck[]
}

/** A resource without an accepted response. */
export interface Stuck {
  readonly resource: string
  /** Since when, ms since the epoch: the last one of this process, or its start. */
  readonly since: number
  /** What the last run came to; undefined when none has ended. */
  readonly last: string | undefined
}

/** A resource and how often it is to be observed, in seconds. */
export interface Watched {
  readonly resource: string
  readonly everySeconds: number
}

const statuses = ['ok', 'unchanged', 'stale', 'rejected', 'partial', 'skipped', 'failed'] as const
const kinds = ['inserted', 'changed', 'closed', 'events'] as const
/** Upper ends of the histogram of run durations, seconds. */
const durations = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]
/** Seconds without an accepted response, beyond twice its schedule, after which a resource counts as stuck. */
const PATIENCE = 1800

/** Begins to count. */
export function createMeter(watched: readonly Watched[], clock: Clock): Meter {
  const startedAt = clock.now()
  const names = watched.map(({ resource }) => resource)
  const of = (labels: (resource: string) => Record<string, string>[]) => names.flatMap(labels)
  const requests = counter()
  const runs = counter(of((resource) => statuses.map((status) => ({ resource, status }))))
  const rows = counter(of((resource) => kinds.map((kind) => ({ resource, kind }))))
  const setAside = counter(of((resource) => [{ resource }]))
  const guarded = counter()
  const seconds = histogram(durations)
  const inARow = new Map(names.map((resource) => [resource, 0]))
  const skipsInARow = new Map(names.map((resource) => [resource, 0]))
  const lastAccepted = new Map<string, number>()
  const lastRun = new Map<string, string>()

  return {
    request: ({ bucket, status }) => requests.add({ bucket: bucket ?? 'unknown', status: String(status ?? 'none') }),
    run: (result) => {
      const { resource, status, guarded: actions = [] } = result
      runs.add({ resource, status })
      for (const kind of kinds) rows.add({ resource, kind }, result[kind])
      setAside.add({ resource }, result.quarantined)
      for (const { guard, action } of actions) guarded.add({ resource, guard, action })
      if (status !== 'skipped') {
        seconds.observe({ resource }, result.durationMs / 1000)
        inARow.set(resource, status === 'failed' ? (inARow.get(resource) ?? 0) + 1 : 0)
      }
      skipsInARow.set(resource, status === 'skipped' ? (skipsInARow.get(resource) ?? 0) + 1 : 0)
      if (isAccepted(status)) lastAccepted.set(resource, clock.now())
      lastRun.set(resource, result.error ? `${status}: ${result.error}` : status)
    },
    metrics: (measures) => [
      gauge('wynnsync_build_info', 'The program.', [{ labels: { version, node: process.version }, value: 1 }]),
      gauge('wynnsync_start_time_seconds', 'When it was started, Unix time.', [{ value: startedAt / 1000 }]),
      gauge('process_resident_memory_bytes', 'Memory of the process.', [{ value: process.memoryUsage.rss() }]),
      total(
        'wynnsync_requests_total',
        'Requests that this process sent, by bucket and HTTP status.',
        requests.samples(),
      ),
      total('wynnsync_runs_total', 'Runs of this process that ended, by status.', runs.samples()),
      total('wynnsync_rows_total', 'What the runs of this process wrote.', rows.samples()),
      total('wynnsync_set_aside_total', 'Records that the runs of this process set aside.', setAside.samples()),
      total('wynnsync_guard_actions_total', 'What guards did in the runs of this process.', guarded.samples()),
      {
        name: 'wynnsync_run_duration_seconds',
        type: 'histogram',
        help: 'How long the runs of this process took.',
        samples: seconds.samples(),
      },
      gauge(
        'wynnsync_failures_in_a_row',
        'Runs that failed since the last one that did not.',
        [...inARow].map(([resource, value]) => ({ labels: { resource }, value })),
      ),
      gauge(
        'wynnsync_skips_in_a_row',
        'Runs that were skipped since the last one that was not: another process holds the lock.',
        [...skipsInARow].map(([resource, value]) => ({ labels: { resource }, value })),
      ),
      gauge('wynnsync_database_up', 'Whether the database answers.', [{ value: measures ? 1 : 0 }]),
      ...(measures ? fromDatabase(measures, clock.now()) : []),
    ],
    stuck: (accepted) =>
      watched.flatMap(({ resource, everySeconds }) => {
        const since = Math.max(lastAccepted.get(resource) ?? startedAt, accepted?.get(resource)?.getTime() ?? 0)
        const isLate = clock.now() - since > 1000 * (2 * everySeconds + PATIENCE)
        return isLate ? [{ resource, since, last: lastRun.get(resource) }] : []
      }),
  }
}

function fromDatabase({ resources, budgets }: Measures, now: number): Metric[] {
  const each = (value: (one: Measures['resources'][number]) => number | null): Sample[] =>
    resources.flatMap((one) => {
      const number = value(one)
      return number === null ? [] : [{ labels: { resource: one.resource }, value: number }]
    })
  const perBucket = (value: (one: Measures['budgets'][number]) => number | null): Sample[] =>
    budgets.flatMap((one) => {
      const number = value(one)
      return number === null ? [] : [{ labels: { account: one.account, bucket: one.bucket }, value: number }]
    })
  // By a clock that is behind the service's, the latest is of now.
  const staleness = each(({ observedAt }) => observedAt && Math.max(0, now - observedAt.getTime()) / 1000)
  return [
    gauge('wynnsync_staleness_seconds', 'How old the latest accepted answer is, by the time it speaks for.', staleness),
    total(
      'wynnsync_gap_seconds_total',
      'Time without observations that were due, by whomever.',
      each((one) => one.gapSeconds),
    ),
    gauge(
      'wynnsync_quarantine_records',
      'Distinct records in quarantine.',
      each((one) => one.quarantined),
    ),
    gauge(
      'wynnsync_drift',
      'Things the API sent that the program does not know.',
      each((one) => one.drift),
    ),
    gauge(
      'wynnsync_budget_limit',
      'Requests that a window of the bucket allows.',
      perBucket((one) => one.limit),
    ),
    gauge(
      'wynnsync_budget_remaining',
      'Requests that the running window still allows.',
      perBucket((one) => one.remaining),
    ),
  ]
}

function gauge(name: string, help: string, samples: readonly Sample[]): Metric {
  return { name, type: 'gauge', help, samples }
}

function total(name: string, help: string, samples: readonly Sample[]): Metric {
  return { name, type: 'counter', help, samples }
}
