import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { buildProgram, type Environment } from '../support/cli.ts'
import { runInside } from '../support/cli-inside.ts'
import { playerId } from '../support/guild-answers.ts'
import { profile } from '../support/player-answers.ts'
import { kindsOfLongTests, testDatabaseUrl, testDataDir } from '../support/postgres.ts'
import { servedApi } from '../support/served.ts'

beforeAll(buildProgram)

/** Two players of one name, and one who hides something. */
async function syncPlayers(environment: Environment): Promise<void> {
  const api = await servedApi()
  const twins = [1, 2].map((number) => profile(number, { username: 'Twin', playtime: 12, globalData: { wars: 3 } }))
  const alone = profile(3, { username: 'Alone', playtime: 5, restrictions: { onlineStatus: true } })
  for (const body of [...twins, alone]) api.setAnswer(`/player/${body.uuid}`, () => ({ body }))
  const keys = [1, 2, 3].flatMap((number) => ['--player', playerId(number)])
  const { code, err } = await runInside(['sync', 'players', ...keys, '--base-url', api.url], environment)
  expect([code, err]).toMatchObject([0, expect.any(String)])
  await api.close()
}

describe.each(kindsOfLongTests)('wynnsync privacy on the %s database', (kind) => {
  let environment: Environment
  const privacy = (...args: string[]) => runInside(['privacy', ...args], environment)

  beforeEach(async () => {
    environment =
      kind === 'server' ? { DATABASE_URL: await testDatabaseUrl() } : { WYNNSYNC_DATA_DIR: await testDataDir() }
    await syncPlayers(environment)
  })

  test('shows what is kept of a player, and since when', async () => {
    const { code, out } = await privacy('show', 'alone')
    expect(code).toBe(0)
    expect(out).toMatch(new RegExp(`^player ${playerId(3)}\n\nkept\ntable +rows +first +last\n`))
    expect(out).toMatch(/^game\.player_counter +1 +2026-06-01T10:00:00Z/m)
    expect(out).toMatch(/^onlineStatus +2026-06-01T10:00:00Z +players\//m)
    const json = JSON.parse((await privacy('show', playerId(1), '--json')).out)
    expect(Object.keys(json)).toEqual(['player', 'tables', 'restrictions', 'removals'])
    expect(json.tables).toContainEqual(expect.objectContaining({ table: 'game.player_counter', rows: 2 }))
  })

  test('names all that are called so, and removes none of them', async () => {
    const { code, out, err } = await privacy('purge', 'Twin')
    expect([code, out]).toEqual([2, ''])
    for (const number of [1, 2]) expect(err).toContain(playerId(number))
    expect(await privacy('purge', 'Nobody')).toMatchObject({ code: 2 })
    const wrong = await privacy('purge', playerId(1), '--group', 'secrets')
    expect(wrong).toMatchObject({ code: 2 })
    expect(wrong.err).toContain('mainAccess')
  })

  test('purges one of them, after saying what would go', async () => {
    const before = (await privacy('show', playerId(1), '--json')).out
    const dry = await privacy('purge', playerId(1), '--dry-run', '--json')
    expect(dry.code).toBe(0)
    const unsaid = await privacy('purge', playerId(1))
    expect([unsaid.code, unsaid.out]).toEqual([2, ''])
    expect(unsaid.err).toMatch(/rows would be removed; nothing was changed\n.*: add --yes, or --dry-run/s)
    expect((await privacy('show', playerId(1), '--json')).out).toBe(before)
    const done = await privacy('purge', playerId(1), '--yes', '--json', '--log-level', 'debug')
    expect(done.err).not.toMatch(new RegExp(`${playerId(1)}|Twin`, 'i'))
    expect({ ...JSON.parse(done.out), dryRun: true }).toEqual(JSON.parse(dry.out))
    const after = JSON.parse((await privacy('show', playerId(1), '--json')).out)
    expect(after.tables).toEqual([])
    expect(after.removals).toMatchObject([{ fieldGroup: 'everything', policy: 'purge' }])
    const other = JSON.parse((await privacy('show', 'Twin', '--json')).out)
    expect(other).toMatchObject({ player: playerId(2), removals: [] })
    const again = await privacy('purge', 'Twin', '--group', 'mainAccess', '--yes')
    expect(again.out).toMatch(/game\.player_counter +2\n/)
    expect(again.out).toMatch(/\d rows are removed\n$/)
  })
})

test('a purge removes a player from the copies of the embedded database too', async () => {
  const dataDir = await testDataDir()
  const run = (...args: string[]) => runInside(['privacy', ...args], { WYNNSYNC_DATA_DIR: dataDir })
  const tables = async (number: number) => JSON.parse((await run('show', playerId(number), '--json')).out).tables
  await syncPlayers({ WYNNSYNC_DATA_DIR: dataDir })
  expect(await readdir(join(dataDir, 'backups'))).toHaveLength(1)
  expect((await run('purge', playerId(1), '--yes')).code).toBe(0)
  await rm(join(dataDir, 'postgres'), { recursive: true })
  expect(await tables(1)).toEqual([])
  expect(await tables(2)).not.toEqual([])
})
