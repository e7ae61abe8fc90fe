import type { PollCadence } from './budget-state.ts'

type PollCadences = Readonly<Record<string, PollCadence>>

const SHORTEST = 5000
const LONGEST = 3_600_000
const MINUTE = 60_000

/** The interval assumed for a route that was polled once, ms, until a minute has passed without a poll. */
const FIRST_GUESS = 10_000
const GUESS_LASTS = 60_000

/** Polls are predicted a little early: room kept for one too many costs less than a late poll. */
const EARLY = 0.92

/** What comes sooner than this share of the interval does not follow it. */
const BETWEEN = 0.75

/** How long room is kept for a waiting poll, ms; then its caller has given up. */
const WAITS_FOR = 30_000

/** After so many intervals without a request, the route is not polled any more. */
const MISSES = 3

/**
 * Records that a live request was due. The interval follows slowly, so that one odd gap changes little.
 * @param at ms since the epoch
 */
export function recordPoll(cadences: PollCadences, route: string, at: number): PollCadences {
  const known = cadences[route]
  if (known === undefined) return { ...cadences, [route]: { lastAt: at, everyMs: null, between: [], waiting: [] } }
  // The same poll tries again because there was no room.
  if (known.lastAt === at || known.between.includes(at)) return cadences
  const gap = at - known.lastAt
  if (gap < Math.max(SHORTEST, BETWEEN * (known.everyMs ?? 0))) {
    const between = [...known.between.filter((earlier) => earlier > at - 2 * MINUTE), at]
    return { ...cadences, [route]: { ...known, between } }
  }
  const everyMs = Math.min(LONGEST, known.everyMs === null ? gap : Math.round((3 * known.everyMs + gap) / 4))
  return { ...cadences, [route]: { ...known, lastAt: at, everyMs } }
}

/** Records whether the request that was due at `at` waits for room. */
export function markWaiting(cadences: PollCadences, route: string, at: number, isWaiting: boolean): PollCadences {
  const known = cadences[route]
  if (known === undefined || known.waiting.includes(at) === isWaiting) return cadences
  const others = known.waiting.filter((earlier) => earlier !== at && earlier > at - WAITS_FOR)
  return { ...cadences, [route]: { ...known, waiting: isWaiting ? [...others, at] : others } }
}

/**
 * How many live requests are due between `now` and `end`: those that wait, those that the interval of each route predicts,
 * where an overdue one counts once, and those that came in between a minute before.
 * @param options.punctual predict them when the interval says, and not a little earlier
 */
export function pollsDue(
  cadences: PollCadences,
  now: number,
  end: number,
  { punctual = false }: { readonly punctual?: boolean } = {},
): number {
  const early = punctual ? 1 : EARLY
  return Object.values(cadences).reduce((due, cadence) => {
    const waiting = cadence.waiting.filter((at) => now < at + WAITS_FOR).length
    return due + waiting + dueByInterval(cadence, now, end, early) + dueInBetween(cadence, now, end)
  }, 0)
}

function dueByInterval({ lastAt, everyMs }: PollCadence, now: number, end: number, early: number): number {
  const every = early * (everyMs ?? FIRST_GUESS)
  if (everyMs === null && now >= lastAt + GUESS_LASTS) return 0
  const next = Math.max(now, lastAt + every)
  return next < end ? 1 + Math.floor((end - next) / every) : 0
}

function dueInBetween({ lastAt, between }: PollCadence, now: number, end: number): number {
  const hasCome = (due: number) => [lastAt, ...between].some((at) => Math.abs(at - due) < SHORTEST)
  return between.map((at) => at + MINUTE).filter((due) => due < end && now < due + SHORTEST && !hasCome(due)).length
}

/** Without the routes that are not polled any more. */
export function dropIdleCadences(cadences: PollCadences, now: number): PollCadences {
  return Object.fromEntries(Object.entries(cadences).filter(([, cadence]) => now < idleAt(cadence)))
}

/** When a route is forgotten if no request comes; ms since the epoch. */
export function idleAt({ lastAt, everyMs }: PollCadence): number {
  return lastAt + (everyMs ?? LONGEST) * MISSES + SHORTEST
}
