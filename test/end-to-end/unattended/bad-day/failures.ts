import { type Random, seededRandom } from '../../../../src/base/clock.ts'

/**
 * What fails around the processes: the database is away (`away`), hangs (`frozen`), loses its connections (`snapped`)
 * or is restarted, in order or by a crash (`restarted`); the API refuses connections, responds with 5xx, or hangs.
 */
export type FailureKind = 'away' | 'frozen' | 'snapped' | 'restarted' | 'refuses' | 'errors' | 'hangs'

/** One failure, in ms since the beginning of the day. */
export interface Failure {
  readonly kind: FailureKind
  readonly from: number
  readonly until: number
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE

const ofDatabase = ['away', 'frozen', 'snapped', 'restarted'] as const
const ofApi = ['refuses', 'errors', 'hangs'] as const

/** The failures of so many minutes, from a seed, in order of time; those of the API and the database overlap. */
export function failuresOf(minutes: number, seed: number): Failure[] {
  const random = seededRandom(seed * 7919 + 1)
  random()
  const end = minutes * MINUTE
  return [...series(ofDatabase, end, 45_000, random), ...series(ofApi, end, 90_000, random)].sort(
    (a, b) => a.from - b.from,
  )
}

/** One after the other, with quiet in between. */
function* series(kinds: readonly FailureKind[], end: number, quietMs: number, random: Random): Generator<Failure> {
  // From seconds to an hour, but never most of the day.
  const longest = Math.min(HOUR, end / 5)
  for (let from = exponentialWait(quietMs, random); from < end; ) {
    const kind = kinds[Math.floor(random() * kinds.length)] ?? 'away'
    const isInstant = kind === 'snapped' || kind === 'restarted'
    // Most are short: as many between two and four seconds as between half an hour and an hour.
    const lasts = isInstant ? 0 : 2000 * (longest / 2000) ** random()
    const until = Math.min(end, from + lasts)
    yield { kind, from, until }
    from = until + exponentialWait(quietMs, random)
  }
}

/** A wait that is over at any instant with the same likelihood; ms. */
export function exponentialWait(meanMs: number, random: Random): number {
  return -Math.log(1 - random()) * meanMs
}
