import { describe, expect, test } from 'vitest'
import type { Lane } from '../../src/api/http/transport.ts'
import { memoryBudget } from '../../src/api/rate-limit/budget-store.ts'
import { seededRandom } from '../../src/base/clock.ts'
import { openTransport, start } from './open-transport.ts'
import type { Responder } from './server.ts'
import { createLimiter } from './server-limits.ts'
import { steppedClock } from './stepped-clock.ts'

const get = (route: string, path = route, lane: Lane = 'refresh') => ({ method: 'GET' as const, route, path, lane })
const tick = () => new Promise((resolve) => setImmediate(resolve))

describe('the budget of a bucket', () => {
  test.each(['delta', 'epoch', 'epoch ms', 'none'] as const)(
    'a hundred requests, eight in flight, against fifty per window: two windows and no 429 (reset header: %s)',
    async (reset) => {
      const clock = steppedClock(start)
      const limiter = createLimiter({ clock, limit: 50, reset })
      const { transport, play } = await openTransport(() => limiter.count(), { clock, concurrency: 8 })
      const answers = await play(Promise.all(Array.from({ length: 100 }, () => transport.send(get('/item/database')))))
      expect(answers.every((answer) => answer.attempts === 1)).toBe(true)
      expect(limiter.refusals()).toBe(0)
      expect(limiter.windows).toEqual([50, 50])
    },
  )

  test('answers that come late and out of order overdraw nothing', async () => {
    const clock = steppedClock(start)
    const limiter = createLimiter({ clock, limit: 50, reset: 'delta' })
    const random = seededRandom(7)
    const respond: Responder = async () => {
      const reply = limiter.count()
      await new Promise((resolve) => setTimeout(resolve, random() * 8))
      return reply
    }
    const { transport, play } = await openTransport(respond, { clock, concurrency: 8 })
    await play(Promise.all(Array.from({ length: 120 }, () => transport.send(get('/item/database')))))
    expect(limiter.refusals()).toBe(0)
    expect(limiter.windows).toEqual([50, 50, 20])
  })

  test('somebody else on the same address takes from it without a 429', async () => {
    const clock = steppedClock(start)
    const limiter = createLimiter({ clock, limit: 50, reset: 'delta', others: 20 })
    const { transport, play } = await openTransport(() => limiter.count(), { clock, concurrency: 8 })
    await play(Promise.all(Array.from({ length: 60 }, () => transport.send(get('/item/database')))))
    expect(limiter.refusals()).toBe(0)
    expect(limiter.windows).toEqual([30, 30])
  })

  test.each([
    ['seconds left', 86_400],
    ['an epoch', Math.floor(start / 1000) + 86_400],
  ])('a reset a day ahead in every third response costs neither a window nor a 429 (%s)', async (_form, far) => {
    const clock = steppedClock(start)
    const limiter = createLimiter({ clock, limit: 50, reset: 'delta' })
    let asked = 0
    const respond: Responder = () => {
      const reply = limiter.count()
      return asked++ % 3 === 0 ? { ...reply, headers: { ...reply.headers, 'RateLimit-Reset': String(far) } } : reply
    }
    const { transport, play } = await openTransport(respond, { clock, concurrency: 8 })
    await play(Promise.all(Array.from({ length: 120 }, () => transport.send(get('/item/database')))))
    expect(limiter.refusals()).toBe(0)
    expect(limiter.windows).toEqual([50, 50, 20])
  })

  test('with a token and no headers it assumes 120 per minute', async () => {
    const clock = steppedClock(start)
    const limiter = createLimiter({ clock, limit: 120, reset: 'none' })
    const { transport, play } = await openTransport(() => limiter.count(), { clock, token: 'made-up' })
    await play(Promise.all(Array.from({ length: 130 }, () => transport.send(get('/player')))))
    expect(limiter.windows).toEqual([120, 10])
  })

  test('a storm of 429s closes the bucket, and everything comes through in the end', async () => {
    const clock = steppedClock(start)
    let refusals = 0
    const limiter = createLimiter({ clock, limit: 50, reset: 'delta' })
    const respond: Responder = () => {
      const reply = limiter.count()
      // Somebody else empties the bucket without our seeing it coming.
      if (clock.now() >= start + 60_000 || refusals >= 40) return reply
      if (limiter.windows[0] !== undefined && limiter.windows[0] <= 4) return reply
      refusals++
      return { ...reply, status: 429, headers: { ...reply.headers, 'Retry-After': '20' }, body: {} }
    }
    const { transport, play } = await openTransport(respond, { clock, concurrency: 8 })
    const answers = await play(Promise.all(Array.from({ length: 30 }, () => transport.send(get('/item/database')))))
    expect(answers).toHaveLength(30)
    // Eight were in flight when it began; after each wait one asks alone.
    expect(refusals).toBeLessThanOrEqual(8 + 2)
  })

  test('Retry-After 0 does not burn the attempts', async () => {
    const clock = steppedClock(start)
    let asked = 0
    const respond: Responder = () =>
      ++asked <= 5 ? { status: 429, headers: { 'Retry-After': '0' }, body: {} } : { body: { fine: true } }
    const { transport, play } = await openTransport(respond, { clock })
    const answer = await play(transport.send(get('/item/sets')))
    expect(answer.attempts).toBe(6)
    // It waits for the next minute each time.
    expect(clock.now()).toBe((Math.floor(start / 60_000) + 5) * 60_000)
  })

  test('a 429 that never ends is given up after ten waits', async () => {
    const { transport, play, clock } = await openTransport(() => ({
      status: 429,
      headers: { 'Retry-After': '30' },
      body: {},
    }))
    await expect(play(transport.send(get('/item/sets')))).rejects.toThrow('/item/sets: 429 after 11 attempts')
    expect(clock.now() - start).toBe(300_000)
  })
})

