import { randomUUID } from 'node:crypto'
import { type Clock, followSignal, type Random, systemClock } from '../../base/clock.ts'
import { FatalError } from '../../base/errors.ts'
import type { ProxySettings } from '../../base/proxies.ts'
import { type CredentialRefusal, watchCredential } from '../auth/credential.ts'
import type { Permit } from '../rate-limit/bucket-queue.ts'
import { type BudgetStore, memoryBudget } from '../rate-limit/budget-store.ts'
import { RateLimiter } from '../rate-limit/rate-limiter.ts'
import { type ApiResponse, toApiResponse } from '../response.ts'
import { packageVersion } from '../version.ts'
import { type Attempts, endingOf, firstAttempt, nextStep } from './attempts.ts'
import { classifyResponse } from './classify-response.ts'
import { type BodyParts, createHttpClient, type Timeouts } from './http-client.ts'
import type { HttpExchange } from './http-exchange.ts'
import type { Outcome } from './outcome.ts'
import { type ApiRequest, type Lane, wireRequest } from './request.ts'
import { ASSUMED_LIMIT, readRateLimit } from './response-headers.ts'

export type { CredentialRefusal } from '../auth/credential.ts'
export type { Timeouts } from './http-client.ts'
export type { ApiRequest, Lane } from './request.ts'

/** One request that was sent, for logs and metrics. */
export interface RequestEvent {
  readonly method: 'GET' | 'POST'
  readonly route: string
  /** Null when no headers came. */
  readonly status: number | null
  /** 1 for the first try. */
  readonly attempt: number
  readonly durationMs: number
  readonly bytes: number
  /** The bucket that the response names; null when it names none. */
  readonly bucket: string | null
  /** Time spent in the queue before this try. */
  readonly waitMs: number
  /** What was wrong, in a few words. */
  readonly error?: string
}

/** The event of a request that ended. */
function requestEvent(
  { method, route }: ApiRequest,
  outcome: Outcome,
  attempt: number,
  waitMs: number,
  durationMs: number,
): RequestEvent {
  const { status, bytes, headers, receivedAt } = outcome
  const bucket = readRateLimit(headers, receivedAt)?.bucket ?? null
  const fault = classifyResponse(outcome)
  const event = { method, route, status, attempt, durationMs, bytes, bucket, waitMs }
  return fault === null ? event : { ...event, error: fault.reason }
}

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
interface Observer {
  readonly record: Recorder
  readonly isKnown?: KnownBody | undefined
  sent: number
}

/** What all recorders of a transport share. */
function openConnection(options: TransportOptions, clock: Clock, random: Random) {
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
    /** Whether a response said of which kind the user is that it is for. */
    namesUsers: false,
    isClosed: false,
  }
}

type Connection = ReturnType<typeof openConnection>

const PRIORITY: Record<Lane, number> = { live: 4, refresh: 2, backfill: 0 }

interface Attempt {
  readonly request: ApiRequest
  readonly attempts: Attempts
  readonly signal: AbortSignal
}

