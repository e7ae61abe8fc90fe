import { describe, expect, test } from 'vitest'
import { items } from '../../src/resources/items/index.ts'
import { guildBody, guildId, playerId, syncGuild } from '../support/guild-answers.ts'
import { observingFollower, some } from '../support/observing-follower.ts'
import { instantOf, type World } from '../support/world.ts'

describe('what the ledger of this database says, when a lake is imported again,', () => {
  const { theirs, follower, follow, staying, lost, observe, observeOwn, loseSome, levels, guildLevels, compact } =
    observingFollower()

  test('of a resource with a response per key stays where a late response about the key shows it', async () => {
    await observeOwn('07:40', 1)
    for (const [nth, at] of ['07:50', '08:00', '08:10', '08:20', '08:30'].entries())
      await observe(theirs, at, 4 + nth, at < '08:30' ? 'a' : 'b')
    await follow()
    await follower.clock.advanceTo(instantOf('08:31'))
    await staying(() =>
      syncGuild(follower, guildBody('a', { 1: { rank: 'owner', contributed: 9 } }, { level: 9 }), '08:29', {
        absences: 1,
      }),
    )
    expect((await guildLevels('a')).at(-1)).toEqual([9, '08:29'])
    // It says last who is a member: of that guild the lake has no response after it.
    const member = `select valid_from, valid_until from game.guild_member where player_uuid = '${playerId(2)}' and guild_uuid = '${guildId('a')}' order by 1`
    await syncGuild(follower, guildBody('a', { 1: { rank: 'owner', contributed: 9 } }, { level: 9 }), '09:00')
    const left = await follower.rows(member)
    expect(left.at(-1)?.[1]).toBe('08:29')
    await theirs.db.query(`update game.guild_member set rank = 'chief', hash = sha256('7') where player_uuid = $1`, [
      playerId(2),
    ])
    await loseSome()
    await follow()
    expect(await lost()).toEqual([])
    expect((await follower.rows(member)).at(-1)?.[1]).toBe('08:29')
    // Also where the ledger does not have these responses any more.
    await compact('09:00')
    await loseSome(theirs, '08:20')
    await theirs.db.query(`update game.guild_member set rank = 'captain', hash = sha256('8') where rank = 'chief'`)
    await follow()
    expect(await lost()).toEqual([])
    expect((await follower.rows(member)).at(-1)?.[1]).toBe('08:29')
  })

  test('stays where its ledger is compacted', async () => {
    for (const [nth, at] of ['07:20', '07:30', '07:40'].entries()) await observeOwn(at, 1 + nth)
    for (const [nth, at] of ['07:35', '08:00', '08:10', '08:20', '08:30', '08:40'].entries())
      await observe(theirs, at, 3 + nth)
    await observeOwn('08:30', 7)
    await observeOwn('08:35', 2)
    await staying(() => follower.sync(items, some(2).slice(1), '08:36', { absences: 1 }))
    for (const [nth, at] of ['08:45', '08:55', '09:10'].entries()) await observeOwn(at, 3 + nth)
    await follow()
    expect(await lost()).toEqual([])
    const ownLevels = async () => (await levels()).filter(([, at]) => String(at) < '07:40' || String(at) > '08:30')
    const before = await ownLevels()
    await compact('09:00')
    await loseSome()
    await theirs.db.query(`delete from game.guild_sample where observed_at = '2026-06-01T07:35Z'`)
    await theirs.db.query(
      `update game.item set level = 9, document = document || '{"lore": "9"}', hash = sha256('9') where valid_from = '2026-06-01T08:20Z'`,
    )
    await follow()
    expect(await lost()).toEqual([])
    expect(await ownLevels()).toEqual(before)
  })

  test('stays where the lake says that it observed longer than it did', async () => {
    for (const [nth, at] of ['08:00', '08:10', '08:20', '08:30'].entries()) await observe(theirs, at, 4 + nth)
    await follow(theirs, '08:34')
    await observeOwn('08:32', 2)
    await staying(() => follower.sync(items, some(2).slice(1), '08:33', { absences: 1 }))
    await observeOwn('08:36', 3)
    await loseSome()
    await theirs.db.query(
      `update game.item set level = 9, document = document || '{"lore": "9"}', hash = sha256('9') where valid_from = '2026-06-01T08:20Z'`,
    )
    await follow()
    expect(await lost()).toEqual([])
    expect((await levels()).slice(-4)).toEqual([
      [9, '08:20', '08:30'],
      [7, '08:30', '08:32'],
      [2, '08:32', '08:33'],
      [3, '08:36', 'infinity'],
    ])
    await expect(follow(theirs, '10:00')).rejects.toThrow('from the future')
  })

  test('stays after an import that ended before the ledger, and what the lake withdraws then goes', async () => {
    await follower.sync(items, some(1), '07:50')
    await theirs.sync(items, some(2), '08:00')
    await theirs.sync(items, some(3), '08:10')
    const killed = new AbortController()
    await expect(
      follow(theirs, undefined, {
        signal: killed.signal,
        onProgress: (table) => table === 'game.item' && killed.abort(),
      }),
    ).rejects.toThrow()
    await follower.sync(items, some(3), '09:00')
    expect((await levels()).map(([level]) => level)).toEqual([1, 2, 3])
    await theirs.db.query(`delete from game.item where internal_name = 'Ash'`)
    await follow()
    expect(await levels()).toEqual([
      [1, '07:50', '09:00'],
      [3, '09:00', 'infinity'],
    ])
  })

  test('stays where a late response about a key shows the same as the lake at the same instant', async () => {
    const of = (world: World, level: number, at: string) =>
      syncGuild(world, guildBody('a', { 1: { rank: 'owner' } }, { level }), at)
    for (const [nth, at] of ['08:00', '08:10', '08:20'].entries()) await of(theirs, 1 + nth, at)
    await syncGuild(theirs, guildBody('b', { 1: { rank: 'owner' } }), '08:30')
    await follow()
    await follower.clock.advanceTo(instantOf('08:31'))
    await of(follower, 3, '08:20')
    await theirs.db.query(
      `delete from game.guild_sample where observed_at between '2026-06-01T08:10Z' and '2026-06-01T08:20Z'`,
    )
    await follow()
    expect(await guildLevels('a')).toEqual([
      [1, '08:00'],
      [3, '08:20'],
    ])
  })

  test('stays where the responses about a key around a gap are compacted', async () => {
    const body = (...members: number[]) =>
      guildBody('a', Object.fromEntries(members.map((one) => [one, { rank: one === 1 ? 'owner' : 'recruit' }])))
    for (const at of ['07:20', '07:30']) await syncGuild(follower, body(1, 2), at)
    for (const at of ['07:40', '07:50', '09:00']) await syncGuild(follower, body(1), at, { absences: 1 })
    for (const at of ['07:00', '07:10', '08:10', '08:20', '08:30']) await syncGuild(theirs, body(1, 2, 3), at)
    await follow()
    const member = `select valid_from, valid_until from game.guild_member where player_uuid in ('${playerId(2)}', '${playerId(4)}') order by 1`
    await syncGuild(follower, body(1, 4), '09:10')
    for (const at of ['09:20', '10:10']) await syncGuild(follower, body(1), at, { absences: 1 })
    const before = await follower.rows(member)
    expect(before).toEqual([
      ['07:00', '07:40'],
      ['09:10', '09:20'],
    ])
    for (const [time, player] of [
      ['08:00', 3],
      ['10:00', 1],
    ] as const) {
      await compact(time)
      await theirs.db.query(`update game.guild_member set rank = 'chief', hash = sha256($2) where player_uuid = $1`, [
        playerId(player),
        time,
      ])
      await follow()
      expect(await follower.rows(member)).toEqual(before)
    }
  })
})
