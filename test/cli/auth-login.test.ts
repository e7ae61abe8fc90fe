import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { buildProgram, type Finished, startProgram } from '../support/cli.ts'
import { runInside } from '../support/cli-inside.ts'
import { temporaryFolder } from '../support/postgres.ts'
import { servedApi } from '../support/served.ts'
import { nobodyLoggedIn, pageAt, redirectOf, startLogin, stored } from './auth-browser.ts'

const byHand = ['--no-browser', '--client-id', 'sandbox']

beforeAll(buildProgram)

/** A sandbox whose token route tells the test what it was sent. */
async function listeningApi() {
  const api = await servedApi({ game: false })
  let form = new URLSearchParams()
  api.setAnswer('/oauth/token', ({ body }) => {
    form = new URLSearchParams(body)
    return null
  })
  return { api, sent: (name: string) => form.get(name) ?? '' }
}

function expectUnseen(secrets: readonly string[], shown: readonly (Finished | string)[]): void {
  const text = shown.map((one) => (typeof one === 'string' ? one : one.out + one.err)).join('\n')
  for (const secret of secrets) {
    expect(secret.length).toBeGreaterThan(8)
    expect(text).not.toContain(secret)
  }
}

describe('wynnsync auth login', () => {
  test('obtains a token with PKCE, keeps it for its owner only, and no output shows a secret', async () => {
    const { api, sent } = await listeningApi()
    const place = await nobodyLoggedIn()
    const { file, environment } = place
    const loud = ['--log-level', 'trace']
    const scope = ['--scope', 'identify main_access', '--scope', 'online_status']
    const login = await startLogin(api.url, [...byHand, ...scope, ...loud], place)
    const asked = new URL(login.url)
    expect(asked.origin + asked.pathname).toBe(`${new URL(api.url).origin}/authorize`)
    expect(Object.fromEntries(asked.searchParams)).toMatchObject({
      response_type: 'code',
      client_id: 'sandbox',
      redirect_uri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/),
      scope: 'identify main_access online_status',
      state: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    })
    const redirect = await redirectOf(login.url)
    const page = await pageAt(redirect)
    expect(page).toMatchObject({ status: 200, text: expect.stringContaining('logged in as Sandbox_Player') })
    const done = await login.finished
    expect(done.code).toBe(0)
    expect(done.out).toContain(`Logged in to ${api.url} as Sandbox_Player, with identify main_access online_status.`)

    const { token, ...kept } = stored(file)
    expect(kept).toMatchObject({
      kind: 'oauth',
      baseUrl: api.url,
      scopes: ['identify', 'main_access', 'online_status'],
      lastUsedAt: null,
      who: { username: 'Sandbox_Player' },
    })
    expect([file, dirname(file)].map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o700])

    const base = ['--base-url', api.url, ...loud]
    const shown = [
      await runInside(['auth', 'whoami', ...base], environment),
      await runInside(['auth', 'whoami', '--json', ...base], environment),
      await runInside(['auth', 'me', ...base], environment),
      await runInside(['auth', 'me', '--json', ...base], environment),
      await runInside(['auth', 'logout', '--json', ...base], environment),
      await runInside(['auth', 'logout', ...base], environment),
    ]
    expect(shown.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0, 0])
    const [whoami, whoamiJson, me, meJson, logout, again] = shown.map(({ out }) => out)
    expect(whoami).toMatch(/^player +Sandbox_Player$/m)
    expect(JSON.parse(whoamiJson ?? '')).toMatchObject({ username: 'Sandbox_Player', rank: 'Player', from: 'file' })
    expect(me).toMatch(/^scopes +identify main_access online_status$/m)
    expect(me).toMatch(/^Sandbox_Player +online_status +public$/m)
    expect(me).toMatch(/^last used +\d{4}-/m)
    expect(JSON.parse(meJson ?? '')).toMatchObject({
      kind: 'oauth',
      clientId: 'sandbox',
      scopes: ['identify', 'main_access', 'online_status'],
      profiles: [{ username: 'Sandbox_Player', primary: true, accessRules: { main_access: 'public' } }],
      from: 'file',
    })
    expect(JSON.parse(logout ?? '')).toEqual({ forgotten: true, file })
    expect(again).toContain('Nothing was stored')
    expect(existsSync(file)).toBe(false)

    const secrets = [token, redirect.searchParams.get('code') ?? '', sent('code_verifier')]
    expectUnseen(secrets, [done, page.text, ...shown])
  })

  test('proves a private application with the secret of the environment, and prints one JSON document', async () => {
    const { api, sent } = await listeningApi()
    const { file, environment } = await nobodyLoggedIn()
    const secret = 'sandbox-secret'
    const place = { file, environment: { ...environment, WYNNSYNC_CLIENT_SECRET: secret } }
    const flags = ['--no-browser', '--json', '--log-level', 'trace', '--client-id', 'sandbox-private']
    const login = await startLogin(api.url, flags, place)
    const redirect = await redirectOf(login.url)
    const page = await pageAt(redirect)
    const done = await login.finished
    expect(JSON.parse(done.out)).toMatchObject({ who: { username: 'Sandbox_Player' }, scopes: ['identify'], file })
    expect([sent('client_secret'), sent('code_verifier')]).toEqual([secret, expect.stringMatching(/^[\w-]{43}$/)])
    const secrets = [secret, stored(file).token, redirect.searchParams.get('code') ?? '', sent('code_verifier')]
    expectUnseen(secrets, [done, page.text])
  })

  test('follows only a redirect with its state, once, whatever else browsers and tabs send', async () => {
    const { api } = await listeningApi()
    const place = await nobodyLoggedIn()
    const login = await startLogin(api.url, byHand, place)
    const redirect = await redirectOf(login.url)
    const forged = (state: string) => {
      const url = new URL(redirect)
      url.searchParams.set('state', state)
      return url
    }
    expect((await pageAt(new URL('/favicon.ico', redirect))).status).toBe(404)
    expect((await fetch(redirect, { method: 'POST' })).status).toBe(405)
    expect((await fetch(redirect, { method: 'HEAD' })).status).toBe(405)
    expect((await pageAt(forged('made-up'))).status).toBe(400)
    expect((await pageAt(forged(''))).status).toBe(400)
    expect((await pageAt(`${redirect}&state=twice`)).status).toBe(400)
    expect(existsSync(place.file)).toBe(false)
    const tabs = await Promise.all([pageAt(redirect), pageAt(redirect), pageAt(redirect)])
    expect(tabs.map(({ status }) => status)).toEqual([200, 200, 200])
    const { code, err } = await login.finished
    expect([code, err.match(/another state/g)?.length]).toEqual([0, 3])
    expect(api.requests.filter(({ path }) => path === '/oauth/token')).toHaveLength(1)
  })

  test('ends with 1 when access is denied, tells the browser and the terminal, and stores nothing', async () => {
    const { api } = await listeningApi()
    const place = await nobodyLoggedIn()
    const login = await startLogin(api.url, byHand, place)
    const page = await pageAt(`${login.url}&sandbox_answer=deny`)
    expect(page).toMatchObject({ status: 400, text: expect.stringContaining('access was not allowed') })
    const { code, out, err } = await login.finished
    expect([code, existsSync(place.file)]).toEqual([1, false])
    expect(err).toContain('access_denied: The user denied the request.')
    expect(out + err).not.toMatch(/^ +at /m)
  })

  test('shows what the login page says without its control characters', async () => {
    const { api } = await listeningApi()
    const login = await startLogin(api.url, byHand, await nobodyLoggedIn())
    const { searchParams } = new URL(login.url)
    const back = new URL(searchParams.get('redirect_uri') ?? '')
    const said = {
      error: 'server_error',
      error_description: 'a\u001b[2Jb\r\nc<b>',
      state: searchParams.get('state') ?? '',
    }
    back.search = new URLSearchParams(said).toString()
    const response = await fetch(back)
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(await response.text()).toContain('server_error: a [2Jb c<b>')
    const { code, err } = await login.finished
    expect(code).toBe(1)
    expect(err).toContain('server_error: a [2Jb c<b>')
  })

  test('shows no secret when the API repeats them all in its refusal', async () => {
    const api = await servedApi({ game: false })
    const place = await nobodyLoggedIn()
    let sent = new URLSearchParams()
    api.setAnswer('/oauth/token', ({ body = '' }) => {
      sent = new URLSearchParams(body)
      return { status: 400, body: { error: 'InvalidFormError', detail: `${body} ${[...sent.values()].join(' ')}` } }
    })
    const login = await startLogin(
      api.url,
      [...byHand, '--log-level', 'trace', '--client-secret', 'not-so-secret'],
      place,
    )
    const redirect = await redirectOf(login.url)
    const page = await pageAt(redirect)
    const done = await login.finished
    expect([done.code, page.status]).toEqual([1, 400])
    expect(done.err).toContain('InvalidFormError')
    expectUnseen(['not-so-secret', sent.get('code') ?? '', sent.get('code_verifier') ?? ''], [done, page.text])
  })

  test('stops waiting at Ctrl-C and gives its port back', async () => {
    const api = await servedApi({ game: false })
    const login = await startLogin(api.url, byHand, await nobodyLoggedIn())
    const back = new URL(new URL(login.url).searchParams.get('redirect_uri') ?? '')
    login.child.kill('SIGINT')
    const { code, err } = await login.finished
    expect([code, err]).toEqual([75, 'wynnsync: interrupted by SIGINT\n'])
    await expect(fetch(back)).rejects.toThrow()
  })

  test.runIf(process.platform === 'linux')(
    'opens the page with the opener of the system, without a shell',
    async () => {
      const { api } = await listeningApi()
      const { file, environment } = await nobodyLoggedIn()
      const bin = await temporaryFolder()
      const opened = join(bin, 'opened')
      writeFileSync(
        join(bin, 'xdg-open'),
        `#!/bin/sh\nprintf '%s\\n' "$#" "$1" > ${opened}.draft\nmv ${opened}.draft ${opened}\n`,
      )
      chmodSync(join(bin, 'xdg-open'), 0o755)
      const place = { file, environment: { ...environment, PATH: `${bin}:${process.env.PATH}` } }
      const login = await startLogin(api.url, ['--client-id', 'sandbox'], place)
      await pageAt(login.url)
      expect((await login.finished).code).toBe(0)
      await expect.poll(() => existsSync(opened)).toBe(true)
      expect(readFileSync(opened, 'utf8')).toBe(`1\n${login.url}\n`)
    },
  )
})

