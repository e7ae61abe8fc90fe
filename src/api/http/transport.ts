import { randomUUID } from 'node:crypto'
import { type Clock, type Random, systemClock } from '../../app/clock.ts'
import { FatalError } from '../../app/errors.ts'
import type { Answer } from '../answer.ts'
import { type CredentialRefusal, watchCredential } from '../auth/credential.ts'
import { queueAgain } from '../rate-limit/bucket-queue.ts'
import { type BudgetStore, memoryBudget } from '../rate-limit/budget-store.ts'
import { ASSUMED_LIMIT, describeRateLimit, readRateLimit } from '../rate-limit/rate-limit.ts'
import { createRouteQueues, type Ending, type RouteQueues } from '../rate-limit/route-queues.ts'
import { packageVersion } from '../version.ts'
import { classifyResponse, faultError, type ResponseFault } from './classify-response.ts'
import { createHttpClient, type Outcome, type Timeouts } from './http-client.ts'
import type { HttpExchange } from './http-exchange.ts'
import { type ApiRequest, type Lane, wireRequest } from './request.ts'
import { type RequestEvent, requestEvent } from './request-event.ts'
import { expiresAt, maxAge, observedAt } from './response-headers.ts'
import { decideRetry, isConnectFailure } from './retry.ts'

export type { CredentialRefusal } from '../auth/credential.ts'
export type { Timeouts } from './http-client.ts'
export type { ApiRequest, Lane } from './request.ts'
export type { RequestEvent } from './request-event.ts'

/** How to reach the server. */
export interface TransportOptions {
  readonly baseUrl: string
  readonly token?: string | undefined
  readonly userAgent?: string | undefined
  /** Requests in flight per bucket. Default 4. */
  readonly concurrency?: number | undefined
  readonly clock?: Clock | undefined
  readonly random?: Random | undefined
  readonly timeouts?: Partial<Timeouts> | undefined
  /** Largest body accepted; bytes. Default 64 MB. */
  readonly maxBytes?: number | undefined
  /** Where the budgets of the credential are kept. Default: in this process alone. */
  readonly budget?: BudgetStore | undefined
  /** The same for requests that go without the credential. */
  readonly guestBudget?: BudgetStore | undefined
  readonly onRequest?: ((event: RequestEvent) => void) | undefined
  /** Told once, when the credential is refused where none is needed; the transport goes on without it there. */
  readonly onCredentialRefused?: ((refusal: CredentialRefusal) => void) | undefined
}

/** Sends requests within the server's limits and repeats what may succeed. */
export interface Transport {
  /**
   * @throws ApiError (300, 400, 401, 403, 404 and others), TooManyRequests or Unavailable after the last repeat,
   *   FatalError when the transport is closed or the body too large, RetryableError when the budget cannot be reached,
   *   or the reason of the aborted signal
   * @param hear told what the service said in the end, an answer or a refusal; not what was repeated
   * @param count called for each HTTP request that is sent, repeats included
   */
  send(request: ApiRequest, hear?: (heard: HttpExchange) => void, count?: () => void): Promise<Answer<unknown>>
  /** HTTP requests sent so far, repeats included. */
  requestsSent(): number
  /** What the running window of the route's bucket still allows, as far as answers have told; else null. */
  remaining(route: string): number | null
  /** Ends every waiting and running request and closes the connections. */
  close(): Promise<void>
}

const PRIORITY: Record<Lane, number> = { live: 4, refresh: 2, backfill: 0 }

/** How long to wait for what is under way to be settled before the connections are closed, ms. */
const CLOSE_WAIT = 2000

