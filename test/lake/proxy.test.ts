import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import type { ProxySettings } from '../../src/base/proxies.ts'
import { openPlace } from '../../src/lake/read/place.ts'
import { openStore } from '../../src/lake/store.ts'
import { type Reply, startServer } from '../api/server.ts'
import { afterwards } from '../support/afterwards.ts'
import { makeCertificate } from '../support/certificates.ts'
import { openHttpProxy } from '../support/http-proxy.ts'
import { temporaryFolder } from '../support/postgres.ts'

const clock = { ...systemClock, sleep: () => Promise.resolve() }
const PASSWORD = 's3cret-of-the-proxy'

async function served(reply: Reply, tls?: { readonly cert: string; readonly key: string }) {
  const server = await startServer(() => reply, tls)
  afterwards(server.close)
  return server
}

/** What reads an index of a web server and of a bucket there. */
async function readersOf(origin: string, proxy: ProxySettings) {
  const dataDir = await temporaryFolder()
  const s3 = { keyId: 'key', secret: 'for-nobody', sessionToken: undefined, region: 'eu-west-3', endpoint: origin }
  const settings = { s3, clock, proxy, dataDir }
  const store = await openStore('s3://bucket/a', settings)
  const read = {
    web: () => openPlace(`${origin}/lake`, settings).index(),
    bucket: () => store.readText('index.json'),
  }
  return { dataDir, store, read }
}

test('a lake on a web server and one in a bucket are read and written through the proxy', async () => {
  const server = await served({ raw: 'no index' })
  const proxy = await openHttpProxy(server.url)
  const { read, store, dataDir } = await readersOf('http://files.example', { http: proxy.url })
  await expect(read.web()).rejects.toThrow('http://files.example/lake/index.json is no index of a lake')
  expect(await read.bucket()).toBe('no index')
  const file = join(dataDir, 'file')
  await writeFile(file, 'x'.repeat(200_000))
  await store.put(file, 'game.item/1.parquet')
  expect(new Set(proxy.asked)).toEqual(new Set(['files.example:80']))
  expect(server.seen.map(({ method, url, body, headers }) => [method, url, body.length, headers.host])).toEqual([
    ['GET', '/lake/index.json', 0, 'files.example'],
    ['GET', '/bucket/a/index.json', 0, 'files.example'],
    ['PUT', '/bucket/a/game.item/1.parquet', 200_000, 'files.example'],
  ])
  const direct = await readersOf(server.url, { http: 'http://127.0.0.1:1', no: '127.0.0.1' })
  expect(await direct.read.bucket()).toBe('no index')
})

test('a URL with a password is no place of a lake, and the message does not repeat it', () => {
  const open = () => openPlace(`https://me:${PASSWORD}@files.example/lake`)
  expect(open).toThrow(/^the URL of a lake must have no user and password$/)
})

test.each(['web', 'bucket'] as const)(
  'a certificate that cannot be trusted is named, and not asked for again (%s)',
  async (kind) => {
    const server = await served({}, await makeCertificate('localhost'))
    const proxy = await openHttpProxy(server.url)
    const { read } = await readersOf('https://files.example', { https: proxy.url })
    await expect(read[kind]()).rejects.toMatchObject({
      name: 'CertificateFault',
      message: expect.stringMatching(/^files\.example cannot be trusted: .*NODE_EXTRA_CA_CERTS/),
    })
    expect([proxy.asked, server.seen]).toEqual([['files.example:443'], []])
  },
)

test.each(['web', 'bucket'] as const)('what is wrong with the proxy is said of the proxy (%s)', async (kind) => {
  const refusing = await openHttpProxy('http://127.0.0.1:1', { answer: () => 407 })
  const url = refusing.url.replace('//', `//me:${PASSWORD}@`)
  const refused = await readersOf('http://files.example', { http: url })
  await expect(refused.read[kind]()).rejects.toMatchObject({
    name: 'ProxyRefusal',
    message: `the proxy ${refusing.url} refuses its user and password (status 407)`,
  })
  expect(refusing.asked).toHaveLength(1)
  const away = await readersOf('http://files.example', { http: `http://me:${PASSWORD}@127.0.0.1:1` })
  const failure = await away.read[kind]().then(undefined, (error: Error) => error)
  expect(failure).toMatchObject({
    message: expect.stringContaining('the proxy http://127.0.0.1:1 cannot be reached: ECONNREFUSED'),
  })
  expect(String(failure)).not.toContain(PASSWORD)
  const wrong = await readersOf('http://files.example', { http: `socks5://me:${PASSWORD}@127.0.0.1:1` })
  await expect(wrong.read[kind]()).rejects.toMatchObject({
    name: 'UsageError',
    message: expect.stringContaining('HTTP_PROXY must be'),
  })
})

test.each(['web', 'bucket'] as const)(
  'a redirect is not followed, and the message shows where it leads (%s)',
  async (kind) => {
    const other = await served({})
    const location = `${other.url.replace('//', '//me:hidden@')}/there?token=hidden`
    const { url } = await served({
      status: 301,
      headers: { location },
      raw: '<Error><Code>PermanentRedirect</Code></Error>',
    })
    const { read } = await readersOf(url, {})
    const failure = await read[kind]().then(undefined, String)
    expect(failure).toContain(`, a redirect to ${other.url}/there, which is not followed`)
    expect(failure).not.toContain('hidden')
    expect(other.seen).toEqual([])
  },
)
