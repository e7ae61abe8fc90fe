import { followSignal, systemClock } from '../../base/clock.ts'
import { FatalError } from '../../base/errors.ts'
import { type ApiResponse, toApiResponse } from '../response.ts'
import { firstAttempt, nextStep } from './attempts.ts'
import { classifyResponse } from './classify-response.ts'
import {
  type Connection,
  type KnownBody,
  type Observer,
  openConnection,
  type Recorder,
  sendOnce,
  type TransportOptions,
} from './connection.ts'
import type { HttpExchange } from './http-exchange.ts'
import type { ApiRequest } from './request.ts'

export type { CredentialRefusal } from '../auth/credential.ts'
export type { KnownBody, Recorder, TransportOptions } from './connection.ts'
export type { Timeouts } from './http-client.ts'
export type { ApiRequest, Lane } from './request.ts'
export type { RequestEvent } from './request-event.ts'

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
const CLOSE_WAIT = 2000

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
      const exchange: HttpExchange = { request, outcome, credential: isGuest ? 'guest' : 'token' }
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
  await Promise.race([drained, clock.sleep(CLOSE_WAIT, over.signal).catch(() => undefined)])
  over.abort()
  await http.close()
}
