/** The rhythm of the live requests of one route. Instants are ms since the epoch, when a request was wanted. */
export interface PollCadence {
  /** The last one that belongs to the rhythm. */
  readonly lastAt: number
  /** Null while there was only one. */
  readonly everyMs: number | null
  /** Those of the last two minutes that came between two beats: other processes, which come every minute at most. */
  readonly between: readonly number[]
  /** Those that asked in vain and have not been given a request since. */
  readonly waiting: readonly number[]
}

type PollCadences = Readonly<Record<string, PollCadence>>

const SHORTEST = 5000
const LONGEST = 3_600_000
const MINUTE = 60_000

/** A route that was polled once is taken to be polled so often, in ms, until it has been silent for a minute. */
const FIRST_GUESS = 10_000
const GUESS_LASTS = 60_000

/** Beats are expected a little sooner than they came: room that is kept for one too many costs less than a late poll. */
const EARLY = 0.92

/** What comes sooner than this share of the rhythm does not belong to it. */
const BETWEEN = 0.75

/** Who asked in vain is waited for so long, in ms; then he has given up. */
const PATIENCE = 30_000

/** After so many beats without a request, nobody polls the route any more. */
const MISSES = 3

/**
 * Notes that a live request was wanted. The rhythm follows slowly, so that one odd gap changes little.
 * @param at ms since the epoch
 */
export function recordPoll(pulses: PollCadences, route: string, at: number): PollCadences {
  const known = pulses[route]
  if (known === undefined) return { ...pulses, [route]: { lastAt: at, everyMs: null, between: [], waiting: [] } }
  // Who asks again because there was no room is no new one.
  if (known.lastAt === at || known.between.includes(at)) return pulses
  const gap = at - known.lastAt
  if (gap < Math.max(SHORTEST, BETWEEN * (known.everyMs ?? 0))) {
    const between = [...known.between.filter((one) => one > at - 2 * MINUTE), at]
    return { ...pulses, [route]: { ...known, between } }
  }
  const everyMs = Math.min(LONGEST, known.everyMs === null ? gap : Math.round((3 * known.everyMs + gap) / 4))
  return { ...pulses, [route]: { ...known, lastAt: at, everyMs } }
}

/** Notes whether the request wanted at `at` waits for room. */
export function hold(pulses: PollCadences, route: string, at: number, waits: boolean): PollCadences {
  const known = pulses[route]
  if (known === undefined || known.waiting.includes(at) === waits) return pulses
  const others = known.waiting.filter((one) => one !== at && one > at - PATIENCE)
  return { ...pulses, [route]: { ...known, waiting: waits ? [...others, at] : others } }
}

/**
 * How many live requests are to be expected between `now` and `end`: those that wait, those that the rhythm of each
 * route brings, where one that is overdue counts once, and those that came between two beats a minute before.
 * @param options.punctual expect them when the rhythm says, and not a little sooner
 */
export function pollsDue(pulses: PollCadences, now: number, end: number, options: { punctual?: boolean } = {}): number {
  const early = options.punctual ? 1 : EARLY
  return Object.values(pulses).reduce((due, pulse) => {
    const waiting = pulse.waiting.filter((at) => now < at + PATIENCE).length
    return due + waiting + byRhythm(pulse, now, end, early) + asBefore(pulse, now, end)
  }, 0)
}

function byRhythm({ lastAt, everyMs }: PollCadence, now: number, end: number, early: number): number {
  const every = early * (everyMs ?? FIRST_GUESS)
  if (everyMs === null && now >= lastAt + GUESS_LASTS) return 0
  const next = Math.max(now, lastAt + every)
  return next < end ? 1 + Math.floor((end - next) / every) : 0
}

function asBefore({ lastAt, between }: PollCadence, now: number, end: number): number {
  const hasCome = (due: number) => [lastAt, ...between].some((at) => Math.abs(at - due) < SHORTEST)
  return between.map((at) => at + MINUTE).filter((due) => due < end && now < due + SHORTEST && !hasCome(due)).length
}

/** Without the routes that nobody polls any more. */
export function dropIdleCadences(pulses: PollCadences, now: number): PollCadences {
  const beating = Object.entries(pulses).filter(([, pulse]) => now < idleAt(pulse))
  return beating.length === Object.keys(pulses).length ? pulses : Object.fromEntries(beating)
}

/** When a route will be forgotten if no request comes; ms since the epoch. */
export function idleAt({ lastAt, everyMs }: PollCadence): number {
  return lastAt + (everyMs ?? LONGEST) * MISSES + SHORTEST
}
