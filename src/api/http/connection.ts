import { randomUUID } from 'node:crypto'
import type { Clock, Random } from '../../base/clock.ts'
import type { ProxySettings } from '../../base/proxies.ts'
import { type CredentialRefusal, watchCredential } from '../auth/credential.ts'
import type { Permit } from '../rate-limit/bucket-queue.ts'
import { type BudgetStore, memoryBudget } from '../rate-limit/budget-store.ts'
import { RateLimiter } from '../rate-limit/rate-limiter.ts'
import { packageVersion } from '../version.ts'
import { type Attempts, endingOf } from './attempts.ts'
import { createHttpClient, type Timeouts } from './http-client.ts'
import type { HttpExchange } from './http-exchange.ts'
import type { Outcome } from './outcome.ts'
import { type ApiRequest, type Lane, wireRequest } from './request.ts'
import { type RequestEvent, requestEvent } from './request-event.ts'
import type { BodyParts } from './response-body.ts'
import { ASSUMED_LIMIT } from './response-headers.ts'

/** How to reach the server. */
export interface TransportOptions {
  readonly baseUrl: string
  /** API token or OAuth access token, sent as `Authorization: Bearer`. Default none: a guest with lower limits. */
  readonly token?: string | undefined
  /** Default `wynnsync/<version>`. */
  readonly userAgent?: string | undefined
  /** Requests in flight per rate-limit bucket. Default 4. */
  readonly concurrency?: number | undefined
  readonly clock?: Clock | undefined
  readonly random?: Random | undefined
  readonly timeouts?: Partial<Timeouts> | undefined
  /** The proxies that requests take. Default: what `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` of the environment say. */
  readonly proxy?: ProxySettings | undefined
  /** Largest body accepted; bytes. Default 64 MB. */
  readonly maxBytes?: number | undefined
  /** Where the budgets of the token are kept, so that several clients can share them. Default: in this client alone. */
  readonly budget?: BudgetStore | undefined
  /** The same for requests that go without the token, when there is one. */
  readonly guestBudget?: BudgetStore | undefined
  /** Called for every request that was sent, repeats included, for logs and metrics. */
  readonly onRequest?: ((event: RequestEvent) => void) | undefined
  /**
   * Called once, when the token is refused where none is needed: the client goes on without it there, with a guest's
   * limits. `players.whoami` and `oauth.me`, which need one, keep sending it and throw instead.
   */
  readonly onCredentialRefused?: ((refusal: CredentialRefusal) => void) | undefined
}

/** Receives the last exchange of each call, a response or a refusal; not those that were repeated. */
export type Recorder = (exchange: HttpExchange) => void

/** Whether the body of a response, as decompressed bytes, is one that its caller knows, and that need not be parsed. */
export type KnownBody = (request: ApiRequest, body: BodyParts) => Promise<boolean>

/** Whose requests are counted and recorded. */
export interface Observer {
  readonly record: Recorder
  readonly isKnown?: KnownBody | undefined
  sent: number
}

/** What all recorders of a transport share. */
export function openConnection(options: TransportOptions, clock: Clock, random: Random) {
  const { token, concurrency = 4, budget, guestBudget } = options
  const { onRequest, onCredentialRefused, userAgent = `wynnsync/${packageVersion()}` } = options
  const limiter = (kind: 'guest' | 'token', store = memoryBudget()) =>
    new RateLimiter({ store, concurrency, clock, assumedLimit: ASSUMED_LIMIT[kind] })
  const guests = limiter('guest', token === undefined ? budget : guestBudget)
  const sender = randomUUID().slice(0, 8)
  let entries = 0
  return {
    http: createHttpClient({ ...options, userAgent, clock }),
    clock,
    random,
    credential: watchCredential(token !== undefined, onCredentialRefused),
    guests,
    owners: token === undefined ? guests : limiter('token', budget),
    /** The calls that have not ended. */
    calls: new Set<AbortController>(),
    /** A name for the next reservation, and its place among equals. */
    nextEntry: () => {
      const order = entries++
      return { id: `${sender} ${order}`, order }
    },
    onRequest,
    isClosed: false,
  }
}

export type Connection = ReturnType<typeof openConnection>

const PRIORITY: Record<Lane, number> = { live: 4, refresh: 2, backfill: 0 }

interface Attempt {
  readonly request: ApiRequest
  readonly attempts: Attempts
  readonly signal: AbortSignal
}

/** Sends one request, when its bucket has budget, and records how it ended. */
export async function sendOnce(
  connection: Connection,
  attempt: Attempt,
  observers: readonly Observer[],
): Promise<{ outcome: Outcome; isGuest: boolean }> {
  const { clock, http, onRequest } = connection
  const { request, attempts, signal } = attempt
  const queuedAt = clock.now()
  const { permit, limiter, isGuest } = await acquire(connection, attempt)
  const sentAt = clock.now()
  let outcome: Outcome | null = null
  try {
    for (const observer of observers) observer.sent++
    const isKnown = (body: BodyParts) => isKnownToAny(observers, request, body)
    outcome = await http.send({ ...wireRequest(request, isGuest), isKnown }, signal)
  } finally {
    const recorded = limiter.complete(request.route, permit, endingOf(outcome, clock.now()))
    // A caller that gave up does not wait for the store.
    await unlessAborted(recorded, signal)
  }
  onRequest?.(requestEvent(request, outcome, attempts.number, sentAt - queuedAt, clock.now() - sentAt))
  return { outcome, isGuest }
}

async function isKnownToAny(observers: readonly Observer[], request: ApiRequest, body: BodyParts): Promise<boolean> {
  for (const { isKnown } of observers) if (await isKnown?.(request, body)) return true
  return false
}

/** Waits for a slot and budget: of the credential, or of guests when the credential is refused meanwhile. */
async function acquire(
  { clock, credential, guests, owners, nextEntry }: Connection,
  { request, attempts, signal }: Attempt,
): Promise<{ permit: Permit; limiter: RateLimiter; isGuest: boolean }> {
  const { route, lane = 'refresh' } = request
  const isRepeat = attempts.number > 1
  const { id, order } = nextEntry()
  // A repeat goes before the fresh requests of its lane: its caller has waited longest.
  const priority = PRIORITY[lane] + (isRepeat ? 1 : 0) - order / 1e9
  const poll = lane === 'live' && !isRepeat ? { route, at: clock.now() } : null
  const goesAsGuest = () => attempts.blamed !== null || credential.goesAsGuest(request)
  for (;;) {
    const isGuest = goesAsGuest()
    const limiter = isGuest ? guests : owners
    const moved = () => goesAsGuest() !== isGuest
    const permit = await limiter.acquire({ id, route, lane, priority, poll, signal, moved })
    // The credential may be refused while the request waits for its reservation.
    if (permit !== null) return { permit, limiter, isGuest: goesAsGuest() }
  }
}

/** Resolves with the work, or rejects as soon as the signal is aborted; the work goes on then. */
async function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  let abort = () => {}
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
  })
  await Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', abort))
}
