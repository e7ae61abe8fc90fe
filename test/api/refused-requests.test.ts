import { describe, expect, onTestFinished, test } from 'vitest'
import { createClient } from '../../src/api/client.ts'
import * as errors from '../../src/api/errors.ts'
import { createTransport, type RequestEvent } from '../../src/api/http/transport.ts'
import { FatalError, RetryableError, UsageError } from '../../src/base/errors.ts'
import { expectNoCredential, failureOf, type Options, openTransport, token } from './open-transport.ts'
import { type Reply, type Responder, startServer } from './server.ts'

const open = (respond: Responder, options: Options = {}) => openTransport(respond, { token, ...options })

const fine: Reply = { body: { fine: true } }
const html = { headers: { 'content-type': 'text/html' }, raw: '<!DOCTYPE html><title>busy</title>' }

describe('refusals', () => {
  const application = (error: string, code: number) => ({ status: code, body: { error, detail: 'because', code } })

  test.each([
    [400, 'PaginationError', errors.BadRequest],
    [401, 'InvalidTokenError', errors.Unauthorized],
    [403, 'Forbidden', errors.Forbidden],
    [404, 'NotFound', errors.NotFound],
    [405, 'MethodNotAllowed', errors.ApiError],
  ])('%i is a typed error with the words of the body, and is not repeated', async (status, kind, type) => {
    const { call, transport } = await open(() => application(kind, status))
    const failure = await failureOf(call())
    expect(failure).toBeInstanceOf(type)
    expect(failure).toBeInstanceOf(FatalError)
    expect(failure).toMatchObject({ name: type.name, status, kind, detail: 'because', path: '/guild/Some%20Guild' })
    expect(failure.message).toBe(`/guild/Some%20Guild responded with ${status} (${kind}: because)`)
    expect(transport.requestsSent()).toBe(1)
  })

  const notOfTheApplication: readonly [string, Omit<Reply, 'status'>, string][] = [
    ['from the gateway', { body: { message: 'no Route matched', request_id: 'f' } }, 'no Route matched'],
    ['from the gateway before mid-2025', { body: { message: 'no Route matched' } }, 'no Route matched'],
    ['as an empty object', { body: {} }, 'not from the application'],
    ['of another framework', { body: { timestamp: 1, error: 'Forbidden', path: '/' } }, 'not from the application'],
    ['that names another status', { body: { error: 'Forbidden', detail: 'x', code: 418 } }, 'not from the application'],
    ['in HTML', html, 'HTML instead of JSON'],
    ['without a body', { raw: '' }, 'an empty body'],
  ]
  test.each([403, 404].flatMap((status) => notOfTheApplication.map((one) => [status, ...one] as const)))(
    '%i %s is no verdict on what was asked for, but Unavailable',
    async (status, _name, reply, words) => {
      const { call, transport } = await open(() => ({ ...reply, status }))
      const failure = await failureOf(call())
      expect(failure).toBeInstanceOf(errors.Unavailable)
      expect(failure).toBeInstanceOf(RetryableError)
      expect(failure.message).toContain(words)
      expect(failure.message).toContain(`${status}`)
      expect(transport.requestsSent()).toBe(1)
    },
  )

  test('a verdict says when it was written, by the clock of the service', async () => {
    const headers = { Date: 'Sat, 30 May 2026 12:03:04 GMT' }
    const { call } = await open(() => ({ ...application('Forbidden', 403), headers }))
    expect(await failureOf(call())).toMatchObject({ respondedAt: Date.parse('2026-05-30T12:03:04Z') })
  })

  const matches = { 'uuid-1': { name: 'Twin', prefix: 'TWN' }, 'uuid-2': { name: 'twin', prefix: 'twn' } }
  test.each([
    ['in an envelope', { error: 'MultipleObjectsReturned', detail: 'several', code: 300, objects: matches }],
    ['as the whole body', matches],
  ])('300 carries its matches %s', async (_name, body) => {
    const { call } = await open(() => ({ status: 300, body }))
    const failure = await failureOf(call())
    expect(failure).toBeInstanceOf(errors.MultipleObjectsReturned)
    expect(failure).toMatchObject({ status: 300, objects: matches })
  })

  test('a 200 that says 404 inside is a NotFound', async () => {
    const { call } = await open(() => ({ ...application('NotFound', 404), status: 200 }))
    expect(await failureOf(call())).toBeInstanceOf(errors.NotFound)
  })

  test('a listing with an entry called "error" or "message" is no error', async () => {
    const body = { error: { uuid: 'u', prefix: 'E' }, message: { uuid: 'v', prefix: 'M' } }
    const { call } = await open(() => ({ body }))
    expect((await call()).body).toEqual(body)
  })

  test.each([301, 302, 303, 307, 308])(
    'a redirect (%s) is refused, not followed with the credential',
    async (status) => {
      const other = await startServer(() => fine)
      onTestFinished(other.close)
      const { call, server } = await open(() => ({ status, headers: { location: `${other.url}/v3/guild` }, body: {} }))
      const failure = await failureOf(call())
      expect(failure).toMatchObject({ status, context: { status } })
      expect(failure.message).toBe(
        `/guild/Some%20Guild responded with ${status} (a redirect to ${other.url}/v3/guild, which is not followed)`,
      )
      expect([server.seen.length, other.seen.length]).toEqual([1, 0])
    },
  )

  test.each<[string, string | undefined, string]>([
    ['of this server', '/login', 'http://127.0.0.1:PORT/login'],
    [
      'with a user and a password',
      `https://me:hidden@portal.example/in/${token}?t=${token}#${token}`,
      'https://portal.example/in/[credential]',
    ],
    [
      'with characters of another direction',
      'https://portal.example/\u00e2\u0080\u00aegpj',
      'https://portal.example/%C3%A2%C2%80%C2%AEgpj',
    ],
    ['that cannot be read', 'http://me:hidden@[bad\u009b31m', 'http://[bad\\u009b31m'],
    ['of another kind', 'javascript:hidden', 'javascript:'],
    ['that is long', `/${'x'.repeat(5000)}`, `http://127.0.0.1:PORT/${'x'.repeat(160)}`],
  ])('the message shows the address of a redirect %s, without secrets', async (_name, location, shown) => {
    const html = 'text/html'
    const { call, server } = await open((_seen, response) => {
      response.socket?.end(
        Buffer.from(
          `HTTP/1.1 302 Found\r\nContent-Type: ${html}\r\nLocation: ${location}\r\nContent-Length: 6\r\n\r\n<html>`,
          'latin1',
        ),
      )
      return undefined
    })
    const failure = await failureOf(call())
    expect(failure.message).toContain(`(a redirect to ${shown.replace('PORT', new URL(server.url).port)}`)
    expect(failure.message).not.toContain('hidden')
    expectNoCredential(failure)
  })
})

