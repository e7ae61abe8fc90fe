import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Who } from '../../src/app/stored-credential.ts'
import type { Sandbox } from '../../src/sandbox/index.ts'
import { buildProgram } from '../support/cli.ts'
import { runInside } from '../support/cli-inside.ts'
import { testDatabaseUrl } from '../support/postgres.ts'
import { servedApi, serveItems } from '../support/served.ts'
import { item } from '../support/world.ts'
import { logIn, nobodyLoggedIn, stored } from './auth-browser.ts'

const apiToken = 'api-token-of-the-tester'

beforeAll(buildProgram)

/** One sync of little; which kind of credential each request carried, as the API saw it. */
async function syncedAs(api: Sandbox, environment: Record<string, string>, database: string) {
  const from = api.requests.length
  serveItems(api, [item('Elm')])
  const args = ['sync', 'items', '--base-url', api.url, '--database-url', database, '--json']
  const { code, out, err } = await runInside(args, environment)
  const kinds = api.requests.slice(from).map(({ status, credentialKind }) => `${credentialKind} ${status}`)
  return { code, kinds, err, run: JSON.parse(out).runs[0] }
}

async function revoke(api: Sandbox, token: string): Promise<void> {
  const url = `${new URL(api.url).origin}/__sandbox/tokens`
  const { status } = await fetch(url, { method: 'DELETE', body: JSON.stringify({ token }) })
  expect(status).toBe(200)
}