/** Opens a transport: one connection pool, and one queue for each rate-limit bucket. */
export function createTransport(options: TransportOptions): Transport {
  const { baseUrl, token, concurrency = 4, clock = systemClock, random = Math.random, onRequest } = options
  const userAgent = options.userAgent ?? `wynnsync/${packageVersion()}`
  const wire = createHttpClient({
    baseUrl,
    token,
    userAgent,
    clock,
    timeouts: options.timeouts,
    maxBytes: options.maxBytes,
  })
  const queuesFor = (kind: 'guest' | 'token', store = memoryBudget()): RouteQueues =>
    createRouteQueues({ store, concurrency, clock, assumedLimit: ASSUMED_LIMIT[kind] })
  const guests = queuesFor('guest', token === undefined ? options.budget : options.guestBudget)
  const owners = token === undefined ? guests : queuesFor('token', options.budget)
  const credential = watchCredential(token !== undefined, options.onCredentialRefused)
  const sender = randomUUID().slice(0, 8)
  const calls = new Set<AbortController>()
  let sent = 0
  let queued = 0
  let closed = false

  /** One request, from queueing to settling. `asGuest` is asked when it leaves the queue. */
  async function sendOnce(
    request: ApiRequest,
    attempt: number,
    asGuest: () => boolean,
    { signal, count }: { readonly signal: AbortSignal; readonly count: () => void },
  ): Promise<Outcome> {
    const queuedAt = clock.now()
    const { route, lane = 'refresh' } = request
    const order = queued++
    const place = {
      route,
      lane,
      // A repeat goes before the fresh requests of its lane: its caller has waited longest.
      priority: PRIORITY[lane] + (attempt > 1 ? 1 : 0),
      order,
      id: `${sender} ${order}`,
      poll: lane === 'live' && attempt === 1 ? { route, at: queuedAt } : null,
      signal,
    }
    const exchange = async () => {
      sent++
      count()
      const sentAt = clock.now()
      const outcome = await wire.send(wireRequest(request, asGuest()), signal)
      return { outcome, sentAt }
    }
    for (;;) {
      const guest = asGuest()
      const exchanged = await (guest ? guests : owners).send({
        ...place,
        moved: () => asGuest() !== guest,
        exchange,
        endingOf: (result) => endingOf(result?.outcome ?? null),
      })
      if (exchanged === queueAgain) continue
      const { outcome, sentAt } = exchanged
      onRequest?.(requestEvent(request, outcome, attempt, sentAt - queuedAt, clock.now() - sentAt))
      return outcome
    }
  }

  /** What the budget is told of a request; null when the caller gave up on it. */
  function endingOf(outcome: Outcome | null): Ending {
    if (outcome === null) return { reading: null, answered: false, receivedAt: clock.now(), blockedUntil: null }
    const { headers, receivedAt } = outcome
    const status = classifyResponse(outcome)?.status ?? outcome.status
    const refusal = { status, failure: null, count: 1, headers }
    const verdict = status === 429 ? decideRetry(refusal, receivedAt, random) : 'give up'
    return {
      reading: readRateLimit(headers, receivedAt),
      answered: status !== null && status < 500,
      receivedAt,
      blockedUntil: verdict === 'give up' ? null : receivedAt + verdict.wait,
    }
  }

  async function send(
    request: ApiRequest,
    hear?: (heard: HttpExchange) => void,
    count: () => void = () => {},
  ): Promise<Answer<unknown>> {
    if (closed) throw new FatalError('the API client is closed')
    const call = new AbortController()
    const abort = () => call.abort(request.signal?.reason)
    if (request.signal?.aborted) abort()
    request.signal?.addEventListener('abort', abort, { once: true })
    calls.add(call)
    try {
      return await sendUntilAnswered(request, { signal: call.signal, count }, hear)
    } finally {
      request.signal?.removeEventListener('abort', abort)
      calls.delete(call)
    }
  }

  async function sendUntilAnswered(
    request: ApiRequest,
    told: { readonly signal: AbortSignal; readonly count: () => void },
    hear: (heard: HttpExchange) => void = () => {},
  ): Promise<Answer<unknown>> {
    const { signal } = told
    let refusedForNow = 0
    let failures = 0
    let guest = false
    let doubt: ResponseFault | null = null
    const asGuest = () => {
      guest = doubt !== null || credential.goesAsGuest(request)
      return guest
    }
    for (let attempt = 1; ; attempt++) {
      signal.throwIfAborted()
      const outcome = await sendOnce(request, attempt, asGuest, told)
      const fault = classifyResponse(outcome)
      if (doubt !== null) credential.triedAsGuest(doubt, fault)
      const sentAs = guest || token === undefined ? 'guest' : 'token'
      if (fault === null) {
        hear({ request, outcome, credential: sentAs })
        return toAnswer(outcome, attempt)
      }
      if (!guest && credential.blames(request, fault)) {
        doubt = fault
        continue
      }
      const count = fault.status === 429 ? ++refusedForNow : ++failures
      const once = request.repeatable === false && !isConnectFailure(fault.failure)
      const attempted = { ...fault, count, headers: outcome.headers }
      const verdict = once ? 'give up' : decideRetry(attempted, outcome.receivedAt, random)
      if (verdict === 'give up') {
        if (outcome.status !== null) hear({ request, outcome, credential: sentAs })
        throw faultError(fault, outcome, request.path, attempt)
      }
      // After a 429 the whole bucket is closed for as long: waiting in its queue is the wait.
      if (fault.status !== 429) await clock.sleep(verdict.wait, signal)
    }
  }

  return {
    send,
    requestsSent: () => sent,
    remaining(route) {
      const guest = credential.goesAsGuest({ method: 'GET', route, path: route })
      return (guest ? guests : owners).remaining(route)
    },
    async close() {
      closed = true
      for (const call of calls) call.abort(new FatalError('the API client is closed'))
      const over = new AbortController()
      const settled = Promise.all([guests.settled(), owners.settled()])
      await Promise.race([settled, clock.sleep(CLOSE_WAIT, over.signal).catch(() => undefined)])
      over.abort()
      await wire.close()
    },
  }
}

/** An outcome without fault as its caller gets it. */
export function toAnswer(outcome: Outcome, attempts: number): Answer<unknown> {
  const { status, headers, body, bytes, receivedAt } = outcome
  return {
    body,
    status: status ?? 0,
    headers,
    receivedAt,
    observedAt: observedAt(headers, receivedAt),
    expiresAt: expiresAt(headers),
    maxAge: maxAge(headers),
    rateLimit: describeRateLimit(headers, receivedAt),
    bytes,
    attempts,
  }
}
