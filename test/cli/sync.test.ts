import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { tryWriting, withoutWriters } from '../../src/cli/without-writers.ts'
import { openEmbedded } from '../../src/db/embedded/embedded.ts'
import { openServer } from '../../src/db/server/server.ts'
import { buildProgram, runProgram, startProgram } from '../support/cli.ts'
import { runInside } from '../support/cli-inside.ts'
import { playerId } from '../support/guild-answers.ts'
import { profile } from '../support/player-answers.ts'
import { kindsOfLongTests, temporaryFolder, testDatabaseUrl, testDataDir } from '../support/postgres.ts'
import { cuttableWay } from '../support/proxy.ts'
import { servedApi, serveItems } from '../support/served.ts'
import { instantOf, item } from '../support/world.ts'

const contract = [
  'resource',
  'status',
  'observedAt',
  'requests',
  'pages',
  'records',
  'inserted',
  'changed',
  'closed',
  'unchanged',
  'events',
  'rejected',
  'quarantined',
  'durationMs',
]
const names = ['items', 'recipes', 'item-sets', 'item-metadata']
const trees = ['Ash', 'Elm', 'Oak', 'Yew'].map((name) => item(name))

beforeAll(buildProgram)

describe.each(kindsOfLongTests)('wynnsync sync on the %s database', (kind) => {
  async function place() {
    if (kind === 'server') {
      const url = await testDatabaseUrl()
      return { environment: { DATABASE_URL: url }, open: () => openServer(url) }
    }
    const dataDir = await testDataDir()
    return { environment: { WYNNSYNC_DATA_DIR: dataDir }, open: () => openEmbedded(dataDir, { clock: systemClock }) }
  }

  test('prints one JSON document with the fields of the contract, and ends with 0, 3 or 0 as answers come', async () => {
    const api = await servedApi()
    const { environment, open } = await place()
    const sync = async (body: readonly object[], ...flags: string[]) => {
      serveItems(api, body)
      const done = await runProgram(['sync', 'items', '--json', '--base-url', api.url, ...flags], environment)
      await api.clock.moveTo(api.clock.now() + 3_600_000)
      const { runs } = JSON.parse(done.out)
      expect(done.out.trimEnd().split('\n')).toHaveLength(1)
      expect(Object.keys(runs[0]).filter((name) => name !== 'error')).toEqual(contract)
      return { ...done, ...runs[0], exit: done.code }
    }
    const first = {
      exit: 0,
      status: 'ok',
      requests: 1,
      pages: 1,
      records: 4,
      inserted: 4,
      observedAt: '2026-06-01T10:00:00.000Z',
    }
    expect(await sync(trees)).toMatchObject(first)
    expect(await sync(trees)).toMatchObject({ exit: 0, status: 'unchanged', unchanged: 4, inserted: 0 })
    expect(await sync(trees.slice(0, 1))).toMatchObject({ exit: 3, status: 'rejected', rejected: 1, closed: 0 })
    expect(await sync([])).toMatchObject({ exit: 3, status: 'rejected', error: 'the response holds no records' })
    expect(await sync([...trees, { type: 'weapon' }])).toMatchObject({ exit: 3, status: 'partial', quarantined: 1 })
    expect(await sync(trees.slice(0, 1), '--accept')).toMatchObject({ exit: 0, status: 'unchanged' })
    const db = await open()
    const ledger = await db.values('select status, rejected, quarantined, program from sync.run order by observed_at')
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
    expect(ledger).toEqual([
      ['ok', 0, 0, version],
      ['unchanged', 0, 0, version],
      ['rejected', 1, 0, version],
      ['rejected', 1, 0, version],
      ['partial', 0, 1, version],
      ['unchanged', 0, 0, version],
    ])
    await db.close()
  })

  test('leaves to the first process what it is doing: a second one is skipped and ends with 0', async () => {
    const api = await servedApi()
    const { environment } = await place()
    let answer = () => {}
    const asked = new Promise<void>((resolve) => {
      api.setAnswer('/item/database', async () => {
        const allowed = new Promise<void>((allow) => {
          answer = allow
        })
        resolve()
        await allowed
        return { body: trees }
      })
    })
    const args = ['sync', 'items', '--json', '--base-url', api.url]
    const first = startProgram(args, environment)
    await asked
    const second = await runProgram(args, environment)
    expect(second.code).toBe(0)
    expect(JSON.parse(second.out).runs).toMatchObject([
      { resource: 'items', status: 'skipped', requests: 0, observedAt: null },
    ])
    answer()
    const { code, out } = await first.finished
    expect([code, JSON.parse(out).runs[0].status]).toEqual([0, 'ok'])
    expect(api.requests).toHaveLength(1)
  })
})

