import { createHash } from 'node:crypto'
import { inspect } from 'node:util'
import { afterEach, describe, expect, test } from 'vitest'
import {
  authorizeEndpoint,
  authorizeUrl,
  beginLogin,
  createPkce,
  createState,
  SCOPES,
} from '../../src/api/auth/oauth.ts'
import { createClient } from '../../src/api/client.ts'
import { BadRequest, Forbidden, TooManyRequests, Unauthorized, Unavailable } from '../../src/api/errors.ts'
import { RetryableError, UsageError } from '../../src/base/errors.ts'
import { type Reply, type Responder, startServer } from './server.ts'
import { steppedClock } from './stepped-clock.ts'

const closers: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const secrets = {
  token: 'wgc_own-credential-1234',
  granted: 'wgc_granted-token-5678',
  code: 'c0de/with+odd chars"\\',
  secret: 'client-s3cret&=1',
  verifier: 'verifier-abcdefghijklmnopqrstuvwxyz-0123456789',
}
const grant: Reply = { body: { access_token: secrets.granted, token_type: 'bearer', scope: 'identify main_access' } }
const exchanged = {
  code: secrets.code,
  redirectUri: 'http://127.0.0.1:7777/callback',
  clientId: 'app-1',
  codeVerifier: secrets.verifier,
}

async function open(respond: Responder, token: string | undefined = secrets.token) {
  const server = await startServer(respond)
  const clock = steppedClock(Date.parse('2026-05-30T12:00:05Z'))
  const api = createClient({ baseUrl: `${server.url}/v3`, token, clock, random: () => 0 })
  closers.push(server.close, api.close)
  return { server, api, clock }
}

const failureOf = async (work: Promise<unknown>): Promise<Error> => {
  const failure: unknown = await work.then(
    () => null,
    (error: unknown) => error,
  )
  if (failure instanceof Error) return failure
  throw new Error('a failure was expected')
}

function expectNoSecret(value: unknown) {
  const shown = [inspect(value, { depth: 12 }), JSON.stringify(value) ?? '']
  if (value instanceof Error) shown.push(value.message, String(value.stack), String(value))
  for (const secret of Object.values(secrets))
    for (const form of [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)])
      for (const text of shown) expect(text).not.toContain(form)
}

describe('the authorize URL', () => {
  test('carries everything the page asks for, and the challenge instead of the verifier', () => {
    const url = new URL(
      authorizeUrl({
        authorizeUrl: 'https://wynncraft.com/authorize',
        clientId: 'app 1',
        redirectUri: 'http://127.0.0.1:7777/callback?x=1',
        scope: ['identify', 'online_status'],
        state: 'st&te',
        codeChallenge: 'challenge',
      }),
    )
    expect(`${url.origin}${url.pathname}`).toBe('https://wynncraft.com/authorize')
    expect(Object.fromEntries(url.searchParams)).toEqual({
      response_type: 'code',
      client_id: 'app 1',
      redirect_uri: 'http://127.0.0.1:7777/callback?x=1',
      scope: 'identify online_status',
      state: 'st&te',
      code_challenge: 'challenge',
      code_challenge_method: 'S256',
    })
  })

  test.each([
    ['https://api.wynncraft.com/v3', 'https://wynncraft.com/authorize'],
    ['http://127.0.0.1:4010/v3', 'http://127.0.0.1:4010/authorize'],
    ['https://example.org/deep/v3/', 'https://example.org/authorize'],
  ])('of the API at %s is %s', (baseUrl, page) => expect(authorizeEndpoint(baseUrl)).toBe(page))

  test('cannot be made from what is no URL', () => {
    expect(() => authorizeEndpoint('nowhere')).toThrow(UsageError)
  })

  test('asks for the nine documented scopes at most', () => expect(new Set(SCOPES).size).toBe(9))
})

describe('PKCE', () => {
  test('makes the verifier and challenge of RFC 7636, appendix B', () => {
    const octets = [
      116, 24, 223, 180, 151, 153, 224, 37, 79, 250, 96, 125, 216, 173, 187, 186, 22, 212, 37, 77, 105, 214, 191, 240,
      91, 88, 5, 88, 83, 132, 141, 121,
    ]
    expect(createPkce(() => Uint8Array.from(octets))).toEqual({
      verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
      challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    })
  })

  test('draws another pair and another state each time', () => {
    const drawn = [createPkce().verifier, createPkce().verifier, createState(), createState()]
    expect(new Set(drawn).size).toBe(4)
    for (const one of drawn) expect(one).toMatch(/^[\w-]{43}$/)
  })
})

describe('a login', () => {
  const begin = () => {
    const baseUrl = 'http://127.0.0.1:4010/v3'
    const login = beginLogin({ baseUrl, clientId: 'app-1', redirectUri: exchanged.redirectUri, scope: ['identify'] })
    const asked = new URL(login.url).searchParams
    const back = (fields: Record<string, string>) => `${exchanged.redirectUri}?${new URLSearchParams(fields)}`
    return { login, asked, state: asked.get('state') ?? '', back }
  }

  test('gives what the exchange needs, with the verifier of its challenge', () => {
    const { login, asked, state, back } = begin()
    const { codeVerifier, ...rest } = login.exchange(back({ code: 'c', state }))
    expect(rest).toEqual({ code: 'c', redirectUri: exchanged.redirectUri, clientId: 'app-1', clientSecret: undefined })
    expect(createHash('sha256').update(codeVerifier).digest('base64url')).toBe(asked.get('code_challenge'))
    expect(inspect(login, { showHidden: true, depth: 5 })).not.toContain(codeVerifier)
  })

  test('refuses a redirect that is not its own, that says no, or that brings nothing', () => {
    const { login, state, back } = begin()
    const denied = back({ state, error: 'access_denied', error_description: 'The player said no.' })
    expect(() => login.exchange(back({ code: 'c', state: begin().state }))).toThrow('does not belong to the login')
    expect(() => login.exchange(back({ code: 'c' }))).toThrow('does not belong to the login')
    expect(() => login.exchange(null)).toThrow('does not belong to the login')
    expect(() => login.exchange(denied)).toThrow('access_denied The player said no.')
    expect(() => login.exchange(back({ state }))).toThrow('carries no code')
  })
})

