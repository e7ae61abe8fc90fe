import { copyFile, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { seededRandom } from '../../src/base/clock.ts'
import type { Database } from '../../src/db/database.ts'
import { openDuckDb } from '../../src/lake/duckdb.ts'
import { exportLake } from '../../src/lake/export.ts'
import { sha256Of } from '../../src/lake/file-hash.ts'
import { type Imported, importLake } from '../../src/lake/import/import.ts'
import { followingTables, takenTables } from '../../src/lake/import/taken-tables.ts'
import type { LakeFile } from '../../src/lake/index-file.ts'
import { openPlace } from '../../src/lake/read/place.ts'
import { guilds } from '../../src/resources/guilds/index.ts'
import { items } from '../../src/resources/items/index.ts'
import { onlinePlayers } from '../../src/resources/online-players/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { setExpectedInterval } from '../../src/sync/ledger/gaps.ts'
import { guildBody, guildId, place, playerId, syncGuild } from '../support/guild-answers.ts'
import { changeIndex, different, linesOf } from '../support/lake-folder.ts'
import { onlineBody, syncOnline } from '../support/player-answers.ts'
import { temporaryFolder } from '../support/postgres.ts'
import { seedsOf } from '../support/seeds.ts'
import { emptyTables, instantOf, worldOf } from '../support/world.ts'

const seeds = seedsOf(import.meta.filename)

const holdsOf = (territory: string) =>
  `select guild_name, valid_from, valid_until from game.territory_hold where territory = '${territory}' order by 2`
const material = (name: string, level: number) => ({
  internalName: name,
  type: 'material',
  requirements: { level },
  identifications: { damage: { min: level, raw: level, max: level + 1 } },
})

describe('a lake that is imported again', () => {
  const theirs = worldOf('server')
  const follower = worldOf('server')
  const fresh = worldOf('server')
  let folder: string
  const onProgress = () => {}

  beforeEach(async () => {
    folder = join(await temporaryFolder(), 'lake')
    for (const { db } of [theirs, follower])
      for (const { name } of [territories, onlinePlayers, items, guilds])
        await setExpectedInterval(db, {
          resource: name,
          everySeconds: 600,
          setBy: 'start',
          at: new Date(instantOf('07:00')),
        })
  })

  async function exported(): Promise<void> {
    const options = { clock: theirs.clock, program: 'test', people: true, keepMs: 0, onProgress }
    await exportLake(theirs.db, folder, options)
  }

  async function take(world: typeof theirs): Promise<Imported> {
    if (world.clock.now() < theirs.clock.now()) await world.clock.advanceTo(theirs.clock.now())
    return await importLake(world.db, openPlace(folder), { clock: world.clock, maxBytes: 1e9, onProgress })
  }

  async function follow(world = follower): Promise<Imported> {
    const done = await take(world)
    expect(done.refused).toEqual([])
    return done
  }

  /** Everything that the lake's database does from 08:00 on, and a first import. */
  async function begin(): Promise<void> {
    await observe('08:00', { Oak: place('a', '07:00'), Elm: place('b', '07:30') }, 1)
    await observe('08:10', { Oak: place('c', '08:05'), Elm: place('b', '07:30') }, 2)
    await observe('08:20', { Oak: place('c', '08:05'), Elm: place('d', '08:15') }, 3)
    for (const at of ['08:30', '08:40', '08:50']) await observe(at, { Oak: place('c', '08:05') }, 4)
    await exported()
    await follow()
  }

  async function observe(at: string, places: object, nth: number): Promise<void> {
    await theirs.sync(territories, places, at)
    await theirs.sync(items, [material('Ash', nth), material('Fir', 1), material('Yew', 1)], at)
    await syncOnline(theirs, onlineBody({ EU1: [1, nth], EU2: [9] }), at)
    await syncGuild(theirs, guildBody('a', { 1: { rank: 'owner', contributed: nth }, 2: {} }, { level: nth }), at)
  }

  /** What an empty database gets of the lake, and what the one that follows it has. */
  async function expectSame(db: Database = follower.db): Promise<void> {
    await follow(fresh)
    expect(await differences(db, fresh.db)).toEqual([])
  }

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

  const levels = () =>
    follower.rows(`select level, valid_from, valid_until from game.item where internal_name = 'Ash' order by 2`)

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

  test('removes nothing where it is damaged, lists less, or has a row that cannot be read', async () => {
    const many = (level: number) => Array.from({ length: 30 }, (_, n) => material(`Item ${n}`, level))
    const worlds = (online: number) =>
      Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`EU${n}`, online === 1 ? [n] : [n, 100 + n]]))
    for (const [nth, at] of ['08:00', '08:10'].entries()) {
      await theirs.sync(items, many(nth + 1), at)
      await syncOnline(theirs, onlineBody(worlds(nth + 1)), at)
    }
    await exported()
    await follow()
    const all = async () => [await linesOf(follower.db, 'game.item'), await linesOf(follower.db, 'game.world_sample')]
    const before = await all()
    expect(before.map(({ length }) => length)).toEqual([60, 60])
    await theirs.sync(items, many(2), '08:20')
    const kept = async (change: () => Promise<unknown>): Promise<Imported> => {
      await change()
      const done = await take(follower)
      expect(await all()).toEqual(before)
      return done
    }
    // A row from the future.
    let done = await kept(async () => {
      await theirs.db.query(`delete from game.item where internal_name = 'Item 1'`)
      await theirs.db.query(`delete from game.world_sample where world = 'EU1'`)
      await theirs.db.query(
        `update game.item set valid_until = '2030-01-01Z' where internal_name = 'Item 2' and valid_until = 'infinity'`,
      )
      await theirs.db.query(
        `insert into game.world_sample (world, observed_at, online) values ('EU2', '2030-01-01Z', 1)`,
      )
      await exported()
    })
    expect(
      done.tables
        .filter(({ refused }) => refused > 0)
        .map(({ table }) => table)
        .sort(),
    ).toEqual(['game.item', 'game.world_sample'])
    await theirs.db.query(`update game.item set valid_until = 'infinity' where valid_until = '2030-01-01Z'`)
    await theirs.db.query(`delete from game.world_sample where observed_at = '2030-01-01Z'`)
    // More than half is gone.
    done = await kept(async () => {
      await theirs.db.query(`delete from game.item where internal_name > 'Item 2'`)
      await theirs.db.query(`delete from game.world_sample where world > 'EU2'`)
      await exported()
    })
    expect(done.refused.map(({ what }) => what).sort()).toEqual(['game.item', 'game.world_sample'])
    expect(done.refused[0]?.reason).toMatch(
      /^it has \d+ rows of game\..*, of which \d+ were imported from this lake before/,
    )
    // A table that is not listed, and one whose file is cut off.
    await kept(async () => {
      await changeIndex(folder, async (index) => {
        const file = index.files.find(({ table }) => table === 'game.world_sample')
        index.files = index.files.filter(({ table }) => table !== 'game.item')
        await writeFile(join(folder, file?.path ?? ''), 'PAR1')
      })
    })
  })

  test('removes nothing where it lists a month less', async () => {
    const many = Array.from({ length: 45 }, (_, n) => material(`Item ${n}`, 1))
    await theirs.sync(items, many, '08:00')
    await theirs.db.transaction(async (sql) => {
      for (const table of ['item_identification', 'item'])
        await sql.query(`delete from game.${table} where internal_name > 'Item 5'`)
      await sql.query('update game.item set previous_until = valid_from')
      await sql.query(
        `insert into game.item select (jsonb_populate_record(item, jsonb_build_object('valid_from', '2026-05-01Z'::timestamptz, 'valid_until', item.valid_from, 'previous_until', null))).* from game.item`,
      )
    })
    expect(await theirs.rows('select count(*)::int from game.item')).toEqual([[82]])
    const publish = async (...months: string[]) => {
      await exported()
      await changeIndex(folder, async (index) => {
        const files = index.files.filter(({ table }) => table === 'game.item')
        // What is by month stays so.
        const parts = files[0]?.month === null ? await inMonths(folder, files[0], months) : files
        const listed = parts.filter(({ month }) => month !== null && months.includes(month))
        index.files = [...index.files.filter((one) => !files.includes(one)), ...listed]
      })
    }
    await publish('2026-05', '2026-06')
    await follow()
    const before = await linesOf(follower.db, 'game.item')
    expect(before).toHaveLength(82)
    await theirs.db.query(`update game.item set level = 2 where valid_from > '2026-06-01Z'`)
    await publish('2026-06')
    expect((await take(follower)).refused.map(({ reason }) => reason)).toEqual([
      'it has 0 rows of game.item of 2026-05, of which 41 were imported from this lake before',
    ])
    expect(await linesOf(follower.db, 'game.item')).toEqual(before)
    await publish('2026-05', '2026-06')
    await follow()
    expect(await follower.rows('select level, count(*)::int from game.item group by 1 order by 1')).toEqual([
      [1, 41],
      [2, 41],
    ])
  })

  test('removes no sample that it has compacted, and none while it does not say since when it has all', async () => {
    await begin()
    await syncOnline(theirs, onlineBody({ EU1: [1, 2, 3], EU2: [9] }), '08:55')
    await exported()
    await follow()
    const before = await linesOf(follower.db, 'game.world_sample')
    const fine = `'2026-06-01T08:05Z'`
    await theirs.db.query(`delete from game.world_sample where observed_at < ${fine}`)
    await theirs.db.query(
      `insert into sync.tier (sample_table, fine_since, checked_at) values ('game.world_sample', ${fine}, ${fine})`,
    )
    await exported()
    const path = join(folder, 'index.json')
    const whole = await readFile(path, 'utf8')
    await changeIndex(folder, async ({ files }) => {
      for (const file of files) if (file.table === 'sync.tier') Object.assign(file, { sha256: 'f'.repeat(64) })
    })
    expect((await take(follower)).refused.map(({ what }) => what)).toHaveLength(1)
    expect(await linesOf(follower.db, 'game.world_sample')).toEqual(before)
    await writeFile(path, whole)
    await theirs.db.query(
      `delete from game.world_sample where observed_at = (select max(observed_at) from game.world_sample)`,
    )
    await exported()
    await follow()
    const kept = before.filter((line) => !line.includes('08:55:00'))
    expect(kept.length).toBeLessThan(before.length)
    expect(await linesOf(follower.db, 'game.world_sample')).toEqual(kept)
  })

  test('changes nothing about a player who hides something here since', async () => {
    await begin()
    const all = async () => [
      await follower.rows(`select * from game.guild_member where player_uuid = '${playerId(2)}'`),
      await follower.rows(`select * from game.member_counter where player_uuid = '${playerId(2)}'`),
      await follower.rows(`select * from game.player_listing where player_uuid = '${playerId(2)}'`),
    ]
    const before = await all()
    expect(before.map((rows) => rows.length > 0)).toEqual([true, true, true])
    await follower.db.query(`insert into sync.privacy_restriction values ($1, 'onlineStatus', 'players/x', now())`, [
      playerId(2),
    ])
    await observe('09:00', { Oak: place('c', '08:05') }, 5)
    for (const table of ['guild_member', 'member_counter', 'player_listing'])
      await theirs.db.query(`delete from game.${table} where player_uuid = $1`, [playerId(2)])
    await exported()
    await follow()
    expect(await all()).toEqual(before)
  })
  test('removes nothing that came from another one', async () => {
    await begin()
    const other = join(await temporaryFolder(), 'lake')
    const own = folder
    for (const at of ['08:00', '08:10', '08:20', '09:30', '09:40'])
      await fresh.sync(items, [material('Ash', at > '09' ? 9 : 7), material('Fir', 1), material('Oak', 1)], at)
    await theirs.clock.advanceTo(fresh.clock.now())
    const publish = () =>
      exportLake(fresh.db, other, { clock: fresh.clock, program: 'test', people: true, keepMs: 0, onProgress })
    await publish()
    folder = other
    await follow()
    const before = (await levels()).slice(0, 3)
    expect((await levels()).at(-1)).toEqual([9, '09:30', 'infinity'])
    await fresh.db.query(`delete from game.item where internal_name <> 'Fir'`)
    await publish()
    await follow()
    expect(await follower.versions()).toEqual([
      ['Ash', '08:00', '08:10'],
      ['Ash', '08:10', '08:20'],
      ['Ash', '08:20', '08:30'],
      ['Ash', '08:30', 'infinity'],
      ['Fir', '08:00', 'infinity'],
      ['Yew', '08:00', 'infinity'],
    ])
    expect((await levels()).slice(0, 3)).toEqual(before)
    folder = own
  })

  const names = ['Ash', 'Elm', 'Fir', 'Oak', 'Yew']
  const timeAt = (minutes: number) => new Date(instantOf('08:00') + minutes * 60_000).toISOString().slice(11, 16)
  /** Some items, and their levels by name. */
  function someItems(random: () => number) {
    const listed = names.filter((name) => name === 'Ash' || random() < 0.8)
    const levelOf = Object.fromEntries(listed.map((name) => [name, 1 + Math.floor(3 * random())]))
    return { body: listed.map((name) => material(name, levelOf[name] ?? 0)), levelOf }
  }

  test.each(seeds)('corrected at random (seed %i) is followed', async (seed) => {
    const random = seededRandom(seed)
    const upTo = (count: number) => Math.floor(random() * count)
    let minutes = 0
    const guild = () => place('abcdef'[upTo(6)] ?? 'a', timeAt(minutes - 1))
    for (let round = 0; round < 3; round++) {
      for (let n = 0; n < 4; n++) {
        minutes += 10
        await theirs.sync(items, someItems(random).body, timeAt(minutes), { absences: 1, plausibleShare: 0 })
        await theirs.sync(territories, { Oak: guild(), Elm: guild(), Yew: guild() }, timeAt(minutes))
        await syncOnline(theirs, onlineBody({ EU1: [1, upTo(4)], EU2: [upTo(9)] }), timeAt(minutes))
      }
      for (let n = 0; n < 6 && round > 0; n++) await correct(theirs.db, upTo)
      await exported()
      await follow()
      await emptyTables(fresh.db)
      await expectSame()
    }
  })

  test.each(seeds)('corrected at random (seed %i) changes nothing of what this database observed', async (seed) => {
    const random = seededRandom(seed)
    const upTo = (count: number) => Math.floor(random() * count)
    const observed = new Map<string, object>()
    for (let minutes = 0; minutes < 300; ) {
      for (let n = 0; n < 3; n++) {
        minutes += 10
        await theirs.sync(items, someItems(random).body, timeAt(minutes), { absences: 1, plausibleShare: 0 })
      }
      for (let n = upTo(4); n > 0; n--) await correct(theirs.db, upTo, 'game.item')
      for (let n = upTo(3); n > 0; n--) {
        minutes += upTo(2) === 0 ? 3 : 10
        const before = await follower.rows(currentLevels('infinity'))
        // Often what the lake said last.
        const own = upTo(2) === 0 && before.length > 0 ? undefined : someItems(random)
        const levelOf = own?.levelOf ?? (Object.fromEntries(before) as Record<string, number>)
        const body = own?.body ?? Object.entries(levelOf).map(([name, level]) => material(name, level))
        const { status } = await follower.sync(items, body, timeAt(minutes), { absences: 1, plausibleShare: 0 })
        expect(['ok', 'unchanged']).toContain(status)
        observed.set(timeAt(minutes), levelOf)
      }
      await exported()
      await follow()
      for (const [at, levelOf] of observed)
        expect([at, Object.fromEntries(await follower.rows(currentLevels(`2026-06-01T${at}Z`)))]).toEqual([at, levelOf])
    }
    expect(observed.size).toBeGreaterThan(3)
  })

  const currentLevels = (at: string) =>
    at === 'infinity'
      ? `select internal_name, level from game.item where valid_until = 'infinity' order by 1`
      : `select internal_name, level from game.item where valid_from <= '${at}' and valid_until > '${at}' order by 1`
})

