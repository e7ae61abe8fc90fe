import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { given, start } from './given.ts'

describe('the clock control', () => {
  const put = async (url: string, body: unknown) => {
    const response = await fetch(url, { method: 'PUT', body: JSON.stringify(body) })
    return { status: response.status, body: (await response.json()) as { now?: string } }
  }

  it('moves the clock of a caller who gave a virtual one, but never back', async () => {
    const { sandbox, clock } = await given()
    const url = sandbox.url.replace('/v3', '/__sandbox/clock')
    expect(await (await fetch(url)).json()).toEqual({ now: '2026-06-01T12:00:20.500Z' })
    expect(await put(url, { advanceSeconds: 40 })).toEqual({ status: 200, body: { now: '2026-06-01T12:01:00.500Z' } })
    expect(clock.now()).toBe(start + 40_000)
    expect((await put(url, { now: '2026-06-01T12:00:00Z' })).status).toBe(409)
    expect((await put(url, { now: '2026-06-02T00:00:00Z' })).body.now).toBe('2026-06-02T00:00:00.000Z')
    expect((await put(url, { now: 'tomorrow' })).status).toBe(400)
  })

  it("sets the machine's own clock forward by an offset", async () => {
    const { sandbox, get } = await given({ clock: systemClock })
    await put(sandbox.url.replace('/v3', '/__sandbox/clock'), { advanceSeconds: 86_400 })
    const ahead = Date.parse((await get('/item/sets')).headers.get('date') ?? '') - Date.now()
    expect(ahead).toBeGreaterThan(86_400_000 - 60_000)
    expect(sandbox.clock.now()).toBeGreaterThan(Date.now() + 86_340_000)
  })

  it('costs no budget, and the requests are counted per path and status', async () => {
    const { sandbox, get } = await given({ limits: { guest: 2, token: 2 } })
    const counts = async () => (await fetch(sandbox.url.replace('/v3', '/__sandbox/requests'))).json()
    await counts()
    for (let nth = 0; nth < 3; nth++) await get('/item/sets')
    expect(await counts()).toEqual({ total: 3, byPath: { '/item/sets': { '200': 2, '429': 1 } } })
  })
})

describe('the request log', () => {
  it('tells when who asked for what and what came of it', async () => {
    const { sandbox, get } = await given({ tokens: ['first'] })
    await get('/item/metadata?static', { headers: { authorization: 'Bearer first' } })
    expect(sandbox.requests).toEqual([
      {
        at: start,
        method: 'GET',
        path: '/item/metadata',
        query: 'static',
        status: 200,
        bucket: 'ITEMS',
        credentialKind: 'token',
      },
    ])
  })
})

describe('an answer hook', () => {
  it('replaces the body, status and headers of one route until it is taken away', async () => {
    const { sandbox, get } = await given()
    sandbox.setAnswer('/item/sets', () => ({
      status: 503,
      headers: { 'Retry-After': '7' },
      body: { message: 'later' },
    }))
    const hooked = await get('/item/sets')
    expect([hooked.status, hooked.headers.get('retry-after'), hooked.body]).toEqual([503, '7', { message: 'later' }])
    expect(hooked.headers.get('ratelimit-remaining')).toBe('49')
    sandbox.setAnswer('/item/sets', null)
    expect((await get('/item/sets')).status).toBe(200)
  })

  it('may send text and bytes as they are, and leave a usual header out', async () => {
    const { sandbox } = await given()
    sandbox.setAnswer('/item/sets', () => ({ headers: { 'Content-Type': 'text/html', Expires: null }, body: '<html>' }))
    sandbox.setAnswer('/item/metadata', () => ({ body: Buffer.from('{"cut') }))
    const page = await fetch(`${sandbox.url}/item/sets`)
    expect([await page.text(), page.headers.get('content-type'), page.headers.get('expires')]).toEqual([
      '<html>',
      'text/html',
      null,
    ])
    expect(await (await fetch(`${sandbox.url}/item/metadata`)).text()).toBe('{"cut')
  })

  it('may let some requests through to the route', async () => {
    const { sandbox, get } = await given()
    let asked = 0
    sandbox.setAnswer('/item/sets', () => (++asked === 1 ? { status: 500, body: {} } : null))
    expect([(await get('/item/sets')).status, (await get('/item/sets')).status]).toEqual([500, 200])
  })
})

describe('closing', () => {
  it('does not wait for idle connections', async () => {
    const { sandbox, get } = await given()
    await get('/item/sets')
    await sandbox.close()
    await expect(fetch(sandbox.url)).rejects.toThrow()
  })
})