describe('a code', () => {
  test('is exchanged by a form, without the own credential', async () => {
    const { api, server } = await open(() => grant)
    const answer = await api.oauth.token(exchanged)
    expect(answer.body.access_token).toBe(secrets.granted)
    expect(answer.read().scope).toBe('identify main_access')
    const [seen] = server.seen
    expect(seen).toMatchObject({ method: 'POST', url: '/v3/oauth/token' })
    expect(seen?.headers.authorization).toBeUndefined()
    expect(seen?.headers['content-type']).toBe('application/x-www-form-urlencoded')
    expect(Object.fromEntries(new URLSearchParams(seen?.body))).toEqual({
      grant_type: 'authorization_code',
      code: secrets.code,
      redirect_uri: 'http://127.0.0.1:7777/callback',
      client_id: 'app-1',
      code_verifier: secrets.verifier,
    })
  })

  test('goes with the secret of a private application', async () => {
    const { api, server } = await open(() => grant)
    await api.oauth.token({ ...exchanged, codeVerifier: undefined, clientSecret: secrets.secret })
    const form = Object.fromEntries(new URLSearchParams(server.seen[0]?.body))
    expect(form).toMatchObject({ client_secret: secrets.secret })
    expect(form).not.toHaveProperty('code_verifier')
  })

  const html: Reply = { headers: { 'content-type': 'text/html' }, raw: '<!DOCTYPE html>' }
  test.each<[string, Responder, new (...given: never[]) => Error]>([
    ['a 500', () => ({ status: 500, body: { error: 'InternalError' } }), Unavailable],
    ['a 524', () => ({ ...html, status: 524 }), Unavailable],
    ['a 429', () => ({ status: 429, body: { error: 'TooManyRequest' } }), TooManyRequests],
    ['HTML', () => html, Unavailable],
    ['an empty body', () => ({ raw: '' }), Unavailable],
    ['a body without a token', () => ({ body: { token_type: 'bearer' } }), RetryableError],
    [
      'a broken connection',
      (_seen, response) => {
        response.destroy()
        return undefined
      },
      Unavailable,
    ],
  ])('is not sent again after %s, for it may be used up', async (_name, respond, Kind) => {
    const { api, server } = await open(respond)
    const failure = await failureOf(api.oauth.token(exchanged))
    expect(failure).toBeInstanceOf(Kind)
    expectNoSecret(failure)
    expect(server.seen).toHaveLength(1)
  })

  test('is sent again while nobody listens', async () => {
    const { api, server, clock } = await open(() => grant)
    await server.close()
    const failure = await clock.playOut(failureOf(api.oauth.token(exchanged)), () => true)
    expect(failure.message).toContain('connection refused after 5 attempts')
    expectNoSecret(failure)
  })

  test.each([
    [400, 'InvalidFormError', BadRequest],
    [401, 'InvalidTokenError', Unauthorized],
    [403, 'Forbidden', Forbidden],
  ])('that is refused with %i shows nowhere, nor does what came with it', async (status, error, Kind) => {
    const { api, server } = await open(({ body }) => ({
      status,
      body: { error, detail: `${body} ${Object.values(secrets).join(' ')}`, code: status, [secrets.code]: 1 },
    }))
    const request = { ...exchanged, clientSecret: secrets.secret }
    const failure = await failureOf(api.oauth.token(request))
    expect(failure).toBeInstanceOf(Kind)
    expect(server.seen).toHaveLength(1)
    // The server invented the granted token: nobody could know it to be one.
    const text = JSON.parse(JSON.stringify({ ...failure, message: failure.message }).replaceAll(secrets.granted, ''))
    expectNoSecret(text)
    expect(inspect(failure)).not.toContain(secrets.code)
  })

  test('gives a token that shows in no log, although it is there', async () => {
    const { api } = await open(() => grant)
    const answer = await api.oauth.token(exchanged)
    expectNoSecret(answer)
    expectNoSecret({ ...answer.body })
    expectNoSecret(api)
    expect(answer.read().access_token).toBe(secrets.granted)
  })
})

describe('who the token belongs to', () => {
  const uuid = '00000000-0000-4000-8000-000000000001'

  test('is asked with the credential, and read', async () => {
    const profiles = { [uuid]: { username: 'Ada', primary: true, accessRules: { online_status: 'friend' } } }
    const { api, server } = await open(() => ({ body: { application: { client_id: 'app-1', scopes: [] }, profiles } }))
    expect((await api.oauth.me()).read().profiles[uuid]).toMatchObject({ username: 'Ada', primary: true })
    expect(server.seen[0]).toMatchObject({
      url: '/v3/oauth/me',
      headers: { authorization: `Bearer ${secrets.token}` },
    })
  })

  test('whoami reads identities by uuid', async () => {
    const { api } = await open(() => ({ body: { [uuid]: { username: 'Ada', rank: 'Player' } } }))
    expect((await api.players.whoami()).read()[uuid]?.username).toBe('Ada')
  })
})
