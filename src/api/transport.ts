import { type Clock, type Random, systemClock } from '../clock.ts'
import { FatalError } from '../errors.ts'
import { type Answer, expiresAt, observedAt } from './answer.ts'
import { type BucketQueue, createBucketQueue, queueAgain } from './bucket-queue.ts'
import type { Ticket } from './budget.ts'
import { createExchange, type Outcome, type Timeouts } from './exchange.ts'
import { faultError, judge } from './judgement.ts'
import { ASSUMED_LIMIT, type RateLimitReading, readRateLimit } from './rate-limit.ts'
import { type ApiRequest, type Lane, wireRequest } from './request.ts'
import { decideRetry } from './retry.ts'
import { packageVersion } from './version.ts'

export type { Timeouts } from './exchange.ts'
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
  /** The bucket the answer named; null when it named none. */
  readonly bucket: string | null
  /** Time spent in the queue before this try. */
  readonly waitMs: number
  /** What was wrong, in a few words. */
  readonly error?: string
}

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
  readonly onRequest?: ((event: RequestEvent) => void) | undefined
}

/** Sends requests within the server's limits and repeats what may succeed. */
export interface Transport {
  /**
   * @throws ApiError (300, 400, 401, 403, 404 and others), TooManyRequests or Unavailable after the last repeat,
   *   FatalError when the transport is closed or the body too large, or the reason of the aborted signal
   */
  send(request: ApiRequest): Promise<Answer<unknown>>
  /** HTTP requests sent so far, repeats included. */
  requestsSent(): number
  /** What the running window of the route's bucket still allows, as far as answers have told; else null. */
  remaining(route: string): number | null
  /** Ends every waiting and running request and closes the connections. */
  close(): Promise<void>
}

const PRIORITY: Record<Lane, number> = { live: 4, refresh: 2, backfill: 0 }

