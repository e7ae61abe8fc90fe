import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { readConfig, settingWarnings } from '../../src/base/config.ts'
import { startServer } from '../api/server.ts'
import { afterwards } from '../support/afterwards.ts'
import { makeCertificate } from '../support/certificates.ts'
import { buildProgram, runProgram } from '../support/cli.ts'
import { runInside } from '../support/cli-inside.ts'
import { openHttpProxy } from '../support/http-proxy.ts'
import { temporaryFolder } from '../support/postgres.ts'

const WYNNSYNC_TOKEN = 'wgc_notARealOne-123456'
const PASSWORD = 's3cret-of-the-proxy'
const WYNNSYNC_BASE_URL = 'http://wynn.example/v3'
const profile = { '5f0c1b2a-0000-4000-8000-000000000001': { username: 'Somebody', rank: 'Player', supportRank: null } }

beforeAll(buildProgram)

async function served(tls?: { readonly cert: string; readonly key: string }) {
  const server = await startServer(() => ({ body: profile }), tls)
  afterwards(server.close)
  return server
}

const withLogin = (url: string) => url.replace('://', `://me:${PASSWORD}@`)

/** A folder without a credential, and without a `.env` unless it is given. */
async function place(env = '') {
  const folder = await temporaryFolder()
  if (env !== '') writeFileSync(join(folder, '.env'), env)
  const environment = {
    WYNNSYNC_TOKEN,
    WYNNSYNC_BASE_URL,
    WYNNSYNC_DATA_DIR: join(folder, 'data'),
    WYNNSYNC_CREDENTIALS: join(folder, 'credentials.json'),
  }
  const said: string[] = []
  const run = async (args: string[], more: Record<string, string>) => {
    const done = await runInside(args, { ...environment, ...more }, folder)
    said.push(done.out, done.err)
    expect(said.join('')).not.toContain(PASSWORD)
    expect(said.join('')).not.toContain(WYNNSYNC_TOKEN)
    return done
  }
  return { environment, folder, run }
}

test.each([
  ['HTTP_PROXY', 'environment'],
  ['http_proxy', 'environment'],
  ['HTTP_PROXY', '.env'],
  ['http_proxy', '.env'],
])('%s in %s is obeyed, and NO_PROXY in the same spelling', async (name, where) => {
  const server = await served()
  const proxy = await openHttpProxy(server.url)
  const given = { [name]: withLogin(proxy.url) }
  const { run } = await place(where === '.env' ? `${name}=${given[name]}\n` : '')
  const environment: Record<string, string> = where === '.env' ? {} : given
  expect(await run(['auth', 'whoami', '--json'], environment)).toMatchObject({ code: 0 })
  expect(proxy.asked).toEqual(['wynn.example:80'])
  expect(server.seen[0]?.headers.authorization).toBe(`Bearer ${WYNNSYNC_TOKEN}`)
  const excluded = name === 'http_proxy' ? { no_proxy: '127.0.0.1' } : { NO_PROXY: '127.0.0.1' }
  const direct = ['auth', 'whoami', '--json', '--base-url', server.url]
  expect(await run(direct, { ...environment, ...excluded })).toMatchObject({ code: 0 })
  expect(proxy.asked).toHaveLength(1)
  // An address of this machine is like any other.
  expect(await run(direct, environment)).toMatchObject({ code: 0 })
  expect(proxy.asked).toEqual(['wynn.example:80', new URL(server.url).host])
})

test('doctor names the proxy without its password, and whether NO_PROXY excludes the host of the API', async () => {
  const proxy = await openHttpProxy('http://127.0.0.1:1', { answer: () => 407 })
  const { run } = await place()
  const doctor = async (more: Record<string, string>) => {
    const { findings } = JSON.parse((await run(['doctor', '--json'], more)).out)
    return (check: string) => findings.find((one: { check: string }) => one.check === check)
  }
  const refused = await doctor({ HTTP_PROXY: withLogin(proxy.url) })
  const seen = `requests to wynn.example go through ${proxy.url}`
  expect(refused('proxy')).toEqual({ check: 'proxy', verdict: 'fine', seen })
  expect(refused('api')).toMatchObject({
    verdict: 'problem',
    seen: `/guild/seasons: the proxy ${proxy.url} refuses its user and password (status 407)`,
  })
  const server = await served()
  const more = { WYNNSYNC_BASE_URL: server.url, HTTP_PROXY: withLogin(proxy.url), NO_PROXY: 'localhost 127.0.0.1' }
  const excluded = await doctor(more)
  const { host } = new URL(server.url)
  expect(excluded('proxy').seen).toBe(
    `NO_PROXY excludes ${host}: requests to it go there directly, not through ${proxy.url}`,
  )
  expect(server.seen.length).toBeGreaterThan(0)
  const wrong = await doctor({ HTTP_PROXY: `socks5://me:${PASSWORD}@127.0.0.1:1` })
  expect(wrong('proxy')).toMatchObject({ verdict: 'problem', seen: expect.stringContaining('HTTP_PROXY must be') })
  expect(wrong('api')).toMatchObject({ verdict: 'problem', seen: expect.stringContaining('HTTP_PROXY must be') })
  expect((await doctor({ NO_PROXY: '*' }))('proxy')).toBe(undefined)
})

