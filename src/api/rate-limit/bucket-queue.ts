import PQueue from 'p-queue'
import type { Clock } from '../../app/clock.ts'
import type { Lane } from '../http/request.ts'
import { createAlarm } from './alarm.ts'
import { available, lookAgainIn, opensAt, release, remaining, reserve } from './budget.ts'
import { type BudgetState, emptyBudget, type Reservation } from './budget-state.ts'
import type { BudgetStore, Step } from './budget-store.ts'
import { createPendingQueue, type Entry, type QueueEntry } from './pending-queue.ts'

/** What `run` resolves with when the work must be queued again, perhaps elsewhere; it has not begun. */
export const queueAgain: unique symbol = Symbol('queue again')

/** One request in a queue. */
export interface Queued extends QueueEntry {
  /** The name of its reservation, different for every request of every process. */
  readonly id: string
  /** The live poll that is wanted, and since when; null for a repeat, and in the other lanes. */
  readonly poll: { readonly route: string; readonly at: number } | null
  readonly signal: AbortSignal
  /** Asked before it takes from the budget: true when the work belongs elsewhere by now. */
  readonly moved: () => boolean | Promise<boolean>
}

/** The requests of one rate-limit bucket: so many in flight, none beyond the budget, the urgent ones first. */
export interface BucketQueue {
  /**
   * Runs `work` when there is a slot and budget for it. Whoever waits for budget holds no slot.
   * @param work must see to it that its reservation is settled through `change`
   * @throws RetryableError when the budget cannot be reached; then `work` has not begun
   */
  run<T>(queued: Queued, work: (ticket: Reservation) => Promise<T>): Promise<T | typeof queueAgain>
  /** Changes the bucket's budget, and lets go who then may. */
  change<T>(step: (state: BudgetState, now: number) => Step<T>): Promise<T>
  /** What the running window still allows refreshes, as far as headers have told; else null. */
  remaining(): number | null
  /** Sends everything that waits back to its caller, in order, and everything that comes later. */
  dissolve(): void
}

const LANES = ['live', 'refresh', 'backfill'] as const
const shut: unique symbol = Symbol('shut')

/**
 * @param options.bucket name of the budget in the store
 * @param options.concurrency requests in flight
 */
export function createBucketQueue(options: {
  readonly bucket: string
  readonly store: BudgetStore
  readonly concurrency: number
  readonly clock: Clock
}): BucketQueue {
  const { bucket, store, clock } = options
  const queue = new PQueue({ concurrency: options.concurrency })
  const room = createPendingQueue(() => regulate())
  const alarm = createAlarm(clock, () => regulate())
  /** The newest state this process has seen. Others may have changed it since. */
  let known: BudgetState | null = null
  let knownChange = 0
  let changes = 0
  /** Requests that left the waiting room and have not been told yet whether there is budget. */
  const asking: Record<Lane, number> = { live: 0, refresh: 0, backfill: 0 }
  /** When to ask although the known state leaves no room, because others may have made some. */
  const lookAt: Record<Lane, number> = { live: Infinity, refresh: Infinity, backfill: Infinity }
  /** The requests of this process. */
  const own = new Set<string>()
  let dissolved = false

  async function change<T>(step: (state: BudgetState, now: number) => Step<T>): Promise<T> {
    let number = 0
    let next: BudgetState = emptyBudget
    try {
      const result = await store.change(bucket, (stored) => {
        // Nobody else changes the state now, so this is the order of the changes, whichever is told of first.
        number = ++changes
        const made = step(stored ?? emptyBudget, clock.now())
        next = made.state
        return made
      })
      if (number > knownChange) {
        knownChange = number
        known = next
      }
      return result
    } catch (error) {
      // What is known may be what could not be changed.
      known = null
      throw error
    } finally {
      regulate()
    }
  }

  /** Before the store's first answer, one finds out. */
  function roomFor(lane: Lane, now: number): number {
    return known === null ? 1 : available(known, now, lane)
  }

  /** Lets go who may leave by what is known, and sets one alarm for the moment when others may. */
  function regulate(): void {
    if (dissolved) return
    const now = clock.now()
    let ahead = 0
    for (const lane of LANES) {
      ahead += asking[lane]
      const free = room.size(lane) === 0 ? 0 : roomFor(lane, now) - ahead
      for (let left = free; left > 0 && admit(lane, 'ask'); left--) ahead++
      if (asking[lane] === 0 && isTimeToLook(lane, now) && admit(lane, 'look')) ahead++
    }
    alarm.set(Math.min(...LANES.map((lane) => nextChance(lane, now))))
  }

  function admit(lane: Lane, entry: Entry): boolean {
    const admitted = room.admit(lane, entry)
    if (admitted) asking[lane]++
    return admitted
  }

  /** A lane that finds itself shut asks all the same when it is not known to want requests: others then leave it some. */
  function isTimeToLook(lane: Lane, now: number): boolean {
    return lookAt[lane] <= now || (lane !== 'live' && known !== null && known.wanted[lane] <= now)
  }

  /** An alarm nobody waits for would keep the process alive. */
  function nextChance(lane: Lane, now: number): number {
    if (room.size(lane) === 0 || asking[lane] > 0 || known === null) return Infinity
    return Math.min(lookAt[lane], opensAt(known, now, lane) ?? Infinity)
  }

  async function run<T>(queued: Queued, work: (ticket: Reservation) => Promise<T>): Promise<T | typeof queueAgain> {
    const { lane, priority, order, signal } = queued
    for (;;) {
      const waited = room.wait(queued, signal)
      if (dissolved) room.clear()
      regulate()
      const entry = await waited
      if (entry === 'cleared') return queueAgain
      let answered = false
      const onAnswer = () => {
        if (!answered) asking[lane]--
        answered = true
      }
      try {
        const attempt = () => takeAndWork(queued, entry, onAnswer, work)
        // Whoever comes later from another queue may still be the one who asked first.
        const result = await queue.add(attempt, { priority: priority - order / 1e9, signal })
        if (result !== shut) return result
      } finally {
        onAnswer()
        regulate()
      }
    }
  }

  /** Runs in a slot of the queue, and goes on when the caller has given up. */
  async function takeAndWork<T>(
    queued: Queued,
    entry: Entry,
    onAnswer: () => void,
    work: (ticket: Reservation) => Promise<T>,
  ): Promise<T | typeof shut | typeof queueAgain> {
    if (dissolved || (await queued.moved())) return queueAgain
    if (entry === 'ask' && roomFor(queued.lane, clock.now()) === 0) return shut
    own.add(queued.id)
    try {
      const ticket = await take(queued).finally(onAnswer)
      if (ticket === null) return shut
      if (queued.signal.aborted || dissolved) {
        await change((state, now) => ({ state: release(state, ticket.id, now), result: null }))
        return queueAgain
      }
      regulate()
      return await work(ticket)
    } finally {
      own.delete(queued.id)
    }
  }

  function take(queued: Queued): Promise<Reservation | null> {
    const { lane } = queued
    return change((state, now) => {
      const made = reserve(state, queued, now)
      lookAt[lane] = made.result === null ? now + lookAgainIn(made.state, now, lane, (id) => own.has(id)) : Infinity
      return made
    })
  }

  return {
    run,
    change,
    remaining: () => (known === null ? null : remaining(known, clock.now())),
    dissolve() {
      dissolved = true
      alarm.set(Infinity)
      room.clear()
      queue.concurrency = Infinity
    },
  }
}
