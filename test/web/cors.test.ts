import { expect, test } from 'vitest'
import { webWorld } from '../support/web-world.ts'

const ours = 'https://tools.example.org'
const lived = webWorld('server')

/** What a browser learns for a page of an origin: the status, who may read it, and what varies. */
async function seen(url: string, path: string, origin?: string, init: RequestInit = {}) {
  const headers = { ...init.headers, ...(origin !== undefined && { origin }) }
  const response = await fetch(`${url}${path}`, { ...init, headers })
  const of = (name: string) => response.headers.get(name)
  return {
    status: response.status,
    readers: of('access-control-allow-origin'),
    varies: /\bOrigin\b/.test(of('vary') ?? ''),
    credentials: of('access-control-allow-credentials'),
    methods: of('access-control-allow-methods'),
  }
}

const preflight = { method: 'OPTIONS', headers: { 'access-control-request-method': 'GET' } }

test('one origin reads data, and no page', async () => {
  const { url } = await lived.served({ cors: ours })
  for (const path of ['/api/v1/territory', '/openapi.json', '/map.json', '/api/v1/no_such']) {
    expect([path, await seen(url, path, ours)]).toEqual([
      path,
      expect.objectContaining({ readers: ours, varies: true, credentials: null }),
    ])
    // A cache must not hand the answer of one origin to another one.
    for (const other of [undefined, 'https://evil.example', 'null', `${ours}.evil.example`])
      expect([path, await seen(url, path, other)]).toEqual([
        path,
        expect.objectContaining({ readers: null, varies: true }),
      ])
  }
  for (const path of ['/', '/territories', '/status']) expect((await seen(url, path, ours)).readers).toBe(null)
})

test('a preflight is answered for that origin alone', async () => {
  const { url } = await lived.served({ cors: ours })
  expect(await seen(url, '/api/v1/territory', ours, preflight)).toEqual({
    status: 204,
    readers: ours,
    varies: true,
    credentials: null,
    methods: 'GET, HEAD',
  })
  expect(await seen(url, '/api/v1/territory', 'https://evil.example', preflight)).toMatchObject({
    status: 405,
    readers: null,
  })
  expect((await seen(url, '/', ours, preflight)).status).toBe(405)
})

test('all origins read data with *, and none without the option', async () => {
  const all = await lived.served({ cors: '*' })
  expect(await seen(all.url, '/api/v1/territory', 'https://any.example')).toMatchObject({ readers: '*', varies: false })
  const none = await lived.served()
  expect(await seen(none.url, '/api/v1/territory', ours)).toMatchObject({ status: 200, readers: null })
  expect(await seen(none.url, '/api/v1/territory', ours, preflight)).toMatchObject({ status: 405, readers: null })
})
