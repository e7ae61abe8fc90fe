import { expect } from 'vitest'
import type { Lane } from '../../src/api/http/request.ts'
import type { RateLimitReading, Refusal } from '../../src/api/http/response-headers.ts'
import {
  available,
  block,
  complete,
  opensAt,
  recheckIn,
  release,
  remaining,
  reserve,
  transferIn,
} from '../../src/api/rate-limit/budget.ts'
import {
  type BudgetState,
  emptyBudget,
  type Reservation,
  readBudgetState,
} from '../../src/api/rate-limit/budget-state.ts'
import { observe } from '../../src/api/rate-limit/budget-window.ts'

const minute = Date.parse('2026-05-30T12:00:00Z')
export const at = (seconds: number) => minute + seconds * 1000

/** What the server says `seconds` into the minute, in whole seconds left. */
export function reading<Left extends number | null>(seconds: number, left: Left, limit = 50) {
  const wait = 60 - Math.ceil(seconds % 60 || (seconds > 0 ? 60 : 0))
  return { bucket: 'GUILD', limit, remaining: left, resetAt: at(seconds) + wait * 1000, resetSlack: 1000 }
}

/** Of all buckets of a test: no two requests have the same. */
let taken = 0

/** A budget as one process sees it, whose every state goes through JSON, as in a database. */
export function bucket(assumedLimit = 50) {
  let state: BudgetState = emptyBudget
  const keep = (next: BudgetState) => {
    const stored = readBudgetState(JSON.parse(JSON.stringify(next)))
    expect(stored).toEqual(next)
    state = stored ?? emptyBudget
  }
  return {
    get state() {
      return state
    },
    available: (seconds: number, lane: Lane = 'refresh') => available(state, at(seconds), lane),
    remaining: (seconds: number) => remaining(state, at(seconds)),
    opensAt: (seconds: number, lane: Lane = 'refresh') => opensAt(state, at(seconds), lane),
    /** When to look again, where only `own` are requests of this process. */
    lookIn: (seconds: number, lane: Lane, own: readonly string[] = []) =>
      recheckIn(state, at(seconds), lane, (id) => own.includes(id)),
    ask(seconds: number, lane: Lane = 'refresh', route: string | null = null) {
      const poll = route === null ? null : { route, at: at(seconds) }
      const made = reserve(state, { id: `r${taken++}`, lane, poll }, at(seconds))
      keep(made.state)
      return made.result
    },
    take(seconds: number, lane: Lane = 'refresh', route: string | null = null): Reservation {
      const ticket = this.ask(seconds, lane, route)
      if (ticket === null) throw new Error(`nothing to take at ${seconds}`)
      return ticket
    },
    complete(ticket: Reservation, told: RateLimitReading | null, seconds: number, answered = true) {
      const completion = { reading: told, answered, receivedAt: at(seconds), assumedLimit }
      keep(complete(state, ticket, completion, at(seconds)))
    },
    /** Ends a request with a 429 that has no other headers. */
    refuse(ticket: Reservation, refusal: Refusal, seconds: number) {
      const completion = { reading: null, answered: true, refusal, receivedAt: at(seconds), assumedLimit }
      keep(complete(state, ticket, completion, at(seconds)))
    },
    observe: (told: RateLimitReading & { readonly remaining: number }, sent: number, seconds: number) =>
      keep(observe(state, told, at(sent), at(seconds), at(seconds))),
    block: (until: number, seconds: number) => keep(block(state, at(until), at(seconds))),
    release: (ticket: Reservation, seconds: number) => keep(release(state, ticket.id, at(seconds))),
    transferIn: (from: BudgetState, seconds: number) => keep(transferIn(state, from, at(seconds))),
  }
}

/** A budget whose first answer came `seconds` into the minute, and left so many. */
export function opened(left: number, seconds = 0) {
  const budget = bucket()
  const probe = budget.take(seconds)
  budget.complete(probe, reading(seconds, left), seconds)
  return budget
}
