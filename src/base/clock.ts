import { setTimeout as delay } from 'node:timers/promises'

/** Injected time: all code that reads the time or waits takes a Clock, so that a simulated day takes seconds. */
export interface Clock {
  /** Milliseconds since the Unix epoch, UTC. */
  now(): number
  /** Resolves after `ms` milliseconds of this clock; rejects with the signal's reason when it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** A timer that is set for longer rings at once; ms. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: async (ms, signal) => {
    signal?.throwIfAborted()
    let left = Math.max(0, ms)
    do {
      await delay(Math.min(left, LONGEST_TIMER_MS), undefined, signal ? { signal } : {})
      left -= LONGEST_TIMER_MS
    } while (left > 0)
  },
}

/** The result of some work; undefined when it takes longer than `ms` milliseconds of the clock, and then it goes on. */
export async function within<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T | undefined> {
  const over = new AbortController()
  const late = clock.sleep(ms, over.signal).catch(() => {})
  return (await Promise.race([work, late]).finally(() => over.abort())) as T | undefined
}

/**
 * Is aborted with another signal, until `end`. `AbortSignal.any` would leave something behind at that signal each time, which
 * may live as long as the process.
 */
export function followSignal(signal: AbortSignal | undefined): AbortController & { end(): void } {
  const own = new AbortController()
  const abort = () => own.abort(signal?.reason)
  if (signal?.aborted) abort()
  else signal?.addEventListener('abort', abort, { once: true })
  return Object.assign(own, { end: () => signal?.removeEventListener('abort', abort) })
}

/** A number in [0, 1), injected like time: the same seed gives the same run. */
export type Random = () => number

/** Seeded generator (mulberry32): small, fast, and the same sequence on every machine. Not for secrets. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

/** A clock that stands still until it is moved, for simulated days. With `auto`, it jumps whenever all code sleeps. */
export interface VirtualClock extends Clock {
  /** Moves the clock forward by `ms`, waking sleepers in order. */
  advance(ms: number): Promise<void>
  /** Moves the clock forward to `instant` (ms since the epoch); going back is refused with a RangeError. */
  advanceTo(instant: number): Promise<void>
}

/**
 * @param start milliseconds since the epoch
 * @param options.auto jump to the next sleeper's instant once the event loop has had `idleMs` real milliseconds of quiet
 * @param options.busy true while work is in flight that takes no time of this clock, such as a query: no jump then
 */
export function virtualClock(
  start: number,
  options: { auto?: boolean; idleMs?: number; busy?: () => boolean } = {},
): VirtualClock {
  const { auto = false, idleMs = 3, busy = () => false } = options
  let now = start
  let sleepers: Sleeper[] = []
  let jump: NodeJS.Timeout | undefined

  async function advanceTo(instant: number): Promise<void> {
    if (instant < now) throw new RangeError(`clock cannot go back from ${now} to ${instant}`)
    for (;;) {
      const next = sleepers.reduce<Sleeper | undefined>(
        (best, sleeper) => (!best || sleeper.at < best.at ? sleeper : best),
        undefined,
      )
      if (!next || next.at > instant) break
      now = Math.max(now, next.at)
      sleepers = sleepers.filter((sleeper) => sleeper !== next)
      next.wake()
      // Let the woken code run (and perhaps sleep again) before the next one wakes.
      await new Promise((resolve) => setImmediate(resolve))
    }
    now = Math.max(now, instant)
  }

  function jumpWhenIdle(): void {
    if (!auto) return
    clearTimeout(jump)
    jump = setTimeout(() => {
      if (busy()) jumpWhenIdle()
      else if (sleepers.length > 0)
        void advanceTo(Math.max(now, Math.min(...sleepers.map((sleeper) => sleeper.at)))).then(jumpWhenIdle)
    }, idleMs)
  }

  return {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        const abort = () => {
          sleepers = sleepers.filter((other) => other !== sleeper)
          reject(signal?.reason)
        }
        const sleeper: Sleeper = {
          at: now + Math.max(0, ms),
          wake: () => {
            signal?.removeEventListener('abort', abort)
            resolve()
          },
        }
        signal?.addEventListener('abort', abort, { once: true })
        sleepers.push(sleeper)
        jumpWhenIdle()
      }),
    advance: (ms) => advanceTo(now + ms),
    advanceTo,
  }
}
