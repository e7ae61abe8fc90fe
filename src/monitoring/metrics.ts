import type { RequestEvent } from '../api/http/transport.ts'
import { version } from '../app/app.ts'
import type { Clock } from '../base/clock.ts'
import { isAccepted } from '../sync/ledger/ledger.ts'
import type { Measures } from '../sync/overview/overview.ts'
import type { RunResult } from '../sync/run/run-result.ts'

type Labels = Readonly<Record<string, string>>

interface Sample {
  readonly labels?: Labels
  readonly value: number
  /** Of a histogram: `_bucket`, `_sum` or `_count`. */
  readonly suffix?: string
}

export interface Metric {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly samples: readonly Sample[]
}

/** The media type of the text format. */
export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** Numbers in the Prometheus text exposition format, version 0.0.4. */
export function metricsText(metrics: readonly Metric[]): string {
  return metrics
    .filter(({ samples }) => samples.length > 0)
    .flatMap(({ name, type, help, samples }) => [
      `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`,
      `# TYPE ${name} ${type}`,
      ...samples.map(({ suffix = '', labels = {}, value }) => `${name}${suffix}${labelsText(labels)} ${value}`),
    ])
    .map((line) => `${line}\n`)
    .join('')
}

function labelsText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

/** A Prometheus gauge: a number that rises and falls. */
export function gauge(name: string, help: string, samples: readonly Sample[]): Metric {
  return { name, type: 'gauge', help, samples }
}

/**
 * A Prometheus counter: a number per set of labels, which only rises.
 * @param first sets of labels that begin with 0, so that their first rise is seen as one
 */
export function counter(first: readonly Labels[] = []) {
  const counts = new Map<string, { readonly labels: Labels; value: number }>()
  const add = (labels: Labels, by = 1) => {
    const name = JSON.stringify(labels)
    const known = counts.get(name)
    if (known) known.value += by
    else counts.set(name, { labels, value: by })
  }
  for (const labels of first) add(labels, 0)
  return { add, samples: (): Sample[] => [...counts.values()].map((count) => ({ ...count })) }
}

/** A Prometheus histogram. @param bounds upper bounds of the buckets, rising */
export function histogram(bounds: readonly number[]) {
  const series = new Map<string, { readonly labels: Labels; readonly counts: number[]; sum: number; count: number }>()
  return {
    observe(labels: Labels, value: number): void {
      const name = JSON.stringify(labels)
      const entry = series.get(name) ?? { labels, counts: bounds.map(() => 0), sum: 0, count: 0 }
      series.set(name, entry)
      for (const [index, bound] of bounds.entries())
        if (value <= bound) entry.counts[index] = (entry.counts[index] ?? 0) + 1
      entry.sum += value
      entry.count += 1
    },
    samples: (): Sample[] =>
      [...series.values()].flatMap(({ labels, counts, sum, count }) => [
        ...bounds.map((bound, index) => ({
          suffix: '_bucket',
          labels: { ...labels, le: String(bound) },
          value: counts[index] ?? 0,
        })),
        { suffix: '_bucket', labels: { ...labels, le: '+Inf' }, value: count },
        { suffix: '_sum', labels, value: sum },
        { suffix: '_count', labels, value: count },
      ]),
  }
}

export type Meter = ReturnType<typeof createMeter>

/** A resource without an accepted response. */
export interface Stuck {
  readonly resource: string
  /** The last accepted response of this process, or its start; ms since the epoch. */
  readonly since: number
  /** Status and error of the last run; undefined when none has ended. */
  readonly last: string | undefined
}

/** A resource and how often it is to be observed, in seconds. */
export interface Watched {
  readonly resource: string
  readonly everySeconds: number
}

const statuses = ['ok', 'unchanged', 'stale', 'rejected', 'partial', 'skipped', 'interrupted', 'failed'] as const
const kinds = ['inserted', 'changed', 'closed', 'events'] as const
/** Upper bounds of the histogram of run durations, seconds. */
const durations = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]
/** Seconds without an accepted response, beyond twice its schedule, after which a resource counts as stuck. */
const STUCK_AFTER_SECONDS = 1800

/** Starts counting what one `start` does. */
export function createMeter(watched: readonly Watched[], clock: Clock) {
  const startedAt = clock.now()
  const counts = openCounts(watched.map(({ resource }) => resource))
  const lastAccepted = new Map<string, number>()
  const lastRun = new Map<string, string>()
  return {
    request: ({ bucket, status }: RequestEvent): void =>
      counts.requests.add({ bucket: bucket ?? 'unknown', status: String(status ?? 'none') }),
    run: (result: RunResult): void => {
      const { resource, status, error } = result
      countRun(counts, result)
      if (isAccepted(status)) lastAccepted.set(resource, clock.now())
      lastRun.set(resource, error ? `${status}: ${error}` : status)
    },
    /** All metrics. @param measures of the database; null when it is unreachable */
    metrics: (measures: Measures | null): Metric[] => [
      ...processMetrics(startedAt),
      ...countMetrics(counts),
      gauge('wynnsync_database_up', 'Whether the database is reachable.', [{ value: measures ? 1 : 0 }]),
      ...(measures ? databaseMetrics(measures, clock.now()) : []),
    ],
    /**
     * Resources without an accepted response for longer than their schedule explains.
     * @param accepted when other processes last accepted one
     */
    stuck: (accepted?: ReadonlyMap<string, Date>): Stuck[] =>
      watched.flatMap(({ resource, everySeconds }) => {
        const now = clock.now()
        // By a clock that was set back, it would not be late for as long: it has its time anew.
        const own = Math.min(lastAccepted.get(resource) ?? startedAt, now)
        if (own === now) lastAccepted.set(resource, own)
        const others = accepted?.get(resource)?.getTime() ?? 0
        const since = Math.max(own, others <= now ? others : 0)
        const isLate = now - since > 1000 * (2 * everySeconds + STUCK_AFTER_SECONDS)
        return isLate ? [{ resource, since, last: lastRun.get(resource) }] : []
      }),
  }
}

