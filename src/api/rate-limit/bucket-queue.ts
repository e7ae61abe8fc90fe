import PQueue from 'p-queue'
import type { Clock } from '../../base/clock.ts'
import type { Lane } from '../http/request.ts'
import {
  available,
  opensAt,
  PROBE_LASTS,
  type ReservationRequest,
  recheckIn,
  release,
  remaining,
  reserve,
} from './budget.ts'
import { type BudgetState, emptyBudget, type Reservation } from './budget-state.ts'
import type { BudgetStore, Step } from './budget-store.ts'

/** One request that waits for its bucket. */
export interface QueueEntry extends ReservationRequest {
  /** The path as a template: all its requests share a bucket, which the first response names. */
  readonly route: string
  /** The highest goes first. */
  readonly priority: number
  readonly signal: AbortSignal
  /** Called before the request takes from the budget: true when it belongs to another queue by now. */
  readonly moved: () => boolean | Promise<boolean>
}

/** Permission to send one request. */
export interface Permit {
  readonly reservation: Reservation
  readonly queue: BucketQueue
  /** Frees the slot. Call it once, when the budget knows how the request ended. */
  readonly release: () => void
}

/**
 * The requests of one rate-limit bucket: so many in flight, none beyond the budget, the urgent ones first. One p-queue per
 * lane holds the requests that wait for budget, paused while the lane has none; one more counts slots, which are taken only
 * with budget.
 */
export class BucketQueue {
  readonly bucket: string
  readonly #store: BudgetStore
  readonly #clock: Clock
  readonly #slots: PQueue
  readonly #lanes: Readonly<Record<Lane, PQueue>>
  readonly #alarm: ReturnType<typeof createAlarm>
  readonly #recheckAt: Record<Lane, number> = { live: Infinity, refresh: Infinity, backfill: Infinity }
  /** The requests of this process that hold or request a reservation. */
  readonly #own = new Set<string>()
  readonly #held = new Set<Promise<void>>()
  #admissions: Admissions | null = null
  /** The newest state this process has seen. Others may have changed it since. */
  #known: BudgetState | null = null
  #knownChange = 0
  #changes = 0
  #isDissolved = false

  /**
   * @param options.bucket name of the budget in the store
   * @param options.concurrency requests in flight
   */
  constructor(options: { bucket: string; store: BudgetStore; concurrency: number; clock: Clock }) {
    this.bucket = options.bucket
    this.#store = options.store
    this.#clock = options.clock
    this.#slots = new PQueue({ concurrency: options.concurrency })
    const lane = () => new PQueue({ autoStart: false })
    this.#lanes = { live: lane(), refresh: lane(), backfill: lane() }
    this.#alarm = createAlarm(this.#clock, () => this.#regulate())
  }

  /**
   * Waits for a slot and a reservation.
   * @returns null when the request must be queued again, perhaps elsewhere
   * @throws RetryableError when the budget cannot be reached, or the reason of the aborted signal; nothing is reserved then
   */
  async acquire(entry: QueueEntry): Promise<Permit | null> {
    const { lane, priority, signal } = entry
    for (;;) {
      try {
        const acquired = this.#lanes[lane].add(() => this.#tryAcquire(entry), { priority, signal })
        this.#regulate()
        const permit = await acquired
        if (permit !== 'no room') return permit
      } finally {
        this.#regulate()
      }
    }
  }

  /** Changes the bucket's budget, and admits the requests that it has room for then. */
  async change<T>(step: (state: BudgetState, now: number) => Step<T>): Promise<T> {
    let number = 0
    let next: BudgetState = emptyBudget
    try {
      const result = await this.#store.change(this.bucket, (stored) => {
        // The state is locked, so this is the order of the changes, whichever returns first.
        number = ++this.#changes
        const made = step(stored ?? emptyBudget, this.#clock.now())
        next = made.state
        return made
      })
      if (number > this.#knownChange) {
        this.#knownChange = number
        this.#known = next
      }
      return result
    } catch (error) {
      // What is known may be what could not be changed.
      this.#known = null
      throw error
    } finally {
      this.#regulate()
    }
  }

  /** What the running window still allows refreshes, from headers; else null. */
  remaining(): number | null {
    return this.#known === null ? null : remaining(this.#known, this.#clock.now())
  }

  /** Sends every waiting request back to its caller, in order, and every later one. */
  dissolve(): void {
    this.#isDissolved = true
    this.#alarm.set(Infinity)
    for (const lane of LANES) {
      this.#lanes[lane].concurrency = Infinity
      this.#lanes[lane].start()
    }
    this.#slots.concurrency = Infinity
  }

  /** Resolves when every slot that is held now is free. */
  async drained(): Promise<void> {
    await Promise.all(this.#held)
  }

  #regulate(): void {
    if (this.#isDissolved) return
    this.#admissions = admit(this.#known, this.#loads(), this.#clock.now())
    for (const lane of LANES) {
      const queue = this.#lanes[lane]
      const { limit } = this.#admissions.lanes[lane]
      if (limit === 0) {
        queue.pause()
        continue
      }
      queue.concurrency = limit
      queue.start()
    }
    this.#alarm.set(this.#admissions.decideAgainAt)
  }

  #loads(): Record<Lane, LaneLoad> {
    const load = (lane: Lane) => ({
      waiting: this.#lanes[lane].size,
      reserving: this.#lanes[lane].pending,
      recheckAt: this.#recheckAt[lane],
    })
    return { live: load('live'), refresh: load('refresh'), backfill: load('backfill') }
  }

  /** Continues after an abort: what it reserves then is given back. */
  async #tryAcquire(entry: QueueEntry): Promise<Permit | 'no room' | null> {
    if (this.#isDissolved) return null
    const isRecheck = this.#admissions?.lanes[entry.lane].isRecheck === true
    const release = await this.#takeSlot(entry)
    let permit: Permit | null = null
    try {
      if (this.#isDissolved || (await entry.moved())) return null
      if (!isRecheck && roomFor(this.#known, entry.lane, this.#clock.now()) === 0) return 'no room'
      this.#own.add(entry.id)
      const reservation = await this.#reserve(entry)
      if (reservation === null) return 'no room'
      if (entry.signal.aborted || this.#isDissolved) {
        await this.#giveBack(reservation)
        return null
      }
      if (this.#clock.now() - reservation.sentAt >= PROBE_LASTS) {
        // The store hung: other processes may take the reservation for one of a process that was killed.
        await this.#giveBack(reservation)
        return 'no room'
      }
      permit = { reservation, queue: this, release: () => this.#release(entry, release) }
      return permit
    } finally {
      if (permit === null) this.#release(entry, release)
    }
  }

  #reserve(entry: QueueEntry): Promise<Reservation | null> {
    const { lane } = entry
    return this.change((state, now) => {
      const made = reserve(state, entry, now)
      const wait = made.result === null ? recheckIn(made.state, now, lane, (id) => this.#own.has(id)) : Infinity
      this.#recheckAt[lane] = now + wait
      return made
    })
  }

  #giveBack({ id }: Reservation): Promise<null> {
    return this.change((state, now) => ({ state: release(state, id, now), result: null }))
  }

  /** Resolves with what frees the slot. Aborting the signal frees it too. */
  #takeSlot({ priority, signal }: QueueEntry): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const hold = () => {
        const held = new Promise<void>((free) => resolve(free))
        this.#held.add(held)
        void held.then(() => this.#held.delete(held))
        return held
      }
      this.#slots.add(hold, { priority, signal }).catch(reject)
    })
  }

  #release({ id }: QueueEntry, freeSlot: () => void): void {
    this.#own.delete(id)
    freeSlot()
  }
}

