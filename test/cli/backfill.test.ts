import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { openServer } from '../../src/db/server/server.ts'
import type { Sandbox } from '../../src/sandbox/index.ts'
import { buildProgram, startProgram } from '../support/cli.ts'
import { runInside } from '../support/cli-inside.ts'
import { guildBody, guildId, place } from '../support/guild-answers.ts'
import { kindsOfLongTests, testDatabaseUrl, testDataDir } from '../support/postgres.ts'
import { recordingFolder } from '../support/recording-folder.ts'
import { servedApi, serveItems } from '../support/served.ts'
import { item } from '../support/world.ts'

const owner = { 1: { rank: 'owner' } }
const letters = ['a', 'b', 'c', 'd']

function serveGuilds(api: Sandbox, known: readonly string[] = letters): void {
  const list = Object.fromEntries(
    known.map((one) => [guildId(one), { name: `Guild ${one}`, prefix: one > 'b' ? 'CCC' : one.repeat(3) }]),
  )
  api.setAnswer('/guild/list/guild', () => ({ body: list }))
  for (const one of known) api.setAnswer(`/guild/uuid/${guildId(one)}`, () => ({ body: guildBody(one, owner) }))
}

const paths = ({ requests }: Sandbox) => requests.map(({ path }) => path.replace(/([a-e])\1{7}-.*/, '$1'))

beforeAll(buildProgram)