type Counts = ReturnType<typeof openCounts>

/** Counters begin with 0 for every resource, so that their first rise is seen as one. */
function openCounts(resources: readonly string[]) {
  return {
    requests: counter(),
    runs: counter(resources.flatMap((resource) => statuses.map((status) => ({ resource, status })))),
    rows: counter(resources.flatMap((resource) => kinds.map((kind) => ({ resource, kind })))),
    quarantined: counter(resources.map((resource) => ({ resource }))),
    guarded: counter(),
    seconds: histogram(durations),
    failuresInARow: new Map(resources.map((resource) => [resource, 0])),
    skipsInARow: new Map(resources.map((resource) => [resource, 0])),
  }
}

function countRun(counts: Counts, result: RunResult): void {
  const { resource, status, guarded = [] } = result
  counts.runs.add({ resource, status })
  for (const kind of kinds) counts.rows.add({ resource, kind }, result[kind])
  counts.quarantined.add({ resource }, result.quarantined)
  for (const { guard, action } of guarded) counts.guarded.add({ resource, guard, action })
  const inARow = (series: Map<string, number>, goesOn: boolean) =>
    series.set(resource, goesOn ? (series.get(resource) ?? 0) + 1 : 0)
  inARow(counts.skipsInARow, status === 'skipped')
  if (status === 'skipped' || status === 'interrupted') return
  inARow(counts.failuresInARow, status === 'failed')
  counts.seconds.observe({ resource }, result.durationMs / 1000)
}

function processMetrics(startedAt: number): Metric[] {
  const build = { labels: { version, node: process.version }, value: 1 }
  return [
    gauge('wynnsync_build_info', 'The program.', [build]),
    gauge('wynnsync_start_time_seconds', 'When it was started, Unix time.', [{ value: startedAt / 1000 }]),
    gauge('process_resident_memory_bytes', 'Memory of the process.', [{ value: process.memoryUsage.rss() }]),
  ]
}

function countMetrics({ requests, runs, rows, quarantined, guarded, seconds, ...inARow }: Counts): Metric[] {
  const failures = 'Runs that failed since the last one that did not.'
  const skips = 'Runs that were skipped since the last one that was not: another process holds the lock.'
  const took = 'How long the runs of this process took.'
  return [
    total('wynnsync_requests_total', 'Requests that this process sent, by bucket and HTTP status.', requests.samples()),
    total('wynnsync_runs_total', 'Runs of this process that ended, by status.', runs.samples()),
    total('wynnsync_rows_total', 'Rows that the runs of this process wrote.', rows.samples()),
    total('wynnsync_set_aside_total', 'Records that the runs of this process quarantined.', quarantined.samples()),
    total('wynnsync_guard_actions_total', 'Guard actions in the runs of this process.', guarded.samples()),
    { name: 'wynnsync_run_duration_seconds', type: 'histogram', help: took, samples: seconds.samples() },
    gauge('wynnsync_failures_in_a_row', failures, byResource(inARow.failuresInARow)),
    gauge('wynnsync_skips_in_a_row', skips, byResource(inARow.skipsInARow)),
  ]
}

function byResource(series: ReadonlyMap<string, number>): Sample[] {
  return [...series].map(([resource, value]) => ({ labels: { resource }, value }))
}

function databaseMetrics({ resources, budgets }: Measures, now: number): Metric[] {
  const perResource = (value: (measure: Measures['resources'][number]) => number | null) =>
    known(resources.map((measure) => ({ labels: { resource: measure.resource }, value: value(measure) })))
  const perBucket = (value: (budget: Measures['budgets'][number]) => number | null) =>
    known(
      budgets.map((budget) => ({ labels: { account: budget.account, bucket: budget.bucket }, value: value(budget) })),
    )
  // By a clock that is behind the service's, the age is 0.
  const age = perResource(({ observedAt }) => observedAt && Math.max(0, now - observedAt.getTime()) / 1000)
  const gaps = perResource(({ gapSeconds }) => gapSeconds)
  const quarantined = perResource((measure) => measure.quarantined)
  const drift = perResource((measure) => measure.drift)
  const limit = perBucket((budget) => budget.limit)
  const remaining = perBucket((budget) => budget.remaining)
  return [
    gauge('wynnsync_staleness_seconds', 'Age of the latest accepted response, by its observed_at.', age),
    total('wynnsync_gap_seconds_total', 'Time without observations that were due, of any process.', gaps),
    gauge('wynnsync_quarantine_records', 'Distinct records in quarantine.', quarantined),
    gauge('wynnsync_drift', 'Things the API sent that the program does not know.', drift),
    gauge('wynnsync_budget_limit', 'Requests that a window of the bucket allows.', limit),
    gauge('wynnsync_budget_remaining', 'Requests that the running window still allows.', remaining),
  ]
}

function known(samples: readonly (Omit<Sample, 'value'> & { value: number | null })[]): Sample[] {
  return samples.flatMap(({ value, ...sample }) => (value === null ? [] : [{ ...sample, value }]))
}

function total(name: string, help: string, samples: readonly Sample[]): Metric {
  return { name, type: 'counter', help, samples }
}
