import { createTask, schedule, validateDetailed } from 'node-cron'
import type { Clock } from '../../clock.ts'

/** The outer clock of the scheduler: rings at the instants that a cron expression names, in UTC. */
export interface Ticker {
  /**
   * @param name of the task, for messages
   * @param onTick told at each instant; must return at once
   * @param onMissed told of an instant that passed unnoticed, because the machine slept or was too busy
   * @returns ends it
   */
  ring(name: string, expression: string, onTick: () => void, onMissed: (at: Date) => void): () => void
}

/** The real one, by the machine's clock. */
export const cronTicker: Ticker = {
  ring(name, expression, onTick, onMissed) {
    const task = schedule(expression, onTick, { name, timezone: 'UTC', noOverlap: true, suppressMissedWarning: true })
    task.on('execution:missed', ({ date }) => onMissed(date))
    return () => void task.destroy()
  },
}

/** The same by any clock, for simulated days. */
export function clockTicker(clock: Clock): Ticker {
  return {
    ring(_name, expression, onTick) {
      const ending = new AbortController()
      const ringOn = async () => {
        for (;;) {
          await clock.sleep(nextTick(expression, clock.now()) - clock.now(), ending.signal)
          onTick()
        }
      }
      ringOn().catch(() => undefined)
      return () => ending.abort()
    },
  }
}

const MINUTE = 60_000
/** How far ahead a tick is looked for, in steps: a little over a month. What is asked for more rarely is not watched. */
const HORIZON = 32 * 24 * 60

/** What is wrong with a cron expression, in words; undefined when nothing is. */
export function objectionToSchedule(expression: string): string | undefined {
  const { valid, errors } = validateDetailed(expression)
  return valid ? undefined : errors.map(({ field, message }) => `${field}: ${message}`).join('; ')
}

/** What is known of a cron expression: a matcher, and the last stretches of time that were searched for a tick. */
interface KnownExpression {
  /** Ms between two instants that the expression can name. */
  readonly step: number
  matches(at: Date): boolean
  /** Nothing in `(from, next)` is a tick, and `next` is one; ms since the epoch. */
  searched: readonly { readonly from: number; readonly next: number }[]
}

/** One per distinct expression, of which a configuration has a few. */
const known = new Map<string, KnownExpression>()

/** node-cron keeps every task that is created in a registry of its own until it is destroyed; a destroyed one still matches. */
function knownExpression(expression: string): KnownExpression {
  const found = known.get(expression)
  if (found) return found
  const task = createTask(expression, () => undefined, { timezone: 'UTC' })
  void task.destroy()
  const step = expression.trim().split(/\s+/).length > 5 ? 1000 : MINUTE
  const fresh: KnownExpression = { step, matches: (at) => task.match(at), searched: [] }
  known.set(expression, fresh)
  return fresh
}

/**
 * The first instant after `after` that the expression names, in UTC.
 * @param after ms since the epoch
 * @returns ms since the epoch; infinity when there is none within a month
 */
export function nextTick(expression: string, after: number): number {
  const entry = knownExpression(expression)
  const searched = entry.searched.find(({ from, next }) => from <= after && after < next)
  if (searched) return searched.next
  const { step } = entry
  let at = (Math.floor(after / step) + 1) * step
  for (let tried = 0; tried < HORIZON; tried++, at += step) {
    if (!entry.matches(new Date(at))) continue
    // Two: a period lies between the next tick and the one after it.
    entry.searched = [...entry.searched, { from: after, next: at }].slice(-2)
    return at
  }
  return Number.POSITIVE_INFINITY
}

/** Seconds between the next two ticks: how often something is expected that runs by this expression. */
export function periodSeconds(expression: string, now: number): number {
  const next = nextTick(expression, now)
  return (nextTick(expression, next) - next) / 1000
}