describe('wynnsync auth exchange', () => {
  test('turns a code into a stored token, by secret or verifier, and never shows them', async () => {
    const { api } = await listeningApi()
    const { file, environment } = await nobodyLoggedIn()
    const redirectUri = 'https://example.com/callback'
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: 'sandbox-private',
      redirect_uri: redirectUri,
      scope: 'identify',
    })
    const redirect = await redirectOf(`${new URL(api.url).origin}/authorize?${query}`)
    const code = redirect.searchParams.get('code') ?? ''
    const flags = ['--base-url', api.url, '--log-level', 'trace', '--client-id', 'sandbox-private']
    const exchange = (...more: string[]) =>
      runInside(['auth', 'exchange', ...flags, '--code', code, '--redirect-uri', redirectUri, ...more], environment)
    const done = await exchange('--client-secret', 'sandbox-secret')
    expect(done.code).toBe(0)
    expect(done.out).toContain('as Sandbox_Player, with identify.')
    const { token } = stored(file)
    // A second use of a code is refused, and what is stored stays.
    const again = await exchange('--client-secret', 'sandbox-secret')
    expect(again.code).toBe(1)
    expect(again.err).toContain('the code was not accepted: /oauth/token responded with 400 (InvalidFormError')
    expect(stored(file).token).toBe(token)
    expectUnseen([token, code, 'sandbox-secret'], [done, again])
  })
})