describe('the credential', () => {
  test('is sent, and shows in no error even when the server repeats it', async () => {
    const echo: Responder = ({ headers }) => ({
      status: 401,
      body: { error: 'InvalidTokenError', detail: `bad header: ${headers.authorization}`, code: 401 },
    })
    const { call, server, transport } = await open(echo)
    const failure = await failureOf(call())
    expect(server.seen[0]?.headers.authorization).toBe(`Bearer ${token}`)
    expect(failure).toMatchObject({ detail: 'bad header: Bearer [credential]' })
    expectNoCredential(failure)
    expectNoCredential(transport)
  })

  test('shows in no client object and no event', async () => {
    const server = await startServer(() => fine)
    const events: RequestEvent[] = []
    const api = createClient({ baseUrl: server.url, token, onRequest: (event) => events.push(event) })
    onTestFinished(async () => {
      await api.close()
      await server.close()
    })
    await api.items.sets()
    expectNoCredential(api)
    expectNoCredential(events)
  })

  test('that cannot be a header is refused without being shown', () => {
    const open = () => createTransport({ baseUrl: 'http://127.0.0.1:1', token: `${token}\n` })
    expect(open).toThrow(UsageError)
    expect(open).not.toThrow(token)
  })

  test('in the base URL is refused', () => {
    const open = () => createTransport({ baseUrl: `http://me:${token}@127.0.0.1:1` })
    expect(open).toThrow(UsageError)
    expect(open).not.toThrow(token)
  })
})
