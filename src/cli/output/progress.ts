import { type Options, SingleBar } from 'cli-progress'
import type { WalkProgress } from '../../api/pages.ts'
import type { Clock } from '../../app/clock.ts'
import type { Log } from '../../app/log.ts'
import { visibleLine } from '../../app/terminal-text.ts'

/** What is counted. */
export type Unit = 'records' | 'keys' | 'answers' | 'hours'

/** Shows how far long work is. */
export interface Progress {
  /** Says what is going on, before there is anything to count. */
  begin(resource: string): void
  seen(resource: string, progress: WalkProgress, unit?: Unit): void
  end(): void
}

const barOptions: Options = {
  format: '{resource} [{bar}] {value}/{total} {unit} · {rate}/s · {left} left',
  barsize: 24,
  hideCursor: true,
  clearOnComplete: true,
  stopOnComplete: false,
  stream: process.stderr,
}

/** A bar with rate and time left; for a terminal. */
export function progressBar(clock: Clock): Progress {
  let bar: SingleBar | undefined
  let started = clock.now()
  return {
    begin(resource) {
      started = clock.now()
      process.stderr.write(`${visibleLine(resource)} ...\r`)
    },
    seen(name, { records, count }, unit = 'records') {
      const { perSecond, secondsLeft } = pace(clock.now() - started, records, count)
      // The bar moves the cursor itself, so it writes to the stream without the escaping of `openOutput`.
      const resource = visibleLine(name)
      const shown = { resource, unit, rate: perSecond.toFixed(perSecond < 10 ? 1 : 0), left: duration(secondsLeft) }
      if (!bar) {
        bar = new SingleBar(barOptions)
        bar.start(count ?? records, 0, shown)
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

/** A log line every ten seconds; for a log file. */
export function progressLines(clock: Clock, log: Log): Progress {
  let started = clock.now()
  let told = started
  return {
    begin() {
      started = told = clock.now()
    },
    seen(resource, { records, count }, unit = 'records') {
      const now = clock.now()
      if (now - told < 10_000) return
      told = now
      const { perSecond, secondsLeft } = pace(now - started, records, count)
      const of = (total: number | null) => (total === null ? '' : ` of ${total}`)
      const rate = perSecond.toFixed(1)
      log.info({ resource }, `${records}${of(count)} ${unit}, ${rate}/s, ${duration(secondsLeft)} left`)
    },
    end() {},
  }
}

/** Shows nothing. */
export const noProgress: Progress = { begin() {}, seen() {}, end() {} }

function pace(elapsedMs: number, done: number, total: number | null) {
  const perSecond = (done / Math.max(1, elapsedMs)) * 1000
  return { perSecond, secondsLeft: total === null || perSecond === 0 ? null : Math.max(0, total - done) / perSecond }
}

function duration(seconds: number | null): string {
  if (seconds === null) return 'unknown time'
  if (seconds < 90) return `${Math.ceil(seconds)} s`
  return seconds < 5400 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`
}
