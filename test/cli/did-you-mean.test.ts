import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nearest } from '../../src/base/text/nearest.ts'
import { startSandbox } from '../../src/sandbox/index.ts'
import { buildProgram, type Environment } from '../support/cli.ts'
import { runInside } from '../support/cli-inside.ts'
import { testDatabaseUrl } from '../support/postgres.ts'

describe('a name that is not quite right', () => {
  let environment: Environment
  let sandbox: Awaited<ReturnType<typeof startSandbox>>
  const query = (...args: string[]) => runInside(['query', ...args], environment)
  const rows = async (...args: string[]): Promise<Record<string, string>[]> =>
    JSON.parse((await query(...args, '--json')).out)

  beforeAll(async () => {
    await buildProgram()
    sandbox = await startSandbox({ seed: 5 })
    environment = { DATABASE_URL: await testDatabaseUrl(), WYNNSYNC_BASE_URL: sandbox.url }
    const synced = await runInside(['sync', 'territories', 'guild-list', 'guilds', '--limit', '3'], environment)
    expect(synced.code).toBe(0)
  })
  afterAll(async () => await sandbox.close())

  test('of a territory is no answer without rows, but an error with the right one', async () => {
    const [{ territory = '' } = {}] = await rows('territory', '--limit', '1')
    const wrong = `${territory.slice(0, -2)}${territory.at(-1)}${territory.at(-2)}`
    for (const asked of [
      ['territory_owner_at', wrong],
      ['territory', wrong],
      ['territory_hold', wrong],
      ['territory_capture', `territory=${wrong}`],
    ]) {
      const { code, out, err } = await query(...asked)
      expect([asked, code, out]).toEqual([asked, 2, ''])
      expect(err).toContain(`territory not found: ${wrong}; did you mean ${territory}`)
    }
    expect((await query('territory_owner_at', territory)).code).toBe(0)
    expect(await rows('territory', territory)).toHaveLength(1)
    // It exists, and was not captured.
    expect((await query('territory_hold', territory, 'is_current=false')).code).toBe(0)
  })

  test('of a guild or player is an error with the right one, and the right one finds its rows', async () => {
    const [{ guild_uuid = '', username = '' } = {}] = await rows('guild_member', '--limit', '1')
    const [{ name = '', prefix = '' } = {}] = await rows('guild', guild_uuid)
    expect(await rows('guild', prefix)).toMatchObject([{ guild_uuid }])
    expect(await rows('guild_member', name)).not.toEqual([])
    const guild = await query('guild', `${name}x`)
    expect(guild).toMatchObject({ code: 2, out: '', err: expect.stringContaining('not found') })
    expect(guild.err).toContain(`guild not found: ${name}x; did you mean ${name} [${prefix}]`)
    const player = await query('player_session', `${username}x`)
    expect([player.code, player.out]).toEqual([2, ''])
    expect(player.err).toContain(`player not found: ${username}x; did you mean ${username}`)
    const synced = await runInside(['sync', '--guild', `${name}x`], environment)
    expect([synced.code, synced.err]).toEqual([2, expect.stringContaining(`did you mean ${name} [${prefix}]`)])
  })
})

test('a name that is misspelt goes before one whose few letters begin it', () => {
  const prefixes = new Map([
    ['The Lean Boulders', 'gae'],
    ['The Wild Fords', 'THE'],
    ['The Bleak Antlers', 'Eqw'],
  ])
  const meant = nearest('The Bleak Antlersx', prefixes.keys(), (name) => [name, prefixes.get(name) ?? ''])
  expect(meant[0]).toBe('The Bleak Antlers')
})