/** At most one sleep at a time. @param onAlarm called when the instant has come */
function createAlarm(clock: Clock, onAlarm: () => void) {
  let current: { readonly at: number; readonly cancel: AbortController } | null = null
  return {
    /** Sleeps until `at` (ms since the epoch) instead of any earlier setting. Infinity: not at all. */
    set(at: number): void {
      if (current?.at === at) return
      current?.cancel.abort()
      current = null
      if (!Number.isFinite(at)) return
      const cancel = new AbortController()
      current = { at, cancel }
      const wake = () => {
        if (cancel.signal.aborted) return
        current = null
        onAlarm()
      }
      clock.sleep(at - clock.now(), cancel.signal).then(wake, () => undefined)
    },
  }
}

/** The highest priority first. */
export const LANES = ['live', 'refresh', 'backfill'] as const

/** The requests of one lane of a bucket. */
export interface LaneLoad {
  readonly waiting: number
  /** Those that are reserving now, with the outcome open. */
  readonly reserving: number
  /** When to try although the known state leaves no room, because other processes may have made some; ms since the epoch. */
  readonly recheckAt: number
}

/** What a lane may do now. */
interface Admission {
  /** How many of its requests may reserve at a time. */
  readonly limit: number
  /** True when the known state leaves no room, and one request tries all the same. */
  readonly isRecheck: boolean
}

/** What the lanes of a bucket may do, and when to decide again if nothing happens (ms since the epoch, or infinity). */
interface Admissions {
  readonly lanes: Readonly<Record<Lane, Admission>>
  readonly decideAgainAt: number
}

const CLOSED: Admission = { limit: 0, isRecheck: false }

/**
 * Decides which lanes of a bucket may reserve: as many as the known state has room for, the higher lanes first.
 * @param known the newest state this process has seen; null before the first one, when one request tries
 * @param now ms since the epoch
 */
export function admit(known: BudgetState | null, loads: Readonly<Record<Lane, LaneLoad>>, now: number): Admissions {
  const lanes: Record<Lane, Admission> = { live: CLOSED, refresh: CLOSED, backfill: CLOSED }
  let ahead = 0
  let decideAgainAt = Infinity
  for (const lane of LANES) {
    const { waiting, reserving, recheckAt } = loads[lane]
    const admission = admitLane(known, lane, loads[lane], ahead, now)
    const admitted = Math.min(waiting, Math.max(0, admission.limit - reserving))
    lanes[lane] = admission
    ahead += reserving + admitted
    // An alarm without requests would keep the process alive.
    if (waiting === admitted || reserving + admitted > 0 || known === null) continue
    decideAgainAt = Math.min(decideAgainAt, recheckAt, opensAt(known, now, lane) ?? Infinity)
  }
  return { lanes, decideAgainAt }
}

function admitLane(known: BudgetState | null, lane: Lane, load: LaneLoad, ahead: number, now: number): Admission {
  const { waiting, reserving, recheckAt } = load
  const room = roomFor(known, lane, now) - ahead
  const limit = Math.min(reserving + waiting, Math.max(0, room))
  if (limit > reserving || reserving > 0 || waiting === 0) return { limit, isRecheck: false }
  // A request that finds no room makes the other lane leave some of the window to this one.
  const isUnrecorded = lane !== 'live' && known !== null && known.wantedUntil[lane] <= now
  return recheckAt <= now || isUnrecorded ? { limit: 1, isRecheck: true } : CLOSED
}

/** How many requests of the lane the known state has room for. Before the first state, one. */
function roomFor(known: BudgetState | null, lane: Lane, now: number): number {
  return known === null ? 1 : available(known, now, lane)
}
