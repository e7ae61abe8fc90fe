import type { Lane } from '../../src/api/http/request.ts'
import { readRateLimit } from '../../src/api/http/response-headers.ts'
import { complete, opensAt, recheckIn, reserve } from '../../src/api/rate-limit/budget.ts'
import { type BudgetState, emptyBudget, type Reservation } from '../../src/api/rate-limit/budget-state.ts'
import { seededRandom } from '../../src/base/clock.ts'

const MINUTE = 60_000

/** A simulated day's beginning: processes that share a budget, a network, and a server that counts per minute. */
export interface Simulation {
  readonly seed: number
  readonly limit: number
  readonly reset: 'seconds, rounded down' | 'seconds, rounded up' | 'epoch' | 'absent' | 'no headers'
  /** The lane of each process; all but the live ones have more work than the budget allows. */
  readonly lanes: readonly Lane[]
  /** Requests of one process at a time. */
  readonly concurrency: number
  /** Longest way to the server, and back, of an ordinary request; ms. */
  readonly latency: number
  /** Share of the requests that take up to 25 s. */
  readonly slow: number
  /** Mean time until a process is killed, in minutes; it is started again within two seconds. Null: never. */
  readonly killEvery: number | null
  readonly minutes: number
  /** How long a window of the server lasts, ms. Default a minute; what is told by minutes is then told by windows. */
  readonly window?: number
  /** Between two polls of a live process, and how long after a window's beginning they come; ms. Default 10 s, at random. */
  readonly polls?: { readonly every: number; readonly after: number }
  /** Time between live polls that nothing announces, each of a route that was never polled before, in windows. */
  readonly unannounced?: number
}

/** What the server saw, and how long the live polls waited. */
export interface Seen {
  /** Requests by minute and lane. */
  readonly minutes: readonly Readonly<Record<Lane, number>>[]
  /** Requests that killed processes had reserved, by the minutes in which these reservations lasted. */
  readonly lost: readonly number[]
  /** ms between the wish and the permission, for each poll. */
  readonly waits: readonly number[]
  /** The same of the polls that nothing announced, with how long before the end of the server's window each was wanted. */
  readonly unannounced: readonly { readonly wait: number; readonly toEnd: number }[]
  readonly kills: number
}

interface Sent {
  readonly ticket: Reservation
  readonly life: number
}

