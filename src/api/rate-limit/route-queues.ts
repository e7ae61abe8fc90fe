import type { Clock } from '../../app/clock.ts'
import { RetryableError } from '../../app/errors.ts'
import { type BucketQueue, createBucketQueue, type Queued, queueAgain } from './bucket-queue.ts'
import { adopt, type Belongings, block, type Settlement, settle } from './budget.ts'
import type { Reservation } from './budget-state.ts'
import type { BudgetStore } from './budget-store.ts'

/** How a sent request ended, as far as budgets are concerned. */
export interface Ending extends Omit<Settlement, 'assumedLimit'> {
  /** Nothing of the bucket may leave before; ms since the epoch. Null when the answer did not say so. */
  readonly blockedUntil: number | null
}

/** One request, and how to send it. */
export interface Sending<T> extends Queued {
  /** The path as a template: all its requests share a bucket, which the first answer names. */
  readonly route: string
  readonly exchange: () => Promise<T>
  /** @param result null when there was none, because the caller gave up */
  readonly endingOf: (result: T | null) => Ending
}

/** The queues of one credential: one for each bucket, found by route. */
export interface RouteQueues {
  /**
   * Sends the request when its bucket has budget, and settles what came of it.
   * @returns `queueAgain` when it has `moved` before it was sent
   * @throws RetryableError when the budget cannot be reached; then nothing was sent
   */
  send<T>(sending: Sending<T>): Promise<T | typeof queueAgain>
  /** What the running window of the route's bucket still allows, as far as answers have told; else null. */
  remaining(route: string): number | null
  /** Resolves when every request that was sent is settled. */
  settled(): Promise<void>
}

const UNNAMED = 'unnamed '

/**
 * The bucket to assume for a route whose answers name none. That these parts of the interface have one each, and
 * everything else another, is inferred only (API reference 2.2): it counts until an answer says better.
 */
function unnamedBucket(route: string): string {
  return `${UNNAMED}${/^\/(item|player|guild|leaderboards|map)\b/.exec(route)?.[1] ?? 'others'}`
}

/**
 * @param options.concurrency requests in flight per bucket
 * @param options.assumedLimit requests per minute when no header says so
 */
export function createRouteQueues(options: {
  readonly store: BudgetStore
  readonly concurrency: number
  readonly assumedLimit: number
  readonly clock: Clock
}): RouteQueues {
  const { store, concurrency, assumedLimit, clock } = options
  const byBucket = new Map<string, BucketQueue>()
  const byRoute = new Map<string, BucketQueue>()
  const provisional = new Set<BucketQueue>()
  /** Routes filed under the bucket of their neighbours, until a response names theirs. */
  const guessed = new Set<string>()
  const underWay = new Set<Promise<unknown>>()

  /** The queue of the route's bucket; while that is unknown, one of its own with one request in flight. */
  function queueOf(route: string): BucketQueue {
    const known = byRoute.get(route)
    if (known !== undefined) return known
    const queue = createBucketQueue({ bucket: `route ${route}`, store, concurrency: 1, clock })
    provisional.add(queue)
    byRoute.set(route, queue)
    return queue
  }

  function queueNamed(bucket: string): BucketQueue {
    const known = byBucket.get(bucket)
    if (known !== undefined) return known
    const slots = bucket.startsWith(UNNAMED) ? 1 : concurrency
    const queue = createBucketQueue({ bucket, store, concurrency: slots, clock })
    byBucket.set(bucket, queue)
    return queue
  }

  /** Files the route under its bucket; requests waiting in its provisional queue follow. */
  function file(route: string, queue: BucketQueue): void {
    const before = byRoute.get(route)
    byRoute.set(route, queue)
    if (before !== undefined && provisional.delete(before)) before.dissolve()
  }

  /**
   * True when the bucket of a route that has a provisional queue here is known elsewhere, or can be guessed: a request that
   * drew from no budget could leave when nothing is left.
   */
  async function isLearned(route: string, queue: BucketQueue): Promise<boolean> {
    if (!provisional.has(queue)) return byRoute.get(route) !== queue
    const learned = await store.bucketOf(route)
    const near = learned === null ? ((await store.bucketsNear?.(route)) ?? []) : []
    const bucket = learned ?? (near.length === 1 ? near[0] : undefined)
    if (bucket === undefined) return false
    if (learned === null) guessed.add(route)
    file(route, queueNamed(bucket))
    return true
  }

  async function send<T>(sending: Sending<T>): Promise<T | typeof queueAgain> {
    const { route, exchange, endingOf } = sending
    for (;;) {
      if (await sending.moved()) return queueAgain
      const queue = queueOf(route)
      const moved = async () => (await sending.moved()) || (await isLearned(route, queue))
      const work = async (ticket: Reservation): Promise<T> => {
        let result: T | null = null
        try {
          result = await exchange()
          return result
        } finally {
          await settleIn(route, queue, ticket, endingOf(result))
        }
      }
      const ran = await queue.run({ ...sending, moved }, (ticket) => watch(work(ticket)))
      if (ran !== queueAgain) return ran
    }
  }

  /**
   * Tells the budget how a request ended, before anybody else can leave. When that cannot be stored the reservation
   * lapses by itself; the answer is good all the same.
   */
  async function settleIn(route: string, ranIn: BucketQueue, ticket: Reservation, ending: Ending): Promise<void> {
    const isNameless = ending.answered && provisional.has(ranIn)
    const bucket = ending.reading?.bucket ?? (isNameless ? unnamedBucket(route) : null)
    const queue = bucket === null ? ranIn : queueNamed(bucket)
    try {
      const moving = queue === ranIn ? null : await surrender(ranIn, ticket)
      await queue.change((state, now) => {
        const held = moving === null ? state : adopt(state, moving, now)
        const blocked = ending.blockedUntil === null ? held : block(held, ending.blockedUntil, now)
        return { state: settle(blocked, ticket, { ...ending, assumedLimit }, now), result: null }
      })
      if (bucket !== null && (byRoute.get(route) !== queue || guessed.has(route))) {
        await store.learn(route, bucket)
        guessed.delete(route)
        file(route, queue)
      }
    } catch (error) {
      if (!(error instanceof RetryableError)) throw error
    }
  }

  /** What a bucket holds for a route that turned out to draw from another: everything, or the one request of a real bucket. */
  function surrender(queue: BucketQueue, ticket: Reservation): Promise<Belongings> {
    const isProvisional = provisional.has(queue)
    return queue.change((state) => {
      const others = state.reservations.filter((one) => one.id !== ticket.id)
      // Its probe stays: whoever waits there is to look for the bucket instead.
      if (!isProvisional) {
        return { state: { ...state, reservations: others }, result: { reservations: [ticket], pulses: {} } }
      }
      return {
        state: { ...state, reservations: [] },
        result: { reservations: [ticket, ...others], pulses: state.pulses },
      }
    })
  }

  function watch<T>(work: Promise<T>): Promise<T> {
    underWay.add(work)
    const end = () => underWay.delete(work)
    work.then(end, end)
    return work
  }

  return {
    send,
    remaining: (route) => byRoute.get(route)?.remaining() ?? null,
    settled: async () => void (await Promise.allSettled(underWay)),
  }
}
