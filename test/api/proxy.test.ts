import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { createTransport, type TransportOptions } from '../../src/api/http/transport.ts'
import { seededRandom } from '../../src/base/clock.ts'
import { FatalError, RetryableError, UsageError } from '../../src/base/errors.ts'
import { openHttp, sendTo } from '../../src/base/http.ts'
import { proxyFor } from '../../src/base/http-proxy.ts'
import { afterwards } from '../support/afterwards.ts'
import { makeCertificate } from '../support/certificates.ts'
import { openHttpProxy } from '../support/http-proxy.ts'
import { type Responder, startServer } from './server.ts'
import { steppedClock } from './stepped-clock.ts'

const token = 'wgc_notARealOne-123456'
const password = 's3cret-of-the-proxy'
const fine: Responder = () => ({ body: { fine: true } })

async function opened(respond: Responder, tls?: { readonly cert: string; readonly key: string }) {
  const server = await startServer(respond, tls)
  afterwards(server.close)
  return server
}

/** A call of the API at a host that no name server knows; what is sent, and how it ends. */
async function call(options: Partial<TransportOptions> & Pick<TransportOptions, 'proxy'>) {
  const clock = steppedClock(Date.parse('2026-05-30T12:00:05Z'))
  let ended = 0
  const transport = createTransport({
    baseUrl: 'http://wynn.example/v3',
    clock,
    random: seededRandom(1),
    token,
    onRequest: () => void ended++,
    ...options,
  })
  afterwards(transport.close)
  const request = { method: 'GET', route: '/guild/{name}', path: '/guild/x', credential: 'required' } as const
  const quiet = () => ended === transport.requestsSent()
  const [done] = await Promise.allSettled([clock.playOut(transport.send(request), quiet)])
  const failure: Error = done?.status === 'rejected' ? done.reason : new Error('no failure')
  expect(inspect(failure, { depth: 10 })).not.toContain(password)
  return { body: done?.status === 'fulfilled' ? done.value.body : undefined, failure, sent: transport.requestsSent() }
}

const withLogin = (url: string) => url.replace('://', `://me:${password}@`)

test.each([
  ['http://wynn.example/v3', 'wynn.example:80'],
  ['http://wynn.example:8080/v3', 'wynn.example:8080'],
])('requests to %s go through the proxy, and what it gets is for it alone', async (baseUrl, target) => {
  const server = await opened(fine)
  const proxy = await openHttpProxy(server.url)
  const { body } = await call({ baseUrl, proxy: { http: withLogin(proxy.url) } })
  expect(body).toEqual({ fine: true })
  expect(proxy.asked).toEqual([target])
  expect(proxy.headers[0]).toMatchObject({
    'proxy-authorization': `Basic ${Buffer.from(`me:${password}`).toString('base64')}`,
  })
  expect(proxy.headers[0]).not.toHaveProperty('authorization')
  expect(server.seen[0]?.headers).toMatchObject({ authorization: `Bearer ${token}`, host: new URL(baseUrl).host })
  expect(server.seen[0]?.headers).not.toHaveProperty('proxy-authorization')
})

test('a proxy may be written without http://, and one for http serves https too', async () => {
  const certificate = await makeCertificate('wynn.example')
  const server = await opened(fine, certificate)
  const proxy = await openHttpProxy(server.url)
  const { failure } = await call({ baseUrl: 'https://wynn.example/v3', proxy: { http: new URL(proxy.url).host } })
  expect(failure.message).toContain('wynn.example cannot be trusted')
  expect(proxy.asked).toEqual(['wynn.example:443'])
  expect(server.seen).toEqual([])
})

test.each([
  [407, '', 'demands a user and a password'],
  [407, password, 'refuses its user and password'],
  [403, '', 'does not connect to wynn.example:80: status 403'],
])('a proxy that answers %s is named, and not asked again', async (status, login, message) => {
  const proxy = await openHttpProxy('http://127.0.0.1:1', { answer: () => status })
  const { failure, sent } = await call({ proxy: { http: login ? withLogin(proxy.url) : proxy.url } })
  expect(failure).toBeInstanceOf(FatalError)
  expect(failure.message).toContain(`/guild/x: the proxy ${proxy.url} ${message}`)
  expect([sent, proxy.asked.length]).toEqual([1, 1])
})

