import { afterEach, describe, expect, test } from 'vitest'
import { type Api, createClient } from '../../src/api/client.ts'
import { Forbidden, MultipleObjectsReturned, NotFound, Unauthorized } from '../../src/api/errors.ts'
import { virtualClock } from '../../src/base/clock.ts'
import { RetryableError, UsageError } from '../../src/base/errors.ts'
import { type Reply, type Responder, startServer } from './server.ts'

const closers: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function open(respond: Responder, clock = virtualClock(Date.parse('2026-05-30T12:00:05Z'))) {
  const server = await startServer(respond)
  const api = createClient({ baseUrl: `${server.url}/v3`, clock })
  closers.push(server.close, api.close)
  return { api, clock, urls: () => server.seen.map((one) => one.url.replace('/v3', '')) }
}

const uuid = '00000000-0000-4000-8000-000000000001'
const other = '00000000-0000-4000-8000-000000000002'

describe('an endpoint asks for', () => {
  const calls: [string, (api: Api) => Promise<unknown>][] = [
    ['/guild/list/territory', (api) => api.guilds.territories()],
    ['/guild/list/guild', (api) => api.guilds.list()],
    ['/guild/list/guild?identifier=uuid', (api) => api.guilds.list({ identifier: 'uuid' })],
    [`/guild/uuid/${uuid}`, (api) => api.guilds.byUuid(uuid)],
    [`/guild/uuid/${uuid}?identifier=username`, (api) => api.guilds.byUuid(uuid, { identifier: 'username' })],
    ['/guild/Owls%20of%20Night', (api) => api.guilds.byName('Owls of Night')],
    ['/guild/%20Owls%20?identifier=uuid', (api) => api.guilds.byName(' Owls ', { identifier: 'uuid' })],
    [`/guild/Owl's%20Nest`, (api) => api.guilds.byName(`Owl's Nest`)],
    ['/guild/a%2Fb%3Fc%23d%25e%26f%2Bg', (api) => api.guilds.byName('a/b?c#d%e&f+g')],
    ['/guild/%C3%89lan%20%F0%9F%A6%89', (api) => api.guilds.byName('Élan 🦉')],
    ['/guild/...', (api) => api.guilds.byName('...')],
    ['/guild/prefix/OwL', (api) => api.guilds.byPrefix('OwL')],
    ['/guild/seasons', (api) => api.guilds.seasons()],
    ['/player', (api) => api.players.online()],
    ['/player?identifier=uuid&server=EU1', (api) => api.players.online({ identifier: 'uuid', server: 'EU1' })],
    ['/player?server=7', (api) => api.players.online({ server: 7 })],
    ['/player/Ada', (api) => api.players.profile('Ada')],
    [`/player/${uuid}?fullResult`, (api) => api.players.profile(uuid, { fullResult: true })],
    ['/player/Ada', (api) => api.players.profile('Ada', { fullResult: false })],
    ['/player/Ada/characters', (api) => api.players.characters('Ada')],
    [`/player/Ada/characters/${uuid}`, (api) => api.players.character('Ada', uuid)],
    [`/player/Ada/characters/${uuid}/abilities`, (api) => api.players.abilities('Ada', uuid)],
    ['/player/whoami', (api) => api.players.whoami()],
  ]

  test.each(calls)('%s', async (url, call) => {
    const body = { anything: { at: ['all'] } }
    const { api, urls } = await open(() => ({ body }))
    expect(await call(api)).toMatchObject({ body, status: 200 })
    expect(urls()).toEqual([url])
  })

  test.each(['', '.', '..', '\ud83e'])('nothing, when the name is %j', async (name) => {
    const { api, urls } = await open(() => ({ body: {} }))
    await expect(api.guilds.byName(name)).rejects.toThrow(UsageError)
    await expect(api.players.character('Ada', name)).rejects.toThrow('cannot be a characterUuid')
    expect(urls()).toEqual([])
  })

  test('the abilities of a character, also where they come as a plain list', async () => {
    const { api } = await open(() => ({ body: [{ type: 'ability' }] }))
    expect((await api.players.abilities('Ada', uuid)).body).toEqual([{ type: 'ability' }])
    await expect(api.players.characters('Ada')).rejects.toThrow(RetryableError)
  })
})

