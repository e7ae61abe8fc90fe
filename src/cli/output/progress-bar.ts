import cliProgress, { type GenericFormatter, type Options, type SingleBar } from 'cli-progress'
import type { Clock } from '../../base/clock.ts'
import { visibleLine } from '../../base/terminal-text.ts'
import { type Progress, pace } from './progress.ts'

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