/** Plays it, event by event, on a clock of its own. */
export function simulate(given: Simulation): Seen {
  const random = seededRandom(given.seed)
  const events = timeline()
  const start = Date.parse('2026-05-30T12:00:00Z')
  const counts = new Map<number, Record<Lane, number>>()
  const window = given.window ?? MINUTE
  const waits: number[] = []
  const unannounced: { wait: number; toEnd: number }[] = []
  /** Reservations of the dead, by the minutes in which they keep others back. */
  const lost = new Map<number, number>()
  let state: BudgetState = emptyBudget
  let ids = 0
  let kills = 0

  /** The server counts a request and writes the headers of its answer. */
  function count(now: number, lane: Lane): ReadonlyMap<string, string> {
    const minute = minuteOf(now)
    const counted = counts.get(minute) ?? { live: 0, refresh: 0, backfill: 0 }
    counts.set(minute, { ...counted, [lane]: counted[lane] + 1 })
    const used = counted.live + counted.refresh + counted.backfill + 1
    const end = start + (minute + 1) * window
    const left = (end - now) / 1000
    const reset = {
      'seconds, rounded down': Math.floor(left),
      'seconds, rounded up': Math.ceil(left),
      epoch: end / 1000,
      absent: null,
      'no headers': null,
    }[given.reset]
    const headers = new Map([['date', new Date(now).toUTCString()]])
    if (given.reset === 'no headers') return headers
    headers.set('ratelimit-limit', String(given.limit))
    headers.set('ratelimit-remaining', String(Math.max(0, given.limit - used)))
    if (reset !== null) headers.set('ratelimit-reset', String(reset))
    return headers
  }

  function loseUntil(from: number, until: number): void {
    for (let minute = minuteOf(from); minute <= minuteOf(until); minute++) lost.set(minute, (lost.get(minute) ?? 0) + 1)
  }

  function minuteOf(at: number): number {
    return Math.floor((at - start) / window)
  }

  function travel(): number {
    return random() < given.slow ? random() * 12_500 : random() * given.latency
  }

  function openProcess(lane: Lane, index: number, onceAt?: number): void {
    let life = 0
    let inFlight = 0
    let wakeAt = Infinity
    const own = new Set<string>()
    /** Since when a poll is wanted that has not left yet. */
    let wantedAt: number | null = null
    const route = `/live/${index}`

    function ask(now: number): void {
      while (inFlight < given.concurrency && (lane !== 'live' || wantedAt !== null)) {
        const poll = wantedAt === null ? null : { route, at: wantedAt }
        const id = `${index} ${ids++}`
        const made = reserve(state, { id, lane, poll }, now)
        state = made.state
        if (made.result === null) {
          waitFor(now)
          return
        }
        if (wantedAt !== null && onceAt === undefined) waits.push(now - wantedAt)
        if (wantedAt !== null && onceAt !== undefined) {
          unannounced.push({ wait: now - wantedAt, toEnd: window - ((wantedAt - start) % window) })
        }
        wantedAt = null
        own.add(id)
        inFlight++
        send(now, { ticket: made.result, life })
      }
    }

    function waitFor(now: number): void {
      const look = recheckIn(state, now, lane, (id) => own.has(id))
      const at = Math.min(now + look, opensAt(state, now, lane) ?? Infinity)
      if (at >= wakeAt && wakeAt > now) return
      wakeAt = at
      const mine = life
      if (Number.isFinite(at)) events.at(at, (then) => mine === life && at === wakeAt && ask(then))
    }

    function send(now: number, sent: Sent): void {
      const leaves = now + random() * 30
      // A killed process may have written the request before, or not.
      const isWritten = () => sent.life === life || random() < 0.5
      events.at(leaves, () => {
        if (!isWritten()) return
        events.at(leaves + travel(), (arrived) => {
          const headers = count(arrived, lane)
          events.at(arrived + travel(), (received) => end(received, sent, headers))
        })
      })
    }

    function end(now: number, { ticket, life: of }: Sent, headers: ReadonlyMap<string, string>): void {
      if (of !== life) return
      inFlight--
      own.delete(ticket.id)
      const reading = readRateLimit(headers, now)
      state = complete(state, ticket, { reading, answered: true, receivedAt: now, assumedLimit: given.limit }, now)
      ask(now)
    }

    function scheduleKill(now: number): void {
      if (given.killEvery === null) return
      events.at(now + -Math.log(1 - random()) * given.killEvery * MINUTE, (then) => {
        kills++
        life++
        const held = state.reservations.filter((one) => own.has(one.id))
        for (const { until } of held) loseUntil(then, until)
        inFlight = 0
        wakeAt = Infinity
        own.clear()
        wantedAt = null
        const again = life
        events.at(then + random() * 2000, (restarted) => again === life && ask(restarted))
        scheduleKill(then)
      })
    }

    function poll(now: number): void {
      wantedAt ??= now
      ask(now)
      if (onceAt === undefined) events.at(now + (given.polls?.every ?? 10_000) + random() * 300, poll)
    }

    const after = given.polls === undefined ? random() * 1000 : given.polls.after
    events.at(onceAt ?? start + after, lane === 'live' ? poll : ask)
    if (onceAt === undefined) scheduleKill(start)
  }

  for (const [index, lane] of given.lanes.entries()) openProcess(lane, index)
  if (given.unannounced !== undefined) {
    const end = start + given.minutes * window
    for (let at = start, index = given.lanes.length; at < end; index++) {
      openProcess('live', index, at)
      at += given.unannounced * window
    }
  }
  events.playUntil(start + given.minutes * window)
  const empty = { live: 0, refresh: 0, backfill: 0 }
  const minutes = Array.from({ length: given.minutes }, (_, minute) => counts.get(minute) ?? empty)
  return { minutes, lost: minutes.map((_, minute) => lost.get(minute) ?? 0), waits, unannounced, kills }
}

type Happening = (now: number) => unknown

function timeline() {
  const waiting: { readonly at: number; readonly order: number; readonly happen: Happening }[] = []
  let order = 0
  return {
    at(at: number, happen: Happening): void {
      let index = waiting.length
      while (index > 0 && (waiting[index - 1]?.at ?? 0) <= at) index--
      waiting.splice(index, 0, { at, order: order++, happen })
    },
    playUntil(end: number): void {
      for (let next = waiting.pop(); next !== undefined && next.at < end; next = waiting.pop()) next.happen(next.at)
    },
  }
}
