import { describe, expect, test } from 'vitest'
import { addRedacted } from '../../src/api/schemas/people/redacted.ts'
import { guilds } from '../../src/resources/guilds/index.ts'
import { players } from '../../src/resources/players/index.ts'
import { compressed, decompressed } from '../../src/sync/archive/bodies.ts'
import { sha256 } from '../../src/sync/normalize/hash.ts'
import { replay } from '../../src/sync/replay/replay.ts'
import { engineOn } from '../support/archive.ts'
import { guildBody, guildId, playerId, syncGuild, syncGuilds } from '../support/guild-answers.ts'
import { profile, syncPlayer, syncPlayers } from '../support/player-answers.ts'
import { kindsOfLongTests } from '../support/postgres.ts'
import { instantOf, worldOf } from '../support/world.ts'

const known = (nickname: string) => profile(1, { nickname, characters: {} })
const open = (nickname: string) => ({
  ...known(nickname),
  firstJoin: '2014-11-11T00:00:00.000Z',
  playtime: 7,
  shiny: 'unknown',
})
/** What the archive keeps of an open profile after a refusal: the body says that something was removed. */
const kept = (nickname: string) => {
  const body = known(nickname)
  addRedacted(body, {})
  return body
}

describe.each(kindsOfLongTests)('the archive after a refusal, on the %s database,', (kind) => {
  const world = Object.assign(worldOf(kind), { raw: true })
  const replayed = (resource: typeof players | typeof guilds) =>
    replay(engineOn(world, world.db, false), { resources: [resource], swap: true })

  async function bodies(): Promise<unknown[]> {
    const rows = await world.db.query<{ body: Uint8Array }>(
      'select body from sync.raw_answer join sync.raw_body using (hash) where http_status = 200 order by answer_id',
    )
    return await Promise.all(rows.map(async ({ body }) => JSON.parse((await decompressed(body)).toString())))
  }

  async function refuse(...times: readonly string[]): Promise<void> {
    for (const at of times) await syncPlayer(world, 1, null, at, 403)
  }

  test('of a profile keeps what is not restricted, and a replay makes the same history of it', async () => {
    for (const [nth, at] of ['10:00', '10:10', '10:20'].entries()) await syncPlayer(world, 1, open(`${nth}`), at)
    await refuse('10:30', '10:40')
    expect(await bodies()).toEqual(['0', '1', '2'].map(kept))
    const history = () => world.rows('select nickname, first_join, valid_from, valid_until from game.player order by 3')
    const before = await history()
    expect(before).toHaveLength(3)
    expect(await replayed(players)).toMatchObject({ swapped: true, lost: [] })
    expect(await history()).toEqual(before)
    expect(await world.rows('select field_group, since from sync.privacy_restriction')).toEqual([
      ['mainAccess', '10:40'],
    ])
    expect(await world.rows('select * from game.player_counter')).toEqual([])
  })

  test('that counted for nothing leads to nothing in a replay either', async () => {
    for (const one of [1, 2, 3]) await syncPlayer(world, one, { ...open('a'), uuid: playerId(one) }, '10:00')
    for (const one of [1, 2, 3]) {
      const refusal = { status: 403, body: { error: 'Forbidden', detail: 'refused', code: 403 } }
      world.sandbox.setAnswer(`/player/${playerId(one)}`, () => refusal)
    }
    for (const at of ['10:30', '10:40']) {
      await world.clock.advanceTo(instantOf(at))
      expect(await syncPlayers(world, { keys: [1, 2, 3].map(playerId) })).toMatchObject({ status: 'rejected' })
    }
    const before = await world.rows('select value from game.player_counter')
    expect(await replayed(players)).toMatchObject({ swapped: true })
    expect(await world.rows('select value from game.player_counter')).toEqual(before)
  })

  test('of a guild gives the same tombstone in a replay, and the same after it came back', async () => {
    await syncGuild(world, guildBody('a', { 1: { rank: 'owner' } }), '10:00')
    world.sandbox.setAnswer(`/guild/uuid/${guildId('a')}`, null)
    for (const at of ['10:10', '10:15', '10:20']) {
      await world.clock.advanceTo(instantOf(at))
      await syncGuilds(world, { keys: [guildId('a')] })
    }
    await syncGuild(world, guildBody('a', { 1: { rank: 'owner' } }), '10:30')
    const history = () => world.rows('select valid_from, valid_until from game.guild_member order by 1')
    const before = await history()
    expect(before).toHaveLength(2)
    const { tables, swapped } = await replayed(guilds)
    expect(tables.filter((one) => one.onlyBefore + one.onlyAfter > 0)).toEqual([])
    expect(swapped).toBe(true)
    expect(await history()).toEqual(before)
  })

  test('that cannot be normalized while the tables hold what it gave is not replayed', async () => {
    for (const [nth, at] of ['10:00', '10:10'].entries()) await syncPlayer(world, 1, open(`${nth}`), at)
    const empty = Buffer.from('{}')
    await world.db.query('insert into sync.raw_body (hash, body, bytes, first_at) values ($1, $2, 2, $3)', [
      sha256(empty),
      await compressed(empty),
      new Date(instantOf('10:00')),
    ])
    await world.db.query('update sync.raw_answer set hash = $1', [sha256(empty)])
    const before = await world.rows('select nickname from game.player order by 1')
    const { swapped, lost } = await replayed(players)
    expect({ swapped, lost: lost.length }).toEqual({ swapped: false, lost: 2 })
    expect(await world.rows('select nickname from game.player order by 1')).toEqual(before)
  })
})
