import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { jsonSchemas } from '../../src/cli/output/json-schemas.ts'
import { openEmbedded } from '../../src/db/embedded/embedded.ts'
import { openServer } from '../../src/db/server/server.ts'
import type { Sandbox } from '../../src/sandbox/index.ts'
import { buildProgram, type Environment, type Finished, runProgram, startProgram } from '../support/cli.ts'
import { runInside } from '../support/cli-inside.ts'
import { contentOf } from '../support/database-content.ts'
import { effort } from '../support/effort.ts'
import { playerId } from '../support/guild-answers.ts'
import { profile } from '../support/player-answers.ts'
import { temporaryFolder, testDatabaseUrl } from '../support/postgres.ts'
import { servedApi } from '../support/served.ts'

const password = 'Zq8/secret%40pw'
const player = (number: number) => ['--player', playerId(number)]
const kills = effort.everyAnswer ? [1, 20, 45] : [1, 45]

beforeAll(buildProgram)

/** The URL of an empty database for a user of its own, whose name and password occur nowhere else. */
async function serverOfUser(): Promise<{ url: string; user: string }> {
  const url = await testDatabaseUrl({ migrated: false })
  const name = new URL(url).pathname.slice(1)
  const user = `zq_mover_${name.slice(-12)}`
  const db = await openServer(url)
  await db.query(`create role ${user} login password '${password}'`)
  await db.query(`alter database ${name} owner to ${user}`)
  onTestFinished(async () => {
    await db.query(`drop owned by ${user} cascade`)
    await db.query(`alter database ${name} owner to current_user`)
    await db.query(`drop role ${user}`)
    await db.close()
  })
  const own = new URL(url)
  own.username = user
  own.password = encodeURIComponent(password)
  return { url: own.href, user }
}

/** An embedded database with two players, one of whom restricts something, a third who was purged, and a budget. */
async function playedFolder(api: Sandbox): Promise<Environment> {
  const environment = { WYNNSYNC_DATA_DIR: join(await temporaryFolder(), 'data'), WYNNSYNC_BASE_URL: api.url }
  const open = [1, 2].map((number) => profile(number, { username: `Moved${number}`, playtime: 70_000 + number }))
  const hidden = profile(3, { username: 'Hidden', playtime: 5, restrictions: { onlineStatus: true } })
  for (const body of [...open, hidden]) api.setAnswer(`/player/${body.uuid}`, () => ({ body }))
  const synced = await runInside(['sync', 'players', ...player(1), ...player(2), ...player(3)], environment)
  expect(synced).toMatchObject({ code: 0 })
  expect(await runInside(['privacy', 'purge', playerId(2), '--yes'], environment)).toMatchObject({ code: 0 })
  return environment
}

/** Starts the move and kills it once so many tables are copied. */
async function killed(args: readonly string[], environment: Environment, tables: number): Promise<Finished> {
  const { child, finished } = startProgram([...args, '--log-level', 'debug'], environment)
  let seen = ''
  child.stderr?.on('data', (text: string) => {
    seen += text
    if (seen.split(' copied ').length > tables) child.kill('SIGKILL')
  })
  return await finished
}

const contentIn = async (folder: string) => {
  const db = await openEmbedded(folder, { clock: systemClock, durable: false })
  return await contentOf(db).finally(() => db.close())
}