/** Opens a transport: one connection pool, and one queue for each rate-limit bucket. */
export function createTransport(options: TransportOptions): Transport {
  const { baseUrl, token, concurrency = 4, clock = systemClock, random = Math.random, onRequest } = options
  const userAgent = options.userAgent ?? `wynnsync/${packageVersion()}`
  const wire = createExchange({
    baseUrl,
    token,
    userAgent,
    clock,
    timeouts: options.timeouts,
    maxBytes: options.maxBytes,
  })
  const assumedLimit = token === undefined ? ASSUMED_LIMIT.guest : ASSUMED_LIMIT.token
  const byBucket = new Map<string, BucketQueue>()
  const byRoute = new Map<string, BucketQueue>()
  const calls = new Set<AbortController>()
  let sent = 0
  let closed = false

  /** The queue of the route's bucket; while that is unknown, a queue of its own with one request in flight. */
  function queueOf(route: string): BucketQueue {
    const known = byRoute.get(route)
    if (known !== undefined) return known
    const provisional = createBucketQueue({ concurrency: 1, assumedLimit, clock })
    byRoute.set(route, provisional)
    return provisional
  }

  /** Files the route under the bucket its answer named; requests waiting in its provisional queue follow. */
  function learnBucket(route: string, ranIn: BucketQueue, reading: RateLimitReading, ticket: Ticket, at: number): void {
    if (reading.bucket === null) return
    const queue = byBucket.get(reading.bucket) ?? createBucketQueue({ concurrency, assumedLimit, clock })
    if (queue === ranIn) return
    byBucket.set(reading.bucket, queue)
    byRoute.set(route, queue)
    queue.observe(reading, ticket, at)
    if (![...byBucket.values()].includes(ranIn)) ranIn.dissolve()
  }

  /** One request, from queueing to settling. */
  async function sendOnce(request: ApiRequest, attempt: number, signal: AbortSignal): Promise<Outcome> {
    const queuedAt = clock.now()
    // A repeat goes before the fresh requests of its lane: its caller has waited longest.
    const priority = PRIORITY[request.lane ?? 'refresh'] + (attempt > 1 ? 1 : 0)
    for (;;) {
      const queue = queueOf(request.route)
      const work = async (ticket: Ticket): Promise<Outcome> => {
        sent++
        let outcome: Outcome | null = null
        try {
          outcome = await wire.exchange(wireRequest(request), signal)
        } finally {
          settle(request.route, queue, ticket, outcome)
        }
        onRequest?.(requestEvent(request, outcome, attempt, ticket.sentAt - queuedAt, clock.now() - ticket.sentAt))
        return outcome
      }
      const result = await queue.run(work, { priority, signal })
      if (result !== queueAgain) return result
    }
  }

  /** Tells the budget how a request ended, before anybody else can leave. */
  function settle(route: string, ranIn: BucketQueue, ticket: Ticket, outcome: Outcome | null): void {
    const receivedAt = outcome?.receivedAt ?? clock.now()
    const reading = outcome === null ? null : readRateLimit(outcome.headers, receivedAt)
    if (reading !== null) learnBucket(route, ranIn, reading, ticket, receivedAt)
    const queue = queueOf(route)
    const status = outcome === null ? null : (judge(outcome)?.status ?? outcome.status)
    if (outcome !== null && status === 429) {
      const verdict = decideRetry({ status, failure: null, count: 1, headers: outcome.headers }, receivedAt, random)
      if (verdict !== 'give up') queue.block(receivedAt + verdict.wait)
    }
    const answered = queue === ranIn && status !== null && status < 500
    ranIn.settle(ticket, { reading: queue === ranIn ? reading : null, answered, receivedAt })
  }

  async function send(request: ApiRequest): Promise<Answer<unknown>> {
    if (closed) throw new FatalError('the API client is closed')
    const call = new AbortController()
    const abort = () => call.abort(request.signal?.reason)
    if (request.signal?.aborted) abort()
    request.signal?.addEventListener('abort', abort, { once: true })
    calls.add(call)
    try {
      return await sendUntilAnswered(request, call.signal)
    } finally {
      request.signal?.removeEventListener('abort', abort)
      calls.delete(call)
    }
  }

  async function sendUntilAnswered(request: ApiRequest, signal: AbortSignal): Promise<Answer<unknown>> {
    let refusedForNow = 0
    let failures = 0
    for (let attempt = 1; ; attempt++) {
      signal.throwIfAborted()
      const outcome = await sendOnce(request, attempt, signal)
      const fault = judge(outcome)
      if (fault === null) return toAnswer(outcome, attempt)
      const count = fault.status === 429 ? ++refusedForNow : ++failures
      const verdict = decideRetry({ ...fault, count, headers: outcome.headers }, outcome.receivedAt, random)
      if (verdict === 'give up') throw faultError(fault, outcome, request.path, attempt)
      // After a 429 the whole bucket is closed for as long: waiting in its queue is the wait.
      if (fault.status !== 429) await clock.sleep(verdict.wait, signal)
    }
  }

  return {
    send,
    requestsSent: () => sent,
    remaining: (route) => byRoute.get(route)?.remaining() ?? null,
    async close() {
      closed = true
      for (const call of calls) call.abort(new FatalError('the API client is closed'))
      await wire.close()
    },
  }
}

function toAnswer(outcome: Outcome, attempts: number): Answer<unknown> {
  const { status, headers, body, bytes, receivedAt } = outcome
  return {
    body,
    status: status ?? 0,
    headers,
    receivedAt,
    observedAt: observedAt(headers, receivedAt),
    expiresAt: expiresAt(headers),
    rateLimit: readRateLimit(headers, receivedAt),
    bytes,
    attempts,
  }
}

function requestEvent(
  { method, route }: ApiRequest,
  outcome: Outcome,
  attempt: number,
  waitMs: number,
  durationMs: number,
): RequestEvent {
  const { status, bytes, headers, receivedAt } = outcome
  const bucket = readRateLimit(headers, receivedAt)?.bucket ?? null
  const fault = judge(outcome)
  const event = { method, route, status, attempt, durationMs, bytes, bucket, waitMs }
  return fault === null ? event : { ...event, error: fault.seen }
}