/** The rows of a file as files of the months in which they begin. */
async function inMonths(folder: string, file: LakeFile, months: readonly string[]): Promise<LakeFile[]> {
  const duck = await openDuckDb()
  const files: LakeFile[] = []
  for (const month of months) {
    const made = join(folder, 'month.parquet')
    const rows = `from read_parquet('${join(folder, file.path)}') where strftime(valid_from, '%Y-%m') = '${month}'`
    await duck.run(`copy (select * ${rows}) to '${made}' (format parquet)`)
    const [count] = await duck.rows(`select count(*)::integer as rows ${rows}`)
    const sha256 = await sha256Of(made)
    const path = `${file.table}/month=${month}/${sha256.slice(0, 20)}.parquet`
    await mkdir(join(folder, dirname(path)), { recursive: true })
    await copyFile(made, join(folder, path))
    files.push({ ...file, path, month, sha256, rows: Number(count?.rows), bytes: (await stat(made)).size })
  }
  duck.close()
  return files
}

/** Tables that are not the same, with some of the rows. */
async function differences(one: Database, other: Database): Promise<unknown[]> {
  const found: unknown[] = []
  const taken = takenTables.flatMap((each) => [each.table, ...('parts' in each ? each.parts : [])])
  for (const table of [...taken, ...followingTables]) {
    const lines = different(await linesOf(one, table), await linesOf(other, table))
    if (lines.some((list) => list.length > 0)) found.push([table, ...lines])
  }
  return found
}

