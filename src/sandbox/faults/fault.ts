import type { Random } from '../../base/clock.ts'

export interface Outgoing {
  readonly status: number
  readonly headers: Headers
  /** Not compressed. */
  readonly body: Uint8Array<ArrayBuffer>
  /** How it travels when not as a whole: cut off in the middle, in drops, in drops for long, or not at all. */
  readonly delivery?: 'cut' | 'drip' | 'trickle' | 'reset'
}

/** What a fault may look at besides the response. */
export interface Occasion {
  /** Below the base path, decoded. */
  readonly path: string
  readonly hasCredential: boolean
  /** Place of this response among those that share the decision, from 0. */
  readonly position: number
  /** Draws the same numbers again for every response of a run. */
  readonly random: Random
  /** Earlier answers to the same request that said something else, oldest first, as they truly were. */
  readonly earlier: readonly Outgoing[]
}

export interface Fault {
  readonly about: string
  /** How many responses in a row of one path share a decision (default 1): what lasts for a while. */
  readonly run?: number
  /** Which paths it spoils (default all). */
  readonly on?: (path: string) => boolean
  /** The spoilt response, or undefined when there is nothing in this one to spoil. */
  spoil(answer: Outgoing, occasion: Occasion): Outgoing | undefined
}

/** Takes away what says how long a response may be kept, for `withHeaders`. */
export const noCache = { 'cache-control': null, expires: null, 'cache-source': null, territorylasttick: null }

export const noLimits = {
  'ratelimit-bucket': null,
  'ratelimit-limit': null,
  'ratelimit-remaining': null,
  'ratelimit-reset': null,
}

/** The same response with other headers: null takes one away. */
export function withHeaders(answer: Outgoing, changed: Readonly<Record<string, string | null>>): Outgoing {
  const headers = new Headers(answer.headers)
  for (const [name, value] of Object.entries(changed)) {
    if (value === null) headers.delete(name)
    else headers.set(name, value)
  }
  return { ...answer, headers }
}

/** The headers among `names` that hold a date, each moved by so many ms. */
export function movedDates(headers: Headers, names: readonly string[], by: number): Record<string, string> {
  const dates = names.map((name) => [name, Date.parse(headers.get(name) ?? '')] as const)
  const known = dates.filter(([, instant]) => !Number.isNaN(instant))
  return Object.fromEntries(known.map(([name, instant]) => [name, new Date(instant + by).toUTCString()]))
}

/** The same response with another body, sent as it is. */
export function withBody(answer: Outgoing, body: string, type = 'application/json'): Outgoing {
  return { ...withHeaders(answer, { 'content-type': type }), body: new TextEncoder().encode(body) }
}
