import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { exportLake } from '../../src/lake/export.ts'
import { importLake } from '../../src/lake/import/import.ts'
import type { ImportOptions } from '../../src/lake/import/plan.ts'
import { takenTables } from '../../src/lake/import/taken-tables.ts'
import { openPlace } from '../../src/lake/read/place.ts'
import { guilds } from '../../src/resources/guilds/index.ts'
import { items } from '../../src/resources/items/index.ts'
import { leaderboards } from '../../src/resources/leaderboards/index.ts'
import { onlinePlayers } from '../../src/resources/online-players/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { setExpectedInterval } from '../../src/sync/ledger/gaps.ts'
import { guildBody, guildId, place, playerId, syncGuild } from '../support/guild-answers.ts'
import { changeIndex, linesOf } from '../support/lake-folder.ts'
import { onlineBody, syncOnline } from '../support/player-answers.ts'
import { temporaryFolder } from '../support/postgres.ts'
import { wrongRows } from '../support/verified.ts'
import { headersOf, instantOf, type World, worldOf } from '../support/world.ts'

const material = (name: string, level: number) => ({
  internalName: name,
  type: 'material',
  requirements: { level },
  identifications: { damage: { min: level, raw: level, max: level + 1 } },
})
const some = (level: number) => [material('Ash', level), material('Fir', 1), material('Yew', 1)]
const rowTables = takenTables.flatMap((one) =>
  one.kind === 'rows' && !one.isAverage && !one.isSession ? [one.table] : [],
)

describe('what this database observed itself, when a lake is imported again', () => {
  const theirs = worldOf('server')
  const others = worldOf('server')
  const follower = worldOf('server')
  const onProgress = () => {}
  let folder: string
  /** Rows that own responses wrote, by table. */
  let own: Map<string, Set<string>>

  beforeEach(async () => {
    folder = await temporaryFolder()
    own = new Map()
    for (const { db } of [theirs, others, follower])
      for (const { name } of [territories, onlinePlayers, items, guilds, leaderboards])
        await setExpectedInterval(db, {
          resource: name,
          everySeconds: 600,
          setBy: 'start',
          at: new Date(instantOf('07:00')),
        })
  })

  /** Exports a database, and imports that into the follower, at the later of their times. */
  async function follow(world: World = theirs, until?: string, options: Partial<ImportOptions> = {}): Promise<void> {
    const lake = join(folder, world === theirs ? 'theirs' : 'others')
    await exportLake(world.db, lake, { clock: world.clock, program: 'test', people: true, keepMs: 0, onProgress })
    if (until !== undefined)
      await changeIndex(lake, ({ coverage }) => {
        for (const one of coverage) Object.assign(one, { until: new Date(instantOf(until)).toISOString() })
      })
    if (follower.clock.now() < world.clock.now()) await follower.clock.advanceTo(world.clock.now())
    const done = await importLake(follower.db, openPlace(lake), {
      clock: follower.clock,
      maxBytes: 1e9,
      onProgress,
      ...options,
    })
    expect(done.refused).toEqual([])
    expect(await wrongRows(follower.db)).toEqual([])
  }

  /** What is written meanwhile is to stay. */
  async function staying(work: () => Promise<unknown>): Promise<void> {
    const before = new Map<string, Set<string>>()
    for (const table of rowTables) before.set(table, new Set(await linesOf(follower.db, table)))
    await work()
    for (const table of rowTables)
      for (const line of await linesOf(follower.db, table))
        if (!before.get(table)?.has(line)) own.set(table, (own.get(table) ?? new Set()).add(line))
  }

  async function lost(): Promise<string[]> {
    const found: string[] = []
    for (const [table, lines] of own) {
      const now = new Set(await linesOf(follower.db, table))
      for (const line of lines) if (!now.has(line)) found.push(`${table} ${line}`)
    }
    return found
  }

  /** Everything is another thing than before. */
  async function observe(world: World, at: string, nth: number, letter = 'a'): Promise<void> {
    await world.sync(territories, { Oak: place('abcdefghi'[nth] ?? 'z', at), Elm: place('b', '07:00') }, at)
    await world.sync(items, some(nth), at)
    await syncOnline(world, onlineBody({ EU1: [1, 10 + nth], EU2: Array.from({ length: nth }, (_, n) => 20 + n) }), at)
    await syncGuild(world, guildBody(letter, { 1: { rank: 'owner', contributed: nth }, 2: {} }, { level: nth }), at)
  }
  const observeOwn = (at: string, nth: number) => staying(() => observe(follower, at, nth))

  /** A row of each table less, so that each file is another one. */
  async function loseSome(world: World = theirs, at = '08:10'): Promise<void> {
    for (const table of ['world_sample', 'online_sample', 'guild_sample', 'member_counter'])
      await world.db.query(`delete from game.${table} where observed_at = '2026-06-01T${at}Z'`)
  }

  const levels = () =>
    follower.rows(`select level, valid_from, valid_until from game.item where internal_name = 'Ash' order by 2`)
  const guildLevels = (letter: string) =>
    follower.rows(`select level, observed_at from game.guild_sample where guild_uuid = '${guildId(letter)}' order by 2`)

  test('stays outside the times of the lake, also in the month of one of its files', async () => {
    for (const [nth, at] of ['07:20', '07:30', '07:40'].entries()) await observeOwn(at, 1 + nth)
    for (const [nth, at] of ['08:00', '08:10', '08:20', '08:30'].entries()) await observe(theirs, at, 4 + nth)
    await follow()
    for (const [nth, at] of ['09:00', '09:10', '09:20'].entries()) await observeOwn(at, 1 + nth)
    expect([...own].map(([table, lines]) => [table, lines.size > 3])).toEqual(
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
    expect(own.get('game.world_sample')?.size).toBeGreaterThan(2)
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

  /** As if the hours before were counted, and the responses in them not needed any more. */
  async function compact(before: string): Promise<void> {
    const at = new Date(instantOf(before))
    for (const { name } of [territories, items, onlinePlayers, guilds])
      await follower.db.query(
        `insert into sync.coverage_reach (resource, counted_until, thinned_until) values ($1, $2, $2)
         on conflict (resource) do update set counted_until = excluded.counted_until, thinned_until = excluded.thinned_until`,
        [name, at],
      )
    await follower.db.query(
      `delete from sync.run where observed_at < $1 and observed_at > (select min(observed_at) from sync.run first where first.resource = run.resource)`,
      [at],
    )
    await follower.db.query(
      `delete from sync.observation one where received_at < $1
          and received_at > (select min(received_at) from sync.observation first where first.resource = one.resource)`,
      [at],
    )
  }

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
