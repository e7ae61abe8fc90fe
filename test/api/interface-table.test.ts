import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Api, beginLogin, createClient, SCOPES } from '../../src/api/index.ts'
import { virtualClock } from '../../src/base/clock.ts'
import { resources } from '../../src/resources/index.ts'
import { type Dialect, type Sandbox, startSandbox } from '../../src/sandbox/index.ts'
import { type Asked, anything, methodsOf, operations } from './operations.ts'
import { operationRows } from './reference-pages.ts'

const source = join(import.meta.dirname, '../../src')

/** The text of all sources in a folder whose name matches. */
function sourceOf(folder: string, name: RegExp): string {
  return readdirSync(join(source, folder))
    .filter((file) => name.test(file))
    .map((file) => readFileSync(join(source, folder, file), 'utf8'))
    .join('\n')
}

describe('the table of operations in docs/reference', () => {
  test('names every operation once, with the methods that ask for it', () => {
    const table = operationRows.map(({ operation, methods }) => [operation, methods])
    expect(table).toEqual(Object.entries(operations).map(([operation, methods]) => [operation, Object.keys(methods)]))
  })

  test('names every method of the client exactly once', async () => {
    const api = createClient()
    expect(operationRows.flatMap(({ methods }) => methods).sort()).toEqual(methodsOf(api).sort())
    await api.close()
  })

  const asking = (text: string, methods: readonly string[]) => methods.some((method) => text.includes(`api.${method}`))

  test('names the resources that ask for an operation, and no others', () => {
    const asked = resources.flatMap(({ name }) => {
      const text = sourceOf(`resources/${name}`, /\.ts$/)
      return operationRows.filter(({ methods }) => asking(text, methods)).map((row) => `${name}: ${row.operation}`)
    })
    const named = operationRows.flatMap(({ operation, usedBy }) =>
      usedBy.filter((use) => use.startsWith('sync ')).map((use) => `${use.slice('sync '.length)}: ${operation}`),
    )
    expect(named.sort()).toEqual(asked.sort())
  })

  test('names commands that ask for an operation', () => {
    const text = sourceOf('cli/commands/auth', /\.ts$/)
    const commands = operationRows.filter(({ usedBy }) => usedBy.some((use) => use.startsWith('auth ')))
    expect(commands.map(({ operation }) => operation)).toEqual([
      'POST /oauth/token',
      'GET /oauth/me',
      'GET /player/whoami',
    ])
    for (const { methods } of commands) expect(asking(text, methods)).toBe(true)
  })
})

test('each operation without a resource is on the page with its reason, and no other', () => {
  const page = readFileSync(join(source, '../docs/reference/operations.md'), 'utf8')
  const [, section = ''] = page.split('## Operations without a resource')
  const unused = operationRows.filter(({ usedBy }) => usedBy.length === 0).map(({ operation }) => operation)
  expect([...section.matchAll(/`((?:GET|POST) [^`]+)`(?=[,:])/g)].map(([, operation]) => operation).sort()).toEqual(
    unused.sort(),
  )
})

describe.each<Dialect>(['live', 'documented'])('the sandbox, in the %s dialect,', (dialect) => {
  let sandbox: Sandbox
  let api: Api
  let asked: Asked

  beforeAll(async () => {
    const limits = { guest: 100_000, token: 100_000 }
    sandbox = await startSandbox({ clock: virtualClock(Date.parse('2026-06-01T12:00:20.500Z')), dialect, limits })
    const guest = createClient({ baseUrl: sandbox.url })
    const redirectUri = 'http://127.0.0.1:1/callback'
    const logIn = async () => {
      const login = beginLogin({ baseUrl: sandbox.url, clientId: 'sandbox', redirectUri, scope: SCOPES })
      const { headers } = await fetch(login.url, { redirect: 'manual' })
      return login.exchange(headers.get('location'))
    }
    const { access_token } = (await guest.oauth.token(await logIn())).body
    api = createClient({ baseUrl: sandbox.url, token: access_token })
    const { code, codeVerifier } = await logIn()
    const guilds = (await api.guilds.list({ identifier: 'uuid' })).read()
    const [uuid = ''] = Object.keys((await api.players.whoami()).read())
    const [characterUuid = ''] = Object.keys((await api.players.characters(uuid)).read())
    const articles = await api.articles.list('blog').then(
      (answer) => answer.read(),
      () => [],
    )
    const guild = (await api.guilds.byUuid(guilds[0]?.uuid ?? '')).read()
    asked = {
      ...anything,
      guild: guild.name ?? '',
      prefix: guild.prefix ?? '',
      guildUuid: guild.uuid,
      player: uuid,
      characterUuid,
      pk: articles[0]?.pk ?? 0,
      code,
      verifier: codeVerifier,
      redirectUri,
      page: dialect === 'documented' ? 0 : 1,
    }
    await guest.close()
  })

  afterAll(async () => {
    await api.close()
    await sandbox.close()
  })

  test.each(operationRows)('answers $operation as the table says', async ({ operation, methods, sandbox: said }) => {
    const asks = methods.map((method) => operations[operation]?.[method])
    // A code is good once, and one page says enough of a listing.
    const [plain] = asks
    if (plain === undefined) throw new Error(`no method asks ${operation}`)
    const answer: unknown = await plain(api, asked).catch((error: unknown) => error)
    expect(answer instanceof Error ? `no: ${answer.message}` : 'yes').toBe(said)
    if (typeof answer === 'object' && answer !== null && 'read' in answer && typeof answer.read === 'function')
      expect(answer.read()).toBeDefined()
  })
})