/** Changes something of the past as a database may that learns better. */
async function correct(db: Database, upTo: (count: number) => number, of?: string): Promise<void> {
  const one = (table: string) => `(select ctid from ${table} order by md5(ctid::text || ${upTo(1e9)}) limit 1)`
  const versions = of ?? ['game.item', 'game.territory', 'game.territory_hold'][upTo(3)] ?? 'game.item'
  const key = versions === 'game.item' ? 'internal_name' : 'territory'
  const rows = ['game.online_sample', 'game.world_sample'][upTo(2)] ?? ''
  const statements = [
    `delete from ${versions} where ctid = ${one(versions)}`,
    `delete from ${versions} where ${key} = (select ${key} from ${versions} where ctid = ${one(versions)})`,
    `update ${versions} own set valid_until = coalesce((select min(valid_from) from ${versions} next where next.${key} = own.${key}
        and next.valid_from > own.valid_from), 'infinity') where ctid = ${one(versions)}`,
    `update ${versions} set valid_until = valid_from + interval '1 minute' where ctid = ${one(versions)}`,
    `delete from ${rows} where (tableoid, ctid) = (select tableoid, ctid from ${rows} order by md5(ctid::text || ${upTo(1e9)}) limit 1)`,
    `update game.world_sample set online = online + 1 where observed_at = (select max(observed_at) from game.world_sample)`,
  ]
  await db.transaction(async (sql) => {
    await sql.query('set constraints all deferred')
    await sql.query(statements[upTo(statements.length)] ?? '')
    await sql.query(
      `update ${versions} own set previous_until = (select max(valid_until) from ${versions} before
          where before.${key} = own.${key} and before.valid_from < own.valid_from)`,
    )
  })
}