describe('wynnsync backfill', () => {
  test('says what it would take without a single request, first by what it assumes and then by what it knows', async () => {
    const api = await servedApi()
    serveGuilds(api)
    const environment = { DATABASE_URL: await testDatabaseUrl(), WYNNSYNC_BASE_URL: api.url }
    const plan = async (...args: string[]) =>
      JSON.parse((await runInside(['backfill', ...args, '--dry-run', '--json'], environment)).out)
    const first = await plan('guilds')
    expect(first).toMatchObject({ resource: 'guilds', keys: 15_500, requests: 15_501, minutes: 311 })
    expect(first.assumptions).toContainEqual(expect.stringContaining('guild-list was never synced'))
    expect(await plan('items')).toMatchObject({ keys: 6600, requests: 330, minutes: 7 })
    expect(api.requests).toHaveLength(0)

    await runInside(['sync', 'guild-list'], environment)
    expect(await plan('guilds')).toMatchObject({ keys: 4, requests: 4, minutes: 1, rows: 400 })
    expect(await plan('guilds', '--limit', '3')).toMatchObject({ keys: 3, requests: 3 })
    expect(await plan('guilds', '--limit', '0')).toMatchObject({ keys: 4, requests: 4 })
    expect(await plan('guilds', '--only', 'aaa', '--only', 'zzz')).toMatchObject({ keys: 2, requests: 3 })
    const { code, out } = await runInside(['backfill', 'guilds', '--dry-run'], environment)
    expect(code).toBe(0)
    expect(out).toMatch(/^guilds: 4 to fetch in 4 requests, about 1 min; about 400 rows, 1 MB\n {2}assumed: /)
    expect(api.requests).toHaveLength(1)
    const db = await openServer(environment.DATABASE_URL)
    expect(await db.values('select count(*) from sync.work_item')).toEqual([[0]])
    await db.close()
  })

  test('is for all with --limit 0, as a sync is, which requests each key once', async () => {
    const api = await servedApi()
    serveGuilds(api)
    const environment = { DATABASE_URL: await testDatabaseUrl(), WYNNSYNC_BASE_URL: api.url }
    const synced = await runInside(['sync', 'guild-list', 'guilds', '--limit', '0', '--json'], environment)
    expect(JSON.parse(synced.out).runs[1]).toMatchObject({ status: 'ok', requests: 4, inserted: 4 })
  })

  test('syncs the list first when there is none, asks for each guild, and tells everything in one document', async () => {
    const api = await servedApi()
    serveGuilds(api)
    const environment = { DATABASE_URL: await testDatabaseUrl(), WYNNSYNC_BASE_URL: api.url }
    // One after the other, so that the order of the requests is known.
    const part = await runInside(['backfill', 'guilds', '--limit', '2', '--json', '--concurrency', '1'], environment)
    expect(part.code, part.err).toBe(0)
    expect(part.err).toContain('the worklist is empty: syncing guild-list first')
    const { plan, run, left } = JSON.parse(part.out)
    expect([plan.keys, run.status, run.inserted, left]).toEqual([2, 'ok', 2, 2])
    const named = await runInside(['backfill', 'guilds', '--only', guildId('d')], environment)
    expect(named.out).toContain('guilds: 1 are left to fetch; the next call continues')
    expect((await runInside(['backfill', 'guilds'], environment)).out).toContain('guilds: nothing is left to fetch')
    const uuid = '/guild/uuid'
    expect(paths(api)).toEqual(['/guild/list/guild', `${uuid}/a`, `${uuid}/b`, `${uuid}/d`, `${uuid}/c`])
    const since = await runInside(['backfill', 'guilds', '--fetched-before', '2020-01-01', '--json'], environment)
    expect(JSON.parse(since.out)).toMatchObject({ plan: { keys: 0 }, run: { status: 'unchanged' }, left: 0 })
    await runInside(['backfill', 'guilds', '--limit', '1', '--restart'], environment)
    const anew = await runInside(['backfill', 'guilds', '--restart', '--json'], environment)
    expect(JSON.parse(anew.out)).toMatchObject({ plan: { keys: 4 }, left: 0 })
    // By now the answers have told the limit.
    expect(JSON.parse(anew.out).plan.assumptions.join()).not.toContain('requests a minute')
    expect(paths(api)).toHaveLength(10)
  })

  test('requests nothing when it is finished, says since when, and begins anew only when it is asked to', async () => {
    const api = await servedApi()
    serveGuilds(api)
    const environment = { DATABASE_URL: await testDatabaseUrl(), WYNNSYNC_BASE_URL: api.url }
    const backfill = (...args: string[]) => runInside(['backfill', 'guilds', ...args], environment)
    await backfill()
    expect(api.requests).toHaveLength(5)
    const again = await backfill()
    expect([again.code, again.out]).toEqual([
      0,
      expect.stringMatching(
        /^guilds: the backfill finished at 20\d\d-.*Z, so nothing is requested; --restart begins anew\n$/,
      ),
    ])
    const json = JSON.parse((await backfill('--json', '--limit', '2')).out)
    expect(json).toMatchObject({ plan: null, run: { status: 'unchanged', requests: 0, records: 0 }, left: 0 })
    const planned = JSON.parse((await backfill('--json', '--dry-run')).out)
    expect(planned).toEqual({ resource: 'guilds', keys: 0, requests: 0, finishedAt: json.finishedAt })
    expect(api.requests).toHaveLength(5)

    // A key that the finished one did not have, which takes a request to find it; the others are not asked for again, now or later.
    serveGuilds(api, [...letters, 'e'])
    expect(JSON.parse((await backfill('--json', '--only', guildId('e'))).out)).toMatchObject({ run: { inserted: 1 } })
    expect(JSON.parse((await backfill('--json')).out).finishedAt).toBe(json.finishedAt)
    expect(paths(api).slice(5)).toEqual(['/guild/uuid/e', '/guild/uuid/e'])

    expect(JSON.parse((await backfill('--restart', '--json')).out)).toMatchObject({ plan: { keys: 5 }, left: 0 })
    expect(Date.parse(JSON.parse((await backfill('--json')).out).finishedAt)).toBeGreaterThan(
      Date.parse(json.finishedAt),
    )
  })

  test('requests no page again when it is finished, unless it begins anew', async () => {
    const api = await servedApi()
    serveItems(api, [item('Ash')])
    const environment = { DATABASE_URL: await testDatabaseUrl(), WYNNSYNC_BASE_URL: api.url }
    await runInside(['backfill', 'items'], environment)
    const again = await runInside(['backfill', 'items'], environment)
    expect([again.code, again.out, api.requests.length]).toEqual([0, expect.stringContaining('finished at'), 1])
    const anew = await runInside(['backfill', 'items', '--restart', '--json'], environment)
    expect([JSON.parse(anew.out).run.status, api.requests.length]).toEqual(['unchanged', 2])
  })

  test('says that a walk over pages begins again, where one of a worklist would continue', async () => {
    const api = await servedApi()
    api.setAnswer('/item/database', () => ({ status: 403, body: { error: 'Forbidden' } }))
    const environment = { DATABASE_URL: await testDatabaseUrl(), WYNNSYNC_BASE_URL: api.url }
    const failed = await runInside(['backfill', 'items'], environment)
    expect([failed.code, failed.out.trimEnd().split('\n').at(-1)]).toEqual([
      1,
      'items: not all pages were fetched; the next call begins with the first page again',
    ])
    serveItems(api, [item('Ash')])
    const again = await runInside(['backfill', 'items'], environment)
    expect([again.code, again.out]).toEqual([0, expect.stringContaining('items: nothing is left to fetch')])
  })

  test('walks through the pages of items in the lowest lane', async () => {
    const api = await servedApi()
    serveItems(
      api,
      ['Ash', 'Elm'].map((name) => item(name)),
    )
    const environment = { DATABASE_URL: await testDatabaseUrl(), WYNNSYNC_BASE_URL: api.url }
    const { code, out } = await runInside(['backfill', 'items', '--json'], environment)
    expect([code, JSON.parse(out)]).toMatchObject([0, { run: { status: 'ok', inserted: 2 }, left: 0 }])
    expect(api.requests.map(({ query }) => query)).toEqual([''])
  })

  test('ends with 75 when some could not be asked for, and with 3 when something was quarantined', async () => {
    const api = await servedApi()
    serveGuilds(api)
    const environment = { DATABASE_URL: await testDatabaseUrl(), WYNNSYNC_BASE_URL: api.url }
    api.setAnswer(`/guild/uuid/${guildId('b')}`, () => ({ status: 400, body: { error: 'BadRequest' } }))
    const missed = await runInside(['backfill', 'guilds', '--json'], environment)
    expect([missed.code, JSON.parse(missed.out)]).toMatchObject([75, { run: { status: 'partial' }, left: 1 }])
    const unreadable = guildBody('b', owner)
    Object(unreadable).members.owner.Player1.joined = 'yesterday'
    api.setAnswer(`/guild/uuid/${guildId('b')}`, () => ({ body: unreadable }))
    const aside = await runInside(['backfill', 'guilds', '--json'], environment)
    expect([aside.code, JSON.parse(aside.out)]).toMatchObject([3, { run: { quarantined: 1 }, left: 0 }])
  })

  test.each([
    [['backfill'], 'must be one of items, recipes, guilds, players'],
    [['backfill', 'territories'], 'got territories'],
    [['backfill', 'items', '--limit', '3'], 'items is a walk over pages'],
    [['backfill', 'guilds', '--fetched-before', 'yesterweek'], '--fetched-before must be an instant'],
    [['backfill', 'guilds', '--since', '2999-01-01'], '--since must be an instant in the past'],
    [['backfill', '--from', '/nowhere'], '--from must be a folder with an index.jsonl'],
    [['backfill', '--from', '/nowhere', '--limit', '3'], '--from loads all that was recorded'],
  ])('ends with 2 after %j', async (args, said) => {
    const { code, err } = await runInside(args)
    expect([code, err]).toEqual([2, expect.stringContaining(said)])
  })

  test('lists all whom a name may mean, and guesses none', async () => {
    const api = await servedApi()
    serveGuilds(api)
    const environment = { DATABASE_URL: await testDatabaseUrl(), WYNNSYNC_BASE_URL: api.url }
    const { code, err } = await runInside(['backfill', 'guilds', '--only', 'CCC'], environment)
    expect(code).toBe(2)
    expect(err).toContain(`${guildId('c')}  Guild c [CCC]`)
    expect(err).toContain(`${guildId('d')}  Guild d [CCC]`)
  })
})

