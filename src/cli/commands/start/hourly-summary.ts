import type { App } from '../../../app/app.ts'
import type { RunResult } from '../../../sync/run/run-result.ts'

const HOUR = 3_600_000
const summed = ['requests', 'inserted', 'changed', 'events'] as const

/** Logs the sums of the last hour: a line per poll would hide what matters. */
export function hourlySummary({ clock, log }: Pick<App, 'clock' | 'log'>): (result: RunResult) => void {
  const none = { runs: 0, failed: 0, requests: 0, inserted: 0, changed: 0, events: 0 }
  let since = clock.now()
  let total = { ...none }
  return (result) => {
    total.runs += 1
    total.failed += result.status === 'failed' ? 1 : 0
    for (const name of summed) total[name] += result[name]
    if (clock.now() - since < HOUR) return
    log.info(total, 'the last hour')
    since = clock.now()
    total = { ...none }
  }
}
