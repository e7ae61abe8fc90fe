import { gunzipSync } from 'node:zlib'
import type { HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Hono } from 'hono'
import { type Clock, type Random, seededRandom } from '../../base/clock.ts'
import { UsageError } from '../../base/errors.ts'
import { hashOf } from '../generator/draw.ts'
import type { ApiRequest } from '../http/answer.ts'
import { type Fault, type Outgoing, withBody } from './fault.ts'
import { clocks } from './kinds/clock-faults.ts'
import { headerFaults } from './kinds/header-faults.ts'
import { incomplete } from './kinds/incomplete.ts'
import { people } from './kinds/people-faults.ts'
import { refusals } from './kinds/refusal-faults.ts'
import { shapes } from './kinds/shapes.ts'
import { values } from './kinds/value-faults.ts'

/** Bodies that hold nothing, not all, or never come. */
const deliveries = {
  truncated: {
    about: 'the body ends in the middle, with a length that fits or with a broken connection',
    spoil: (answer, { random }) => {
      if (answer.body.length < 2) return undefined
      if (random() < 0.5) return { ...answer, delivery: 'cut' }
      return { ...answer, body: answer.body.slice(0, Math.floor(answer.body.length * (0.1 + random() * 0.8))) }
    },
  },
  'empty-body': {
    about: '200 without a body',
    spoil: (answer) => (answer.status === 200 ? withBody(answer, '') : undefined),
  },
  nothing: {
    about: '200 with {} or []',
    spoil: (answer, { random }) => (answer.status === 200 ? withBody(answer, random() < 0.5 ? '{}' : '[]') : undefined),
  },
  drip: {
    about: 'the body comes in drops, over half a minute',
    spoil: (answer) => ({ ...answer, delivery: 'drip' }),
  },
  trickle: {
    about: 'the body comes in drops, over ten minutes',
    spoil: (answer) => ({ ...answer, delivery: 'trickle' }),
  },
  reset: {
    about: 'the connection is reset',
    spoil: (answer) => ({ ...answer, delivery: 'reset' }),
  },
} as const satisfies Record<string, Fault>

const all = {
  ...refusals,
  ...deliveries,
  ...headerFaults,
  ...incomplete,
  ...shapes,
  ...people,
  ...values,
  ...clocks,
}

/** A fault by the name that `--faults` knows it under. */
export type FaultName = keyof typeof all

/** Every fault there is (API reference 2.2-2.5, 9, 10). */
export const catalogue: Readonly<Record<FaultName, Fault>> = all

/** Their names, in the order in which they are tried on a response. */
export const faultNames = Object.keys(all) as readonly FaultName[]

function isFaultName(name: string): name is FaultName {
  return Object.hasOwn(all, name)
}

/** When and where one fault happens. */
interface FaultRule {
  readonly fault: FaultName
  /** The share of responses that it spoils, 0..1. */
  readonly share: number
  /** Only from this instant on, ms since the epoch. */
  readonly from?: number | undefined
  /** Only before this instant, ms since the epoch. */
  readonly until?: number | undefined
  /** Only paths that begin like this, below the base path. */
  readonly path?: string | undefined
}

/** What a person may say of one fault: its share, or more. Instants are ISO text, or seconds from now. */
type FaultWish =
  | number
  | {
      readonly share?: number | undefined
      readonly from?: string | number | undefined
      readonly until?: string | number | undefined
      readonly path?: string | undefined
    }

/** A plan as text (`storm:0.1,html:0.05`, `all`), or by name; `all` stands for every fault. */
export type FaultSpec = string | Readonly<Record<string, FaultWish>>

/** The share of a fault without a share, alone and when all are wanted. */
const usualShare = { one: 0.1, all: 0.02 }

const form = /^([\w-]+)(?::([\d.]+))?(?:@(\d+)?-(\d+)?)?(\/\S*)?$/

/**
 * Reads a plan. The text is `name[:share][@from-until][/path]`, several joined by commas: `gateway:0.5@60-120/guild`
 * spoils half of all responses below /guild from the 60th to the 120th second.
 * @param now ms since the epoch, where seconds are counted from
 * @throws UsageError that says what to write instead
 */
function readFaults(spec: unknown, now: number): FaultRule[] {
  if (typeof spec === 'string') {
    const words = spec.trim()
    if (words.startsWith('{')) return readFaults(parsed(words), now)
    return words === '' ? [] : words.split(',').flatMap((word) => fromText(word.trim(), now))
  }
  if (typeof spec === 'object' && spec !== null && !Array.isArray(spec))
    return Object.entries(spec).flatMap(([name, wish]) => rulesOf(name, wish, now))
  throw wrong(JSON.stringify(spec))
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw wrong(text)
  }
}

function fromText(word: string, now: number): FaultRule[] {
  const [, name, share, from, until, path] = form.exec(word) ?? []
  if (name === undefined) throw wrong(word)
  const seconds = (text: string | undefined) => (text === undefined ? undefined : Number(text))
  return rulesOf(name, { share: seconds(share), from: seconds(from), until: seconds(until), path }, now)
}