describe('queues', () => {
  function holding(bucketOf: (url: string) => string | null) {
    const held: (() => void)[] = []
    const respond: Responder = async ({ url }) => {
      await new Promise<void>((resolve) => held.push(resolve))
      const bucket = bucketOf(url)
      const headers = { 'RateLimit-Limit': '50', 'RateLimit-Remaining': '40', 'RateLimit-Reset': '50' }
      return { headers: bucket === null ? headers : { ...headers, 'RateLimit-Bucket': bucket }, body: {} }
    }
    const until = async (count: number) => {
      for (let turn = 0; turn < 2000 && held.length < count; turn++) await tick()
      for (let turn = 0; turn < 20; turn++) await tick()
      return held.length
    }
    const release = (count: number) => {
      for (const go of held.splice(0, count)) go()
    }
    return { respond, until, release }
  }

  test('a route whose bucket is unknown has one request in flight; then all that wait follow to the bucket', async () => {
    const { respond, until, release } = holding(() => 'GUILD')
    const { transport, server } = await openTransport(respond, { concurrency: 3 })
    const calls = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => transport.send(get('/guild/{name}', `/guild/${name}`)))
    expect(await until(1)).toBe(1)
    release(1)
    expect(await until(3)).toBe(3)
    // Another route of the same bucket finds its place after its first answer too.
    release(3)
    expect(await until(2)).toBe(2)
    release(2)
    await Promise.all(calls)
    expect(server.seen.map((one) => one.url)).toEqual(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `/v3/guild/${name}`))
  })

  test('a route whose bucket is unknown draws from that of its neighbours, and is filed under its own when told', async () => {
    const clock = steppedClock(start)
    const limiter = createLimiter({ clock, limit: 2, reset: 'delta', bucket: 'GUILD' })
    const store = memoryBudget()
    const { transport, play } = await openTransport(() => limiter.count(), { clock, budget: store })
    await transport.send(get('/guild/seasons'))
    await transport.send(get('/guild/seasons'))
    // Sent without regard to that budget, it would be refused.
    await play(transport.send(get('/guild/{name}')))
    expect([limiter.windows, limiter.refusals()]).toEqual([[2, 1], 0])
    expect(await store.bucketOf('/guild/{name}')).toBe('GUILD')
  })

  test('a route that a response without headers left unnamed draws from the bucket of its neighbours once that has a name', async () => {
    const clock = steppedClock(start)
    const limiter = createLimiter({ clock, limit: 2, reset: 'delta', bucket: 'GUILD' })
    let hasHeaders = false
    const respond: Responder = () => (hasHeaders ? limiter.count() : { body: '{}' })
    const { transport, play } = await openTransport(respond, { clock })
    await transport.send(get('/guild/{name}'))
    hasHeaders = true
    await transport.send(get('/guild/seasons'))
    await transport.send(get('/guild/seasons'))
    await play(transport.send(get('/guild/{name}')))
    expect([limiter.windows, limiter.refusals()]).toEqual([[2, 1], 0])
  })

  test('two routes of one bucket share its slots, two buckets do not', async () => {
    const { respond, until, release } = holding((url) => (url.includes('/player') ? 'PLAYER' : 'GUILD'))
    const { transport } = await openTransport(respond, { concurrency: 2 })
    const routes = ['/guild/list/guild', '/guild/seasons', '/player']
    const first = routes.map((route) => transport.send(get(route)))
    expect(await until(3)).toBe(3)
    release(3)
    await Promise.all(first)
    const more = [...routes, ...routes].map((route) => transport.send(get(route)))
    expect(await until(4)).toBe(4)
    release(4)
    await until(2)
    release(2)
    await Promise.all(more)
  })

  test('routes that never name a bucket share a budget with their neighbours, one request in flight', async () => {
    const clock = steppedClock(start)
    const limiter = createLimiter({ clock, limit: 50, reset: 'none' })
    const { transport, play } = await openTransport(() => limiter.count(), { clock })
    const routes = ['/guild/list/guild', '/guild/seasons', '/guild/{name}']
    for (const route of routes) await transport.send(get(route))
    await play(Promise.all(Array.from({ length: 120 }, (_, index) => transport.send(get(routes[index % 3] ?? '')))))
    expect([limiter.windows, limiter.refusals()]).toEqual([[50, 50, 23], 0])
  })

  test('a route that never names a bucket has one request in flight', async () => {
    const { respond, until, release } = holding(() => null)
    const { transport } = await openTransport(respond, { concurrency: 4 })
    const calls = [1, 2, 3].map(() => transport.send(get('/classes')))
    for (let round = 0; round < 3; round++) {
      expect(await until(1)).toBe(1)
      release(1)
    }
    await Promise.all(calls)
  })

  test('live goes before refresh, and refresh before backfill', async () => {
    const { respond, until, release } = holding(() => 'GUILD')
    const { transport, server } = await openTransport(respond, { concurrency: 1 })
    const lanes: Lane[] = ['backfill', 'backfill', 'refresh', 'live']
    const first = transport.send(get('/guild/{name}', '/guild/first'))
    await until(1)
    const calls = lanes.map((lane, index) => transport.send(get('/guild/{name}', `/guild/${lane}${index}`, lane)))
    for (let round = 0; round < 5; round++) {
      await until(1)
      release(1)
    }
    await Promise.all([first, ...calls])
    expect(server.seen.map((one) => one.url.slice('/v3/guild/'.length))).toEqual([
      'first',
      'live3',
      'refresh2',
      'backfill0',
      'backfill1',
    ])
  })

  test('a live request waiting for the window leaves first when it opens', async () => {
    const clock = steppedClock(start)
    const limiter = createLimiter({ clock, limit: 3, reset: 'delta', bucket: 'GUILD' })
    const { transport, play, server } = await openTransport(() => limiter.count(), { clock })
    const names = ['b1', 'b2', 'b3', 'b4', 'b5']
    const slow = names.map((name) => transport.send(get('/guild/{name}', `/guild/${name}`, 'refresh')))
    await Promise.all(slow.slice(0, 3))
    const live = transport.send(get('/guild/{name}', '/guild/now', 'live'))
    await play(Promise.all([...slow, live]))
    expect(server.seen[3]?.url).toBe('/v3/guild/now')
    expect(limiter.refusals()).toBe(0)
  })

  test('a live request finds room in a window that a backfill would have used up', async () => {
    const clock = steppedClock(start)
    const limiter = createLimiter({ clock, limit: 5, reset: 'delta', bucket: 'GUILD' })
    const { transport, play, server } = await openTransport(() => limiter.count(), { clock })
    const slow = Array.from({ length: 9 }, (_, nth) =>
      transport.send(get('/guild/{name}', `/guild/b${nth}`, 'backfill')),
    )
    await Promise.all(slow.slice(0, 3))
    await transport.send(get('/guild/list/territory', '/guild/list/territory', 'live'))
    expect(server.seen.map(({ url }) => url.slice('/v3/guild/'.length))).toEqual(['b0', 'b1', 'b2', 'list/territory'])
    expect(clock.now()).toBe(start)
    await play(Promise.all(slow))
    // One request is kept for the next poll of that route, of which nothing is known but that it was polled once.
    expect([limiter.windows, limiter.refusals()]).toEqual([[4, 5, 1], 0])
  })
})

