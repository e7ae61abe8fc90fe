import type { KnownToken } from '../oauth/tokens.ts'
import type { Requester } from './answer.ts'

/** The buckets of API reference 2.2; each has a counter of its own per credential. */
export type Bucket = 'ITEMS' | 'PLAYER' | 'GUILD' | 'LEADERBOARDS' | 'MAP' | 'SHARED'

/**
 * The caller: a guest counts by address, an API token by itself, an OAuth token together with all others of its user and
 * application; an unknown token is refused and counts as its address.
 */
export interface Credential {
  readonly kind: 'guest' | 'token' | 'oauth' | 'invalid'
  readonly id: string
  readonly requester?: Requester
  /** True when the header is not of the form that the API asks for. */
  readonly malformed?: boolean
}

/** Requests per window. */
export interface Limits {
  readonly guest: number
  readonly token: number
}

const buckets: Readonly<Record<string, Bucket>> = {
  item: 'ITEMS',
  player: 'PLAYER',
  guild: 'GUILD',
  leaderboards: 'LEADERBOARDS',
  map: 'MAP',
}

/** The bucket of a path below the base path, by its first segment. */
export function bucketOf(path: string): Bucket {
  return buckets[path.split('/')[1] ?? ''] ?? 'SHARED'
}

/** Reads an `Authorization` header; `use` says what is known of a token. */
export function credentialOf(
  authorization: string | undefined,
  address: string,
  use: (token: string) => KnownToken | undefined,
): Credential {
  if (authorization === undefined) return { kind: 'guest', id: address }
  const token = /^Bearer ([^\s]+)$/i.exec(authorization)?.[1]
  if (token === undefined) return { kind: 'invalid', id: address, malformed: true }
  const known = use(token)
  if (!known) return { kind: 'invalid', id: address }
  const { requester, counter } = known
  return { kind: requester.kind === 'OAUTH' ? 'oauth' : 'token', id: counter, requester }
}

/**
 * Counts requests in fixed windows aligned to the clock, as live captures show (API reference 2.2).
 * @param windowSeconds length of a window; 60 aligns it to the wall-clock minute
 * @returns a function that spends one request at `now` (ms since the epoch)
 */
export function createBudget(limits: Limits, windowSeconds: number) {
  const length = windowSeconds * 1000
  let start = Number.NEGATIVE_INFINITY
  let spent = new Map<string, number>()

  return (credential: Credential, bucket: Bucket, now: number) => {
    const current = Math.floor(now / length) * length
    if (current !== start) {
      start = current
      spent = new Map()
    }
    const limit = credential.requester ? limits.token : limits.guest
    const counter = `${bucket} ${credential.id}`
    const count = (spent.get(counter) ?? 0) + 1
    spent.set(counter, count)
    return {
      bucket,
      limit,
      remaining: Math.max(0, limit - count),
      /** End of the window, ms since the epoch. */
      resetsAt: current + length,
      /** True when this request is over the limit and must be answered with 429. */
      exceeded: count > limit,
    }
  }
}

/** What the rate-limit headers say after one request. */
export type Allowance = ReturnType<ReturnType<typeof createBudget>>

/** How `RateLimit-Reset` is written: seconds left, Unix seconds, or not at all. */
export type ResetForm = 'delta' | 'epoch' | 'absent'

/** The `RateLimit-*` headers of one response at `now` (ms since the epoch). */
export function rateLimitHeaders(allowance: Allowance, form: ResetForm, now: number): Record<string, string> {
  const headers: Record<string, string> = {
    'RateLimit-Bucket': allowance.bucket,
    'RateLimit-Limit': String(allowance.limit),
    'RateLimit-Remaining': String(allowance.remaining),
  }
  if (form === 'delta') headers['RateLimit-Reset'] = String(Math.max(0, Math.ceil((allowance.resetsAt - now) / 1000)))
  if (form === 'epoch') headers['RateLimit-Reset'] = String(Math.ceil(allowance.resetsAt / 1000))
  return headers
}
