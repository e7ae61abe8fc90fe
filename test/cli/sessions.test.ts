import { beforeAll, expect, test } from 'vitest'
import { buildProgram } from '../support/cli.ts'
import { runInside } from '../support/cli-inside.ts'
import { playerId } from '../support/guild-answers.ts'
import { testDatabaseUrl } from '../support/postgres.ts'
import { servedApi } from '../support/served.ts'

beforeAll(buildProgram)

test('sessions and playtime have one number beside the bounds, also while a hidden player is about', async () => {
  const api = await servedApi({ game: false })
  const environment = { DATABASE_URL: await testDatabaseUrl(), WYNNSYNC_BASE_URL: api.url }
  let listed: Record<string, string> = {}
  // One more is online than listed: anyone could be that player.
  api.setAnswer('/player', () => ({ body: { total: Object.keys(listed).length + 1, players: listed } }))
  for (const who of [[1], [1, 2], [1, 2], [2], [2]]) {
    listed = Object.fromEntries(who.map((nth) => [playerId(nth), 'EU1']))
    const { code, err } = await runInside(['sync', 'online-players', '--quiet'], environment)
    expect([code, err]).toEqual([0, ''])
    await api.clock.moveTo(api.clock.now() + 60_000)
  }
  const ask = async (...args: string[]) => JSON.parse((await runInside(['query', ...args, '--json'], environment)).out)
  const rows = await ask('player_session', `player_uuid=${playerId(1)}`)
  expect(rows).toEqual([
    expect.objectContaining({
      login_earliest: null,
      login_estimate: expect.any(String),
      logout_estimate: expect.any(String),
      seconds_estimate: 120,
    }),
  ])
  const playtime = await ask('player_playtime', playerId(1), '2026-06-01', '2026-06-02')
  expect(playtime).toEqual([expect.objectContaining({ seconds_estimate: 120 })])
})

test('who is online and was never named is asked for first, and status says how many are nameless', async () => {
  const api = await servedApi({ game: { guilds: 3, players: 200 } })
  const environment = { DATABASE_URL: await testDatabaseUrl(), WYNNSYNC_BASE_URL: api.url }
  const run = async (...args: string[]) => {
    const { code, err, out } = await runInside([...args, '--json'], environment)
    expect([code, out + err]).toEqual([0, expect.any(String)])
    return JSON.parse(out)
  }
  const nameless = async () => {
    const { resources } = await run('status')
    return resources.find(({ resource }: { resource: string }) => resource === 'players').nameless
  }
  await run('sync', 'guild-list', 'guilds', 'online-players')
  const before: number = await nameless()
  expect(before).toBeGreaterThan(1)
  expect((await runInside(['status'], environment)).out).toContain(
    `players: ${before} online have no name yet; they are requested first\n`,
  )
  await run('sync', 'players', '--limit', '1')
  expect(await nameless()).toBe(before - 1)
})
