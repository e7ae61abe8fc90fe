import type { Clock } from '../../base/clock.ts'
import { RetryableError } from '../../base/errors.ts'
import { BucketQueue, type Permit, type QueueEntry } from './bucket-queue.ts'
import { type Completion, complete, transferIn, transferOut } from './budget.ts'
import { type BudgetStore, firstSegment } from './budget-store.ts'

/** Which bucket each route draws from, as far as it is known. */
interface RouteTable {
  readonly buckets: ReadonlyMap<string, string>
  /** Routes filed under the bucket of their neighbours, until a response names theirs. */
  readonly guessed: ReadonlySet<string>
}

export const emptyRoutes: RouteTable = { buckets: new Map(), guessed: new Set() }

const PROVISIONAL = 'route '
const UNNAMED = 'unnamed '

/** The bucket of a route; while that is unknown, a provisional one of its own. */
export function bucketOf({ buckets }: RouteTable, route: string): string {
  return buckets.get(route) ?? `${PROVISIONAL}${route}`
}

/** True while the bucket of a route is unknown. */
export function isUnknown({ buckets }: RouteTable, route: string): boolean {
  return !buckets.has(route)
}

/** True of a bucket that no response has named. */
function isUnnamed(bucket: string): boolean {
  return bucket.startsWith(UNNAMED)
}

/** The bucket that a route is assumed to draw from because its neighbours do; undefined when they differ. */
export function guessFrom(near: readonly string[]): string | undefined {
  const named = near.filter((bucket) => !isUnnamed(bucket))
  const [guess, ...others] = named.length > 0 ? named : near
  return others.length === 0 ? guess : undefined
}

/** True when a response that names this bucket says something new about its route. */
export function isNews({ buckets, guessed }: RouteTable, route: string, bucket: string): boolean {
  return buckets.get(route) !== bucket || guessed.has(route)
}

/** Files a route under a bucket. */
export function fileRoute(table: RouteTable, route: string, bucket: string, isGuess = false): RouteTable {
  const others = [...table.guessed].filter((other) => other !== route)
  return {
    buckets: new Map(table.buckets).set(route, bucket),
    guessed: new Set(isGuess ? [...others, route] : others),
  }
}

/** How many requests of a bucket may be in flight: one while the server has not named it. */
export function concurrencyOf(bucket: string, concurrency: number): number {
  return bucket.startsWith(PROVISIONAL) || bucket.startsWith(UNNAMED) ? 1 : concurrency
}

/**
 * The bucket to assume for a route whose responses name none. That these parts of the interface have one each, and
 * everything else another, is inferred only (API reference 2.2): it counts until a response names one.
 */
export function unnamedBucket(route: string): string {
  const segment = firstSegment(route)
  const hasOwn = ['item', 'player', 'guild', 'leaderboards', 'map'].includes(segment)
  return `${UNNAMED}${hasOwn ? segment : 'others'}`
}

/** How a sent request ended, as far as budgets are concerned. */
export type Ending = Omit<Completion, 'assumedLimit'>

/** The budgets of one credential: one queue for each rate-limit bucket, found by route. */
export class RateLimiter {
  readonly #options: RateLimiterOptions
  readonly #queues = new Map<string, BucketQueue>()
  #routes = emptyRoutes

  constructor(options: RateLimiterOptions) {
    this.#options = options
  }

  /**
   * Waits until the bucket of the route has a slot and budget. Every permit must be completed.
   * @returns null when the request has `moved` before
   * @throws RetryableError when the budget cannot be reached, or the reason of the aborted signal
   */
  async acquire(entry: QueueEntry): Promise<Permit | null> {
    for (;;) {
      if (await entry.moved()) return null
      const queue = this.#queue(bucketOf(this.#routes, entry.route))
      const moved = async () => (await entry.moved()) || (await this.#belongsElsewhere(entry.route, queue))
      const permit = await queue.acquire({ ...entry, moved })
      if (permit !== null) return permit
    }
  }

  /**
   * Stores how a request ended, before its slot is free. When that cannot be stored the reservation expires by itself; the
   * response is good all the same.
   */
  async complete(route: string, permit: Permit, ending: Ending): Promise<void> {
    const { queue: from, reservation, release } = permit
    const isNameless = ending.answered && isUnknown(this.#routes, route)
    try {
      const assumed = isNameless ? ((await this.#guess(route)) ?? unnamedBucket(route)) : null
      const bucket = ending.reading?.bucket ?? assumed
      const queue = bucket === null ? from : this.#queue(bucket)
      const isProvisional = isUnknown(this.#routes, route)
      const moving =
        queue === from ? null : await from.change((state) => transferOut(state, reservation, { all: isProvisional }))
      await queue.change((state, now) => {
        const held = moving === null ? state : transferIn(state, moving, now)
        const completion = { ...ending, assumedLimit: this.#options.assumedLimit }
        return { state: complete(held, reservation, completion, now), result: null }
      })
      if (bucket !== null && isNews(this.#routes, route, bucket)) {
        await this.#options.store.learn(route, bucket)
        this.#file(route, bucket)
      }
    } catch (error) {
      if (!(error instanceof RetryableError)) throw error
    } finally {
      release()
    }
  }

  /** What the running window of the route's bucket still allows, from the headers of responses; else null. */
  remaining(route: string): number | null {
    return this.#queues.get(bucketOf(this.#routes, route))?.remaining() ?? null
  }

  /** Resolves when every permit is completed. */
  async drained(): Promise<void> {
    await Promise.all([...this.#queues.values()].map((queue) => queue.drained()))
  }

  #queue(bucket: string): BucketQueue {
    const known = this.#queues.get(bucket)
    if (known !== undefined) return known
    const { store, clock } = this.#options
    const concurrency = concurrencyOf(bucket, this.#options.concurrency)
    const queue = new BucketQueue({ bucket, store, clock, concurrency })
    this.#queues.set(bucket, queue)
    return queue
  }

  /**
   * True when the bucket of a route that has a provisional queue here is known to another process, or can be guessed: a
   * request without a budget could be sent when nothing is left.
   */
  async #belongsElsewhere(route: string, queue: BucketQueue): Promise<boolean> {
    const filed = bucketOf(this.#routes, route)
    const isFiled = !isUnknown(this.#routes, route)
    if (isFiled && !isUnnamed(filed)) return filed !== queue.bucket
    const learned = isFiled ? filed : await this.#options.store.bucketOf(route)
    // Without a name it is known only as long as no neighbour has one.
    const bucket = learned === null || isUnnamed(learned) ? ((await this.#guess(route)) ?? learned) : learned
    if (bucket === null) return false
    if (bucket !== filed) this.#file(route, bucket, bucket !== learned)
    return bucket !== queue.bucket
  }

  async #guess(route: string): Promise<string | undefined> {
    return guessFrom((await this.#options.store.bucketsNear?.(route)) ?? [])
  }

  /** Files the route under its bucket; requests waiting in its provisional queue follow. */
  #file(route: string, bucket: string, isGuess = false): void {
    const before = bucketOf(this.#routes, route)
    const isFirst = isUnknown(this.#routes, route)
    this.#routes = fileRoute(this.#routes, route, bucket, isGuess)
    if (!isFirst) return
    this.#queues.get(before)?.dissolve()
    this.#queues.delete(before)
  }
}

interface RateLimiterOptions {
  readonly store: BudgetStore
  /** Requests in flight per bucket. */
  readonly concurrency: number
  /** Requests per minute without headers. */
  readonly assumedLimit: number
  readonly clock: Clock
}