describe('wynnsync move', { timeout: 600_000 }, () => {
  test('moves a folder to a server and back, killed again and again, and shows no credential', async () => {
    const api = await servedApi()
    const source = await playedFolder(api)
    const before = await contentIn(source.WYNNSYNC_DATA_DIR ?? '')
    const { url, user } = await serverOfUser()
    const there = ['move', '--to', url]
    const written: Finished[] = [await runProgram([...there, '--dry-run'], source)]
    expect(written[0]).toMatchObject({ code: 0, out: expect.stringMatching(/^game\.player .* rows, .* -> /ms) })
    for (const tables of kills) written.push(await killed(there, source, tables))
    expect(written.slice(1).map(({ code }) => code)).toEqual(kills.map(() => null))
    const early = await runProgram(['status'], { DATABASE_URL: url })
    expect([early.code, early.err]).toEqual([1, expect.stringContaining('run the same `wynnsync move` again')])
    const json = await runProgram([...there, '--json', '--log-level', 'debug'], source)
    written.push(early, json, await runProgram(there, source))
    expect(written.at(-1)).toMatchObject({ code: 1, err: expect.stringContaining('has data of its own') })
    const moved = JSON.parse(json.out)
    const { host, pathname } = new URL(url)
    expect(moved).toMatchObject({ environment: { DATABASE_URL: `postgres://USER:PASSWORD@${host}${pathname}` } })
    expect([json.code, moved.resumed]).toEqual([0, expect.any(Number)])
    expect(moved.resumed).toBeGreaterThanOrEqual(kills.at(-1) ?? 0)
    const said = written.map(({ out, err }) => out + err).join('')
    for (const secret of [user, password, encodeURIComponent(password)]) expect(said).not.toContain(secret)

    const db = await openServer(url)
    expect(await contentOf(db)).toEqual(before)
    await db.close()
    const server = { DATABASE_URL: url, WYNNSYNC_BASE_URL: api.url, WYNNSYNC_DATA_DIR: await temporaryFolder() }
    await expectRestricted(server)

    const back = join(await temporaryFolder(), 'back')
    for (const tables of kills.slice(0, 2))
      expect(await killed(['move', '--to', back], server, tables)).toMatchObject({ code: null })
    const last = await runInside(['move', '--to', back], server)
    expect(last).toMatchObject({
      code: 0,
      out: expect.stringContaining(`without DATABASE_URL\n  WYNNSYNC_DATA_DIR=${back}\n`),
    })
    const again = await openServer(url)
    expect(await contentIn(back)).toEqual(await contentOf(again))
    await again.close()
  })

  test('merges the history of times that the other did not observe, once, and leaves the rest as it is', async () => {
    const api = await servedApi({ game: { guilds: 20, players: 60 } })
    const folder = join(await temporaryFolder(), 'data')
    const laptop = { WYNNSYNC_DATA_DIR: folder, WYNNSYNC_BASE_URL: api.url }
    const server = { DATABASE_URL: await testDatabaseUrl(), WYNNSYNC_BASE_URL: api.url, WYNNSYNC_DATA_DIR: folder }
    const sync = async (environment: Environment) => {
      expect((await runInside(['sync', 'territories', 'guild-list', 'online-players'], environment)).code).toBe(0)
      await api.clock.moveTo(api.clock.now() + 6 * 3_600_000)
    }
    const merge = (...args: string[]) =>
      runInside(['move', '--to', server.DATABASE_URL, '--merge', '--yes', ...args], laptop)
    await sync(laptop)
    expect(await merge()).toMatchObject({ code: 2, err: expect.stringContaining('is empty: leave out --merge') })
    expect(await merge('--dry-run')).toMatchObject({
      code: 2,
      err: expect.stringContaining('is empty: leave out --merge'),
    })
    await sync(laptop)
    await sync(server)
    const plain = await runInside(['move', '--to', server.DATABASE_URL], laptop)
    expect([plain.code, plain.err]).toEqual([1, expect.stringContaining('--merge adds the history')])

    const db = await openServer(server.DATABASE_URL)
    onTestFinished(() => db.close())
    const untouched = await contentOf(db)
    const unsaid = await runInside(['move', '--to', server.DATABASE_URL, '--merge'], laptop)
    expect(unsaid).toMatchObject({ code: 2, out: '', err: expect.stringContaining('add --yes, or --dry-run') })
    const planned = await merge('--dry-run')
    expect([planned.code, planned.out]).toEqual([
      0,
      expect.stringMatching(/ rows, .* -> .*\nOf these --merge takes what .* did not observe itself\n$/),
    ])
    expect(await contentOf(db)).toEqual(untouched)
    const instants = () =>
      db.values(`select distinct observed_at from sync.run where resource = 'territories' order by 1`)
    const [own = []] = await instants()
    const before = await contentIn(folder)
    // What an interrupted merge of another database left in the data folder.
    const left = await runInside(['lake', 'export', join(folder, 'lakes', 'merge'), '--people'], server)
    expect([left.code, left.err]).toEqual([0, expect.any(String)])
    const merged = await merge('--json')
    expect(jsonSchemas['move-merge'].parse(JSON.parse(merged.out))).toMatchObject({ refused: [], known: 0 })
    expect(merged.code).toBe(0)
    expect(await contentIn(folder)).toEqual(before)
    expect(await instants()).toHaveLength(3)
    expect((await instants()).at(-1)).toEqual(own)
    // Of each of the three instants the map is known.
    for (const [at] of await instants()) {
      const [map] = await db.values('select count(*)::int from analytics.map_at($1)', [at as Date])
      expect(map).not.toEqual([0])
    }
    const again = JSON.parse((await merge('--json')).out)
    expect(again.tables.filter(({ taken }: { taken: number }) => taken > 0)).toEqual([])
    expect(existsSync(join(folder, 'lakes', 'merge'))).toBe(false)
  })

  test('refuses what cannot be moved, and repeats no URL', async () => {
    const folder = await temporaryFolder()
    const run = (...args: string[]) => runInside(['move', '--data-dir', folder, ...args])
    expect(await run()).toMatchObject({ code: 2, err: expect.stringContaining('--to must be postgres://') })
    expect(await run('--to', folder)).toMatchObject({
      code: 2,
      err: expect.stringContaining('is the database that is configured'),
    })
    const empty = await run('--to', join(folder, 'other'))
    expect(empty).toMatchObject({ code: 2, err: expect.stringContaining('there is no history in') })
    await playedIn(folder)
    for (const url of [
      'mysql://zquser:zqpw@localhost/x',
      'postgres://zquser:zqpw@localhost:99999/x',
      'postgres:zquser:zqpw',
      'postgres://zquser:9/zqpw@127.0.0.1/x',
    ])
      expect(await run('--to', url)).toMatchObject({ code: 2, err: expect.not.stringMatching(/zq/) })
    const away = await run('--to', 'postgres://zquser:zqpw@127.0.0.1:9/x')
    expect(away).toMatchObject({ code: 75, out: '', err: expect.not.stringMatching(/zq/) })
  })
})

async function playedIn(folder: string): Promise<void> {
  const api = await servedApi()
  const body = profile(1, {})
  api.setAnswer(`/player/${body.uuid}`, () => ({ body }))
  const { code } = await runInside(['sync', 'players', ...player(1), '--data-dir', folder, '--base-url', api.url])
  expect(code).toBe(0)
}

/** The purge and the restriction hold on, and the budget goes on. */
async function expectRestricted(environment: Environment): Promise<void> {
  const show = async (number: number) =>
    JSON.parse((await runInside(['privacy', 'show', playerId(number), '--json'], environment)).out)
  expect((await show(2)).removals).toMatchObject([{ policy: 'purge' }])
  expect((await show(3)).restrictions).toMatchObject([{ fieldGroup: 'onlineStatus' }])
  const status = JSON.parse((await runInside(['status', '--json'], environment)).out)
  expect(status.budgets.length).toBeGreaterThan(0)
}
