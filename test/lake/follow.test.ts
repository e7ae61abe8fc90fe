import { describe, expect, test } from 'vitest'
import { items } from '../../src/resources/items/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { followedLake, material } from '../support/followed-lake.ts'
import { guildBody, guildId, place, playerId, syncGuild } from '../support/guild-answers.ts'

const holdsOf = (territory: string) =>
  `select guild_name, valid_from, valid_until from game.territory_hold where territory = '${territory}' order by 2`

describe('a lake that is imported again', () => {
  const { theirs, follower, exported, follow, begin, observe, expectSame, levels } = followedLake()

  test('has everything that an empty database gets, and nothing changes the next time', async () => {
    await begin()
    await observe('09:00', { Oak: place('e', '08:55'), Elm: place('d', '08:15') }, 5)
    await exported()
    await follow()
    await expectSame()
    const all = async () =>
      await follower.rows('select xmin::text, * from game.territory_hold order by territory, valid_from')
    const before = await all()
    expect((await follow()).files).toBe(0)
    await theirs.sync(territories, { Oak: place('f', '09:15'), Elm: place('d', '08:15') }, '09:20')
    await exported()
    await follow()
    // Only what changed is written.
    expect((await all()).filter((row) => before.some((old) => String(old) === String(row)))).toHaveLength(
      before.length - 1,
    )
  })

  test('takes back a hold that it withdraws, a tombstone, and an end that it dates back', async () => {
    await begin()
    const before = await follower.rows(holdsOf('Elm'))
    expect(before.at(-1)).toEqual(['Guild d', '08:15', '08:30'])
    await theirs.db.query(
      `delete from game.territory_hold where territory = 'Oak' and valid_from = '2026-06-01T08:05Z'`,
    )
    await theirs.db.query(`update game.territory_hold set valid_until = 'infinity' where territory in ('Oak', 'Elm') and valid_until =
      (select max(valid_until) from game.territory_hold one where one.territory = territory_hold.territory)`)
    await theirs.db.query(`update game.territory set valid_until = '2026-06-01T08:25Z' where territory = 'Elm'`)
    await theirs.db.query(`update game.item set level = 7, hash = sha256('7') where level = 4`)
    await exported()
    await follow()
    expect((await levels()).at(-1)).toEqual([7, '08:30', 'infinity'])
    // What it observed itself in that time is no observation of this database.
    expect(await follower.rows('select * from sync.source_conflict')).toEqual([])
    expect(await follower.rows(holdsOf('Oak'))).toEqual([['Guild a', '07:00', 'infinity']])
    expect((await follower.rows(holdsOf('Elm'))).at(-1)).toEqual(['Guild d', '08:15', 'infinity'])
    expect(await follower.rows(`select valid_until from game.territory where territory = 'Elm'`)).toEqual([['08:25']])
    await expectSame()
  })

  test('removes samples and sessions that it does not have any more, and takes what it corrects', async () => {
    await begin()
    await theirs.db.query(
      `update game.world_sample set online = 7 where observed_at = '2026-06-01T08:10Z' and world = 'EU1'`,
    )
    await theirs.db.query(`delete from game.online_sample where observed_at = '2026-06-01T08:20Z'`)
    await theirs.db.query(`delete from game.player_listing where player_uuid = $1`, [playerId(9)])
    await theirs.db.query(`delete from game.guild_sample where observed_at = '2026-06-01T08:20Z'`)
    await exported()
    await follow()
    expect(await follower.rows(`select from game.player_listing where player_uuid = '${playerId(9)}'`)).toEqual([])
    await expectSame()
  })

  test('loses a key that is gone from it, with its parts', async () => {
    await begin()
    await theirs.db.query(`delete from game.item where internal_name in ('Ash', 'Fir')`)
    await theirs.db.query(`delete from game.guild_member where player_uuid = $1`, [playerId(2)])
    await exported()
    await follow()
    expect(await follower.rows('select distinct internal_name from game.item_identification')).toEqual([['Yew']])
    await expectSame()
    expect(await follower.rows("select distinct key from sync.source_version where table_name = 'game.item'")).toEqual([
      ['Yew'],
    ])
  })

  test('keeps what this database observed before, between and after, also what it found as the lake had it', async () => {
    await follower.sync(territories, { Oak: place('a', '07:00'), Elm: place('b', '07:30') }, '07:40')
    await follower.sync(items, [material('Ash', 1), material('Fir', 1), material('Yew', 1)], '07:40')
    await syncGuild(follower, guildBody('a', { 1: { rank: 'owner' }, 2: {} }, { level: 1 }), '07:40')
    await begin()
    expect(await follower.rows(holdsOf('Oak'))).toEqual([
      ['Guild a', '07:00', '08:05'],
      ['Guild c', '08:05', 'infinity'],
    ])
    // Both are as the lake said last: no version of its own is written.
    await follower.sync(territories, { Oak: place('c', '08:05') }, '09:00')
    await follower.sync(items, [material('Ash', 4), material('Fir', 1), material('Yew', 1)], '09:00')
    await syncGuild(follower, guildBody('a', { 1: { rank: 'owner' }, 2: {} }, { level: 4 }), '09:00')
    await withdrawAll()
    await follow()
    const kept = [
      ['Guild a', '07:00', '09:00'],
      ['Guild c', '09:00', 'infinity'],
    ]
    expect(await follower.rows(holdsOf('Oak'))).toEqual(kept)
    expect(await levels()).toEqual([
      [1, '07:40', '09:00'],
      [4, '09:00', 'infinity'],
    ])
    expect(await follower.rows('select guild_uuid, valid_from, valid_until from game.guild')).toEqual([
      [guildId('a'), '07:40', 'infinity'],
    ])
    const levelAt = 'select level, observed_at from game.guild_sample order by 2'
    expect(await follower.rows(levelAt)).toEqual([
      [1, '07:40'],
      [1, '08:00'],
      [4, '09:00'],
    ])
    // What it ends itself stays so, and the lake says anew what was in between.
    await follower.sync(territories, { Oak: place('f', '09:05') }, '09:10')
    await follower.sync(items, [material('Ash', 5), material('Fir', 1), material('Yew', 1)], '09:10')
    await theirs.sync(items, [material('Ash', 8), material('Fir', 1), material('Yew', 1)], '09:15')
    await exported()
    await follow()
    expect(await follower.rows(holdsOf('Oak'))).toEqual([
      kept[0],
      ['Guild c', '09:00', '09:05'],
      ['Guild f', '09:05', 'infinity'],
    ])
    expect(await levels()).toEqual([
      [1, '07:40', '09:00'],
      [4, '09:00', '09:10'],
      [5, '09:10', '09:15'],
      [8, '09:15', 'infinity'],
    ])
    expect(
      await follower.rows('select territory, to_guild_name from game.territory_capture order by 1, captured_at'),
    ).toEqual([
      ['Oak', 'Guild c'],
      ['Oak', 'Guild f'],
    ])
  })

  /** Of what changed after 08:00 the lake says nothing any more. */
  async function withdrawAll(): Promise<void> {
    for (const table of ['item', 'guild_member', 'guild', 'territory_hold', 'territory'])
      await theirs.db.query(`delete from game.${table} where valid_from > '2026-06-01T08:00Z'`)
    for (const table of ['item', 'guild_member', 'guild', 'territory_hold', 'territory'])
      await theirs.db.query(`update game.${table} set valid_until = 'infinity'`)
    await theirs.db.query('delete from game.guild_sample where level <> 1')
    await exported()
  }

  test('fills a gap anew, and what this database found after it is one with what was before', async () => {
    const some = (level: number) => [material('Ash', level), material('Fir', 1), material('Yew', 1)]
    await follower.sync(items, some(1), '07:50')
    await follower.sync(items, some(1), '09:00')
    await begin()
    expect((await levels()).map(([level]) => level)).toEqual([1, 2, 3, 4, 1])
    await withdrawAll()
    await follow()
    expect(await levels()).toEqual([[1, '07:50', 'infinity']])
    for (const [until, expected] of [
      [
        `'2026-06-01T08:30Z'`,
        [
          [1, '07:50', '08:30'],
          [1, '09:00', 'infinity'],
        ],
      ],
      [`'infinity'`, [[1, '07:50', 'infinity']]],
    ] as const) {
      await theirs.db.query(`update game.item set valid_until = ${until} where internal_name = 'Ash'`)
      await exported()
      await follow()
      expect(await levels()).toEqual(expected)
    }
  })
})