describe('a repeat', () => {
  test('leaves before the fresh requests of its lane', async () => {
    const clock = steppedClock(start)
    const headers = { 'RateLimit-Bucket': 'GUILD', 'Retry-After': '5' }
    let asked = 0
    const respond: Responder = () => (++asked === 1 ? { status: 429, headers, body: {} } : { headers, body: {} })
    const { transport, play, server } = await openTransport(respond, { clock })
    const names = ['a', 'b', 'c']
    await play(Promise.all(names.map((name) => transport.send(get('/guild/{name}', `/guild/${name}`)))))
    expect(server.seen.map((one) => one.url.slice('/v3/guild/'.length))).toEqual(['a', 'a', 'b', 'c'])
  })
})

describe('giving up by signal', () => {
  test('ends a request that waits for the window at once, and leaves no alarm behind', async () => {
    const clock = steppedClock(start)
    const limiter = createLimiter({ clock, limit: 1, reset: 'delta' })
    const { transport } = await openTransport(() => limiter.count(), { clock })
    await transport.send(get('/item/sets'))
    const stop = new AbortController()
    const waiting = transport.send({ ...get('/item/sets'), signal: stop.signal })
    await tick()
    stop.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    expect(transport.requestsSent()).toBe(1)
    expect(clock.sleeps).toHaveLength(1)
    let moved = false
    void clock.playOut(new Promise((resolve) => setTimeout(resolve, 5))).then(() => {
      moved = clock.now() !== start
    })
    await new Promise((resolve) => setTimeout(resolve, 10))
    expect(moved).toBe(false)
  })

  test('ends a request in flight at once, and gives its slot to the next', async () => {
    let asked = 0
    const answer = () => (++asked === 1 ? undefined : { body: { fine: true } })
    const { transport, clock } = await openTransport(answer, { concurrency: 1 })
    const stop = new AbortController()
    const stuck = transport.send({ ...get('/item/sets'), signal: stop.signal })
    const next = transport.send(get('/item/sets'))
    while (asked === 0) await tick()
    stop.abort(new Error('enough'))
    await expect(stuck).rejects.toThrow('enough')
    await clock.advance(1200)
    expect((await next).body).toEqual({ fine: true })
  })

  test('ends the wait before a repeat', async () => {
    const { transport, events } = await openTransport(() => ({ status: 500, body: {} }))
    const stop = new AbortController()
    const waiting = transport.send({ ...get('/item/sets'), signal: stop.signal })
    while (events.length === 0) await tick()
    stop.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
  })

  test('sends nothing when the signal was aborted before', async () => {
    const { transport } = await openTransport(() => ({ body: {} }))
    await expect(transport.send({ ...get('/item/sets'), signal: AbortSignal.abort() })).rejects.toThrow('aborted')
    expect(transport.requestsSent()).toBe(0)
  })

  test('closing ends everything that waits or runs, and later calls', async () => {
    let asked = 0
    const { transport } = await openTransport(() => {
      asked++
      return undefined
    })
    const calls = [1, 2, 3].map(() => transport.send(get('/item/sets')))
    while (asked === 0) await tick()
    const ended = Promise.allSettled(calls)
    await transport.close()
    for (const call of await ended) expect(call).toMatchObject({ reason: { message: 'the API client is closed' } })
    await expect(transport.send(get('/item/sets'))).rejects.toThrow('the API client is closed')
  })
})
