import { Cron } from 'croner'
import type { Clock } from '../../base/clock.ts'

/**
 * The clock of the scheduler: calls back at the instants that a cron expression names, in UTC.
 * @param name of the task, for messages
 * @param onTick called at each instant; must return at once
 * @param onMissed called with an instant that was missed, because the machine slept or was too busy
 * @returns stops it
 */
export type Ticker = (name: string, expression: string, onTick: () => void, onMissed: (at: Date) => void) => () => void

/** One by any clock, for simulated days. */
export function clockTicker(clock: Clock): Ticker {
  return (_name, expression, onTick) => {
    const ending = new AbortController()
    const tickOn = async () => {
      for (;;) {
        await clock.sleep(nextTick(expression, clock.now()) - clock.now(), ending.signal)
        onTick()
      }
    }
    tickOn().catch(() => undefined)
    return () => ending.abort()
  }
}

/** How far ahead a tick is searched, ms: a little over a month. Anything rarer counts as never due. */
const HORIZON_MS = 32 * 24 * 3_600_000

/**
 * The first instant after `after` that the expression names, in UTC.
 * @param after ms since the epoch
 * @returns ms since the epoch; infinity when there is none within a month
 */
export function nextTick(expression: string, after: number): number {
  // As in node-cron, both day of month and day of week must match. An offset is cheaper than a time zone's formatter.
  const cron = new Cron(expression, { utcOffset: 0, domAndDow: true })
  const next = cron.nextRun(new Date(after))?.getTime() ?? Number.POSITIVE_INFINITY
  return next - after > HORIZON_MS ? Number.POSITIVE_INFINITY : next
}

/** Seconds between the next two ticks: how often something is expected that runs by this expression. */
export function periodSeconds(expression: string, now: number): number {
  const next = nextTick(expression, now)
  return (nextTick(expression, next) - next) / 1000
}
