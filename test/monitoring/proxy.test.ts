import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { openHttp } from '../../src/base/http.ts'
import type { ProxySettings } from '../../src/base/proxies.ts'
import { sendMessage } from '../../src/monitoring/watches/send.ts'
import { openWebhook } from '../../src/monitoring/webhook.ts'
import { startServer } from '../api/server.ts'
import { afterwards } from '../support/afterwards.ts'
import { makeCertificate } from '../support/certificates.ts'
import { openHttpProxy } from '../support/http-proxy.ts'
import { temporaryFolder } from '../support/postgres.ts'
import { openReceiver } from '../support/receiver.ts'

const secretPath = '/hook/of-a-secret-name'

/** What the webhook warns of when it cannot deliver a notice. */
async function notified(url: string, proxy: ProxySettings = {}): Promise<string[]> {
  const warnings: string[] = []
  const warn = (message: string) => void warnings.push(message)
  const memory = join(await temporaryFolder(), 'webhook.json')
  const webhook = openWebhook({ url, clock: systemClock, proxy, memory, warn })
  webhook.notify({ event: 'guard', resource: 'items', message: 'text' })
  await webhook.close(60_000)
  expect(warnings.join('')).not.toContain('of-a-secret-name')
  return warnings.map((text) => text.replace('the webhook could not be notified of guard: ', ''))
}

/** The same of a watch. */
async function sent(url: string, proxy: ProxySettings = {}) {
  const http = openHttp({ proxy })
  afterwards(http.close)
  const message = { id: 'msg_1', watch: 'mine', occurrences: [] }
  const signal = new AbortController().signal
  return await sendMessage({ type: 'webhook', url }, message, { clock: systemClock, signal, http })
}

test('the webhook and the messages of watches go through the proxy', async () => {
  const receiver = await openReceiver()
  const proxy = await openHttpProxy(receiver.url)
  const url = `http://chat.example${secretPath}`
  expect(await notified(url, { http: proxy.url })).toEqual([])
  expect((await sent(url, { http: proxy.url })).failure).toBe(null)
  expect(proxy.asked).toEqual(['chat.example:80', 'chat.example:80'])
  expect(receiver.got).toHaveLength(2)
  expect(await notified(receiver.url, { http: proxy.url, no: '127.0.0.1' })).toEqual([])
  expect(proxy.asked).toHaveLength(2)
})

test('what a proxy refuses names the proxy, and is not sent again at once', async () => {
  const proxy = await openHttpProxy('http://127.0.0.1:1', { answer: () => 407 })
  const url = `http://chat.example${secretPath}`
  const settings = { http: proxy.url.replace('//', '//me:s3cret@') }
  const reason = `the proxy ${proxy.url} refuses its user and password (status 407)`
  expect(await notified(url, settings)).toEqual([reason])
  expect(proxy.asked).toHaveLength(1)
  expect(await sent(url, settings)).toMatchObject({ failure: reason, isLasting: true })
})

test('a certificate that cannot be trusted is named, and the notice is not sent again at once', async () => {
  const server = await startServer(() => ({}), await makeCertificate('localhost'))
  afterwards(server.close)
  const proxy = await openHttpProxy(server.url)
  const [warning, ...others] = await notified(`https://chat.example${secretPath}`, { https: proxy.url })
  expect(warning).toContain('chat.example cannot be trusted: ')
  expect(warning).toContain('NODE_EXTRA_CA_CERTS')
  expect([others, proxy.asked, server.seen]).toEqual([[], ['chat.example:443'], []])
  expect(await sent(server.url)).toMatchObject({
    failure: expect.stringContaining('cannot be trusted'),
    isLasting: true,
  })
})

test('a redirect is not followed, and the message shows where it leads, without the path', async () => {
  const receiver = await openReceiver(
    () => 301,
    () => ({ location: `https://me:hidden@chat.example${secretPath}` }),
  )
  expect(await notified(receiver.url)).toEqual([
    'status 301, a redirect to https://chat.example, which is not followed',
  ])
})
