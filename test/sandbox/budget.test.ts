import { describe, expect, it } from 'vitest'
import { given, start } from './given.ts'

const minute = 60_000

describe('rate limits', () => {
  it('let 50 requests of a guest through in one minute and refuse the 51st without Retry-After', async () => {
    const { get, clock } = await given()
    const statuses: number[] = []
    for (let nth = 0; nth < 50; nth++) statuses.push((await get('/item/sets')).status)
    expect(new Set(statuses)).toEqual(new Set([200]))

    const refused = await get('/item/sets')
    expect([refused.status, refused.body.error, refused.headers.get('ratelimit-remaining')]).toEqual([
      429,
      'TooManyRequest',
      '0',
    ])
    expect(refused.headers.has('retry-after')).toBe(false)

    await clock.advanceTo(Math.ceil(start / minute) * minute)
    const allowed = await get('/item/sets')
    expect([allowed.status, allowed.headers.get('ratelimit-remaining')]).toEqual([200, '49'])
  })

  it('count each bucket by itself', async () => {
    const { get } = await given({ limits: { guest: 1, token: 1 } })
    expect((await get('/item/sets')).status).toBe(200)
    expect((await get('/item/metadata')).status).toBe(429)
    const other = await get('/guild/list/guild')
    expect([other.status, other.headers.get('ratelimit-bucket')]).toEqual([200, 'GUILD'])
    expect((await get('/ability/tree/archer')).headers.get('ratelimit-bucket')).toBe('SHARED')
  })

  it('give every token a counter of its own, higher than a guest has', async () => {
    const { get } = await given({ tokens: ['first', 'second'] })
    const ask = (token: string) => get('/item/sets', { headers: { authorization: `Bearer ${token}` } })
    await ask('first')
    const again = await ask('first')
    const other = await ask('second')
    expect([again, other].map(({ headers }) => headers.get('ratelimit-remaining'))).toEqual(['118', '119'])
    expect(again.headers.get('ratelimit-limit')).toBe('120')
    expect(again.headers.get('usertype')).toBe('TOKEN')
    expect((await get('/item/sets')).headers.get('ratelimit-remaining')).toBe('49')
  })

  it('refuse a token nobody issued with 401', async () => {
    const { get, sandbox } = await given({ tokens: ['first'] })
    const unknown = await get('/item/sets', { headers: { authorization: 'Bearer other' } })
    const malformed = await get('/item/sets', { headers: { authorization: 'first' } })
    expect([unknown.status, unknown.body.error]).toEqual([401, 'InvalidTokenError'])
    expect([malformed.status, malformed.body.error]).toEqual([401, 'MalformedTokenError'])
    expect(JSON.stringify(sandbox.requests)).not.toContain('other')
  })

  it.each([
    ['live', undefined, '40'],
    ['documented', undefined, String(Date.parse('2026-06-01T12:01:00Z') / 1000)],
    ['live', 'epoch', String(Date.parse('2026-06-01T12:01:00Z') / 1000)],
    ['documented', 'delta', '40'],
    ['live', 'absent', null],
  ] as const)('say when the window ends: dialect %s, form %s', async (dialect, resetForm, reset) => {
    const { get } = await given({ dialect, resetForm })
    expect((await get('/item/sets')).headers.get('ratelimit-reset')).toBe(reset)
  })
})
