import { describe, expect, it } from 'vitest'
import { virtualClock } from '../../../src/base/clock.ts'
import { startSandbox } from '../../../src/sandbox/index.ts'
import { start } from '../given.ts'
import { givenLogin, redirectUri, verifier } from './given-login.ts'

describe('the authorize page', () => {
  it('sends the browser back at once with a code and the state', async () => {
    const { authorize } = await givenLogin()
    const { status, location, back } = await authorize()
    expect(status).toBe(302)
    expect(location?.startsWith(`${redirectUri}?`)).toBe(true)
    expect([...back.keys()]).toEqual(['code', 'state'])
    expect(back.get('state')).toBe('a state')
  })

  it('keeps what the redirect target already asks for', async () => {
    const { authorize } = await givenLogin()
    const { back } = await authorize({ redirect_uri: 'http://localhost:1/x?from=me' })
    expect(back.get('from')).toBe('me')
    expect(back.has('code')).toBe(true)
  })

  it.each([
    ['an unknown application', { client_id: 'nobody' }],
    ['no redirect target', { redirect_uri: undefined }],
    ['a redirect target without TLS on another machine', { redirect_uri: 'http://example.com/' }],
    ['a redirect target that is not registered', { redirect_uri: 'https://example.org/callback' }],
    ['a redirect target with a user in it', { redirect_uri: 'http://me@127.0.0.1/' }],
    ['a player nobody knows', { sandbox_user: 'no such player' }],
  ])('sends nobody anywhere for %s', async (_case, changes) => {
    const { authorize } = await givenLogin()
    expect(await authorize(changes)).toMatchObject({ status: 400, location: null })
  })

  it.each([
    ['unsupported_response_type', { response_type: 'token' }],
    ['invalid_scope', { scope: 'identify everything' }],
    ['invalid_scope', { scope: undefined }],
    ['invalid_request', { code_challenge: undefined }],
    ['invalid_request', { code_challenge_method: 'plain' }],
    ['invalid_request', { code_challenge_method: undefined }],
    ['invalid_request', { code_challenge: 'short' }],
    ['access_denied', { sandbox_answer: 'deny' }],
  ])('sends the browser back with %s for %o', async (error, changes) => {
    const { authorize } = await givenLogin()
    const { status, back } = await authorize(changes)
    expect(status).toBe(302)
    expect([back.get('error'), back.get('state'), back.has('code')]).toEqual([error, 'a state', false])
    expect(back.get('error_description')).toBeTruthy()
  })

  it('sends a private application to its registered https target too', async () => {
    const { authorize } = await givenLogin()
    const { location } = await authorize({
      client_id: 'sandbox-private',
      redirect_uri: 'https://example.com/callback',
      code_challenge: undefined,
      code_challenge_method: undefined,
    })
    expect(location).toMatch(/^https:\/\/example\.com\/callback\?code=/)
  })

  it('knows the applications it was started with, and only those', async () => {
    const { authorize } = await givenLogin({ clients: [{ id: 'mine', redirectUris: ['http://127.0.0.1:9/cb'] }] })
    expect((await authorize({ client_id: 'mine', redirect_uri: 'http://127.0.0.1:9/cb' })).status).toBe(302)
    expect((await authorize({ client_id: 'mine', redirect_uri: 'http://127.0.0.1:10/cb' })).status).toBe(400)
    expect((await authorize()).status).toBe(400)
  })
})

