import { get } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { Hono } from 'hono'
import { describe, expect, test } from 'vitest'
import { compressed, entityOf, sendEntity } from '../../src/web/http/etag.ts'
import { withoutSlash } from '../../src/web/http/origin.ts'
import { bothKinds } from '../support/postgres.ts'
import { webWorld } from '../support/web-world.ts'

/** The bytes of a response as they were sent. */
async function bytesOf(url: string, encoding: string, headers: Record<string, string> = {}) {
  return await new Promise<{ status: number; headers: Record<string, unknown>; body: Buffer }>((resolve, reject) => {
    get(url, { agent: false, headers: { 'accept-encoding': encoding, ...headers } }, async (response) => {
      const pieces: Buffer[] = []
      for await (const piece of response) pieces.push(piece)
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(pieces) })
    }).once('error', reject)
  })
}

const decoders = { br: brotliDecompressSync, gzip: gunzipSync }

describe.each(bothKinds)('the server on the %s database', (kind) => {
  const { served } = webWorld(kind)

  test.each([
    ['/territories', 'no-cache', {}],
    ['/none', 'no-store', {}],
    ['/openapi.json', 'no-cache', {}],
    ['/api/v1/territory_capture', 'no-cache', {}],
    ['/api/v1/item_identification', 'no-cache', { accept: 'text/csv' }],
    ['/feeds/captures.atom', 'no-cache', {}],
  ])('compresses %s where the client takes that, and knows each form again', async (path, caching, headers) => {
    const { url } = await served()
    const plain = await bytesOf(`${url}${path}`, 'identity', headers)
    expect([plain.headers['content-encoding'], plain.headers['cache-control']]).toEqual([undefined, caching])
    if (plain.body.length < 1024) return expect(plain.headers.vary ?? '').not.toContain('Encoding')
    for (const [accepted, encoding] of [
      ['gzip, deflate, br', 'br'],
      ['gzip', 'gzip'],
      ['br;q=0.1, gzip;q=1.0', 'gzip'],
      ['br;q=0, *', 'gzip'],
    ] as const) {
      const got = await bytesOf(`${url}${path}`, accepted, headers)
      expect([got.status, got.headers['content-encoding']]).toEqual([plain.status, encoding])
      expect(String(got.headers.vary)).toContain('Accept-Encoding')
      expect(got.headers['content-type']).toBe(plain.headers['content-type'])
      expect(decoders[encoding](got.body).equals(plain.body)).toBe(true)
      expect(got.body.length).toBeLessThan(plain.body.length)
      if (plain.headers.etag === undefined) continue
      expect(got.headers.etag).not.toBe(plain.headers.etag)
      for (const known of [got.headers.etag, `W/${got.headers.etag}`, plain.headers.etag]) {
        const again = await bytesOf(`${url}${path}`, accepted, { ...headers, 'if-none-match': String(known) })
        expect([again.status, again.headers.etag, again.body.length]).toEqual([304, got.headers.etag, 0])
      }
    }
  })

  test('leads to the path without a slash at its end, and lets nobody keep what is not there', async () => {
    const { ask } = await served()
    for (const [path, place] of [
      ['/map/', '/map'],
      ['/map/?at=2026-06-01T10:45Z', '/map?at=2026-06-01T10:45Z'],
      ['/api/', '/api'],
      ['//evil.example/', '/evil.example'],
    ] as const) {
      const { status, headers } = await ask(path)
      expect([path, status, headers.location]).toEqual([path, 308, place])
    }
    for (const path of ['/none', '/api/none', '/changes/none', '/feeds/none.atom', '/guilds/none']) {
      const { status, headers } = await ask(path)
      expect([path, status, headers['cache-control']]).toEqual([path, 404, 'no-store'])
    }
    expect(withoutSlash(new URL('http://localhost/'))).toBeUndefined()
    expect(withoutSlash(new URL('http://localhost//'))).toBeUndefined()
  })
})

test('small bodies, pictures and streams of events are sent as they are', async () => {
  const app = new Hono()
  const sent = { small: ['x'.repeat(1000), 'text/html'], png: ['x'.repeat(5000), 'image/png'] } as const
  const events = ['x'.repeat(5000), 'text/event-stream'] as const
  for (const [name, [text, type]] of Object.entries({ ...sent, events }))
    app.get(`/${name}`, (context) => sendEntity(context, entityOf(text, type)))
  for (const name of ['small', 'png', 'events']) {
    const { headers } = await app.request(`/${name}`, { headers: { 'accept-encoding': 'br, gzip' } })
    expect([name, headers.get('content-encoding'), headers.get('vary')]).toEqual([name, null, null])
  }
})

test('bytes that are sent again are compressed once', async () => {
  const { body } = entityOf('<p>page</p>'.repeat(1000), 'text/html')
  if (!(body instanceof Uint8Array)) throw new Error('it is kept as bytes')
  const [first, second] = await Promise.all([compressed(body, 'br'), compressed(body, 'br')])
  expect(second).toBe(first)
  expect(await compressed(body, 'br')).toBe(first)
  expect(await compressed(body, 'gzip')).not.toBe(first)
})
