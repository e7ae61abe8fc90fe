import { setMaxListeners } from 'node:events'
import { afterEach, describe, expect, test } from 'vitest'
import { createTransport, type Lane, type RequestEvent, type TransportOptions } from '../../src/api/http/transport.ts'
import { type BudgetState, emptyBudget } from '../../src/api/rate-limit/budget-state.ts'
import { type BudgetStore, memoryBudget } from '../../src/api/rate-limit/budget-store.ts'
import { seededRandom } from '../../src/base/clock.ts'
import { RetryableError } from '../../src/base/errors.ts'
import { type Responder, startServer } from './server.ts'
import { createLimiter } from './server-limits.ts'
import { steppedClock } from './stepped-clock.ts'

const start = Date.parse('2026-05-30T12:00:05Z')
const closers: (() => Promise<void>)[] = []
const tick = () => new Promise((resolve) => setImmediate(resolve))
const get = (route: string, lane: Lane = 'refresh') => ({ method: 'GET' as const, route, path: route, lane })

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** One server, and as many clients of it as are opened. */
async function world(respond: Responder) {
  const clock = steppedClock(start)
  const server = await startServer((seen, response) => respond(seen, response))
  closers.push(server.close)
  const events: RequestEvent[] = []
  const transports: ReturnType<typeof createTransport>[] = []
  const open = (budget: BudgetStore, options: Partial<TransportOptions> = {}) => {
    const onRequest = (event: RequestEvent) => void events.push(event)
    const baseUrl = `${server.url}/v3`
    const transport = createTransport({ baseUrl, clock, random: seededRandom(1), budget, onRequest, ...options })
    closers.push(transport.close)
    transports.push(transport)
    return transport
  }
  const sent = () => transports.reduce((sum, transport) => sum + transport.requestsSent(), 0)
  return { clock, server, open, play: <T>(work: Promise<T>) => clock.playOut(work, () => events.length === sent()) }
}

function limited(limit: number) {
  let count = () => ({})
  const respond: Responder = () => count()
  return {
    respond,
    begin: (clock: ReturnType<typeof steppedClock>) => {
      const limiter = createLimiter({ clock, limit, reset: 'delta', bucket: 'GUILD' })
      count = () => limiter.count()
      return limiter
    },
  }
}

async function stateOf(store: BudgetStore, bucket: string): Promise<BudgetState> {
  return await store.change(bucket, (state) => ({ state: state ?? emptyBudget, result: state ?? emptyBudget }))
}

/** A store that can be told to be away, or to answer only when it is let. */
function obstructed(store: BudgetStore) {
  let away = false
  let release: (() => void) | null = null
  let gate: Promise<void> = Promise.resolve()
  const wrapped: BudgetStore = {
    ...store,
    change: async (bucket, step) => {
      if (away) throw new RetryableError('the budget is away')
      const result = await store.change(bucket, step)
      await gate
      return result
    },
  }
  return {
    wrapped,
    leave: () => {
      away = true
    },
    hold: () => {
      gate = new Promise((resolve) => {
        release = resolve
      })
    },
    let: () => release?.(),
  }
}

describe('clients with one budget', () => {
  test('stay within the limit together, and use all of it', async () => {
    const { respond, begin } = limited(50)
    const { clock, open, play } = await world(respond)
    const limiter = begin(clock)
    const store = memoryBudget()
    const clients = [open(store), open(store), open(store)]
    const requests = clients.flatMap((client) => Array.from({ length: 40 }, () => client.send(get('/guild/{name}'))))
    await play(Promise.all(requests))
    expect(limiter.refusals()).toBe(0)
    expect(limiter.windows).toEqual([50, 50, 20])
  })

  test('know the bucket of a route that another one has asked: a fresh client does not overdraw it', async () => {
    const { respond, begin } = limited(2)
    const { clock, open, play } = await world(respond)
    const limiter = begin(clock)
    const store = memoryBudget()
    const first = open(store)
    await first.send(get('/guild/seasons'))
    await first.send(get('/guild/{name}'))
    const fresh = open(store)
    expect(fresh.remaining('/guild/seasons')).toBeNull()
    await play(fresh.send(get('/guild/seasons')))
    expect([limiter.windows, limiter.refusals()]).toEqual([[2, 1], 0])
  })

  test('count the first request of an unknown route in its bucket as soon as another client has found it', async () => {
    const held: (() => void)[] = []
    const headers = { 'RateLimit-Bucket': 'GUILD', 'RateLimit-Limit': '50', 'RateLimit-Reset': '40' }
    let left = 11
    const respond: Responder = async () => {
      const remaining = --left
      await new Promise<void>((resolve) => held.push(resolve))
      return { headers: { ...headers, 'RateLimit-Remaining': String(remaining) }, body: {} }
    }
    const { clock, open } = await world(respond)
    const store = memoryBudget()
    const [one, other] = [open(store), open(store)]
    const slow = one.send(get('/guild/{name}'))
    while (held.length < 1) await tick()
    // The first one keeps the route to itself for ten seconds; then a second one may try.
    const quick = other.send(get('/guild/{name}'))
    await tick()
    await clock.advance(10_500)
    while (held.length < 2) await tick()
    held[1]?.()
    await quick
    expect((await stateOf(store, 'GUILD')).reservations).toHaveLength(1)
    expect(other.remaining('/guild/{name}')).toBe(8)
    held[0]?.()
    await slow
    expect((await stateOf(store, 'GUILD')).reservations).toEqual([])
    expect((await stateOf(store, 'route /guild/{name}')).reservations).toEqual([])
  })

  test('let a live poll of one go after at most one request of the others', async () => {
    const { respond, begin } = limited(50)
    const { clock, open, play, server } = await world(respond)
    begin(clock)
    const store = memoryBudget()
    const [live, ...others] = [open(store), open(store), open(store)]
    await live.send(get('/guild/live', 'live'))
    await play(clock.sleep(10_000))
    await live.send(get('/guild/live', 'live'))
    const stop = new AbortController()
    setMaxListeners(0, stop.signal)
    const lanes: Lane[] = ['refresh', 'backfill']
    const hungry = others.flatMap((client, index) =>
      Array.from({ length: 60 }, () => client.send({ ...get('/guild/x', lanes[index]), signal: stop.signal })),
    )
    const ended = Promise.allSettled(hungry)
    await play(clock.sleep(9000))
    const before = server.seen.length
    await play(live.send(get('/guild/live', 'live')))
    expect(clock.now()).toBe(start + 19_000)
    expect(server.seen.length - before).toBeLessThanOrEqual(2)
    stop.abort(new Error('enough'))
    await ended
  })
})

