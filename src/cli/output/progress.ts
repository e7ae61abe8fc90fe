import type { WalkProgress } from '../../api/listings.ts'
import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { durationText } from './units.ts'

type Unit =
  | 'records'
  | 'keys'
  | 'responses'
  | 'hours'
  | 'resources'
  | 'rows'
  | 'commits'
  | 'files'
  | 'pages'
  | 'objects'
  | 'checks'

/** How much is done, and of how much; what has no pages says nothing of them. */
type Done = Pick<WalkProgress, 'records' | 'count'> &
  Partial<WalkProgress> & {
    /** How much of the work is done, of 1: where some of what is counted takes longer than others. */
    readonly share?: number
  }

/** Shows the progress of long work. */
export interface Progress {
  /**
   * Shows what begins, before there is anything to count.
   * @param everyMs how often a log file has a line; by default every ten seconds
   */
  begin(resource: string, everyMs?: number): void
  seen(resource: string, done: Done, unit?: Unit): void
  end(): void
}

/** A log line every ten seconds, or as often as work that begins wants; for a log file. */
export function progressLines(clock: Clock, log: Log): Progress {
  let started = clock.now()
  let shownAt = started
  let interval = 10_000
  return {
    begin(_resource, everyMs = 10_000) {
      started = shownAt = clock.now()
      interval = everyMs
    },
    seen(resource, done, unit = 'records') {
      const { records, count } = done
      const now = clock.now()
      if (now - shownAt < interval) return
      shownAt = now
      const { perSecond, left } = pace(now - started, done)
      const of = (total: number | null) => (total === null ? '' : ` of ${total}`)
      const rate = perSecond.toFixed(1)
      log.info({ resource }, `${records}${of(count)} ${unit}, ${rate}/s, ${left} left`)
    },
    end() {},
  }
}

export const noProgress: Progress = { begin() {}, seen() {}, end() {} }

/** Seconds; 100 days. */
const longestEstimate = 8_640_000

/** Records a second, and the time left as text. */
export function pace(elapsedMs: number, { records, count, share }: Done) {
  const elapsed = Math.max(1, elapsedMs) / 1000
  const done = share ?? (count === null ? 0 : records / count)
  const seconds = done > 0 ? Math.max(0, elapsed / done - elapsed) : Infinity
  // The API says how many there are: a number without sense is no estimate.
  return { perSecond: records / elapsed, left: seconds <= longestEstimate ? durationText(seconds) : 'unknown time' }
}
