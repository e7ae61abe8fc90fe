import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Api, createClient } from '../../src/api/client.ts'
import type { RequestEvent } from '../../src/api/http/transport.ts'
import { anything, itemFilter, methodsOf, operations } from './operations.ts'
import { type Seen, startServer, type TestServer } from './server.ts'

let server: TestServer
let api: Api
const events: RequestEvent[] = []

beforeAll(async () => {
  server = await startServer(({ url }) => ({ body: url.startsWith('/v3/oauth/token') ? { access_token: 'x' } : {} }))
  api = createClient({ baseUrl: `${server.url}/v3`, token: 'wgc_x', onRequest: (event) => events.push(event) })
})

afterAll(async () => {
  await api.close()
  await server.close()
})

/** What a method truly sends first. */
async function sentBy(ask: (api: Api, asked: typeof anything) => Promise<unknown>) {
  const before = events.length
  await ask(api, anything)
  const event = events[before]
  const seen = server.seen[before]
  if (event === undefined || seen === undefined) throw new Error('nothing was sent')
  return { operation: `${event.method} ${event.route}`, seen }
}

const everyMethod = Object.entries(operations).flatMap(([operation, methods]) =>
  Object.entries(methods).map(([method, ask]) => ({ operation, method, ask })),
)

const gap = /\{\w+\}/g
const pathOf = ({ url }: Seen) => decodeURIComponent(new URL(url, 'http://localhost').pathname)
const queryOf = ({ url }: Seen) => [...new URL(url, 'http://localhost').searchParams.keys()].sort()

describe('every operation', () => {
  test.each(everyMethod)('$operation is what $method asks', async ({ operation, ask }) => {
    const sent = await sentBy(ask)
    expect(sent.operation).toBe(operation)
    const [method, route = ''] = operation.split(' ')
    expect(sent.seen.method).toBe(method)
    const form = route.replace(/[.*+?^$()|[\]\\]/g, String.raw`\$&`).replaceAll(gap, '[^/]+')
    expect(pathOf(sent.seen)).toMatch(new RegExp(`^/v3${form}$`))
  })

  test('has its methods, and there is no method besides', () => {
    expect(everyMethod.map(({ method }) => method).sort()).toEqual(methodsOf(api).sort())
  })
})

interface OpenApi {
  readonly paths: Record<
    string,
    Record<string, { readonly parameters?: readonly { readonly in: string; readonly name: string }[] }>
  >
  readonly components: { readonly schemas: Record<string, { readonly properties?: Record<string, unknown> }> }
}

const description = join(import.meta.dirname, '../../../shared/data/openapi.json')

/** Operations of the client that the description of 2026-05-13 does not know, and where they are known from. */
const notDescribed: Readonly<Record<string, string>> = {
  'POST /oauth/token': 'OAuth is described on pages of its own (API reference 3.1)',
  'GET /oauth/me': 'OAuth is described on pages of its own (API reference 3.1)',
  'GET /guild/seasons': 'newer than the description (API reference 3.5)',
  'GET /item/recipe/database': 'newer than the description (API reference 3.3)',
  'POST /item/recipe/search': 'newer than the description (API reference 3.3)',
  'GET /map/world-events': 'newer than the description (API reference 3.6)',
  'GET /map/camps': 'newer than the description (API reference 3.6)',
  'GET /map/raids': 'newer than the description (API reference 3.6)',
  'GET /map/loot-pools': 'newer than the description (API reference 3.6)',
  'GET /map/gathering-nodes': 'newer than the description (API reference 3.6)',
}

/** Query parameters that only one of the two knows, and why. */
const otherParameters: Readonly<Record<string, { readonly parameters: readonly string[]; readonly why: string }>> = {}

if (!existsSync(description)) {
  test.skip('the client is compared with the description of the API (skipped: recorded data absent)')
} else {
  const { paths, components }: OpenApi = JSON.parse(readFileSync(description, 'utf8'))
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [] }]) => {
      const query = parameters.filter((one) => one.in === 'query').map((one) => one.name)
      return { operation: `${method.toUpperCase()} ${path}`, query: query.sort() }
    }),
  )
  const nameless = (operation: string) => operation.replaceAll(gap, '{}')

  describe('the official description', () => {
    test('has no operation that the client lacks, and lacks only those that are named here', () => {
      const own = Object.keys(operations)
      const ours = new Set(own.map(nameless))
      expect(described.filter(({ operation }) => !ours.has(nameless(operation)))).toEqual([])
      const theirs = new Set(described.map(({ operation }) => nameless(operation)))
      const beyond = own.filter((operation) => !theirs.has(nameless(operation)))
      expect(beyond.sort()).toEqual(Object.keys(notDescribed).sort())
    })

    test.each(described)('of $operation names the query parameters that the client can send', async (one) => {
      const [operation = '', methods = {}] =
        Object.entries(operations).find(([name]) => nameless(name) === nameless(one.operation)) ?? []
      const [ask] = Object.values(methods)
      if (ask === undefined) throw new Error(`no method asks ${one.operation}`)
      const { seen } = await sentBy(ask)
      const sent = queryOf(seen)
      const unlike = [...one.query, ...sent].filter((name) => !(one.query.includes(name) && sent.includes(name)))
      expect(unlike).toEqual(otherParameters[operation]?.parameters ?? [])
    })

    test('of a search for items has the fields of the filter', () => {
      const fields = Object.keys(components.schemas.ItemSearchRequest?.properties ?? {})
      expect(fields.sort()).toEqual(Object.keys(itemFilter).sort())
    })
  })
}