describe('the stored credential', () => {
  test('is used by sync, notes its use once an hour, and goes to no other API', async () => {
    const [api, other] = [await servedApi({ game: false, tokens: [apiToken] }), await servedApi({ game: false })]
    const { file, environment } = await nobodyLoggedIn()
    const database = await testDatabaseUrl()
    await logIn(api.url, { file, environment })
    expect(stored(file).lastUsedAt).toBeNull()
    const first = await syncedAs(api, environment, database)
    const used = stored(file).lastUsedAt
    expect(first).toMatchObject({ code: 0, run: { status: 'ok' } })
    expect(first.kinds).toEqual(['oauth 200'])
    expect(Date.parse(String(used))).toBeGreaterThan(Date.now() - 60_000)

    expect((await syncedAs(api, environment, database)).kinds).toEqual(['oauth 200'])
    expect(stored(file).lastUsedAt).toBe(used)
    const status = await runInside(['status', '--base-url', api.url, '--database-url', database], environment)
    expect(status.out).toMatch(new RegExp(`^token of ${(stored(file).who as Who).username} `, 'm'))
    const byOthers = await runInside(['status', '--database-url', database])
    expect(byOthers.out).toMatch(new RegExp(`^another token \\([0-9a-f]{6}\\) at ${new URL(api.url).origin} `, 'm'))
    // One spelling of the address is as good as another.
    const slash = await runInside(['auth', 'whoami', '--json', '--base-url', `${api.url}/`], environment)
    expect(slash.code).toBe(0)

    const elsewhere = await syncedAs(other, environment, database)
    expect(elsewhere.kinds).toEqual(['guest 200'])
    const nobody = await runInside(['auth', 'whoami', '--base-url', other.url], environment)
    expect(nobody).toMatchObject({ code: 1, out: '' })
    expect(nobody.err).toBe(
      `wynnsync: not logged in to ${other.url}; the stored credential is for ${api.url}. ` +
        'Log in with wynnsync auth login, or set WYNNSYNC_TOKEN\n',
    )
  })

  test('stands back behind WYNNSYNC_TOKEN, of which only the owner can be told', async () => {
    const api = await servedApi({ game: false, tokens: [apiToken] })
    const { file, environment } = await nobodyLoggedIn()
    await logIn(api.url, { file, environment })
    const given = { ...environment, WYNNSYNC_TOKEN: apiToken }
    const ask = (...args: string[]) =>
      runInside(['auth', ...args, '--base-url', api.url, '--log-level', 'trace'], given)
    const statusJson = await ask('status', '--json')
    const shown = [await ask('whoami'), await ask('status'), await ask('me', '--json'), await ask('logout')]
    expect(shown[2]?.out).toBe(statusJson.out)
    const { out: help } = await runInside(['auth', '--help'])
    expect([...help.matchAll(/^ {2}(status|whoami|me)\b/gm)].map(([, name]) => name)).toEqual(['status'])
    expect(shown.map(({ code }) => code)).toEqual([0, 0, 0, 0])
    const [whoami, me, meJson, logout] = shown
    expect(whoami?.out).toMatch(/^player +Player_[0-9a-f]{8}$/m)
    expect(whoami?.out).toMatch(/^from +WYNNSYNC_TOKEN$/m)
    expect(me?.out).toMatch(/^kind +API token: it has no scopes/m)
    expect(JSON.parse(meJson?.out ?? '')).toMatchObject({
      kind: 'token',
      scopes: [],
      identity: { username: expect.stringContaining('Player_') },
      lastUsedAt: null,
      from: 'WYNNSYNC_TOKEN',
    })
    expect(logout?.err).toContain('WYNNSYNC_TOKEN is still set')
    expect(existsSync(file)).toBe(false)
    expect(shown.map(({ out, err }) => out + err).join()).not.toContain(apiToken)
  })

  test('that was revoked ends auth with 1 and says what to do, and lets sync go on as a guest', async () => {
    const api = await servedApi({ game: false })
    const { file, environment } = await nobodyLoggedIn()
    await logIn(api.url, { file, environment })
    const { token } = stored(file)
    await revoke(api, token)
    for (const command of ['status', 'whoami', 'me']) {
      const { code, out, err } = await runInside(['auth', command, '--json', '--base-url', api.url], environment)
      expect([code, out]).toEqual([1, ''])
      expect(err).toContain(`the credential from ${file} is refused`)
      expect(err).toContain('log in again with wynnsync auth login')
      expect(err).not.toContain(token)
    }
    const { code, kinds, run, err } = await syncedAs(api, environment, await testDatabaseUrl())
    expect([code, run.status, kinds]).toEqual([0, 'ok', ['invalid 401', 'guest 200']])
    expect(err.match(/refuses the token/g)).toHaveLength(1)
    expect(err).not.toContain(token)
    expect(stored(file).lastUsedAt).toBeNull()
  })

  test('that others can read is not used: auth ends with 1, sync goes on as a guest', async () => {
    const api = await servedApi({ game: false })
    const { file, environment } = await nobodyLoggedIn()
    await logIn(api.url, { file, environment })
    const { token } = stored(file)
    chmodSync(file, 0o640)
    const whoami = await runInside(['auth', 'whoami', '--base-url', api.url], environment)
    expect(whoami).toMatchObject({ code: 1, out: '' })
    expect(whoami.err).toContain(`run chmod 600 ${file}`)
    const { code, kinds, err } = await syncedAs(api, environment, await testDatabaseUrl())
    expect([code, kinds]).toEqual([0, ['guest 200']])
    expect(err).toContain('continuing as a guest')
    expect(whoami.err + err).not.toContain(token)
    chmodSync(file, 0o600)
    expect((await runInside(['auth', 'whoami', '--base-url', api.url], environment)).code).toBe(0)
  })

  test('that is broken is not repeated in the error, is forgotten by logout and replaced by a login', async () => {
    const api = await servedApi({ game: false })
    const place = await nobodyLoggedIn()
    await logIn(api.url, place)
    const { token } = stored(place.file)
    writeFileSync(place.file, `{"token":"${token}",`)
    const whoami = await runInside(['auth', 'whoami', '--base-url', api.url], place.environment)
    expect(whoami.code).toBe(1)
    expect(whoami.err).toContain('holds no credential of wynnsync')
    expect(whoami.err).not.toContain(token)
    await logIn(api.url, place)
    expect(stored(place.file).token).not.toBe(token)
    expect(readdirSync(dirname(place.file))).toEqual(['credentials.json'])
    writeFileSync(place.file, '[]')
    const logout = await runInside(['auth', 'logout'], place.environment)
    expect([logout.code, existsSync(place.file)]).toEqual([0, false])
    expect(logout.out).toContain('stays valid until you revoke it')
  })

  test('cannot be asked while the service is away or beside itself: that ends with 75', async () => {
    const [api, gone] = [await servedApi({ game: false, tokens: [apiToken] }), await servedApi({ game: false })]
    await gone.close()
    api.setAnswer('/oauth/me', () => ({ body: [] }))
    api.setAnswer('/player/whoami', () => ({ body: {} }))
    const { environment } = await nobodyLoggedIn()
    const ask = (command: string, url: string) =>
      runInside(['auth', command, '--base-url', url], { ...environment, WYNNSYNC_TOKEN: apiToken })
    const asked = [ask('whoami', gone.url), ask('whoami', api.url), ask('me', api.url)]
    for (const { code, out, err } of await Promise.all(asked)) {
      expect([code, out]).toEqual([75, ''])
      expect(err).not.toContain(apiToken)
    }
  })

  test('is kept although the service does not say whose it is', async () => {
    const api = await servedApi({ game: false })
    const place = await nobodyLoggedIn()
    api.setAnswer('/oauth/me', () => ({ status: 403, body: { error: 'Forbidden', detail: 'Not you.', code: 403 } }))
    await logIn(api.url, place)
    expect(stored(place.file)).toMatchObject({ who: null, scopes: ['identify'] })
    const me = await runInside(['auth', 'me', '--base-url', api.url], place.environment)
    expect([me.code, me.out]).toEqual([1, ''])
    expect(me.err).toContain('responded with 403 (Forbidden: Not you.)')
    api.setAnswer('/oauth/me', null)
    expect((await runInside(['auth', 'me', '--base-url', api.url], place.environment)).code).toBe(0)
  })
})