test.each([
  [503, 'does not connect to wynn.example:80: status 503'],
  [0, 'cannot be reached: '],
])('a proxy that is away for now is named, and asked again (%s)', async (status, message) => {
  const server = await opened(fine)
  const away = await openHttpProxy(server.url, { answer: () => status })
  const { failure, sent } = await call({ proxy: { http: withLogin(away.url) } })
  expect(failure).toBeInstanceOf(RetryableError)
  expect(failure.message).toContain(`the proxy ${away.url} ${message}`)
  expect(sent).toBe(5)
  const back = await openHttpProxy(server.url, { answer: (nth) => (nth === 0 ? status : 200) })
  expect(await call({ proxy: { http: back.url } })).toMatchObject({ body: { fine: true }, sent: 2 })
})

test('a proxy on which nothing listens is named', async () => {
  const { failure } = await call({ proxy: { http: `http://me:${password}@127.0.0.1:1` } })
  expect(failure).toBeInstanceOf(RetryableError)
  expect(failure.message).toContain('the proxy http://127.0.0.1:1 cannot be reached: ECONNREFUSED after 5 attempts')
})

test('a proxy over TLS whose certificate cannot be trusted is named', async () => {
  for (const host of ['localhost', 'other.example']) {
    const tls = await makeCertificate(host)
    const proxy = await openHttpProxy('http://127.0.0.1:1', { tls })
    const { failure, sent } = await call({ proxy: { http: withLogin(proxy.url) } })
    expect(failure).toBeInstanceOf(FatalError)
    expect(failure.message).toContain(`the proxy ${proxy.url} cannot be trusted`)
    expect(failure.message).toContain('NODE_EXTRA_CA_CERTS')
    expect([sent, proxy.asked]).toEqual([1, []])
  }
})

test.each(['socks5://127.0.0.1:1', `ftp://me:${password}@h`, `http://me:${password}%@h:1`, 'http://'])(
  '%s is no proxy, and nothing goes past it',
  async (url) => {
    const server = await opened(fine)
    const { failure } = await call({ baseUrl: server.url, proxy: { http: url } })
    expect(failure).toBeInstanceOf(UsageError)
    expect(failure.message).toContain('HTTP_PROXY must be http://host:port')
    expect(server.seen).toEqual([])
  },
)

test.each<[string, string, string, boolean]>([
  ['http://wynn.example/v3', 'wynn.example', 'http', true],
  ['http://api.wynn.example/v3', '.wynn.example', 'http', true],
  ['http://api.wynn.example/v3', 'other.example, *.WYNN.example', 'http', true],
  ['http://api.wynn.example/v3', '*', 'http', true],
  ['http://wynn.example:8080/v3', 'wynn.example:80', 'http', false],
  ['http://wynn.example/v3', 'wynn.example:80', 'http', true],
  ['http://otherwynn.example/v3', 'wynn.example', 'http', false],
  ['https://wynn.example/v3', 'localhost', 'https', false],
  ['http://127.0.0.1:9/v3', 'localhost', 'http', false],
  ['http://[::1]:9/v3', '[::1]', 'http', true],
])('for %s and NO_PROXY=%s, what is said of the proxy is what is done', async (url, no, name, isExcluded) => {
  const proxy = await openHttpProxy('http://127.0.0.1:1', { answer: () => 403 })
  const settings = { http: 'http://127.0.0.1:2', [name]: proxy.url, no }
  expect(proxyFor(url, settings)).toEqual({ proxy: proxy.url, isExcluded })
  const http = openHttp({ proxy: settings })
  afterwards(http.close)
  await sendTo(http, url, { signal: AbortSignal.timeout(1000) }).catch(() => undefined)
  expect(proxy.asked.length).toBe(isExcluded ? 0 : 1)
})

test('without a proxy for a kind of address, it is reached directly', async () => {
  const server = await opened(fine)
  const settings = { https: 'http://127.0.0.1:1' }
  expect(proxyFor(server.url, settings)).toBe(undefined)
  expect((await call({ baseUrl: server.url, proxy: settings })).body).toEqual({ fine: true })
})