describe.each(kindsOfLongTests)('wynnsync backfill on the %s database', (kind) => {
  test('leaves the work to another backfill of the same that lives, and ends with 0', async () => {
    const api = await servedApi()
    serveGuilds(api)
    const where =
      kind === 'server' ? { DATABASE_URL: await testDatabaseUrl() } : { WYNNSYNC_DATA_DIR: await testDataDir() }
    const environment = { ...where, WYNNSYNC_BASE_URL: api.url }
    let answer = () => {}
    const asked = new Promise<void>((resolve) => {
      api.setAnswer(`/guild/uuid/${guildId('a')}`, async () => {
        resolve()
        await new Promise<void>((allow) => {
          answer = allow
        })
        return { body: guildBody('a', owner) }
      })
    })
    const first = startProgram(['backfill', 'guilds', '--json'], environment)
    await asked
    const second = await runInside(['backfill', 'guilds', '--json'], environment)
    expect([second.code, JSON.parse(second.out)]).toEqual([
      0,
      { plan: null, run: expect.objectContaining({ status: 'skipped', requests: 0 }), left: null },
    ])
    answer()
    expect(JSON.parse((await first.finished).out)).toMatchObject({ run: { status: 'ok', records: 4 }, left: 0 })
  })

  test('loads recorded answers without asking anybody, names what is broken or unknown, and ends with 3', async () => {
    const folder = await recordingFolder([
      { at: '10:00', path: '/guild/list/territory', body: { Oak: place('a', '09:00') } },
      { at: '11:00', path: '/guild/list/territory', body: { Oak: place('b', '10:30') } },
      { at: '11:30', path: '/guild/list/territory', body: Buffer.from('no gzip') },
      { at: '12:00', path: '/ability/tree/mage', body: {} },
    ])
    const where =
      kind === 'server' ? { DATABASE_URL: await testDatabaseUrl() } : { WYNNSYNC_DATA_DIR: await testDataDir() }
    const environment = { ...where, WYNNSYNC_BASE_URL: 'http://127.0.0.1:1/v3' }
    const { code, out } = await runInside(['backfill', '--from', folder, '--json'], environment)
    expect(code).toBe(3)
    expect(JSON.parse(out)).toEqual({
      from: folder,
      resources: [expect.objectContaining({ resource: 'territories', answers: 2, inserted: 1, events: 1 })],
      broken: [expect.stringContaining('index.jsonl line 3')],
      unknown: [{ request: 'GET /ability/tree/mage (half of ability-trees; the other was not recorded)', answers: 1 }],
    })
    const one = await runInside(['backfill', 'guilds', '--from', folder], environment)
    expect([one.code, one.out]).toEqual([0, '(no rows)\n'])
    const query = await runInside(['query', 'territory_owner_at', 'Oak', '2026-06-01T10:45:00Z', '--json'], environment)
    expect(query.out).toContain('Guild b')
    expect(readFileSync(`${folder}/index.jsonl`, 'utf8').split('\n')).toHaveLength(5)
  })
})
