/** Response headers with lower-case names; a header sent twice is joined with ", ". */
export type Headers = ReadonlyMap<string, string>

const MINUTE = 60_000

/** The longest wait that a header can cause; ms. */
export const LONGEST_WAIT = 120_000

/** Requests per minute and bucket without headers (API reference 2.2). */
export const ASSUMED_LIMIT = { guest: 50, token: 120 } as const

/** When a response, or several that are taken together, were made. */
export interface Dates {
  /** The instants that the oldest and the newest speak for, by the server's clock (without `Date`, by the caller's); ms since the epoch. */
  readonly observedFrom: number
  readonly observedAt: number
  /** How far `Date`, plus the time for which a cache kept it, is ahead of the caller's clock, ms: of several, the one that is off most. Null: one of them has no `Date`. */
  readonly clockSkew: number | null
  /** Headers that say an age that a response cannot have: they count as absent. */
  readonly oddHeaders: readonly string[]
  /** Whether no header says an age that the response can have, and one says that of an old copy: it may be one. */
  readonly isUndated: boolean
}

/** A copy may be older than its lifetime by so much, ms: `Date` and the lifetime are whole seconds, and a tick comes before its copy. */
const AGE_TOLERANCE_MS = MINUTE
/** No copy counts as older than that, whatever its headers say; ms. */
const LONGEST_LIFETIME_MS = 60 * MINUTE
/** No cache keeps a copy for longer than a week, ms: what is said to be older has a wrong header, and what is said to come later, too. */
const OLDEST_COPY_MS = 7 * 24 * 60 * MINUTE
/** Where `Date` is no earlier than this, ms, it may be that of the response itself, by a clock that is a little behind. */
const EARLY_DATE_MS = 2 * MINUTE
/** `Date` is cut to whole seconds: what was made within its second seems to come after it. ms */
const SECOND = 1000

/**
 * When a response was made: `Date` minus its age. The age comes from `TerritoryLastTick`, else from `Expires` and `max-age`, else
 * from `Age`; each is believed where it is between zero and the lifetime plus a minute. A malformed header counts as absent. A
 * cached copy is older than the request that fetched it, and two requests may get the same copy, hence not simply `Date` (API
 * reference 2.3). A cache that follows RFC 9111 leaves the `Date` of its copy as it was, and says in `Age` how long ago that is.
 * @param receivedAt when the headers arrived, by the caller's clock; ms since the epoch
 */
export function datesOf(headers: Headers, receivedAt: number): Dates {
  const date = readHttpDate(headers.get('date'))
  const sentAt = date ?? receivedAt
  const lifetime = Math.min((maxAge(headers) ?? 0) * SECOND, LONGEST_LIFETIME_MS)
  const keptFor = date === null ? 0 : keptWithDate(headers, receivedAt - date)
  const ages = agesIn(headers, sentAt).filter(({ header }) => keptFor === 0 || header !== 'Age')
  const believed = ages.findIndex(({ age }) => age > -SECOND && age <= lifetime + AGE_TOLERANCE_MS)
  const observedAt = sentAt - (ages[believed]?.age ?? 0)
  return {
    observedFrom: observedAt,
    observedAt,
    clockSkew: date === null ? null : date + keptFor - receivedAt,
    oddHeaders: ages.slice(0, believed < 0 ? ages.length : believed).map(({ header }) => header),
    isUndated: believed < 0 && ages.some(({ age }) => age > 0 && age <= OLDEST_COPY_MS),
  }
}

/** How long a cache kept a copy without changing its `Date`, ms: `Age` says the time that has passed since then. */
function keptWithDate(headers: Headers, passed: number): number {
  const age = (readCount(headers.get('age')) ?? 0) * SECOND
  const isSame = Math.abs(passed - age) <= AGE_TOLERANCE_MS && age <= LONGEST_LIFETIME_MS
  return isSame && passed > EARLY_DATE_MS ? age : 0
}

