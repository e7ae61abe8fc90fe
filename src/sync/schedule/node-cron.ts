import { schedule, validateDetailed } from 'node-cron'
import type { Clock } from '../../base/clock.ts'
import { nextTick, type Ticker } from './ticker.ts'

/** How often it is checked whether the clock was set, or the machine slept, ms. */
const CHECK_EVERY_MS = 30_000
/** What timers count less or more than the clock, ms: less says nothing. */
const SHORTEST_STEP_MS = 5000

/**
 * The ticker by the machine's clock. A timer waits for as long as the machine runs: once the clock was set, or the machine slept, the next
 * tick is another one. A file of its own, because no command but `start` rings, and checks have an expression to check.
 */
export function cronTicker(clock: Clock): Ticker {
  const readClocks = () => ({ set: clock.now(), running: performance.now() })
  return (name, expression, onTick, onMissed) => {
    const begin = () => {
      const options = { name, timezone: 'UTC', noOverlap: true, suppressMissedWarning: true }
      const begun = schedule(expression, onTick, options)
      begun.on('execution:missed', ({ date }) => onMissed(date))
      return begun
    }
    let task = begin()
    const ending = new AbortController()
    const watch = async () => {
      for (let before = readClocks(); ; ) {
        await clock.sleep(CHECK_EVERY_MS, ending.signal)
        const now = readClocks()
        const due = nextTick(expression, before.set)
        const step = now.set - before.set - (now.running - before.running)
        before = now
        if (Math.abs(step) < SHORTEST_STEP_MS) continue
        void task.destroy()
        task = begin()
        if (due <= now.set) onMissed(new Date(due))
      }
    }
    watch().catch(() => undefined)
    return () => {
      ending.abort()
      void task.destroy()
    }
  }
}

/** What is wrong with a cron expression, in words; undefined when nothing is. */
export function cronError(expression: string): string | undefined {
  const { valid, errors } = validateDetailed(expression)
  return valid ? undefined : errors.map(({ field, message }) => `${field}: ${message}`).join('; ')
}