test('a budget kept by a clock that was a day ahead lets a process with the right clock go at once', async () => {
  const { respond, begin } = limited(3)
  const { clock, open } = await world(respond)
  begin(clock)
  const store = memoryBudget()
  const ahead = open(store, { clock: { ...clock, now: () => clock.now() + 86_400_000 } })
  for (let turn = 0; turn < 3; turn++) await ahead.send(get('/guild/x'))
  // The server's next minute; the window of a clock that is a day ahead has 86,000 seconds to go.
  await clock.advance(60_000)
  const right = open(store)
  const response = await right.send(get('/guild/x'))
  expect([response.receivedAt - clock.now(), right.remaining('/guild/x')]).toEqual([0, 2])
})

describe('a budget that is out of reach', () => {
  const told = { 'RateLimit-Bucket': 'GUILD', 'RateLimit-Remaining': '40', 'RateLimit-Reset': '50' }

  test('keeps a request from being sent, and does not spoil an answer that came', async () => {
    const { wrapped, leave } = obstructed(memoryBudget())
    const { open } = await world(() => {
      leave()
      return { headers: told, body: { fine: true } }
    })
    const client = open(wrapped)
    expect((await client.send(get('/guild/x'))).body).toEqual({ fine: true })
    const more = [1, 2, 3].map(() => client.send(get('/guild/x')))
    for (const one of await Promise.allSettled(more)) {
      expect(one).toMatchObject({ reason: { message: 'the budget is away' } })
    }
    expect(client.requestsSent()).toBe(1)
  })

  test('makes a reservation void that comes back when others take its process for dead', async () => {
    const { respond, begin } = limited(3)
    const { clock, open, play } = await world(respond)
    const limiter = begin(clock)
    const store = memoryBudget()
    const { wrapped, hold, let: go } = obstructed(store)
    const [slow, other] = [open(wrapped), open(store)]
    await other.send(get('/guild/x'))
    await clock.advance(60_000)
    await other.send(get('/guild/x'))
    hold()
    const late = [slow.send(get('/guild/x')), slow.send(get('/guild/x'))]
    while ((await stateOf(store, 'GUILD')).reservations.length === 0) await tick()
    await clock.advance(125_000)
    await play(Promise.all([1, 2, 3].map(() => other.send(get('/guild/x')))))
    go()
    await play(Promise.all(late))
    expect([limiter.refusals(), Math.max(...limiter.windows)]).toEqual([0, 3])
  })

  test('ends at once what is aborted meanwhile, and gives the request back', async () => {
    const store = memoryBudget()
    const { wrapped, hold, let: go } = obstructed(store)
    const { open } = await world(() => ({ headers: told, body: {} }))
    const client = open(wrapped)
    await client.send(get('/guild/x'))
    hold()
    const stop = new AbortController()
    const waiting = client.send({ ...get('/guild/x'), signal: stop.signal })
    while ((await stateOf(store, 'GUILD')).reservations.length === 0) await tick()
    stop.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    go()
    while ((await stateOf(store, 'GUILD')).reservations.length > 0) await tick()
    expect(client.requestsSent()).toBe(1)
    expect(client.remaining('/guild/x')).toBe(40)
  })
})

test('requests without the credential draw from the budget of guests', async () => {
  const refusal = { status: 401, body: { error: 'InvalidTokenError', detail: 'no', code: 401 } }
  const { open } = await world(({ headers }) => {
    const bucket = { 'RateLimit-Bucket': 'GUILD', 'RateLimit-Remaining': '7', 'RateLimit-Reset': '50' }
    return { headers: bucket, ...(headers.authorization === undefined ? { body: {} } : refusal) }
  })
  const [own, guests] = [memoryBudget(), memoryBudget()]
  const client = open(own, { token: 'made-up', guestBudget: guests })
  await client.send(get('/guild/x'))
  await client.send(get('/guild/x'))
  expect([await own.bucketOf('/guild/x'), await guests.bucketOf('/guild/x')]).toEqual(['GUILD', 'GUILD'])
  expect((await stateOf(guests, 'GUILD')).window?.granted.refresh).toBe(1)
  expect(client.remaining('/guild/x')).toBe(7)
})
