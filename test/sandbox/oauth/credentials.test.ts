import { describe, expect, it } from 'vitest'
import { given } from '../given.ts'
import { givenLogin } from './given-login.ts'

interface Me {
  readonly application: { readonly client_id: string; readonly scopes: readonly string[] }
  readonly profiles: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}
const day = 86_400_000

describe('who a credential is', () => {
  it('is told to an OAuth token by /oauth/me, with the application, the scopes and the access rules', async () => {
    const { login, as } = await givenLogin()
    const { status, body, headers } = await as<Me>(await login(), '/oauth/me')
    expect(status).toBe(200)
    expect(body.application).toEqual({ client_id: 'sandbox', scopes: ['identify', 'main_access'] })
    const [[uuid = '', profile] = []] = Object.entries(body.profiles)
    expect([headers.get('usertype'), headers.get('userid')]).toEqual(['OAUTH', uuid])
    expect(Object.keys(profile ?? {}).sort()).toEqual(
      'accessRules legacyRankColour primary rank rankBadge shortenedRank supportRank username'.split(' '),
    )
    expect(profile?.primary).toBe(true)
    expect(profile?.accessRules).toMatchObject({ main_access: 'public', online_status: expect.any(String) })
  })

  it('is not told by /oauth/me to an API token or to a guest', async () => {
    const { control, as, get } = await givenLogin()
    const { body } = await control('POST', {})
    const api = await as(body.token ?? '', '/oauth/me')
    expect([api.status, api.body.error]).toEqual([403, 'Forbidden'])
    expect((await get('/oauth/me')).status).toBe(401)
  })

  it('is told to any credential by /player/whoami, and 401 to a guest', async () => {
    const { login, control, as, get } = await givenLogin()
    const oauth = await as(await login(), '/player/whoami')
    const api = await as((await control('POST', {})).body.token ?? '', '/player/whoami')
    expect([oauth.status, api.status]).toEqual([200, 200])
    expect(api.body).toEqual(oauth.body)
    expect(Object.keys(Object.values(api.body)[0] ?? {})).toEqual(
      'username online nickname rank supportRank shortenedRank legacyRankColour rankBadge'.split(' '),
    )
    expect(api.headers.get('usertype')).toBe('TOKEN')
    expect(api.headers.get('userid')).toBe(Object.keys(api.body)[0])
    expect((await get('/player/whoami')).status).toBe(401)
  })

  it('is whoever the tester names', async () => {
    const { login, sandbox, as, control } = await givenLogin()
    const other = sandbox.history().memberships[40]?.player ?? ''
    const token = await login({ sandbox_user: other })
    expect(Object.keys((await as<Me>(token, '/oauth/me')).body.profiles)).toEqual([other])
    expect((await control('POST', { player: other })).body.player).toBe(other)
    expect((await control('POST', { player: 'no such player' })).status).toBe(404)
  })

  it('is a stable player for a token that was given at the start', async () => {
    const ids = await Promise.all(
      ['first', 'first', 'second'].map(async (token) => {
        const { get } = await given({ tokens: [token], game: { guilds: 90, players: 300 } })
        return (await get('/item/sets', { headers: { authorization: `Bearer ${token}` } })).headers.get('userid')
      }),
    )
    expect(ids[0]).toBe(ids[1])
    expect(ids[0]).not.toBe(ids[2])
  })

  it('is somebody invented where there is no game', async () => {
    const { login, as } = await givenLogin({ game: false })
    const { body } = await as(await login({ sandbox_user: 'Some_Body' }), '/player/whoami')
    expect(Object.values(body)).toEqual([expect.objectContaining({ username: 'Some_Body', online: false })])
  })
})

describe('the life of a token', () => {
  it('ends 15 days after its last use', async () => {
    const { login, as, clock } = await givenLogin({ game: false })
    const token = await login()
    for (let use = 0; use < 3; use++) {
      await clock.advance(15 * day)
      expect((await as(token, '/oauth/me')).status).toBe(200)
    }
    await clock.advance(15 * day + 1)
    expect((await as(token, '/oauth/me')).status).toBe(401)
  })

  it('ends when the tester revokes it, by text or digest; the list shows digests only', async () => {
    const { login, as, control } = await givenLogin()
    const token = await login()
    const listed = await control<{ tokens: { digest: string; kind: string; client: string; scopes: string[] }[] }>(
      'GET',
    )
    expect(listed.body.tokens).toHaveLength(1)
    expect(listed.body.tokens[0]).toMatchObject({
      kind: 'OAUTH',
      client: 'sandbox',
      scopes: ['identify', 'main_access'],
    })
    expect(JSON.stringify(listed.body)).not.toContain(token)
    expect(await control('DELETE', { token })).toEqual({ status: 200, body: { revoked: true } })
    expect((await as(token, '/item/sets')).status).toBe(401)
    expect(await control('DELETE', { token })).toEqual({ status: 404, body: { revoked: false } })
    const again = await login()
    const [one] = (await control<{ tokens: { digest: string }[] }>('GET')).body.tokens
    expect((await control('DELETE', { digest: one?.digest })).status).toBe(200)
    expect((await as(again, '/item/sets')).status).toBe(401)
  })

  it('begins by order of the tester too, of either kind and with chosen scopes', async () => {
    const { control, as } = await givenLogin()
    const { body } = await control('POST', { kind: 'OAUTH', scopes: ['online_status'] })
    expect((await as<Me>(body.token ?? '', '/oauth/me')).body.application.scopes).toEqual(['online_status'])
    expect((await control('POST', { kind: 'SESSION' })).status).toBe(400)
    expect((await control('POST', { scopes: ['nonsense'] })).status).toBe(400)
  })

  it('follows the newest authorization: scopes belong to the user and the application', async () => {
    const { login, as } = await givenLogin()
    const before = await login()
    await login({ scope: 'online_status' })
    expect((await as<Me>(before, '/oauth/me')).body.application.scopes).toEqual(['online_status'])
  })
})

describe('the budget of a credential', () => {
  it('is one for all OAuth tokens of a user and application, and each API token has its own', async () => {
    const { login, control, as, sandbox } = await givenLogin({ limits: { guest: 9, token: 100 } })
    const remaining = async (token: string) =>
      Number((await as(token, '/item/sets')).headers.get('ratelimit-remaining'))
    const [one, two] = [await login(), await login()]
    expect([await remaining(one), await remaining(two)]).toEqual([99, 98])
    const other = await login({ sandbox_user: sandbox.history().memberships[40]?.player })
    expect(await remaining(other)).toBe(99)
    const [api, second] = [await control('POST', {}), await control('POST', {})]
    expect([await remaining(api.body.token ?? ''), await remaining(second.body.token ?? '')]).toEqual([99, 99])
    expect(sandbox.requests.at(-1)?.credentialKind).toBe('token')
    expect(sandbox.requests.find(({ path }) => path === '/item/sets')?.credentialKind).toBe('oauth')
  })
})
