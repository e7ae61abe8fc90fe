import cliProgress, { type GenericFormatter, type Options, type SingleBar } from 'cli-progress'
import type { WalkProgress } from '../../api/pages.ts'
import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { visibleLine } from '../../base/terminal-text.ts'
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

/** What is done; with a bar and the time left where the total is known. */
const line: GenericFormatter = (options, params, { resource, unit, rate, left, isCounted }) => {
  const bar = cliProgress.Format.BarFormat(params.progress, options)
  return isCounted
    ? `${resource} [${bar}] ${params.value}/${params.total} ${unit} · ${rate}/s · ${left} left`
    : `${resource} ${params.value} ${unit} · ${rate}/s`
}

const barOptions: Options = {
  format: line,
  barsize: 24,
  hideCursor: true,
  clearOnComplete: true,
  stopOnComplete: false,
}

/** A bar with rate and time left; for a terminal. */
export function progressBar(clock: Clock, stream: NodeJS.WritableStream = process.stderr): Progress {
  let bar: SingleBar | undefined
  let started = clock.now()
  return {
    begin(resource) {
      started = clock.now()
      stream.write(`${visibleLine(resource)} ...\r`)
    },
    seen(name, done, unit = 'records') {
      const { records, count } = done
      const { perSecond, left } = pace(clock.now() - started, done)
      // The bar moves the cursor itself, so it writes to the stream without the escaping of `openOutput`.
      const resource = visibleLine(name)
      const rate = perSecond.toFixed(perSecond < 10 ? 1 : 0)
      const shown = { resource, unit, rate, left, isCounted: count !== null }
      if (!bar) {
        bar = new cliProgress.SingleBar({ ...barOptions, stream })
        bar.start(count ?? records, records, shown)
      }
      bar.setTotal(count ?? records)
      bar.update(records, shown)
    },
    end() {
      bar?.stop()
      bar = undefined
    },
  }
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

function pace(elapsedMs: number, { records, count, share }: Done) {
  const elapsed = Math.max(1, elapsedMs) / 1000
  const done = share ?? (count === null ? 0 : records / count)
  const seconds = done > 0 ? Math.max(0, elapsed / done - elapsed) : Infinity
  // The API says how many there are: a number without sense is no estimate.
  return { perSecond: records / elapsed, left: seconds <= longestEstimate ? durationText(seconds) : 'unknown time' }
}