/** Sends one request, when its bucket has budget, and records how it ended. */
async function sendOnce(
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

/** Sends requests within the server's limits and repeats what may succeed. */
export interface Transport {
  /**
   * @throws ApiError (300, 400, 401, 403, 404 and others), TooManyRequests or Unavailable after the last repeat,
   *   KnownResponse for a body that a recorder knows,
   *   FatalError when the transport is closed or the body too large, RetryableError when the budget cannot be reached,
   *   or the reason of the aborted signal
   */
  send(request: ApiRequest): Promise<ApiResponse<unknown>>
  /** HTTP requests sent so far, repeats included. */
  requestsSent(): number
  /** What the running window of the route's bucket still allows, from the headers of responses; else null. */
  remaining(route: string): number | null
  /**
   * The same transport, whose exchanges are recorded too, and which counts its own requests; all else is shared.
   * @param isKnown which bodies are not parsed
   */
  withRecorder(record: Recorder, isKnown?: KnownBody): Transport
  /** Ends every waiting and running request and closes the connections. */
  close(): Promise<void>
}

/** A response with a body that a recorder of the call knows: it is not parsed, and what reads it ends here. */
export class KnownResponse extends Error {
  readonly response: ApiResponse<unknown>
  readonly exchange: HttpExchange

  constructor(response: ApiResponse<unknown>, exchange: HttpExchange) {
    super('the body is known')
    this.response = response
    this.exchange = exchange
  }
}

/** A transport that sends nothing: `respond` gives the responses, and hands the exchanges that recorders want to `record`. */
export function offline(
  respond: (request: ApiRequest, record: Recorder) => Promise<ApiResponse<unknown>>,
  record: Recorder = () => {},
): Transport {
  return {
    send: (request) => respond(request, record),
    requestsSent: () => 0,
    remaining: () => null,
    withRecorder: (further) =>
      offline(respond, (exchange) => {
        record(exchange)
        further(exchange)
      }),
    close: async () => {},
  }
}

/** How long to wait for requests in flight before the connections are closed, ms. */
const CLOSE_WAIT_MS = 2000

/** Opens a transport: one connection pool, and one queue for each rate-limit bucket. */
export function createTransport(options: TransportOptions): Transport {
  const { clock = systemClock, random = Math.random } = options
  return transportOver(openConnection(options, clock, random), [])
}

function transportOver(
  connection: Connection,
  outer: readonly Observer[],
  record: Recorder = () => {},
  isKnown?: KnownBody,
): Transport {
  const own: Observer = { record, isKnown, sent: 0 }
  const observers = [...outer, own]
  return {
    send: (request) => send(connection, request, observers),
    requestsSent: () => own.sent,
    remaining(route) {
      const isGuest = connection.credential.goesAsGuest({ method: 'GET', route, path: route })
      return (isGuest ? connection.guests : connection.owners).remaining(route)
    },
    withRecorder: (further, isKnown) => transportOver(connection, observers, further, isKnown),
    close: () => close(connection),
  }
}

async function send(
  connection: Connection,
  request: ApiRequest,
  observers: readonly Observer[],
): Promise<ApiResponse<unknown>> {
  const { clock, credential, random } = connection
  if (connection.isClosed) throw new FatalError('the API client is closed')
  const call = beginCall(connection, request.signal)
  try {
    for (let attempts = firstAttempt; ; ) {
      call.signal.throwIfAborted()
      const { outcome, isGuest } = await sendOnce(connection, { request, attempts, signal: call.signal }, observers)
      const fault = classifyResponse(outcome)
      if (attempts.blamed !== null) credential.triedAsGuest(attempts.blamed, fault)
      const blamesCredential = fault !== null && !isGuest && credential.blames(request, fault)
      const next = nextStep(attempts, { request, outcome, fault, blamesCredential }, random)
      if (next.kind === 'repeat') {
        if (next.waitMs > 0) await clock.sleep(next.waitMs, call.signal)
        attempts = next.attempts
        continue
      }
      const exchange: HttpExchange = { request, outcome, credential: kindOfUser(connection, outcome, isGuest) }
      if (outcome.status !== null) for (const { record } of observers) record(exchange)
      if (next.kind === 'fail') throw next.error
      const response = toApiResponse(outcome, attempts.number)
      if (outcome.isKnown) throw new KnownResponse(response, exchange)
      return response
    }
  } finally {
    call.end()
  }
}

/**
 * Who is shown a response. One to a token that says where its copy comes from, and not of which kind the user is, is what guests get (API
 * reference 2.3): where other responses do say it. A server that never says it, or a proxy that strips it, would leave no response to a token.
 */
function kindOfUser(connection: Connection, { headers }: Outcome, isGuest: boolean): HttpExchange['credential'] {
  connection.namesUsers ||= headers.has('usertype')
  const isOfGuests = connection.namesUsers && headers.has('cache-source') && !headers.has('usertype')
  return isGuest || isOfGuests ? 'guest' : 'token'
}

function beginCall({ calls }: Connection, signal: AbortSignal | undefined) {
  const call = followSignal(signal)
  calls.add(call)
  const end = () => {
    call.end()
    calls.delete(call)
  }
  return { signal: call.signal, end }
}

async function close(connection: Connection): Promise<void> {
  const { calls, clock, guests, owners, http } = connection
  connection.isClosed = true
  for (const call of calls) call.abort(new FatalError('the API client is closed'))
  const over = new AbortController()
  const drained = Promise.all([guests.drained(), owners.drained()])
  await Promise.race([drained, clock.sleep(CLOSE_WAIT_MS, over.signal).catch(() => undefined)])
  over.abort()
  await http.close()
}
