import type { Format, GenericFormatter, Options, SingleBar } from 'cli-progress'
import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { visibleLine } from '../../base/terminal-text.ts'
import type { Progress } from './progress.ts'
import { durationText } from './units.ts'

/** What goes on: a step, of which something may be counted, or the whole. */
interface Going {
  readonly name: string
  readonly since: number
  readonly seen?: { readonly done: Parameters<Progress['seen']>[1]; readonly unit: string }
}

/** Where it is shown. */
interface View {
  show(going: Going): void
  clear(): void
  /** Whether all that is counted is shown, and what begins at once. */
  readonly isLive: boolean
  /** How often it is shown again, and how soon of what mostly ends before, ms. */
  readonly everyMs: number
  readonly firstMs: number
}

/** Shows what goes on, and shows it again where nothing new is said of it. */
function shownOn(clock: Clock, view: View): Progress {
  let [whole, step]: (Going | undefined)[] = []
  let nextAt = 0
  let interval = view.everyMs
  let over: AbortController | undefined

  function show(): void {
    const going = step ?? whole
    nextAt = clock.now() + interval
    if (going) view.show(going)
  }
  async function repeat(signal: AbortSignal): Promise<void> {
    for (;;) {
      await clock.sleep(Math.max(1, nextAt - clock.now()), signal)
      if (clock.now() >= nextAt) show()
    }
  }
  function goOn(firstMs: number): void {
    nextAt = clock.now() + firstMs
    over = new AbortController()
    repeat(over.signal).catch(() => undefined)
  }
  function stop(): void {
    over?.abort()
    over = undefined
    view.clear()
  }
  return {
    during(name) {
      stop()
      whole = { name, since: clock.now() }
      step = undefined
      interval = view.everyMs
      goOn(view.firstMs)
    },
    begin(name, everyMs = view.everyMs) {
      stop()
      step = { name, since: clock.now() }
      interval = everyMs
      if (view.isLive) show()
      goOn(interval)
    },
    seen(name, done, unit = 'records') {
      step = { name, since: step?.since ?? clock.now(), seen: { done, unit } }
      if (view.isLive || clock.now() >= nextAt) show()
    },
    end() {
      stop()
      step = undefined
      if (whole) goOn(view.firstMs)
    },
    stop() {
      stop()
      whole = step = undefined
    },
  }
}

/** A log line every three seconds, or as often as work that begins wants; for a log file. */
export function progressLines(clock: Clock, log: Log): Progress {
  const show = ({ name: resource, since, seen }: Going) => {
    const elapsed = clock.now() - since
    if (!seen) return log.info({ resource }, `goes on, ${durationText(Math.round(elapsed / 1000))} so far`)
    const { records, count } = seen.done
    const { perSecond, left } = pace(elapsed, seen.done)
    const of = count === null ? '' : ` of ${count}`
    log.info({ resource }, `${records}${of} ${seen.unit}, ${perSecond.toFixed(1)}/s, ${left} left`)
  }
  return shownOn(clock, { show, clear: () => {}, isLive: false, everyMs: 3000, firstMs: 3000 })
}

/** What is done; with a bar and the time left where the total is known. */
const line =
  (drawn: typeof Format.BarFormat): GenericFormatter =>
  (options, params, { resource, unit, rate, left, isCounted }) => {
    const bar = drawn(params.progress, options)
    return isCounted
      ? `${resource} [${bar}] ${params.value}/${params.total} ${unit} · ${rate}/s · ${left} left`
      : `${resource} ${params.value} ${unit} · ${rate}/s`
  }

const barOptions: Options = {
  barsize: 24,
  hideCursor: true,
  clearOnComplete: true,
  stopOnComplete: false,
}

/** A bar with rate and time left; for a terminal. */
export async function progressBar(clock: Clock, stream: NodeJS.WritableStream = process.stderr): Promise<Progress> {
  const { default: cliProgress } = await import('cli-progress')
  const format = line(cliProgress.Format.BarFormat)
  let bar: SingleBar | undefined
  let isShown = false
  function clear(): void {
    bar?.stop()
    bar = undefined
    if (isShown) stream.write(CLEARED)
    isShown = false
  }
  function show({ name, since, seen }: Going): void {
    // What moves the cursor is written without the escaping of `openOutput`.
    const resource = visibleLine(name)
    const elapsed = clock.now() - since
    if (!seen) {
      const seconds = Math.round(elapsed / 1000)
      stream.write(`${CLEARED}${resource} ...${seconds > 0 ? ` ${durationText(seconds)}` : ''}\r`)
      isShown = true
      return
    }
    const { unit, done } = seen
    const { perSecond, left } = pace(elapsed, done)
    const rate = perSecond.toFixed(perSecond < 10 ? 1 : 0)
    const shown = { resource, unit, rate, left, isCounted: done.count !== null }
    if (!bar) {
      bar = new cliProgress.SingleBar({ ...barOptions, format, stream })
      bar.start(done.count ?? done.records, done.records, shown)
    }
    bar.setTotal(done.count ?? done.records)
    bar.update(done.records, shown)
  }
  return shownOn(clock, { show, clear, isLive: true, everyMs: 1000, firstMs: 2000 })
}

/** Empties the line of the cursor. */
const CLEARED = '\r\u001b[K'

/** Seconds; 100 days. */
const longestEstimate = 8_640_000

/** Records a second, and the time left as text. */
function pace(elapsedMs: number, { records, count, share }: Parameters<Progress['seen']>[1]) {
  const elapsed = Math.max(1, elapsedMs) / 1000
  const done = share ?? (count === null ? 0 : records / count)
  const seconds = done > 0 ? Math.max(0, elapsed / done - elapsed) : Infinity
  // The API says how many there are: a number without sense is no estimate.
  return { perSecond: records / elapsed, left: seconds <= longestEstimate ? durationText(seconds) : 'unknown time' }
}
