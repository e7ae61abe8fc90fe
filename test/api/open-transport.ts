import { inspect } from 'node:util'
import { expect, onTestFinished } from 'vitest'
import {
  type ApiRequest,
  createTransport,
  type RequestEvent,
  type TransportOptions,
} from '../../src/api/http/transport.ts'
import { seededRandom } from '../../src/base/clock.ts'
import { type Responder, startServer } from './server.ts'
import { type SteppedClock, steppedClock } from './stepped-clock.ts'

/** When the clock of each test begins, ms since the epoch. */
export const start = Date.parse('2026-05-30T12:00:05Z')

/** No real one. */
export const token = 'wgc_notARealOne-123456'

export type Options = Partial<Omit<TransportOptions, 'clock'>> & { readonly clock?: SteppedClock }

const own = { method: 'GET', route: '/guild/{name}', path: '/guild/Some%20Guild', credential: 'required' } as const

/** A server that responds so, and a transport to it whose clock goes on when nothing is under way. Both end with the test. */
export async function openTransport(respond: Responder, { clock = steppedClock(start), ...options }: Options = {}) {
  const server = await startServer(respond)
  const events: RequestEvent[] = []
  const onRequest = (event: RequestEvent) => events.push(event)
  const transport = createTransport({
    baseUrl: `${server.url}/v3/`,
    clock,
    random: seededRandom(1),
    onRequest,
    ...options,
  })
  onTestFinished(async () => {
    await transport.close()
    await server.close()
  })
  const play = <T>(work: Promise<T>) => clock.playOut(work, () => events.length === transport.requestsSent())
  return { clock, server, events, transport, play, call: (request: ApiRequest = own) => play(transport.send(request)) }
}

export async function failureOf(work: Promise<unknown>): Promise<Error> {
  const [result] = await Promise.allSettled([work])
  if (result?.status === 'rejected' && result.reason instanceof Error) return result.reason
  throw new Error('a failure was expected')
}

export function expectNoCredential(value: unknown) {
  const shown = [inspect(value, { depth: 10, showHidden: true }), JSON.stringify(value)]
  if (value instanceof Error) shown.push(value.message, String(value.stack), JSON.stringify(Object.entries(value)))
  for (const text of shown) expect(text ?? '').not.toContain(token)
}