describe('an answer', () => {
  test('nobody wants any more is not asked for', async () => {
    const { api } = await open(() => ({ body: {} }))
    const call = { lane: 'live', signal: AbortSignal.abort(new Error('enough')) } as const
    await expect(api.guilds.territories(call)).rejects.toThrow('enough')
    await expect(api.players.online({ identifier: 'uuid', ...call })).rejects.toThrow('enough')
  })

  test.each([
    [
      'the envelope of today',
      (objects: object) => ({ error: 'MultipleObjectsReturned', detail: 'two', code: 300, objects }),
    ],
    ['the bare map of before', (objects: object) => objects],
  ])('that names several guilds is refused with all of them, in %s', async (_name, wrap) => {
    const objects = { [uuid]: { name: 'Owls', prefix: 'OWL' }, [other]: { name: 'OWLS', prefix: 'owl' } }
    const { api } = await open(() => ({ status: 300, body: wrap(objects) }))
    const refused: unknown = await api.guilds.byPrefix('owl').catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(MultipleObjectsReturned)
    expect(refused).toMatchObject({ status: 300, objects, path: '/guild/prefix/owl' })
  })

  test.each([
    ['hidden', 403, Forbidden, (api: Api) => api.players.characters('Ada')],
    ['gone', 404, NotFound, (api: Api) => api.guilds.byUuid(uuid)],
    ['for others', 401, Unauthorized, (api: Api) => api.players.whoami()],
  ])('that is %s is refused at once with its own error', async (_name, status, Kind, call) => {
    const { api, urls } = await open(() => ({ status, body: { error: 'No', detail: 'really', code: status } }))
    const refused: unknown = await call(api).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(Kind)
    expect(refused).toMatchObject({ status, detail: 'really' })
    expect(urls()).toHaveLength(1)
  })

  test('that is a list of guilds called "error" and "message" is no refusal', async () => {
    const body = { error: { uuid, prefix: 'ERR' }, message: { uuid: other, prefix: 'MSG' } }
    const { api } = await open(() => ({ body }))
    expect((await api.guilds.list()).body).toEqual(body)
  })
})

describe('the budget that remains', () => {
  const route = '/guild/uuid/{uuid}'
  const told = (remaining: number, bucket = 'GUILD'): Reply => ({
    headers: {
      'RateLimit-Bucket': bucket,
      'RateLimit-Limit': '50',
      'RateLimit-Remaining': String(remaining),
      'RateLimit-Reset': '30',
    },
    body: {},
  })

  test('is unknown before the first answer, then what the answer said, for every route of the bucket asked so far', async () => {
    let left = 50
    const { api } = await open(() => told(--left))
    expect(api.remaining(route)).toBeNull()
    expect((await api.guilds.byUuid(uuid)).rateLimit).toMatchObject({ bucket: 'GUILD', remaining: 49 })
    expect(api.remaining(route)).toBe(49)
    expect(api.remaining('/guild/list/guild')).toBeNull()
    await api.guilds.list()
    expect([api.remaining(route), api.remaining('/guild/list/guild')]).toEqual([48, 48])
  })

  test('has the requests in flight subtracted', async () => {
    let release = () => {}
    let asked = 0
    const { api } = await open(async () => {
      if (++asked > 1)
        await new Promise<void>((resolve) => {
          release = resolve
        })
      return told(11 - asked)
    })
    await api.guilds.byUuid(uuid)
    const running = api.guilds.byUuid(uuid)
    while (asked < 2) await new Promise((resolve) => setImmediate(resolve))
    expect(api.remaining(route)).toBe(9)
    release()
    await running
    expect(api.remaining(route)).toBe(9)
  })

  test('is unknown again after the window', async () => {
    const { api, clock } = await open(() => told(0))
    await api.guilds.byUuid(uuid)
    expect(api.remaining(route)).toBe(0)
    await clock.advance(31_000)
    expect(api.remaining(route)).toBeNull()
  })

  test('is unknown without headers', async () => {
    const { api } = await open(() => ({ body: {} }))
    const answer = await api.guilds.byUuid(uuid)
    expect([answer.rateLimit, api.remaining(route)]).toEqual([null, null])
  })

  test('is none while a 429 holds the bucket', async () => {
    let asked = 0
    const refused = { ...told(0), status: 429, headers: { ...told(0).headers, 'Retry-After': '20' } }
    const { api, clock } = await open(() => (++asked === 1 ? refused : told(44)))
    const running = api.guilds.byUuid(uuid)
    while (api.remaining(route) === null) await new Promise((resolve) => setImmediate(resolve))
    expect(api.remaining(route)).toBe(0)
    await clock.advance(30_000)
    await running
    expect(api.remaining(route)).toBe(44)
  })
})