/** The ages that headers say, ms, those that say it best first. */
function agesIn(headers: Headers, sentAt: number): { readonly header: string; readonly age: number }[] {
  const tick = readTick(headers.get('territorylasttick'))
  const expires = readHttpDate(headers.get('expires'))
  const lifetime = maxAge(headers)
  const seconds = readCount(headers.get('age'))
  return [
    ...(tick === null ? [] : [{ header: 'TerritoryLastTick', age: sentAt - tick }]),
    // max-age=0 means "do not cache", and comes with an arbitrary Expires in the past.
    ...(expires === null || !lifetime ? [] : [{ header: 'Expires', age: sentAt - (expires - lifetime * SECOND) }]),
    ...(seconds === null ? [] : [{ header: 'Age', age: seconds * SECOND }]),
  ]
}

/** What several responses that are taken together say of when they were made. */
export function joinDates(dates: readonly Dates[]): Dates {
  const skews = dates.map(({ clockSkew }) => clockSkew)
  const worst = skews.reduce((one, other) => (Math.abs(other ?? Infinity) > Math.abs(one ?? Infinity) ? other : one), 0)
  return {
    observedFrom: Math.min(...dates.map(({ observedFrom }) => observedFrom)),
    observedAt: Math.max(...dates.map(({ observedAt }) => observedAt)),
    clockSkew: worst,
    oddHeaders: [...new Set(dates.flatMap(({ oddHeaders }) => oddHeaders))],
    isUndated: dates.some(({ isUndated }) => isUndated),
  }
}

/** `Expires`, else `Date + max-age`; ms since the epoch, or null when neither can be read. */
export function expiresAt(headers: Headers): number | null {
  const expires = readHttpDate(headers.get('expires'))
  if (expires !== null) return expires
  const date = readHttpDate(headers.get('date'))
  const age = maxAge(headers)
  return date === null || age === null ? null : date + age * 1000
}

/** `max-age` of `Cache-Control`, in seconds: the same for every response of a route. Null when absent or malformed. */
export function maxAge(headers: Headers): number | null {
  const seconds = headers.get('cache-control')?.match(/(?:^|[\s,])max-age\s*=\s*"?(\d{1,9})"?/i)?.[1]
  return seconds === undefined ? null : Number(seconds)
}

const tickForm = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?\s*(?:([Zz])|([+-]\d{2}):?(\d{2})?)?$/

/** `2026-05-30 12:34:56.789012+00:00` or RFC 3339; without an offset, UTC. Fractions are cut to milliseconds. */
function readTick(value: string | undefined): number | null {
  const found = value?.trim().match(tickForm)
  if (!found) return null
  const [, day, time, fraction = '', , hours = '+00', minutes = '00'] = found
  const instant = Date.parse(`${day}T${time}.${fraction.padEnd(3, '0').slice(0, 3)}${hours}:${minutes}`)
  return Number.isNaN(instant) ? null : instant
}

/** What the rate-limit headers of one response say; a part that is absent or malformed is null. */
export interface RateLimitReading {
  readonly bucket: string | null
  readonly limit: number | null
  readonly remaining: number | null
  /** When the window ends, by the caller's clock; ms since the epoch. */
  readonly resetAt: number | null
  /** How much later than `resetAt` the window may end, because the header counts whole seconds; ms. */
  readonly resetSlack: number
}

/**
 * Reads the rate-limit headers. `RateLimit-Reset` comes as seconds left, as Unix seconds or as Unix ms (API reference
 * 2.2 and dialects), distinguished by size. An epoch is moved by the difference between `Date` and our clock.
 * @param now when the headers arrived; ms since the epoch
 * @returns null when none of the headers can be read
 */
