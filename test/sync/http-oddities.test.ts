import { createServer, type Server, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { createClient } from '../../src/api/client.ts'
import { seededRandom } from '../../src/base/clock.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { runResource } from '../../src/sync/run/run-resource.ts'
import { place } from '../support/guild-answers.ts'
import { instantOf, worldOf } from '../support/world.ts'

/** Bytes that are sent in place of a response. */
type Reply = (body: string, date: string) => string | Buffer

/** A response that is not as the API sends it, head and body. */
const response = (
  body: (text: string) => string | Buffer,
  { status = '200 OK', headers = [] as string[], protocol = 'HTTP/1.1', hasDate = true, hasLength = true } = {},
): Reply => {
  return (text, date) => {
    const bytes = Buffer.from(body(text))
    const lines = [
      `${protocol} ${status}`,
      ...(hasDate ? [`Date: ${date}`] : []),
      ...(hasLength ? [`Content-Length: ${bytes.length}`] : []),
      'Connection: close',
      ...headers,
    ]
    return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), bytes])
  }
}
const same = (text: string) => text
const nothing = () => ''
const zipped = ['Content-Encoding: gzip']
const html = { headers: ['Content-Type: text/html'] }

let server: Server | undefined
afterEach(() => new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined))))

describe('a response that is odd by HTTP, between two ordinary ones,', () => {
  const world = worldOf('server')

  /** A capture that the odd response shows, too, where it can be read. */
  async function play(odd: Reply) {
    let [reply, body]: [Reply, string] = [response(same), '']
    server = createServer((socket: Socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.end(reply(body, new Date(world.clock.now()).toUTCString())))
    })
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    const baseUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
    const api = createClient({ baseUrl, clock: world.clock, random: seededRandom(1) })
    const quiet = { debug() {}, info() {}, warn() {}, error() {} }
    const guards = { plausibleShare: 0.5, absences: 2, zeroShare: 0.25 }
    const engine = { db: world.db, api, clock: world.clock, program: 'test', guards, log: quiet, raw: true }
    const sync = async (at: string, oak: object, how: Reply) => {
      await world.clock.advanceTo(instantOf(at))
      body = JSON.stringify({ Oak: oak, Elm: place('a', '08:00') })
      reply = how
      return await runResource(territories, engine, {})
    }
    await sync('10:00', place('a', '08:00'), response(same))
    const run = await sync('10:05', place('b', '10:04'), odd)
    const after = await sync('10:30', place('b', '10:04'), response(same))
    await api.close()
    expect(after.error).toBe(undefined)
    expect(await world.rows('select territory, to_guild_name, captured_at from analytics.territory_capture')).toEqual([
      ['Oak', 'Guild b', '10:04'],
    ])
    expect(await world.rows(`select count(*) from sync.run`)).toEqual([[3]])
    return run
  }

  test.each<[string, Reply]>([
    ['no Date', response(same, { hasDate: false })],
    ['a Date that is none', response(same, { hasDate: false, headers: ['Date: yesterday'] })],
    ['two Dates', response(same, { headers: ['Date: Mon, 01 Jun 2026 01:00:00 GMT'] })],
    ['text/html with JSON in it', response(same, html)],
    ['a byte order mark', response((text) => `\ufeff${text}`)],
    ['HTTP/1.0, without a length', response(same, { protocol: 'HTTP/1.0', hasLength: false })],
    ['203', response(same, { status: '203 Non-Authoritative' })],
    ['early hints', (text, date) => `HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n${response(same)(text, date)}`],
  ])('is loaded: %s', async (_what, odd) => {
    expect(await play(odd)).toMatchObject({ status: 'ok', requests: 1, events: 1 })
  })

  test.each<[string, Reply, string]>([
    ['304', response(nothing, { status: '304 Not Modified', hasLength: false }), '304, an empty body after 5'],
    ['204', response(nothing, { status: '204 No Content', hasLength: false }), 'an empty body after 5'],
    ['425', response(nothing, { status: '425 Too Early' }), '425, an empty body after 5'],
    [
      'half of a body',
      response((text) => text.slice(0, 99), { status: '206 Partial Content' }),
      'JSON that ended early',
    ],
    [
      'gzip that ends early',
      response((text) => gzipSync(text).subarray(0, -9), { headers: zipped }),
      'compressed body',
    ],
    ['gzip that is none', response(same, { headers: zipped }), 'compressed body that ended early or is broken'],
    ['gzip that is not named', response((text) => gzipSync(text)), 'not UTF-8'],
    ['gzip twice', response(gzipSync, { headers: ['Content-Encoding: gzip, gzip'] }), 'encoded as gzip, gzip'],
    ['a page', response(() => '<!doctype html><p>Maintenance', html), 'HTML instead of JSON'],
    ['a page without tags', response(() => 'Down for maintenance', html), 'text that is not JSON'],
    ['something after the JSON', response((text) => `${text}<!-- cached -->`), 'text that is not JSON'],
    ['the JSON twice', response((text) => text + text), 'text that is not JSON'],
    ['UTF-16', response((text) => Buffer.from(`\ufeff${text}`, 'utf16le')), 'not UTF-8'],
    [
      'HTTP/1.0 that is cut',
      response((text) => text.slice(0, -9), { protocol: 'HTTP/1.0', hasLength: false }),
      'early',
    ],
    ['no HTTP', () => 'SSH-2.0-OpenSSH_9.2\r\n', 'a response that is not HTTP'],
    ['null', response(() => 'null'), 'unexpected shape: /guild/list/territory'],
  ])('is a failure that passes: %s', async (_what, odd, words) => {
    const error = expect.stringMatching(/^(unexpected shape: )?\/guild\/list\/territory/)
    const run = await play(odd)
    expect(run).toMatchObject({ status: 'failed', temporary: true, error, events: 0 })
    expect(run.error).toContain(words)
  })

  test('is a failure that a person looks at: a redirect, which is not followed', async () => {
    const moved = response(nothing, { status: '302 Found', headers: ['Location: https://elsewhere.example/v4'] })
    const run = await play(moved)
    expect(run).toMatchObject({ status: 'failed', temporary: false, requests: 1 })
    expect(run.error).toContain('a redirect to https://elsewhere.example/v4, which is not followed')
  })
})
