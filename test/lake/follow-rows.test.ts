import { describe, expect, test } from 'vitest'
import { items } from '../../src/resources/items/index.ts'
import { leaderboards } from '../../src/resources/leaderboards/index.ts'
import { guildBody, guildId, playerId, syncGuild } from '../support/guild-answers.ts'
import { linesOf } from '../support/lake-folder.ts'
import { observingFollower, some } from '../support/observing-follower.ts'
import { headersOf, instantOf } from '../support/world.ts'

describe('what this database observed itself, when a lake is imported again', () => {
  const { theirs, others, follower, own, follow, staying, lost, observe, observeOwn, loseSome, levels, guildLevels } =
    observingFollower()

  test('stays outside the times of the lake, also in the month of one of its files', async () => {
    for (const [nth, at] of ['07:20', '07:30', '07:40'].entries()) await observeOwn(at, 1 + nth)
    for (const [nth, at] of ['08:00', '08:10', '08:20', '08:30'].entries()) await observe(theirs, at, 4 + nth)
    await follow()
    for (const [nth, at] of ['09:00', '09:10', '09:20'].entries()) await observeOwn(at, 1 + nth)
    expect([...own()].map(([table, lines]) => [table, lines.size > 3])).toEqual(
      expect.arrayContaining(
        ['world_sample', 'online_sample', 'guild_sample', 'member_counter'].map((one) => [`game.${one}`, true]),
      ),
    )
    expect(await lost()).toEqual([])
    await loseSome()
    await follow()
    expect(await lost()).toEqual([])
    expect((await guildLevels('a')).map(([, at]) => at)).not.toContain('08:10')
  })

  test('stays where it came from another lake', async () => {
    for (const [nth, at] of ['08:00', '08:10', '08:20', '08:30'].entries()) await observe(theirs, at, 4 + nth)
    await follow()
    // Of a resource with a response per key also from the time that the first one observed.
    for (const [nth, at] of ['08:05', '08:25', '08:35', '08:50', '09:00', '09:10'].entries())
      await observe(others, at, 1 + nth)
    await staying(() => follow(others))
    expect(own().get('game.world_sample')?.size).toBeGreaterThan(2)
    expect((await guildLevels('a')).map(([, at]) => at)).toContain('08:05')
    await loseSome()
    await observe(theirs, '09:05', 8)
    await observe(theirs, '09:20', 7)
    await follow()
    expect(await lost()).toEqual([])
    expect((await guildLevels('a')).map(([, at]) => at)).not.toContain('08:10')
  })

  test('holds again after a sample that the lake removes, where it found the same', async () => {
    await syncGuild(follower, guildBody('b', { 1: { rank: 'owner' } }, { level: 1 }), '07:40')
    for (const [nth, at] of ['08:00', '08:10', '08:20'].entries()) {
      await syncGuild(theirs, guildBody('a', { 1: { rank: 'owner' } }, { level: 1 + nth }), at)
      await syncGuild(theirs, guildBody('b', { 1: { rank: 'owner' } }, { level: 5 }), at)
    }
    await follow()
    await syncGuild(follower, guildBody('b', { 1: { rank: 'owner' } }, { level: 5 }), '09:00')
    expect(await guildLevels('b')).toEqual([
      [1, '07:40'],
      [5, '08:00'],
    ])
    await theirs.db.query(`delete from game.guild_sample where guild_uuid = $1`, [guildId('b')])
    await follow()
    expect(await guildLevels('b')).toEqual([
      [1, '07:40'],
      [5, '09:00'],
    ])
  })

  test('stays between two times of the lake that touch at a response', async () => {
    await observeOwn('07:40', 1)
    for (const [nth, at] of ['08:00', '08:10', '08:20', '08:30', '08:40', '08:50'].entries())
      await observe(theirs, at, 3 + nth)
    await observeOwn('08:25', 2)
    await staying(() => follower.sync(items, some(2).slice(1), '08:25:30', { absences: 1 }))
    await observeOwn('09:00', 1)
    await follow()
    expect(await lost()).toEqual([])
    await loseSome()
    await theirs.db.query(
      `update game.item set level = 9, document = document || '{"lore": "9"}', hash = sha256('9') where valid_from = '2026-06-01T08:20Z'`,
    )
    await follow()
    expect(await lost()).toEqual([])
    expect((await levels()).filter(([, at]) => String(at) > '08:15' && String(at) < '08:35')).toEqual([
      [9, '08:20', '08:25'],
      [2, '08:25', '08:25:30'],
      [6, '08:30', '08:40'],
    ])
  })

  test('versions are one again when the lake does not have any more what it ended', async () => {
    await follower.sync(items, some(1), '07:50')
    await follower.sync(items, some(1), '09:00')
    for (const at of ['08:00', '08:10', '08:20'])
      await theirs.sync(items, at < '08:10' ? some(2) : some(1).slice(1), at, { absences: 1 })
    await follow()
    expect((await levels()).at(-1)).toEqual([1, '09:00', 'infinity'])
    await theirs.db.query(`delete from game.item where internal_name = 'Ash'`)
    await theirs.db.query(
      `update game.item set level = 3, document = document || '{"lore": "3"}', hash = sha256('3') where internal_name = 'Fir'`,
    )
    await follow()
    expect(await levels()).toEqual([[1, '07:50', 'infinity']])
  })

  test('versions are one again when the lake does not have any more what it had in between', async () => {
    await follower.sync(items, some(1), '07:50')
    await follower.sync(items, some(1), '09:00')
    for (const at of ['08:00', '08:50']) await theirs.sync(items, some(2), at)
    await follow()
    expect(await levels()).toHaveLength(3)
    await theirs.db.query(`delete from game.item where internal_name = 'Ash'`)
    await follow()
    expect(await levels()).toEqual([[1, '07:50', 'infinity']])
  })

  test('follows a file that is replaced and comes back', async () => {
    for (const [nth, at] of ['08:00', '08:10', '08:20'].entries()) await observe(theirs, at, 1 + nth)
    await follow()
    const before = await linesOf(follower.db, 'game.world_sample')
    const kept = await theirs.db.query('select * from game.world_sample where observed_at = $1', [
      new Date(instantOf('08:10')),
    ])
    await theirs.db.query('delete from game.world_sample where observed_at = $1', [new Date(instantOf('08:10'))])
    await follow()
    expect((await linesOf(follower.db, 'game.world_sample')).length).toBeLessThan(before.length)
    await theirs.db.query(
      'insert into game.world_sample select (jsonb_populate_recordset(null::game.world_sample, $1::jsonb)).*',
      [JSON.stringify(kept)],
    )
    await follow()
    expect(await linesOf(follower.db, 'game.world_sample')).toEqual(before)
  })

  test('stays on a board of which the lake names a player who hides here', async () => {
    const board = [1, 2, 3].map((nth) => [
      String(nth),
      {
        uuid: playerId(nth),
        name: `Player${nth}`,
        score: 90 - nth,
        metaScore: 1,
        previousRanking: 1,
        restricted: false,
      },
    ])
    for (const [world, at] of [
      [theirs, '08:00'],
      [theirs, '08:10'],
    ] as const) {
      await world.clock.advanceTo(instantOf(at))
      const headers = headersOf(instantOf(at), 600)
      world.sandbox.setAnswer('/leaderboards/types', () => ({ body: ['warsGlobal'], headers }))
      world.sandbox.setAnswer('/leaderboards/warsGlobal', () => ({
        body: Object.fromEntries(board.slice(0, at < '08:05' ? 2 : 3)),
        headers,
      }))
      await world.syncNow(leaderboards)
    }
    await follow()
    await follower.db.query(`update game.leaderboard_place set player_uuid = null, name = null where place = 1`)
    await follower.db.query(`insert into sync.privacy_restriction values ($1, 'onlineStatus', 'players/x', now())`, [
      playerId(1),
    ])
    const before = await linesOf(follower.db, 'game.leaderboard_place')
    expect(before).toHaveLength(3)
    await theirs.db.query(`update game.leaderboard_place set score = 1 where place = 2`)
    await follow()
    const now = await linesOf(follower.db, 'game.leaderboard_place')
    expect(now.filter((line) => line.includes('"place": 1'))).toEqual(
      before.filter((line) => line.includes('"place": 1')),
    )
  })
})