describe('the exchange of a code', () => {
  it('gives a bearer token for the code and its verifier, and is never cached', async () => {
    const { authorize, exchange, sandbox } = await givenLogin()
    const { back } = await authorize()
    const { status, body, headers } = await exchange({ code: back.get('code') ?? '' })
    expect([status, body]).toEqual([
      200,
      {
        access_token: expect.stringMatching(/^wgc_[\w-]{43}$/),
        token_type: 'bearer',
        scope: 'identify main_access',
      },
    ])
    expect([headers.get('cache-control'), headers.get('expires')]).toEqual(['no-store', null])
    expect(headers.get('ratelimit-bucket')).toBe('SHARED')
    expect(JSON.stringify(sandbox.requests)).not.toContain(body.access_token)
  })

  it.each([
    ['another grant', { grant_type: 'refresh_token' }, 'grant_type'],
    ['another redirect target', { redirect_uri: 'http://127.0.0.1:1/' }, 'redirect_uri'],
    ['a wrong verifier', { code_verifier: `${verifier}x` }, 'code_verifier'],
    ['no verifier', { code_verifier: undefined }, 'code_verifier'],
    ['an unknown application', { client_id: 'nobody' }, 'client_id'],
    ['a public application with a secret', { client_secret: 'x' }, 'client_secret'],
    ['an unknown code', { code: 'x' }, 'code'],
  ])('refuses %s in the application body, and keeps the code', async (_case, changes, named) => {
    const { authorize, exchange } = await givenLogin()
    const code = (await authorize()).back.get('code') ?? ''
    const refused = await exchange({ code, ...changes })
    expect([refused.status, refused.body.error, refused.body.code]).toEqual([400, 'InvalidFormError', 400])
    expect(refused.body.detail).toContain(named)
    expect((await exchange({ code })).status).toBe(200)
  })

  it('refuses a body that is no form, a field sent twice, and other methods', async () => {
    const { get } = await givenLogin()
    const json = await get('/oauth/token', {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    })
    expect([json.status, json.body.error]).toEqual([400, 'MalformedPayload'])
    const twice = await get('/oauth/token', { method: 'POST', body: new URLSearchParams('code=a&code=b') })
    expect([twice.status, twice.body.error]).toEqual([400, 'InvalidFormError'])
    const other = await get('/oauth/token')
    expect([other.status, other.headers.get('allow')]).toEqual([405, 'POST'])
  })

  it('wants the secret of a private application, with or without PKCE', async () => {
    const { authorize, exchange } = await givenLogin()
    const own = { client_id: 'sandbox-private', code_verifier: undefined }
    const bare = { client_id: 'sandbox-private', code_challenge: undefined, code_challenge_method: undefined }
    const code = (await authorize(bare)).back.get('code') ?? ''
    for (const client_secret of [undefined, 'wrong']) {
      const { status, body } = await exchange({ ...own, code, client_secret })
      expect([status, body.error]).toEqual([403, 'Forbidden'])
    }
    expect((await exchange({ ...own, code, client_secret: 'sandbox-secret' })).status).toBe(200)
    const proven = (await authorize({ client_id: 'sandbox-private' })).back.get('code') ?? ''
    expect((await exchange({ ...own, code: proven, client_secret: 'sandbox-secret' })).status).toBe(400)
    const both = { client_id: 'sandbox-private', code: proven, client_secret: 'sandbox-secret' }
    expect((await exchange(both)).status).toBe(200)
  })

  it('comes too late five minutes after the code was given', async () => {
    const { authorize, exchange, clock } = await givenLogin()
    const [late = '', early = ''] = [await authorize(), await authorize()].map(({ back }) => back.get('code') ?? '')
    await clock.advance(299_999)
    expect((await exchange({ code: early })).status).toBe(200)
    await clock.advance(1)
    expect((await exchange({ code: late })).status).toBe(400)
  })

  it('works once: a second use revokes the token that the first one gave', async () => {
    const { authorize, exchange, as } = await givenLogin()
    const code = (await authorize()).back.get('code') ?? ''
    const token = (await exchange({ code })).body.access_token ?? ''
    expect((await as(token, '/oauth/me')).status).toBe(200)
    expect((await exchange({ code })).status).toBe(400)
    const { status, body } = await as(token, '/oauth/me')
    expect([status, body.error]).toEqual([401, 'InvalidTokenError'])
  })

  it('gives the same tokens for the same seed', async () => {
    const token = async (seed: number) => {
      const sandbox = await startSandbox({ clock: virtualClock(start), seed, game: false })
      const answer = await fetch(sandbox.url.replace('/v3', '/__sandbox/tokens'), { method: 'POST' })
      await sandbox.close()
      return ((await answer.json()) as { token: string }).token
    }
    expect(await token(5)).toBe(await token(5))
    expect(await token(5)).not.toBe(await token(6))
  })
})