function rulesOf(name: string, wish: unknown, now: number): FaultRule[] {
  if (name === 'all') return faultNames.flatMap((one) => ruleOf(one, wish, usualShare.all, now))
  if (isFaultName(name)) return [ruleOf(name, wish, usualShare.one, now)]
  throw new UsageError(`no fault is called ${name}; there are: all, ${faultNames.join(', ')}`)
}

function ruleOf(fault: FaultName, wish: unknown, usual: number, now: number): FaultRule {
  if (typeof wish === 'number') return ruleOf(fault, { share: wish }, usual, now)
  if (typeof wish !== 'object' || wish === null) throw wrong(JSON.stringify({ [fault]: wish }))
  const given: Record<string, unknown> = { ...wish }
  const { share = usual, path } = given
  if (typeof share !== 'number' || !(share >= 0 && share <= 1))
    throw new UsageError(`the share of ${fault} must be from 0 to 1, found ${JSON.stringify(share)}`)
  if (path !== undefined && (typeof path !== 'string' || !path.startsWith('/')))
    throw new UsageError(`the path of ${fault} must begin with /, found ${JSON.stringify(path)}`)
  return { fault, share, path, from: instant(given.from, now), until: instant(given.until, now) }
}

function instant(given: unknown, now: number): number | undefined {
  if (given === undefined) return undefined
  if (typeof given === 'number' && Number.isFinite(given)) return now + given * 1000
  const at = typeof given === 'string' ? Date.parse(given) : Number.NaN
  if (!Number.isNaN(at)) return at
  throw new UsageError(`from and until are ISO instants, or seconds from now; found ${JSON.stringify(given)}`)
}

function wrong(found: string): UsageError {
  return new UsageError(
    `faults are written like storm:0.1,gateway:0.5@60-120/guild, all, or {"storm": {"share": 0.1}}; found ${found}`,
  )
}

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

/**
 * Routes for the tester: `GET /__sandbox/faults` -> `{seed, rules, done, known}`, what is planned and what was done to how
 * many responses; `PUT` with a plan as JSON (`"storm:0.1"` or `{"storm": {"share": 0.1, "path": "/guild"}}`, and `?seed=`)
 * begins anew; `DELETE` ends them.
 */
export function addFaultControl(app: Hono, faults: Faults, clock: Clock): void {
  const iso = (instant: number | undefined) => (instant === undefined ? undefined : new Date(instant).toISOString())
  const show = () => ({
    seed: faults.seed(),
    rules: faults.rules().map((rule) => ({ ...rule, from: iso(rule.from), until: iso(rule.until) })),
    done: faults.done(),
    known: Object.fromEntries(faultNames.map((name) => [name, catalogue[name].about])),
  })
  app.get('/__sandbox/faults', (c) => c.json(show()))
  app.put('/__sandbox/faults', async (c) => {
    const spec: FaultSpec | undefined = await c.req.json().catch(() => undefined)
    const seed = c.req.query('seed')
    if (spec === undefined || (seed !== undefined && !/^\d{1,10}$/.test(seed)))
      return c.json({ error: 'Send JSON such as {"storm": 0.1}, and ?seed= with a whole number.' }, 400)
    try {
      faults.set(spec, clock.now(), seed === undefined ? undefined : Number(seed))
    } catch (error) {
      if (error instanceof UsageError) return c.json({ error: error.message }, 400)
      throw error
    }
    return c.json(show())
  })
  app.delete('/__sandbox/faults', (c) => {
    faults.set(null, clock.now())
    return c.json(show())
  })
}

/** In how many pieces a body comes, and how long that takes. No pause is as long as what a client waits for the next piece. */
const slow = { drip: { drops: 10, ms: 30_000 }, trickle: { drops: 40, ms: 600_000 } } as const

/** Sends a spoilt response, or breaks the connection as it demands. */
export function deliver(answer: Outgoing, { incoming, outgoing }: HttpBindings, clock: Clock): Response {
  const { status, headers, body, delivery } = answer
  // Left to itself, the server would tell the machine's own time.
  outgoing.sendDate = headers.has('date')
  if (delivery === 'reset') {
    incoming.socket.resetAndDestroy()
    return RESPONSE_ALREADY_SENT
  }
  if (delivery === 'cut') {
    outgoing.writeHead(status, { ...Object.fromEntries(headers), 'content-length': String(body.length) })
    outgoing.write(body.subarray(0, Math.floor(body.length / 2)), () => incoming.socket.destroy())
    return RESPONSE_ALREADY_SENT
  }
  return new Response(delivery === undefined ? body : dripping(body, clock, slow[delivery]), { status, headers })
}

/** The body in so many pieces, a pause of the sandbox's clock before each but the first. */
function dripping(
  body: Uint8Array<ArrayBuffer>,
  clock: Clock,
  { drops, ms }: { readonly drops: number; readonly ms: number },
): ReadableStream<Uint8Array> {
  const size = Math.max(1, Math.ceil(body.length / drops))
  const gone = new AbortController()
  let sent = 0
  return new ReadableStream({
    async pull(stream) {
      try {
        if (sent > 0) await clock.sleep(ms / drops, gone.signal)
      } catch {
        return
      }
      stream.enqueue(body.subarray(sent, sent + size))
      sent += size
      if (sent >= body.length) stream.close()
    },
    cancel: () => gone.abort(),
  })
}

/** Ways in which a response goes wrong, by plan and by seed. */
