import { inspect } from 'node:util'
import { afterEach, describe, expect, test } from 'vitest'
import { type Api, createClient } from '../../src/api/client.ts'
import { Forbidden, Unauthorized } from '../../src/api/errors.ts'
import type { CredentialRefusal } from '../../src/api/http/transport.ts'
import { virtualClock } from '../../src/base/clock.ts'
import { type Responder, startServer } from './server.ts'

const token = 'wgc_revoked-credential-1234'
const closers: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function open(respond: Responder) {
  const server = await startServer(respond)
  const told: CredentialRefusal[] = []
  const api = createClient({ baseUrl: server.url, token, onCredentialRefused: (refusal) => told.push(refusal) })
  closers.push(server.close, api.close)
  /** Per request: whether it carried the credential. */
  const credentials = () => server.seen.map((one) => one.headers.authorization === `Bearer ${token}`)
  return { api, server, told, credentials }
}

const error = (status: number, name: string) => ({
  status,
  body: { error: name, detail: `no: ${token}`, code: status },
})

/** Refuses whoever brings a credential. */
const refusing =
  (status: number, name: string): Responder =>
  ({ headers }) =>
    headers.authorization === undefined ? { body: { fine: true } } : error(status, name)

describe('a credential that a public route refuses', () => {
  test.each([
    [401, 'InvalidTokenError'],
    [401, 'MalformedTokenError'],
    [403, 'InvalidTokenError'],
    [403, 'MalformedTokenError'],
    [401, 'SomethingElse'],
  ])('with %i %s is reported once, and left out from then on', async (status, name) => {
    const { api, told, credentials } = await open(refusing(status, name))
    expect((await api.guilds.territories()).body).toEqual({ fine: true })
    await Promise.all([api.guilds.seasons(), api.items.sets(), api.search('owl')])
    expect(credentials()).toEqual([true, false, false, false, false])
    expect(told).toMatchObject([{ status, kind: name }])
    expect(told[0]?.message).toContain('wynnsync auth login')
    expect(inspect(told)).not.toContain(token)
  })

  test('is reported once, although several requests were under way with it', async () => {
    const { api, told } = await open(refusing(401, 'InvalidTokenError'))
    await Promise.all([api.guilds.territories(), api.items.sets(), api.players.online(), api.map.quests()])
    expect(told).toHaveLength(1)
  })

  test('counts both requests', async () => {
    const { api } = await open(refusing(401, 'InvalidTokenError'))
    expect((await api.guilds.territories()).attempts).toBe(2)
  })

  test('is kept for the routes that need one, which throw', async () => {
    const { api, told, credentials } = await open(refusing(401, 'InvalidTokenError'))
    await api.guilds.territories()
    await expect(api.players.whoami()).rejects.toThrow(Unauthorized)
    await expect(api.oauth.me()).rejects.toThrow(Unauthorized)
    expect(credentials()).toEqual([true, false, true, true])
    expect(told).toHaveLength(1)
  })
})

describe('a credential is kept', () => {
  test.each<[string, (api: Api) => Promise<unknown>]>([
    ['whoami', (api) => api.players.whoami()],
    ['oauth/me', (api) => api.oauth.me()],
  ])('when %s refuses it: that one throws, and the message shows no credential', async (_name, ask) => {
    const { api, told } = await open(refusing(401, 'InvalidTokenError'))
    const failure: unknown = await ask(api).catch((thrown: unknown) => thrown)
    expect(failure).toBeInstanceOf(Unauthorized)
    expect(inspect(failure, { depth: 10 })).not.toContain(token)
    expect(told).toEqual([])
  })

  test('when something is private', async () => {
    const { api, told, credentials } = await open(() => error(403, 'Forbidden'))
    await expect(api.players.characters('Ada')).rejects.toThrow(Forbidden)
    expect([credentials(), told]).toEqual([[true], []])
  })

  test('when a route answers 401 to everybody', async () => {
    const { api, told, credentials } = await open(({ url }) =>
      url === '/map/locations/player' ? error(401, 'NotAuthenticated') : { body: {} },
    )
    await expect(api.map.players()).rejects.toThrow(Unauthorized)
    await api.guilds.seasons()
    expect([credentials(), told]).toEqual([[true, false, true], []])
  })
})

describe('a credential shows nowhere', () => {
  const raw = (text: string, status = 200) => ({ status, raw: text })
  test.each<[string, Responder]>([
    ...[300, 302, 400, 401, 403, 404, 405, 410, 429, 500, 502, 524].map((status): [string, Responder] => [
      `a ${status}`,
      ({ headers }) => ({
        status,
        headers: { location: `/?token=${token}`, 'retry-after': '0', 'x-token': token },
        body: { error: token, detail: String(headers.authorization), objects: { [token]: { token } }, message: token },
      }),
    ]),
    ['a 200 that is an error', () => ({ body: { message: `Bearer ${token}`, request_id: token } })],
    ['HTML', () => raw(`<p>${token}</p>`)],
    ['broken JSON', () => raw(`{"token": "${token}`)],
    ['a text', () => raw(JSON.stringify(token))],
    ['a list', () => raw(JSON.stringify([token]))],
    ['an unknown encoding', () => ({ headers: { 'content-encoding': 'br' }, raw: token })],
    [
      'no HTTP at all',
      (_seen, response) => {
        response.socket?.end(`HTTP/1.1 200 OK\r\n${token} \u0001 ${token}\r\n\r\n`)
        return undefined
      },
    ],
  ])('whatever the server sends: %s', async (_name, respond) => {
    const server = await startServer(respond)
    const seen: unknown[] = []
    const onRequest = (event: unknown) => seen.push(event)
    const onCredentialRefused = (refusal: unknown) => seen.push(refusal)
    // Time jumps over every wait.
    const clock = virtualClock(Date.parse('2026-05-30T12:00:05Z'), { auto: true, idleMs: 1 })
    const api = createClient({ baseUrl: server.url, token, clock, random: () => 0, onRequest, onCredentialRefused })
    closers.push(server.close, api.close)
    const works = [api.players.whoami(), api.guilds.territories(), api.items.search({ query: 'bow' })]
    for (const outcome of await Promise.allSettled(works)) {
      if (outcome.status !== 'rejected') continue
      const failure: Error = outcome.reason
      seen.push(failure, failure.message, failure.stack, { ...failure })
    }
    seen.push(api)
    expect(inspect(seen, { depth: 12, showHidden: true })).not.toContain(token)
    expect(JSON.stringify(seen)).not.toContain(token)
  })
})