describe('wynnsync auth', () => {
  test('ends with 2 for wrong usage and says what to write instead', async () => {
    const busy = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void busy.close())
    await new Promise((resolve) => busy.once('listening', resolve))
    const { port } = busy.address() as AddressInfo
    const { environment } = await nobodyLoggedIn()
    const exchange = ['exchange', '--code', 'c', '--client-id', 'c', '--redirect-uri', 'https://x']
    const cases: readonly (readonly [string[], string])[] = [
      [[], 'Usage: wynnsync auth'],
      [['login'], "required option '--client-id <id>' not specified"],
      [['login', '--client-id', 'c', '--no-browser', '--port', 'x'], '--port must be a whole number'],
      [['login', '--client-id', 'c', '--no-browser', '--port', String(port)], 'another program has it'],
      [['login', '--client-id', 'c', '--no-browser', '--scope', ' '], '--scope must have at least one scope'],
      [exchange, '--code-verifier (public applications)'],
    ]
    const ended = await Promise.all(cases.map(([args]) => runInside(['auth', ...args], environment)))
    expect(ended.map(({ code, out }) => [code, out])).toEqual(cases.map(() => [2, '']))
    for (const [index, [, said]] of cases.entries()) expect(ended[index]?.err).toContain(said)
  })

  test('shows an example for every command, and that a command line can be read by others', async () => {
    const commands = ['login', 'exchange', 'status', 'whoami', 'me', 'logout']
    const helps = await Promise.all(commands.map((command) => runInside(['auth', command, '--help'])))
    for (const [index, { code, out, err }] of helps.entries()) {
      expect([code, err]).toEqual([0, ''])
      expect(out).toMatch(new RegExp(`^Usage: wynnsync auth ${commands[index]} `))
      expect(out).toMatch(/Examples:\n {2}\$ /)
    }
    for (const help of helps.slice(0, 2)) expect(help.out.replace(/\s+/g, ' ')).toContain('can read a command line')
  })

  test('keeps its command line out of the process title', async () => {
    const api = await servedApi({ game: false })
    const place = await nobodyLoggedIn()
    const login = await startLogin(api.url, [...byHand, '--client-secret', 'not-so-secret'], place)
    if (process.platform === 'linux') {
      expect(readFileSync(`/proc/${login.child.pid}/cmdline`, 'utf8')).not.toContain('not-so-secret')
    }
    login.child.kill('SIGTERM')
    await login.finished
    const running = startProgram(['auth', 'logout'], place.environment)
    expect((await running.finished).code).toBe(0)
  })
})
