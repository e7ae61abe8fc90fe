import PQueue from 'p-queue'
import type { Clock } from '../clock.ts'
import { createBudget, type Settlement, type Ticket } from './budget.ts'
import type { RateLimitReading } from './rate-limit.ts'

/** What `run` resolves with when the work must be queued again, perhaps elsewhere; it has not begun. */
export const queueAgain: unique symbol = Symbol('queue again')

/** The requests of one rate-limit bucket: so many in flight, none beyond the budget, the urgent ones first. */
export interface BucketQueue {
  /** Runs `work` when there is a slot and budget for it. `work` must give its ticket back with `settle`. */
  run<T>(
    work: (ticket: Ticket) => Promise<T>,
    options: { priority: number; signal: AbortSignal },
  ): Promise<T | typeof queueAgain>
  settle(ticket: Ticket, settlement: Settlement): void
  /** An answer about this bucket to a request that ran in another queue. */
  observe(reading: RateLimitReading, ticket: Ticket, receivedAt: number): void
  /** Nothing leaves before `until`; ms since the epoch. */
  block(until: number): void
  /** What the running window still allows, as far as headers have told; else null. */
  remaining(): number | null
  /** Sends everything that waits back to its caller, in order, and everything that comes later. */
  dissolve(): void
}

/**
 * @param options.concurrency requests in flight
 * @param options.assumedLimit requests per minute when no header says so
 */
export function createBucketQueue(options: { concurrency: number; assumedLimit: number; clock: Clock }): BucketQueue {
  const { clock } = options
  const queue = new PQueue({ concurrency: options.concurrency })
  const budget = createBudget(options.assumedLimit)
  let dissolved = false
  let alarm: { readonly at: number; readonly cancel: AbortController } | null = null

  function silence(): void {
    alarm?.cancel.abort()
    alarm = null
  }

  function wakeAt(at: number): void {
    if (alarm?.at === at) return
    silence()
    const cancel = new AbortController()
    alarm = { at, cancel }
    const wake = () => {
      if (cancel.signal.aborted) return
      alarm = null
      regulate()
    }
    clock.sleep(at - clock.now(), cancel.signal).then(wake, () => undefined)
  }

  /** Opens or closes the gate. A closed gate with somebody behind it sets one alarm for the moment the budget returns. */
  function regulate(): void {
    if (dissolved) return
    const now = clock.now()
    if (budget.available(now) > 0) {
      silence()
      queue.start()
      return
    }
    queue.pause()
    const at = budget.opensAt(now)
    if (at !== null && queue.size > 0) wakeAt(at)
    else silence()
  }

  // An alarm nobody waits for any more would keep the process alive.
  queue.on('next', () => {
    if (queue.size === 0) silence()
  })

  function run<T>(
    work: (ticket: Ticket) => Promise<T>,
    { priority, signal }: { priority: number; signal: AbortSignal },
  ) {
    // p-queue runs this up to its first await before it looks for the next job and at `pause`, so budget taken here is
    // taken before anybody else can ask, and a job that starts always finds some.
    const start = (): Promise<T | typeof queueAgain> => {
      if (dissolved || budget.available(clock.now()) === 0) {
        regulate()
        return Promise.resolve(queueAgain)
      }
      const ticket = budget.take(clock.now())
      regulate()
      return work(ticket)
    }
    const ran = queue.add(start, { priority, signal })
    regulate()
    return ran
  }

  return {
    run,
    settle(ticket, settlement) {
      budget.settle(ticket, settlement, clock.now())
      regulate()
    },
    observe(reading, ticket, receivedAt) {
      budget.observe(reading, ticket.sentAt, receivedAt, clock.now())
      regulate()
    },
    block(until) {
      budget.block(until, clock.now())
      regulate()
    },
    remaining: () => budget.remaining(clock.now()),
    dissolve() {
      dissolved = true
      silence()
      queue.concurrency = Number.POSITIVE_INFINITY
      queue.start()
    },
  }
}
