import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../base/clock.ts'
import { Problem } from './problems.ts'

/** How old a page may be, ms. */
const FRESH_MS = 10_000
/** How old it may be while a new one is made, ms. */
const SHOWN_MS = 60_000

/** How many pages a cache keeps. */
const KEPT_PAGES = 200
/** How much of them, bytes. */
const KEPT_BYTES = 16 * 2 ** 20

/** So many answers are made at a time. What is sent is not counted: a client that reads slowly keeps no other from being answered. */
const BUILDS_AT_ONCE = 20

/** Where timers of this thread come later than this on average, a poll, which goes to the database twenty times, is seconds late, ms. */
const LATE_TIMER_MS = 100
const SECOND = 1000

/** Makes an answer. @throws Problem at once when too many are in the making, after a second where the thread has no time for it */
export type Build = <T>(make: () => Promise<T>) => Promise<T>

interface BuildLimits {
  readonly most?: number
  /** How late timers of this thread come, ms; without it, as late as they like. */
  readonly lateness?: (() => number) | undefined
}

/** One limit for all that a server makes. */
export function createBuild({ most = BUILDS_AT_ONCE, lateness = () => 0 }: BuildLimits = {}): Build {
  let making = 0
  return (make) => {
    if (making >= most) throw new Problem('overloaded')
    making++
    const made = lateness() > LATE_TIMER_MS ? calm(lateness).then(make) : make()
    return made.finally(() => making--)
  }
}

/** A burst of work, such as the first responses after a start, is over soon: until then an answer waits. */
async function calm(lateness: () => number): Promise<void> {
  const began = performance.now()
  while (performance.now() - began < SECOND) {
    await sleep(SECOND / 4)
    if (lateness() <= LATE_TIMER_MS) return
  }
  throw new Problem('overloaded')
}

/** How late timers of this thread came in the last second, on average, ms. */
export function watchLateness(): () => number {
  const resolution = 10
  const delays = monitorEventLoopDelay({ resolution })
  delays.enable()
  let since = performance.now()
  let late = 0
  return () => {
    const now = performance.now()
    if (now - since < SECOND) return late
    // What is longer ago says nothing.
    late = now - since < 2 * SECOND && delays.count > 0 ? delays.mean / 1e6 - resolution : 0
    since = now
    delays.reset()
    return late
  }
}

interface Kept<T> {
  readonly madeAt: number
  readonly page: Promise<T>
  isMade: boolean
  bytes: number
  /** When its successor was begun. */
  renewedAt?: number
}

/** Nothing is kept: who comes while it is made shares it. For what names players, who may hide at any time. */
export const shared = { fresh: 0, shown: 0 } as const

interface Keeping<T> {
  readonly fresh?: number
  readonly shown?: number
  /** Bytes of a page. */
  readonly sizeOf: (page: T) => number
  readonly bytes?: number
}

/**
 * Keeps pages for a few seconds, so that many readers of one page cost as much as one. Those who come together share the
 * making; who comes later sees the page before until the new one is there.
 * What `make` throws at once, such as a limit of the one who asks, is thrown to this one alone.
 */
export function createPageCache<T>(
  clock: Clock,
  { fresh = FRESH_MS, shown = SHOWN_MS, sizeOf, bytes = KEPT_BYTES }: Keeping<T>,
): (key: string, make: () => Promise<T>) => Promise<T> {
  const kept = new Map<string, Kept<T>>()
  let total = 0
  const drop = (key: string) => {
    total -= kept.get(key)?.bytes ?? 0
    kept.delete(key)
  }
  const begin = (key: string, make: () => Promise<T>, replacesAtOnce: boolean): Promise<T> => {
    const page = make()
    const one: Kept<T> = { madeAt: clock.now(), page, isMade: false, bytes: 0 }
    const keep = () => {
      drop(key)
      kept.set(key, one)
    }
    if (replacesAtOnce) keep()
    page.then(
      (made) => {
        one.isMade = true
        if (replacesAtOnce && kept.get(key) !== one) return
        if (shown === 0) return drop(key)
        keep()
        one.bytes = sizeOf(made)
        total += one.bytes
        for (const [oldest, { isMade }] of kept) {
          if (kept.size <= KEPT_PAGES && total <= bytes) break
          if (isMade) drop(oldest)
        }
      },
      () => {
        // The next one tries again. One that was to replace a page leaves that, until it is too old.
        if (kept.get(key) === one) drop(key)
      },
    )
    return page
  }
  return (key, make) => {
    const now = clock.now()
    const found = kept.get(key)
    if (!found) return begin(key, make, true)
    // A clock that was set back makes no page new.
    const age = Math.abs(now - found.madeAt)
    if (!found.isMade || age < fresh) return found.page
    if (age >= shown) return begin(key, make, true)
    if (found.renewedAt === undefined || Math.abs(now - found.renewedAt) >= fresh) {
      try {
        begin(key, make, false).catch(() => undefined)
        found.renewedAt = now
      } catch {
        // Who must not begin a new one sees the page before.
      }
    }
    return found.page
  }
}
