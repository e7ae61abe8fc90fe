import { describe, expect, onTestFinished, test } from 'vitest'
import { createLog } from '../../src/base/log.ts'
import { readQuestions } from '../../src/questions/questions.ts'
import { nameFinders } from '../../src/resources/key-names.ts'
import { inProfiles } from '../../src/resources/personal.ts'
import { purge } from '../../src/sync/privacy/person.ts'
import { serveWeb } from '../../src/web/web-server.ts'
import { playerId, syncGuild } from '../support/guild-answers.ts'
import { request } from '../support/http-request.ts'
import { confirmPlayer } from '../support/player-answers.ts'
import { kindsAtNight } from '../support/postgres.ts'
import {
  fullProfile,
  guildWithMember,
  mainFields,
  secrets,
  showEverything,
  without,
} from '../support/private-player.ts'
import { worldOf } from '../support/world.ts'

const pages = [
  '/',
  '/status',
  '/map',
  '/captures',
  '/territories',
  '/guilds',
  '/guilds/aaa',
  '/guilds/bbb',
  `/players/${playerId(1)}`,
  '/players/Player1',
  '/items',
  '/patches',
  '/pools',
  '/leaderboards',
  '/worlds',
  '/openapi.json',
  '/feeds/captures.atom',
  '/feeds/patches.atom',
  '/feeds/news.atom',
  '/feeds/guilds/aaa.atom',
  '/feeds/guilds/bbb.atom',
  '/changes/sequence.json',
  '/changes/1.json',
  '/changes/2.json',
  '/changes/3.json',
]

/** What parameters are called, with what is asked of the player who hides. */
const given: Readonly<Record<string, string>> = {
  player: playerId(1),
  entity: playerId(1),
  guild: 'aaa',
  from_time: '2026-06-01T00:00Z',
  to_time: '2026-06-02T00:00Z',
  at: '2026-06-01T23:00Z',
  step: '1 hour',
  internal_name: 'bow',
  territory: 'Oak',
  item: 'bow',
  type: 'guildLevel',
  counter: 'wars',
  resource: 'players',
}

describe.each(kindsAtNight)('the server on the %s database', (kind) => {
  const world = worldOf(kind)

  test('has in no answer what a player hides, nor a word of who was removed', async () => {
    await showEverything(world)
    const { db, clock } = world
    const usual = { host: '127.0.0.1', port: 0, flag: '--port', requestsPerMinute: 0, people: true, timeoutMs: 10_000 }
    const context = { db, finders: nameFinders, clock, log: createLog('error', clock) }
    const server = await serveWeb(context, { ...usual, version: 'test' })
    onTestFinished(() => server.close())
    const questions = (await readQuestions(db)).map(({ name, parameters }) => {
      const values = parameters.flatMap((one) => (given[one.name] === undefined ? [] : [[one.name, given[one.name]]]))
      return `/api/v1/${name}?${new URLSearchParams(Object.fromEntries([...values, ['limit', '10000']]))}`
    })
    const paths = [...pages, ...questions]
    /** Everything that is served, a row of a table or answer each. */
    const served = async (asked = paths) => {
      const rows: string[] = []
      let answered = 0
      for (const path of asked) {
        const { status, text } = await request(server.url, path)
        expect(status, path).toBeLessThan(500)
        answered += status === 200 ? 1 : 0
        rows.push(...text.split(/<tr|<entry>|\},\{/))
      }
      return { answered, rows }
    }
    const found = ({ rows }: { readonly rows: readonly string[] }, texts: readonly string[]) =>
      texts.filter((text) => rows.some((row) => text.split(' of ').every((part) => row.includes(part))))
    const all = Object.values(secrets).flat()
    const before = await served()
    // Most questions and pages answer, and with what is hidden later: the search finds what is there.
    expect(before.answered).toBeGreaterThan(paths.length * 0.6)
    const shown = found(before, all)
    expect(shown.length).toBeGreaterThan(5)
    const hides = { main_access: true, online_status: true, guild_high_ranked_access: true }
    for (const when of ['09:50', '10:00'])
      await syncGuild(world, guildWithMember({ contributed: 6, restrictions: hides }), when)
    const restrictions = { mainAccess: true, onlineStatus: true, characterListAccess: true, guildHistoryAccess: true }
    const rest = without(fullProfile(), [...Object.keys(mainFields), 'characters', 'activeCharacter', 'lastJoin'])
    await confirmPlayer(world, 1, { ...rest, online: false, server: null, restrictions }, '10:11')
    expect(found(await served(), all)).toEqual([])
    const at = new Date(clock.now())
    await db.transaction((sql) => purge(sql, inProfiles, { playerUuid: playerId(1), at }))
    // What is asked for is repeated.
    const others = paths.filter((path) => !/Player1|000000000001/.test(path))
    expect(found(before, [playerId(1), 'Player1'])).toHaveLength(2)
    expect(found(await served(others), [...all, playerId(1), 'Player1'])).toEqual([])
  })
})
