import { gunzipSync } from 'node:zlib'
import { type Random, seededRandom } from '../../base/clock.ts'
import { hashOf } from '../generator/draw.ts'
import type { ApiRequest } from '../http/answer.ts'
import { catalogue, type FaultName } from './catalogue.ts'
import type { Outgoing } from './fault.ts'
import { type FaultRule, type FaultSpec, readFaults } from './rules.ts'

/** What the sandbox did to its responses. */
export interface FaultsDone {
  readonly total: number
  /** How many responses each fault spoilt, by path. */
  readonly byFault: Readonly<Partial<Record<FaultName, Readonly<Record<string, number>>>>>
}

/** One request, as far as faults look at it. */
interface FaultedRequest extends Pick<ApiRequest, 'method' | 'path' | 'query'> {
  /** Whose request it is, by any name: earlier responses are repeated to the same only. */
  readonly requester: string
  readonly hasCredential: boolean
}

/** Earlier copies kept of each response, for stale ones. */
const keptCopies = 3

/**
 * Spoils responses according to a plan. One response meets one fault at most, so that what is wrong with it has one cause.
 * Whether and how a response is spoilt depends on the seed, the fault, the path and the number of the request
 * on that path, counted from when the plan was set; the clock only says whether a rule is in force.
 */
export function createFaults(firstSeed: number) {
  let seed = firstSeed
  let rules: readonly FaultRule[] = []
  let byFault: Partial<Record<FaultName, Record<string, number>>> = {}
  let total = 0
  const asked = new Map<string, number>()
  const copies = new Map<string, { readonly expires: string | null; readonly answer: Promise<Outgoing> }[]>()

  /** The spoilt response, or undefined when this one is to go out as it is. */
  async function strike(response: Response, request: FaultedRequest, now: number): Promise<Outgoing | undefined> {
    if (rules.length === 0) return undefined
    const { path, hasCredential } = request
    const number = asked.get(path) ?? 0
    asked.set(path, number + 1)
    const before = rules.some(({ fault }) => fault === 'stale') ? await remember(response, request) : []
    for (const { fault, share, from, until, path: prefix } of rules) {
      if (prefix !== undefined && !path.startsWith(prefix)) continue
      if ((from !== undefined && now < from) || (until !== undefined && now >= until)) continue
      const { run = 1, on, spoil } = catalogue[fault]
      if (on && !on(path)) continue
      const random = drawsOf(`${seed} ${fault} ${path} ${Math.floor(number / run)}`)
      if (random() >= share) continue
      const occasion = { path, hasCredential, position: number % run, random, earlier: before }
      const spoilt = spoil(await outgoing(response), occasion)
      if (spoilt === undefined) continue
      const paths = byFault[fault] ?? {}
      paths[path] = (paths[path] ?? 0) + 1
      byFault[fault] = paths
      total += 1
      return spoilt
    }
    return undefined
  }

  /** Keeps the copies that an address has answered with; returns those before this one. */
  async function remember(response: Response, { method, path, query, requester }: FaultedRequest) {
    if (response.status !== 200) return []
    const name = `${method} ${path}?${query} ${requester}`
    const kept = copies.get(name) ?? []
    copies.set(name, kept)
    const expires = response.headers.get('expires')
    const before = kept.filter((copy) => copy.expires !== expires)
    if (before.length === kept.length) kept.push({ expires, answer: outgoing(response) })
    if (kept.length > keptCopies + 1) kept.shift()
    return await Promise.all(before.map(({ answer }) => answer))
  }

  return {
    rules: () => rules,
    seed: () => seed,
    done: (): FaultsDone => ({ total, byFault }),
    strike,
    /** Begins anew with another plan; null for none. */
    set(spec: FaultSpec | null, now: number, other = seed): void {
      // Read first: a plan that cannot be read leaves the old one in force.
      rules = spec === null ? [] : readFaults(spec, now)
      seed = other
      byFault = {}
      total = 0
      asked.clear()
      copies.clear()
    },
  }
}

export type Faults = ReturnType<typeof createFaults>

/** The response with its body at hand; the response itself can still be sent. */
async function outgoing(response: Response): Promise<Outgoing> {
  const raw = new Uint8Array(await response.clone().arrayBuffer())
  const headers = new Headers(response.headers)
  const zipped = headers.get('content-encoding') === 'gzip'
  headers.delete('content-encoding')
  headers.delete('content-length')
  return { status: response.status, headers, body: zipped ? new Uint8Array(gunzipSync(raw)) : raw }
}

/** A generator of its own for a name: FNV-1a spreads names that differ in one digit. */
function drawsOf(name: string): Random {
  const mixed = hashOf(name)
  const random = seededRandom(mixed ^ (mixed >>> 15))
  // Neighbouring seeds begin alike.
  random()
  return random
}
