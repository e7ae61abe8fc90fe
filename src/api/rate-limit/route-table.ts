import { firstSegment } from './budget-store.ts'

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
export function isUnnamed(bucket: string): boolean {
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
