type Labels = Readonly<Record<string, string>>

export interface Sample {
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
