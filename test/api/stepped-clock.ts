import { type Clock, virtualClock } from '../../src/base/clock.ts'

/** A clock that a test moves, from one sleeper to the next, only when nothing else is going on. */
export interface SteppedClock extends Clock {
  /** All instants somebody slept until, in the order they went to sleep; ms since the epoch. */
  readonly sleeps: readonly number[]
  /** Runs `work` to its end, letting sleepers wake whenever `quiet` says that no request is in flight. */
  playOut<T>(work: Promise<T>, quiet?: () => boolean): Promise<T>
  advance(ms: number): Promise<void>
}

export function steppedClock(start: number): SteppedClock {
  const clock = virtualClock(start)
  const asleep = new Set<{ readonly until: number }>()
  const sleeps: number[] = []

  async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const one = { until: clock.now() + Math.max(0, ms) }
    asleep.add(one)
    sleeps.push(one.until)
    try {
      await clock.sleep(ms, signal)
    } finally {
      asleep.delete(one)
    }
  }

  async function playOut<T>(work: Promise<T>, quiet: () => boolean = () => true): Promise<T> {
    let over = false
    const end = () => {
      over = true
    }
    work.then(end, end)
    while (!over) {
      await new Promise((resolve) => setImmediate(resolve))
      if (over || !quiet() || asleep.size === 0) continue
      await clock.advanceTo(Math.max(clock.now(), Math.min(...[...asleep].map((one) => one.until))))
    }
    return work
  }

  return { now: clock.now, sleep, sleeps, playOut, advance: clock.advance }
}
