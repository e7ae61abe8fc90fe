import { isIPv6 } from 'node:net'
import type { Clock } from '../../base/clock.ts'

const MINUTE = 60_000

/** What an address may still request. */
interface Allowance {
  readonly limit: number
  /** Requests; below zero when this one is too many. */
  readonly remaining: number
  /** Seconds until the window ends. */
  readonly reset: number
}

/**
 * Counts requests per address and minute. Of IPv6, the first 64 bits count, because one household has all addresses below them.
 * @param limit requests per minute; 0 for no limit
 */
export function createRateLimit(limit: number, clock: Clock): (address: string) => Allowance | undefined {
  let window = 0
  let counts = new Map<string, number>()
  return (address) => {
    if (limit === 0) return undefined
    const now = clock.now()
    if (Math.floor(now / MINUTE) !== window) {
      window = Math.floor(now / MINUTE)
      counts = new Map()
    }
    const key = isIPv6(address) && !address.startsWith('::ffff:') ? networkOf(address) : address
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count)
    return { limit, remaining: limit - count, reset: Math.ceil(((window + 1) * MINUTE - now) / 1000) }
  }
}

/** The first four groups of an IPv6 address. */
function networkOf(address: string): string {
  const [head = '', tail = ''] = address.split('::')
  const before = head.split(':').filter((group) => group !== '')
  const after = tail.split(':').filter((group) => group !== '')
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0')
  return [...before, ...zeros, ...after].slice(0, 4).join(':')
}

/** The headers that say what is left. */
export function rateLimitHeaders({ limit, remaining, reset }: Allowance): Record<string, string> {
  return {
    'RateLimit-Limit': String(limit),
    'RateLimit-Remaining': String(Math.max(0, remaining)),
    'RateLimit-Reset': String(reset),
  }
}
