import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { openServer } from '../../src/db/server/server.ts'
import { afterwards } from '../support/afterwards.ts'
import { buildProgram, type Environment, startProgram } from '../support/cli.ts'
import { runInside } from '../support/cli-inside.ts'
import { temporaryFolder, testDatabaseUrl } from '../support/postgres.ts'
import { recordingFolder } from '../support/recording-folder.ts'
import { servedApi, serveItems } from '../support/served.ts'
import { item } from '../support/world.ts'

beforeAll(buildProgram)

/** What a sandbox responds, on another port and without its mark: the real API, as far as a database can tell. */
async function unmarked(sandboxUrl: string): Promise<string> {
  const server = createServer((request, response) => {
    const { method, url = '/', headers } = request
    const passed = httpRequest(new URL(url, sandboxUrl), { method, headers }, (answer) => {
      const { 'x-wynnsync-sandbox': _, ...rest } = answer.headers
      response.writeHead(answer.statusCode ?? 500, rest)
      answer.pipe(response)
    })
    request.pipe(passed)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterwards(async () => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v3`
}

async function sandboxOf(...names: readonly string[]) {
  const sandbox = await servedApi()
  serveItems(
    sandbox,
    names.map((name) => item(name)),
  )
  return sandbox
}

async function syncing(environment: Environment, baseUrl: string, ...flags: string[]) {
  return await runInside(['sync', 'items', '--base-url', baseUrl, ...flags], environment)
}

async function itemsIn(url: string): Promise<unknown[]> {
  const db = await openServer(url)
  const names = await db.values(
    `select internal_name from game.item where valid_until is null or valid_until = 'infinity' order by 1`,
  )
  await db.close()
  return names.flat()
}

describe('a lake', () => {
  test('of a sandbox is refused by a real history, and the other way round, and says so to an empty database', async () => {
    const [sandbox, folder] = [await sandboxOf('Ash'), await temporaryFolder()]
    const [simulated, real] = [{ DATABASE_URL: await testDatabaseUrl() }, { DATABASE_URL: await testDatabaseUrl() }]
    expect(await syncing(simulated, sandbox.url)).toMatchObject({ code: 0 })
    expect(await syncing(real, await unmarked(sandbox.url))).toMatchObject({ code: 0 })
    const lakes = { simulated: join(folder, 'simulated'), real: join(folder, 'real') }
    await runInside(['lake', 'export', lakes.simulated], simulated)
    await runInside(['lake', 'export', lakes.real], real)
    const before = await itemsIn(real.DATABASE_URL)
    for (const flags of [['--dry-run'], []]) {
      const into = await runInside(['backfill', '--from-lake', lakes.simulated, ...flags], real)
      expect([into.code, into.err]).toEqual([
        2,
        expect.stringMatching(/simulated was exported from the database of a sandbox/),
      ])
      const back = await runInside(['backfill', '--from-lake', lakes.real, ...flags], simulated)
      expect([back.code, back.err]).toEqual([
        2,
        expect.stringMatching(/is that of a sandbox, and the lake .*real has the history of the real/),
      ])
    }
    const merged = await runInside(['move', '--merge', '--yes', '--to', real.DATABASE_URL], simulated)
    expect([merged.code, merged.err]).toEqual([2, expect.stringContaining('takes no simulated one')])
    expect(await itemsIn(real.DATABASE_URL)).toEqual(before)
    const db = await openServer(real.DATABASE_URL)
    expect(await db.values('select count(*)::int from sync.source')).toEqual([[0]])
    await db.close()
    const empty = { DATABASE_URL: await testDatabaseUrl() }
    expect(await runInside(['backfill', '--from-lake', lakes.simulated], empty)).toMatchObject({ code: 0 })
    const synced = await syncing(empty, await unmarked(sandbox.url))
    expect([synced.code, synced.err]).toEqual([2, expect.stringContaining('is that of a sandbox')])
  })
})

describe('a folder whose .env names a server', () => {
  test('is none for what --data-dir on the command line says: the page about the sandbox writes no history there', async () => {
    const [folder, url, sandbox] = [await temporaryFolder(), await testDatabaseUrl(), await sandboxOf('Ash')]
    await writeFile(join(folder, '.env'), `DATABASE_URL=${url}\n`)
    const page = ['sync', 'items', '--base-url', sandbox.url, '--data-dir', './sandbox-data']
    expect(await runInside(page, {}, folder)).toMatchObject({ code: 0 })
    expect(existsSync(join(folder, 'sandbox-data', 'postgres'))).toBe(true)
    expect(await itemsIn(url)).toEqual([])
    const shown = await runInside(['query', 'item', '--json', '--data-dir', './sandbox-data'], {}, folder)
    expect(JSON.parse(shown.out)).toMatchObject([{ internal_name: 'Ash' }])
    const both = await runInside(['status', '--data-dir', './sandbox-data', '--database-url', url], {}, folder)
    expect([both.code, both.err]).toEqual([2, expect.stringContaining('name two databases')])
  })
})

describe('a history of the real game', () => {
  test('takes responses of the base URL of its first sync alone, unless a person says that another is the same API', async () => {
    const environment = { DATABASE_URL: await testDatabaseUrl() }
    const [sandbox, other] = [await sandboxOf('Ash'), await sandboxOf('Elm')]
    const [api, mirror] = [await unmarked(sandbox.url), await unmarked(other.url)]
    expect(await syncing(environment, api)).toMatchObject({ code: 0 })
    for (const command of [
      ['sync', 'items'],
      ['sync', 'guilds'],
      ['start'],
      ['backfill', 'items'],
      ['backfill', 'guilds'],
    ]) {
      const { code, err } = await runInside([...command, '--base-url', mirror], environment)
      expect([command, code, err]).toEqual([
        command,
        2,
        expect.stringContaining(`has the history of ${api}, not of ${mirror}`),
      ])
      expect(err).toContain('--accept-base-url')
    }
    expect(other.requests).toHaveLength(0)
    expect(await itemsIn(environment.DATABASE_URL)).toEqual(['Ash'])
    // Another spelling of the same.
    expect(await syncing(environment, `${api}/`)).toMatchObject({ code: 0 })
    await other.clock.moveTo(other.clock.now() + 86_400_000)
    serveItems(other, [item('Ash'), item('Elm')])
    expect(await syncing(environment, mirror, '--accept-base-url')).toMatchObject({ code: 0 })
    expect(await syncing(environment, mirror)).toMatchObject({ code: 0 })
    expect(await syncing(environment, api)).toMatchObject({ code: 0 })
    expect(await itemsIn(environment.DATABASE_URL)).toEqual(['Ash', 'Elm'])
  })

  test('takes nothing of a sandbox, also not with the flag', async () => {
    const environment = { DATABASE_URL: await testDatabaseUrl() }
    const sandbox = await sandboxOf('Ash')
    expect(await syncing(environment, await unmarked(sandbox.url))).toMatchObject({ code: 0 })
    serveItems(sandbox, [item('Simulated')])
    for (const command of [
      ['sync', 'items'],
      ['sync', 'guild-list', 'guilds'],
      ['backfill', 'items'],
      ['backfill', 'guilds'],
    ]) {
      const given = [...command, '--base-url', sandbox.url, '--accept-base-url']
      const { code, err } = await runInside(given, environment)
      expect([command, code, err]).toEqual([command, 2, expect.stringContaining(`${sandbox.url} is a sandbox`)])
    }
    expect(await itemsIn(environment.DATABASE_URL)).toEqual(['Ash'])
    const db = await openServer(environment.DATABASE_URL)
    const kept = await db.values(
      `select (select count(*)::int from sync.run), (select count(*)::int from sync.raw_answer), (select count(*)::int from sync.work_item)`,
    )
    await db.close()
    expect(kept).toEqual([[1, 1, 0]])
  })

  test('takes no recordings of a sandbox, and recordings of the real API make it real', async () => {
    const sandbox = await sandboxOf('Ash')
    const recorded = (headers: Record<string, string>, name: string) =>
      recordingFolder([{ at: '08:00', path: '/item/database?fullResult', headers, body: [item(name)] }])
    const real = await recorded({}, 'Elm')
    const simulated = await recorded({ 'X-Wynnsync-Sandbox': 'true' }, 'Oak')
    const environment = { DATABASE_URL: await testDatabaseUrl() }
    expect(await runInside(['backfill', 'items', '--from', real], environment)).toMatchObject({ code: 0 })
    const refused = await runInside(['backfill', 'items', '--from', simulated], environment)
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('the history of the real game')])
    expect(await syncing(environment, sandbox.url)).toMatchObject({ code: 2 })
    expect(await itemsIn(environment.DATABASE_URL)).toEqual(['Elm'])
    expect(await syncing(environment, await unmarked(sandbox.url))).toMatchObject({ code: 0 })
  })

  test('is known by its budgets where its database is older than the origin that is kept', async () => {
    const environment = { DATABASE_URL: await testDatabaseUrl() }
    const sandbox = await sandboxOf('Ash')
    const api = await unmarked(sandbox.url)
    expect(await syncing(environment, api)).toMatchObject({ code: 0 })
    const db = await openServer(environment.DATABASE_URL)
    await db.query(`delete from sync.origin; update sync.budget set account = 'https://api.example guest'`)
    for (const url of [sandbox.url, api])
      expect(await syncing(environment, url)).toMatchObject({
        code: 2,
        err: expect.stringContaining('https://api.example'),
      })
    // Of an API on this machine, nobody knows what it was: the next response says so.
    await db.query(`update sync.budget set account = '${new URL(api).origin} guest'`)
    expect(await syncing(environment, api)).toMatchObject({ code: 0 })
    expect(await db.values('select base_url, is_sandbox from sync.origin')).toEqual([[api, false]])
    await db.close()
  })
})

describe('a database of a sandbox', () => {
  test('takes every sandbox, whose port is another each time, and nothing else', async () => {
    const environment = { DATABASE_URL: await testDatabaseUrl() }
    const [first, second] = [await sandboxOf('Ash'), await sandboxOf('Ash', 'Elm')]
    expect(await syncing(environment, first.url)).toMatchObject({ code: 0 })
    expect(await syncing(environment, second.url)).toMatchObject({ code: 0 })
    const { code, err } = await syncing(environment, await unmarked(second.url), '--accept-base-url')
    expect([code, err]).toEqual([2, expect.stringContaining('is that of a sandbox')])
  })

  test('is not made by a first sync that was killed before its first response', async () => {
    const DATABASE_URL = await testDatabaseUrl()
    const db = await openServer(DATABASE_URL)
    await db.query(
      `insert into sync.run (run_id, resource, status, started_at, finished_at, program)
       values (gen_random_uuid(), 'items', 'failed', now(), now(), 'killed')`,
    )
    await db.close()
    const sandbox = await sandboxOf('Elm')
    const { code } = await runInside(['sync', 'items'], { DATABASE_URL, WYNNSYNC_BASE_URL: sandbox.url })
    expect(code).toBe(0)
  })

  test('is made by the first response that is accepted, not by an attempt', async () => {
    const environment = { DATABASE_URL: await testDatabaseUrl() }
    const [broken, sandbox] = [await sandboxOf(), await sandboxOf('Ash')]
    broken.setAnswer('/item/database', () => ({ body: '<html>', headers: { 'Content-Type': 'text/html' } }))
    expect((await syncing(environment, await unmarked(broken.url))).code).not.toBe(0)
    expect(await syncing(environment, sandbox.url)).toMatchObject({ code: 0 })
  })
})

test('the sandbox prints commands that neither reach a real history nor replace a real login', async () => {
  const { child, finished } = startProgram(['sandbox', '--port', '0'])
  const said = String(await new Promise((resolve) => child.stdout?.once('data', resolve)))
  child.kill('SIGTERM')
  expect((await finished).code).toBe(0)
  const commands = said.split('\n').filter((line) => / wynnsync /.test(line))
  expect(commands).toHaveLength(2)
  for (const line of commands)
    expect(line).toMatch(/--data-dir \.\/sandbox-data|WYNNSYNC_CREDENTIALS=\.\/sandbox-data\//)
})