export function readRateLimit(headers: Headers, now: number): RateLimitReading | null {
  const bucket = headers.get('ratelimit-bucket')?.trim() || null
  // A limit of nothing would close the bucket for ever.
  const limit = readCount(headers.get('ratelimit-limit')) || null
  const left = readCount(headers.get('ratelimit-remaining'))
  const remaining = left !== null && limit !== null && left > limit ? null : left
  const reset = readCount(headers.get('ratelimit-reset'))
  if (bucket === null && limit === null && remaining === null && reset === null) return null
  if (reset === null) return { bucket, limit, remaining, resetAt: null, resetSlack: 0 }
  const isEpoch = reset >= 1e9
  const serverNow = readHttpDate(headers.get('date')) ?? now
  const wait = isEpoch ? (reset >= 1e12 ? reset : reset * 1000) - serverNow : reset * 1000
  const resetAt = now + Math.min(Math.max(wait, 0), LONGEST_WAIT)
  return { bucket, limit, remaining, resetAt, resetSlack: isEpoch ? 0 : 1000 }
}

/** The rate-limit headers for the caller of a request. */
export interface RateLimit extends RateLimitReading {
  /** Seconds until the window ends, in either form of the header; null when absent. */
  readonly reset: number | null
}

/** `readRateLimit`, with the wait in seconds, rounded up. */
export function describeRateLimit(headers: Headers, now: number): RateLimit | null {
  const reading = readRateLimit(headers, now)
  if (reading === null) return null
  const reset = reading.resetAt === null ? null : Math.ceil((reading.resetAt - now) / 1000)
  return { ...reading, reset }
}

const SHORTEST_WAIT_MS = 1000

/** What follows from a 429. */
export interface Refusal {
  /** How long to wait, ms. */
  readonly wait: number
  /** Whether the headers say that there was room, or that there is again: then they are wrong. */
  readonly contradictsHeaders: boolean
}

/**
 * How long to wait after a 429: what `Retry-After` says, else until the window's reset, else until the next minute. The last is
 * also what follows where the headers contradict it: by them the wait would be over at once.
 * @param now when the headers arrived; ms since the epoch
 */
export function readRefusal429(headers: Headers, now: number): Refusal {
  const retryAfter = rawRetryAfter(headers, now)
  if (retryAfter !== null && retryAfter > 0) return { wait: clampWait(retryAfter), contradictsHeaders: false }
  const { resetAt = null, resetSlack = 0, remaining = null } = readRateLimit(headers, now) ?? {}
  const isOver = (resetAt ?? now + 1) <= now || (resetAt === null && retryAfter !== null)
  const contradictsHeaders = isOver || (remaining ?? 0) > 0
  if (resetAt !== null && !contradictsHeaders)
    return { wait: clampWait(resetAt + resetSlack - now), contradictsHeaders }
  return { wait: clampWait(MINUTE - (now % MINUTE)), contradictsHeaders }
}

/** `Retry-After` as ms, from seconds or an HTTP date, between 1 s and 120 s; null when absent or malformed. */
export function readRetryAfter(headers: Headers, now: number): number | null {
  const wait = rawRetryAfter(headers, now)
  return wait === null ? null : clampWait(wait)
}

function rawRetryAfter(headers: Headers, now: number): number | null {
  const value = headers.get('retry-after')?.trim()
  if (value === undefined) return null
  if (/^-?\d{1,9}(\.\d+)?$/.test(value)) return Number(value) * 1000
  const date = readHttpDate(value)
  return date === null ? null : date - (readHttpDate(headers.get('date')) ?? now)
}

// A Retry-After of 0 would burn all attempts within one window.
function clampWait(wait: number): number {
  return Math.min(Math.max(wait, SHORTEST_WAIT_MS), LONGEST_WAIT)
}

function readCount(value: string | undefined): number | null {
  return value !== undefined && /^\s*\d{1,15}(\.\d+)?\s*$/.test(value) ? Math.floor(Number(value)) : null
}

const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/**
 * An RFC 1123 date as ms since the epoch, or null for anything else.
 * The form is checked first because Date.parse makes years out of plain numbers: `Expires: 0` would be the year 2000.
 */
export function readHttpDate(value: string | undefined): number | null {
  if (value === undefined || !httpDate.test(value)) return null
  const instant = Date.parse(value)
  return Number.isNaN(instant) ? null : instant
}
