import { schedule, validateDetailed } from 'node-cron'
import type { Ticker } from './ticker.ts'

/** The ticker by the machine's clock. A file of its own, because no command but `start` rings, and checks have an expression to check. */
export const cronTicker: Ticker = (name, expression, onTick, onMissed) => {
  const task = schedule(expression, onTick, { name, timezone: 'UTC', noOverlap: true, suppressMissedWarning: true })
  task.on('execution:missed', ({ date }) => onMissed(date))
  return () => void task.destroy()
}

/** What is wrong with a cron expression, in words; undefined when nothing is. */
export function cronError(expression: string): string | undefined {
  const { valid, errors } = validateDetailed(expression)
  return valid ? undefined : errors.map(({ field, message }) => `${field}: ${message}`).join('; ')
}
