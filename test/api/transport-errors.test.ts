import { gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import * as errors from '../../src/api/errors.ts'
import { certificateFault, FatalError, RetryableError } from '../../src/base/errors.ts'
import { makeCertificate } from '../support/certificates.ts'
import { expectNoCredential, failureOf, type Options, openTransport, start, token } from './open-transport.ts'
import { type Reply, type Responder, startServer } from './server.ts'

const open = (respond: Responder, options: Options = {}) => openTransport(respond, { token, ...options })

const first = (reply: Reply, then: Reply): Responder => {
  let asked = 0
  return () => (++asked === 1 ? reply : then)
}
const fine: Reply = { body: { fine: true } }
const html = { headers: { 'content-type': 'text/html' }, raw: '<!DOCTYPE html><title>busy</title>' }
const zipped = gzipSync(JSON.stringify({ text: 'long enough '.repeat(500) }))
const gzipped = (raw: Buffer): Reply => ({ headers: { 'content-encoding': 'gzip' }, raw: gzipSync(raw) })
/** One byte now and then, for ever. */
const trickle: Responder = (_seen, response) => {
  response.writeHead(200, { 'content-length': '100000' })
  const timer = setInterval(() => response.write(' '), 10)
  response.on('close', () => clearInterval(timer))
  return undefined
}
const cut: Responder = (_seen, response) => {
  response.writeHead(200, { 'content-length': '100' })
  response.write('{"results": [')
  setTimeout(() => response.destroy(), 2)
  return undefined
}
const reset: Responder = (_seen, response) => {
  response.destroy()
  return undefined
}

test('a body with a byte order mark is read, plain and in gzip', async () => {
  const body = Buffer.from('\ufeff{"name": "Gr\u00fcn"}')
  for (const reply of [{ raw: body }, gzipped(body)]) {
    const { call, transport } = await open(() => reply)
    expect((await call()).body).toEqual({ name: 'Gr\u00fcn' })
    expect(transport.requestsSent()).toBe(1)
  }
})

test('a certificate that cannot be trusted is not asked for again, and the message says what helps', async () => {
  const server = await startServer(() => fine, await makeCertificate('localhost'))
  onTestFinished(server.close)
  const { call, events } = await open(() => fine, { baseUrl: server.url })
  const failure = await failureOf(call())
  expect(failure).toBeInstanceOf(FatalError)
  expect(failure.message).toMatch(
    /^\/guild\/Some%20Guild: 127\.0\.0\.1:\d+ cannot be trusted: self-signed certificate \(DEPTH_ZERO_/,
  )
  expect(failure.message).toContain('NODE_EXTRA_CA_CERTS')
  expect([events.length, server.seen.length]).toEqual([1, 0])
  expectNoCredential(failure)
})

test.each([
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', /NODE_EXTRA_CA_CERTS/],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', /NODE_EXTRA_CA_CERTS/],
  ['SELF_SIGNED_CERT_IN_CHAIN', /NODE_EXTRA_CA_CERTS/],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', /NODE_EXTRA_CA_CERTS/],
  ['CERT_UNTRUSTED', /NODE_EXTRA_CA_CERTS/],
  ['CERT_HAS_EXPIRED', /renewed there, unless this machine's clock/],
  ['CERT_NOT_YET_VALID', /renewed there, unless this machine's clock/],
  ['ERR_TLS_CERT_ALTNAME_INVALID', /that of another host/],
  ['HOSTNAME_MISMATCH', /that of another host/],
  ['CERT_REVOKED', /replaced there/],
])('%s is a fault of a certificate', (code, advice) => {
  const text = certificateFault(Object.assign(new Error('a reason; if so'), { code }))?.text
  expect(text).toMatch(advice)
  expect(text).toContain(`a reason (${code})`)
})

test.each(['ECONNRESET', 'ERR_TLS_HANDSHAKE_TIMEOUT', 'EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER'])(
  '%s is no fault of a certificate',
  (code) => expect(certificateFault(Object.assign(new Error('x'), { code }))).toBe(undefined),
)

describe('what passes is repeated', () => {
  test.each<[string, Reply]>([
    ['500', { status: 500, body: { error: 'InternalError', detail: 'oops', code: 500 } }],
    ['502 without a body', { status: 502, raw: '' }],
    ['524 in HTML', { ...html, status: 524 }],
    ['HTML with status 200', html],
    ['JSON that ends early', { raw: '{"results": [1, 2' }],
    ['gzip that ends early', { headers: { 'content-encoding': 'gzip' }, raw: zipped.subarray(0, 40) }],
    ['an empty body', { raw: '' }],
    ['bytes that are not UTF-8', { raw: Buffer.from('{"name": "Gr\xfcn"}', 'latin1') }],
    ['bytes that are not UTF-8 in gzip', gzipped(Buffer.from('{"name": "\xf0\x9f"}', 'latin1'))],
    ['500 with a body that nests too deep', { status: 500, raw: '['.repeat(20_000) + ']'.repeat(20_000) }],
    ['an encoding nobody asked for', { headers: { 'content-encoding': 'br' }, raw: 'x' }],
    ['a 200 that says 503 inside', { body: { error: 'InternalError', detail: 'x', code: 503 } }],
    ['a 200 from the gateway with a message', { body: { message: 'upstream', request_id: '1' } }],
  ])('%s', async (_name, reply) => {
    const { call } = await open(first(reply, fine))
    const answer = await call()
    expect(answer.body).toEqual({ fine: true })
    expect(answer.attempts).toBe(2)
  })

  test.each([
    ['a connection that is reset', reset],
    ['a body that is cut', cut],
  ])('%s', async (_name, broken) => {
    let asked = 0
    const { call, events } = await open((seen, response) => (++asked === 1 ? broken(seen, response) : fine))
    expect((await call()).attempts).toBe(2)
    expect(events.map((event) => event.attempt)).toEqual([1, 2])
    expect(events[0]?.error).toMatch(/connection broke|body ended early/)
  })

  test('headers that do not come in time, and a body that stops coming', async () => {
    let asked = 0
    const respond: Responder = (_seen, response) => {
      asked++
      if (asked === 2) response.writeHead(200).write('{"a"')
      return asked < 3 ? undefined : fine
    }
    const { call, events } = await open(respond, { timeouts: { headers: 30, body: 30 } })
    expect((await call()).attempts).toBe(3)
    expect(events.map((event) => event.error)).toEqual(['no headers in time', 'body stopped coming', undefined])
  })
})

describe('a body that comes a byte now and then', () => {
  test('is given up when its deadline is over, and asked for again', async () => {
    let asked = 0
    const timeouts = { headers: 5000, body: 5000, deadline: 200 }
    const respond: Responder = (seen, response) => (++asked === 1 ? trickle(seen, response) : fine)
    const { call, events } = await open(respond, { timeouts })
    const began = performance.now()
    expect((await call()).attempts).toBe(2)
    expect(performance.now() - began).toBeLessThan(3000)
    expect(events.map((event) => event.error)).toEqual(['no whole body within 0.2 s', undefined])
  })

  test('ends as a service that is away when it always comes so, and at once with the signal of its caller', async () => {
    const { call } = await open(trickle, { timeouts: { deadline: 50 } })
    const failure = await failureOf(call())
    expect(failure).toBeInstanceOf(errors.Unavailable)
    expect(failure.message).toContain('no whole body within 0.05 s after 5 attempts')
    const { transport } = await open(trickle, { timeouts: { deadline: 60_000 } })
    const signal = AbortSignal.timeout(100)
    const sent = transport.send({ method: 'GET', route: '/a', path: '/a', signal })
    expect((await failureOf(sent)).name).toBe('TimeoutError')
  })
})

describe('what does not pass is given up with what was seen', () => {
  test.each<[string, Responder, string]>([
    [
      '503',
      () => ({ status: 503, body: { message: 'no upstream', request_id: '1' } }),
      '503 after 5 attempts (no upstream)',
    ],
    [
      'bytes that are not UTF-8',
      () => ({ raw: Buffer.from([0x22, 0xff, 0x22]) }),
      'bytes that are not UTF-8 after 5 attempts',
    ],
    [
      'HTML in another encoding',
      () => ({ ...html, raw: Buffer.from('<b>\xfc</b>', 'latin1') }),
      'HTML instead of JSON after 5',
    ],
    ['HTML', () => html, 'HTML instead of JSON after 5 attempts'],
    ['HTML with a status', () => ({ ...html, status: 502 }), '502, HTML instead of JSON after 5 attempts'],
    ['a cut body', cut, 'body ended early'],
    ['a reset connection', reset, 'connection broke'],
  ])('%s', async (_name, respond, words) => {
    const { call, transport } = await open(respond)
    const failure = await failureOf(call())
    expect(failure).toBeInstanceOf(errors.Unavailable)
    expect(failure).toBeInstanceOf(RetryableError)
    expect(failure.message).toContain('/guild/Some%20Guild')
    expect(failure.message).toContain(words)
    expect(transport.requestsSent()).toBe(5)
    expectNoCredential(failure)
  })

  test('a server that is not there', async () => {
    const { server, call } = await open(() => fine)
    await server.close()
    const failure = await failureOf(call())
    expect(failure).toBeInstanceOf(errors.Unavailable)
    expect(failure.message).toContain('connection refused after 5 attempts')
  })

  test.runIf(process.platform === 'linux')('a network without a way there', async () => {
    // TCP cannot reach everybody at once, whatever the network of the machine.
    const { call, transport } = await open(() => fine, { baseUrl: 'http://255.255.255.255:9/v3/', token: undefined })
    const failure = await failureOf(call({ method: 'GET', route: '/item/sets', path: '/item/sets' }))
    expect(failure).toBeInstanceOf(errors.Unavailable)
    expect(failure.message).toContain('network unreachable after 5 attempts')
    expect(transport.requestsSent()).toBe(5)
  })

  test('a body above the size limit is fatal and asked for once', async () => {
    const { call, transport } = await open(() => ({ raw: `"${'x'.repeat(5000)}"` }), { maxBytes: 1000 })
    const failure = await failureOf(call())
    expect(failure).toBeInstanceOf(FatalError)
    expect(failure.message).toContain('too large')
    expect(transport.requestsSent()).toBe(1)
  })

  test('so is one that only grows when it is unpacked', async () => {
    const reply = { headers: { 'content-encoding': 'gzip' }, raw: zipped }
    const { call } = await open(() => reply, { maxBytes: 1000 })
    expect((await failureOf(call())).message).toContain('too large')
  })
})

describe('an exchange', () => {
  test('sends flags bare, leaves out what is undefined, and names itself', async () => {
    const { transport, server } = await open(() => fine)
    const query = { fullResult: true as const, page: 2, identifier: 'a b&c', nothing: undefined }
    await transport.send({ method: 'GET', route: '/item/database', path: '/item/database', query })
    expect(server.seen[0]?.url).toBe('/v3/item/database?fullResult&page=2&identifier=a%20b%26c')
    expect(server.seen[0]?.headers['user-agent']).toMatch(/^wynnsync\/\d+\.\d+\.\d+$/)
    expect(server.seen[0]?.headers['accept-encoding']).toBe('gzip')
  })

  test('sends searches as JSON and forms as forms', async () => {
    const { transport, server } = await open(() => fine)
    await transport.send({ method: 'POST', route: '/item/search', path: '/item/search', json: { tier: ['rare'] } })
    await transport.send({ method: 'POST', route: '/oauth/token', path: '/oauth/token', form: { code: 'a b' } })
    expect(server.seen.map((one) => [one.headers['content-type'], one.body])).toEqual([
      ['application/json', '{"tier":["rare"]}'],
      ['application/x-www-form-urlencoded', 'code=a+b'],
    ])
  })

  test('unpacks gzip and tells what the answer cost and when it was true', async () => {
    const body = { text: 'long enough '.repeat(500) }
    const headers = {
      'Content-Encoding': 'gzip',
      'Cache-Control': 'max-age=3600',
      Date: 'Sat, 30 May 2026 12:00:00 GMT',
      Expires: 'Sat, 30 May 2026 12:30:00 GMT',
      'RateLimit-Bucket': 'ITEMS',
      'RateLimit-Limit': '50',
      'RateLimit-Remaining': '49',
      'RateLimit-Reset': '55',
    }
    const { call, events } = await open(() => ({ headers, raw: zipped }))
    expect(await call()).toMatchObject({
      body,
      status: 200,
      bytes: zipped.length,
      attempts: 1,
      receivedAt: start,
      observedAt: Date.parse('2026-05-30T11:30:00Z'),
      expiresAt: Date.parse('2026-05-30T12:30:00Z'),
      maxAge: 3600,
      rateLimit: { bucket: 'ITEMS', limit: 50, remaining: 49, reset: 55, resetAt: start + 55_000 },
    })
    const event = { method: 'GET', route: '/guild/{name}', status: 200, attempt: 1, durationMs: 0, waitMs: 0 }
    expect(events).toEqual([{ ...event, bytes: zipped.length, bucket: 'ITEMS' }])
  })
})
