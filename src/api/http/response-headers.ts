import { readHttpDate } from './http-date.ts'

/** Response headers with lower-case names; a header sent twice is joined with ", ". */
export type Headers = ReadonlyMap<string, string>

/**
 * The instant an answer speaks for: `TerritoryLastTick`, else `Expires - max-age`, else `Date`, else `now`.
 * A malformed header counts as absent. A cached copy is older than the request that fetched it, and two requests may
 * return the same copy, hence not simply `Date` (API reference 2.3).
 * @param now ms since the epoch
 * @returns ms since the epoch
 */
export function observedAt(headers: Headers, now: number): number {
  const tick = readTick(headers.get('territorylasttick'))
  if (tick !== null) return tick
  const expires = readHttpDate(headers.get('expires'))
  const age = readMaxAge(headers.get('cache-control'))
  // max-age=0 means "do not cache", and comes with an arbitrary Expires in the past.
  if (expires !== null && age !== null && age > 0) return expires - age
  return readHttpDate(headers.get('date')) ?? now
}

/** The clocks of one service may differ by so much, and so may a response and the copy that it is of, ms. */
const tolerance = 15 * 60_000

/**
 * Why the instant that a response speaks for cannot be right: its own `Date` header says that it was sent long before, or
 * longer after than it lives. Undefined when they agree, or when there is no `Date`.
 */
export function clockError(headers: Headers): string | undefined {
  const sent = readHttpDate(headers.get('date'))
  if (sent === null) return undefined
  const observed = observedAt(headers, sent)
  const lifetime = readMaxAge(headers.get('cache-control')) ?? 0
  if (observed <= sent + tolerance && observed >= sent - lifetime - tolerance) return undefined
  return `response speaks for ${new Date(observed).toISOString()}, its own Date header says ${new Date(sent).toISOString()}`
}

/** `Expires`, else `Date + max-age`; ms since the epoch, or null when neither can be read. */
export function expiresAt(headers: Headers): number | null {
  const expires = readHttpDate(headers.get('expires'))
  if (expires !== null) return expires
  const date = readHttpDate(headers.get('date'))
  const age = readMaxAge(headers.get('cache-control'))
  return date === null || age === null ? null : date + age
}

/** `max-age` of `Cache-Control`, in seconds: the same for every answer of a route. Null when absent or malformed. */
export function maxAge(headers: Headers): number | null {
  const age = readMaxAge(headers.get('cache-control'))
  return age === null ? null : age / 1000
}

function readMaxAge(value: string | undefined): number | null {
  const seconds = value?.match(/(?:^|[\s,])max-age\s*=\s*"?(\d{1,9})"?/i)?.[1]
  return seconds === undefined ? null : Number(seconds) * 1000
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