describe('wynnsync sync', () => {
  test('syncs several resources into a new embedded database, and shows a table', async () => {
    const api = await servedApi()
    serveItems(api, trees)
    const recipe = { internalName: 'Boots1-3', type: 'boots', skill: 'tailoring' }
    api.setAnswer('/item/recipe/database', () => ({ body: [recipe] }))
    api.setAnswer('/item/sets', () => ({ body: { Grove: { internalName: 'grove', parts: ['Oak'], bonuses: {} } } }))
    api.setAnswer('/item/metadata', ({ query }) => ({
      body: query.has('static') ? { type: { bow: 1 } } : { filters: { type: ['bow'] } },
    }))
    const dataDir = join(await temporaryFolder(), 'new')
    const { code, out, err } = await runProgram(['sync', ...names, '--base-url', api.url, '--data-dir', dataDir])
    expect(code).toBe(0)
    expect(
      out
        .trim()
        .split('\n')
        .map((line) => line.trim().split(/ +/).slice(0, 4)),
    ).toEqual([
      ['resource', 'status', 'records', 'new'],
      ['items', 'ok', '4', '4'],
      ['recipes', 'ok', '1', '1'],
      ['item-sets', 'ok', '1', '1'],
      ['item-metadata', 'ok', '2', '2'],
    ])
    expect(err).toMatch(/^\S+T\S+Z info items: ok run=\S+ inserted=4/m)
  })

  test('ends with 75 and one failed run per resource when the service gives nothing usable, and writes that down', async () => {
    const api = await servedApi()
    const url = await testDatabaseUrl()
    const whole = JSON.stringify(trees)
    api.setAnswer('/item/database', () => ({ headers: { 'content-type': 'text/html' }, body: '<html>gateway</html>' }))
    api.setAnswer('/item/recipe/database', () => ({ body: whole.slice(0, -10) }))
    api.setAnswer('/item/sets', () => ({ status: 502, body: { message: 'bad gateway' } }))
    api.setAnswer('/item/metadata', () => ({ body: ['not', 'an', 'object'] }))
    const runs = await Promise.all(
      names.map((name) => runProgram(['sync', name, '--json', '--base-url', api.url], { DATABASE_URL: url })),
    )
    expect(runs.map(({ code }) => code)).toEqual([75, 75, 75, 75])
    expect(runs.map(({ out }) => JSON.parse(out).runs[0])).toMatchObject([
      { resource: 'items', status: 'failed', requests: 5, error: expect.stringContaining('HTML instead of JSON') },
      { resource: 'recipes', status: 'failed', requests: 5, error: expect.stringContaining('ended early') },
      { resource: 'item-sets', status: 'failed', requests: 5, error: expect.stringContaining('502') },
      { resource: 'item-metadata', status: 'failed', requests: 2, error: expect.stringContaining('unexpected shape') },
    ])
    const db = await openServer(url)
    expect(await db.values('select resource, status, error is not null, observed_at from sync.run order by 1')).toEqual(
      [...names].sort().map((name) => [name, 'failed', true, null]),
    )
    await db.close()
  })

  test('ends with 75 when nobody listens: neither the API nor the database, and says where', async () => {
    const url = await testDatabaseUrl()
    const nobody = 'http://127.0.0.1:1/v3'
    const [noApi, noDatabase] = await Promise.all([
      runProgram(['sync', 'items', '--json', '--base-url', nobody], { DATABASE_URL: url }),
      runProgram([
        'sync',
        'items',
        'recipes',
        '--json',
        '--base-url',
        nobody,
        '--database-url',
        'postgres://me:s3cret@127.0.0.1:1/wynn',
      ]),
    ])
    expect([noApi.code, noDatabase.code]).toEqual([75, 75])
    expect(JSON.parse(noApi.out).runs).toMatchObject([{ resource: 'items', status: 'failed', requests: 5 }])
    const error = expect.stringContaining('127.0.0.1:1/wynn')
    expect(JSON.parse(noDatabase.out).runs).toMatchObject([
      { resource: 'items', status: 'failed', requests: 0, error },
      { resource: 'recipes', status: 'failed', requests: 0, error },
    ])
    expect(noDatabase.out + noDatabase.err).not.toContain('s3cret')
  })

  test('ends with 1 when trying again would not help, and goes on with the other resources', async () => {
    const api = await servedApi()
    api.setAnswer('/item/database', () => ({ status: 403, body: { error: 'Forbidden', detail: 'Not for you.' } }))
    api.setAnswer('/item/sets', () => ({ body: { Grove: { internalName: 'grove' } } }))
    const url = await testDatabaseUrl()
    const { code, out } = await runProgram(['sync', 'items', 'item-sets', '--json', '--base-url', api.url], {
      DATABASE_URL: url,
    })
    expect(code).toBe(1)
    expect(JSON.parse(out).runs).toMatchObject([
      { status: 'failed', error: '/item/database responded with 403 (Forbidden: Not for you.)' },
      { status: 'ok', inserted: 1 },
    ])
  })

  test('says on stderr, and once, what failed; the table of runs alone is on stdout', async () => {
    const api = await servedApi()
    api.setAnswer('/item/database', () => ({ status: 403, body: { error: 'Forbidden', detail: 'Not for you.' } }))
    const environment = { DATABASE_URL: await testDatabaseUrl(), WYNNSYNC_BASE_URL: api.url }
    const failed = await runProgram(['sync', 'items'], environment)
    expect([failed.code, failed.out.split('\n').length]).toEqual([1, 3])
    expect(failed.out).toMatch(/^items +failed /m)
    expect(failed.err.match(/responded with 403/g)).toHaveLength(1)
    const nobody = 'postgres://me@127.0.0.1:1/wynn'
    const away = await runProgram(['sync', 'items', 'recipes', '--database-url', nobody], environment)
    expect([away.code, away.out.split('\n').length]).toEqual([75, 4])
    expect(away.err.match(/127\.0\.0\.1:1/g)).toHaveLength(1)
    api.setAnswer('/guild/list/guild', () => ({ status: 403, body: { error: 'Forbidden', detail: 'Not for you.' } }))
    const backfill = await runProgram(['backfill', 'guilds'], environment)
    expect([backfill.code, backfill.out]).toEqual([1, ''])
    expect(backfill.err).toContain('responded with 403')
  })

  test('ends with 75 when the database goes away while the API is being asked', async () => {
    const api = await servedApi()
    const { url, cut } = await cuttableWay(await testDatabaseUrl())
    api.setAnswer('/item/database', () => {
      cut()
      return { body: trees }
    })
    const { code, out } = await runProgram(['sync', 'items', '--json', '--base-url', api.url], { DATABASE_URL: url })
    expect(JSON.parse(out).runs).toMatchObject([{ resource: 'items', status: 'failed' }])
    expect(code).toBe(75)
    expect(api.requests.map((one) => one.at)).toEqual([instantOf('10:00')])
  })

  test('tells in words what guards did, and heeds the share of a single resource', async () => {
    const api = await servedApi()
    const url = await testDatabaseUrl()
    const sync = async (body: readonly object[], share: string) => {
      serveItems(api, body)
      const environment = { DATABASE_URL: url, WYNNSYNC_PLAUSIBLE_SHARE: share }
      const done = await runProgram(['sync', 'items', '--base-url', api.url], environment)
      await api.clock.moveTo(api.clock.now() + 3_600_000)
      return done
    }
    await sync(trees, '0.9')
    const { code, out } = await sync(trees.slice(0, 2), '0.9,items=0.5')
    expect(code).toBe(0)
    expect(out).toContain(
      '\nitems: missing: 2 records (Oak, Yew); not ended before 2 responses in a row lack the same (absence: pending)\n',
    )
    const rejected = await sync(trees.slice(0, 1), '0.9')
    expect(rejected.code).toBe(3)
    expect(rejected.out.match(/1 record where the last good response had 2/g)).toHaveLength(1)
    const misspelt = await sync(trees, '0.9,itms=0.5')
    expect(misspelt).toMatchObject({ code: 2, err: expect.stringContaining('no resource is called itms') })
  })

  test('says nothing with --quiet but errors', async () => {
    const api = await servedApi()
    serveItems(api, trees)
    const url = await testDatabaseUrl()
    expect(await runProgram(['sync', 'items', '--quiet', '--base-url', api.url], { DATABASE_URL: url })).toEqual({
      code: 0,
      out: '',
      err: '',
    })
    await api.clock.moveTo(api.clock.now() + 3_600_000)
    api.setAnswer('/item/database', () => ({ status: 403, body: { error: 'Forbidden' } }))
    const failed = await runProgram(['sync', 'items', '--quiet', '--base-url', api.url], { DATABASE_URL: url })
    expect(failed).toMatchObject({ code: 1, out: '' })
    expect(failed.err).toContain('403')
  })
})

test('holds off a move, and is skipped and sends nothing while one goes on: also a sync of players', async () => {
  const [api, url] = [await servedApi(), await testDatabaseUrl({})]
  const server = { DATABASE_URL: url, WYNNSYNC_BASE_URL: api.url, WYNNSYNC_DATA_DIR: await temporaryFolder() }
  api.setAnswer(`/player/${playerId(1)}`, () => ({ body: profile(1) }))
  const sync = async () => {
    const { code, out } = await runInside(['sync', 'players', '--player', playerId(1), '--json'], server)
    return [code, ...JSON.parse(out).runs.map(({ status }: { status: string }) => status)]
  }
  const db = await openServer(url)
  onTestFinished(() => db.close())
  expect(await sync()).toEqual([0, 'ok'])
  const [one, other] = [await tryWriting(db), await tryWriting(db)]
  await expect(withoutWriters(db, sync)).rejects.toThrow(/is in use: process .*; stop it and try again/)
  await one?.release()
  await other?.release()
  const sent = api.requests.length
  expect(await withoutWriters(db, sync)).toEqual([0, 'skipped'])
  expect(api.requests.length).toBe(sent)
  expect(await sync()).toEqual([0, 'unchanged'])
})