test('a proxy that is set and cannot be used stops what would go through it, and nothing else', async () => {
  const { run } = await place()
  const HTTP_PROXY = `socks5://me:${PASSWORD}@127.0.0.1:1`
  expect(await run(['auth', 'whoami'], { HTTP_PROXY })).toMatchObject({ code: 2, out: '' })
  expect((await run(['watch', 'list'], { HTTP_PROXY })).code).toBe(0)
})

test('config show has the proxies without user and password, whichever way they are spelled', async () => {
  const { run } = await place(`https_proxy=me:${PASSWORD}@proxy.example:1\nNO_PROXY=here\nALL_PROXY=x\nftp_proxy=y\n`)
  const { out, err } = await run(['config', 'show', '--json'], { HTTP_PROXY: `http://me:${PASSWORD}@h:2` })
  const { settings } = JSON.parse(out)
  expect(settings.filter(({ name }: { name: string }) => name.endsWith('_PROXY'))).toEqual([
    { name: 'HTTPS_PROXY', value: '[hidden]@proxy.example:1', source: '.env' },
    { name: 'HTTP_PROXY', value: 'http://[hidden]@h:2', source: 'environment' },
    { name: 'NO_PROXY', value: 'here', source: '.env' },
  ])
  expect(err).toBe('')
  const config = readConfig({}, { HTTPS_PROXY: `http://me:${PASSWORD}@h:2` }, '/nowhere')
  expect(config.proxy).toEqual({ https: `http://me:${PASSWORD}@h:2` })
  expect(inspect(config)).not.toContain(PASSWORD)
  expect(settingWarnings({ HTTP_PROXY: 'x', http_proxy: 'y' } as object, '/nowhere')).toEqual([])
})

test.each([
  ['another host', 'other.example', 2, 'is that of another host'],
  ['that has expired', 'wynn.example', -1, "must be renewed there, unless this machine's clock is wrong"],
])('a trusted certificate of %s ends the command at once', async (_name, host, days, advice) => {
  const certificate = await makeCertificate(host, days)
  const server = await served(certificate)
  const proxy = await openHttpProxy(server.url)
  const { environment } = await place()
  const { code, err } = await runProgram(['auth', 'whoami'], {
    ...environment,
    WYNNSYNC_BASE_URL: 'https://wynn.example/v3',
    HTTPS_PROXY: proxy.url,
    NODE_EXTRA_CA_CERTS: certificate.file,
  })
  expect([code, err]).toEqual([1, expect.stringContaining('wynn.example cannot be trusted')])
  expect(err).toContain(advice)
  expect([proxy.asked.length, server.seen]).toEqual([1, []])
})

test('NODE_EXTRA_CA_CERTS trusts a certificate, through a proxy that needs it too', async () => {
  const [certificate, ofProxy] = [await makeCertificate('wynn.example'), await makeCertificate('localhost')]
  const both = join(await temporaryFolder(), 'ca.pem')
  writeFileSync(both, certificate.cert + ofProxy.cert)
  const server = await served(certificate)
  const proxy = await openHttpProxy(server.url, { tls: ofProxy })
  const { environment } = await place()
  const ask = (more: Record<string, string>) =>
    runProgram(['auth', 'whoami'], {
      ...environment,
      WYNNSYNC_BASE_URL: 'https://wynn.example/v3',
      https_proxy: withLogin(proxy.url),
      ...more,
    })
  expect(await ask({ NODE_EXTRA_CA_CERTS: both })).toMatchObject({ code: 0, err: '' })
  expect(proxy.asked).toEqual(['wynn.example:443'])
  const { code, err } = await ask({})
  expect([code, err]).toEqual([1, expect.stringContaining(`the proxy ${proxy.url} cannot be trusted`)])
  expect(err).toContain('NODE_EXTRA_CA_CERTS')
  expect(err).not.toContain(PASSWORD)
})
