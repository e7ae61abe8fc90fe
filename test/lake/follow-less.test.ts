import { copyFile, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openDuckDb } from '../../src/lake/duckdb.ts'
import { sha256Of } from '../../src/lake/file-hash.ts'
import type { Imported } from '../../src/lake/import/import.ts'
import type { LakeFile } from '../../src/lake/index-file.ts'
import { items } from '../../src/resources/items/index.ts'
import { followedLake, material } from '../support/followed-lake.ts'
import { place, playerId } from '../support/guild-answers.ts'
import { changeIndex, linesOf } from '../support/lake-folder.ts'
import { onlineBody, syncOnline } from '../support/player-answers.ts'
import { temporaryFolder } from '../support/postgres.ts'

describe('a lake that is imported again and has less', () => {
  const { theirs, follower, fresh, lake, exported, take, follow, begin, observe, levels } = followedLake()

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
      await changeIndex(lake.folder, async (index) => {
        const file = index.files.find(({ table }) => table === 'game.world_sample')
        index.files = index.files.filter(({ table }) => table !== 'game.item')
        await writeFile(join(lake.folder, file?.path ?? ''), 'PAR1')
      })
    })
  })

  test.each([
    [3, 0],
    [45, 45],
  ])('loses all rows of a table where those were few: of %i, %i stay', async (there, left) => {
    const many = Array.from({ length: there }, (_, n) => material(`Item ${n}`, 1))
    await theirs.sync(items, many, '08:00')
    await exported()
    await follow()
    await theirs.db.query('delete from game.item')
    await exported()
    const { refused } = await take(follower)
    expect(await follower.rows('select count(*)::int from game.item')).toEqual([[left]])
    const reason = `it has 0 rows of game.item, of which ${there} were imported from this lake before`
    expect(refused).toEqual(left > 0 ? [{ what: 'game.item', reason: expect.stringContaining(reason) }] : [])
    expect((await take(follower)).refused).toEqual(refused)
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
      await changeIndex(lake.folder, async (index) => {
        const files = index.files.filter(({ table }) => table === 'game.item')
        // What is by month stays so.
        const parts = files[0]?.month === null ? await inMonths(lake.folder, files[0], months) : files
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

  test('removes the samples of a month that has none any more, and of a table that has none', async () => {
    for (const at of ['08:00', '08:10', '31 08:00', '31 08:10'])
      await syncOnline(theirs, onlineBody({ EU1: [1, ...(at.endsWith('08:00') ? [2] : [])], EU2: [9] }), at)
    const publish = async () => {
      await exported()
      await changeIndex(lake.folder, async (index) => {
        const whole = index.files.find(({ table, month }) => table === 'game.world_sample' && month === null)
        // What is by month stays so.
        if (!whole) return
        const months = await inMonths(lake.folder, whole, ['2026-06', '2026-07'], 'observed_at')
        index.files = [...index.files.filter((one) => one !== whole), ...months]
      })
    }
    const days = async () => {
      const rows = await follower.rows(`select distinct observed_at::date::text from game.world_sample order by 1`)
      return rows.flat()
    }
    await publish()
    await follow()
    const before = await linesOf(follower.db, 'game.world_sample')
    expect(await days()).toEqual(['2026-06-01', '2026-07-01'])
    await theirs.db.query(`delete from game.world_sample where observed_at < '2026-07-01Z'`)
    // A refused file of the table: what is gone is not believed, and looked at again.
    await theirs.db.query(`update game.world_sample set online = online + 1 where world = 'EU2'`)
    await publish()
    const path = join(lake.folder, 'index.json')
    const whole = await readFile(path, 'utf8')
    await changeIndex(lake.folder, async ({ files }) => {
      for (const file of files) if (file.table === 'game.world_sample') Object.assign(file, { schema: 'f'.repeat(64) })
    })
    expect((await take(follower)).refused.map(({ reason }) => reason)).toEqual([expect.stringContaining('the columns')])
    expect(await linesOf(follower.db, 'game.world_sample')).toEqual(before)
    await writeFile(path, whole)
    await follow()
    expect(await days()).toEqual(['2026-07-01'])
    await theirs.db.query('delete from game.world_sample')
    await publish()
    await follow()
    expect(await days()).toEqual([])
    await theirs.db.query('delete from game.online_sample')
    await publish()
    expect(await linesOf(follower.db, 'game.online_sample')).not.toEqual([])
    await follow()
    expect(await linesOf(follower.db, 'game.online_sample')).toEqual([])
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
    const path = join(lake.folder, 'index.json')
    const whole = await readFile(path, 'utf8')
    await changeIndex(lake.folder, async ({ files }) => {
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
    for (const at of ['08:00', '08:10', '08:20', '09:30', '09:40'])
      await fresh.sync(items, [material('Ash', at > '09' ? 9 : 7), material('Fir', 1), material('Oak', 1)], at)
    await theirs.clock.advanceTo(fresh.clock.now())
    lake.folder = other
    await exported(fresh)
    await follow()
    const before = (await levels()).slice(0, 3)
    expect((await levels()).at(-1)).toEqual([9, '09:30', 'infinity'])
    await fresh.db.query(`delete from game.item where internal_name <> 'Fir'`)
    await exported(fresh)
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
  })
})

/** The rows of a file as files of the months in which they begin. */
async function inMonths(
  folder: string,
  file: LakeFile,
  months: readonly string[],
  time = 'valid_from',
): Promise<LakeFile[]> {
  const duck = await openDuckDb()
  const files: LakeFile[] = []
  for (const month of months) {
    const made = join(folder, 'month.parquet')
    const rows = `from read_parquet('${join(folder, file.path)}') where strftime(${time}, '%Y-%m') = '${month}'`
    await duck.run(`copy (select * ${rows}) to '${made}' (format parquet)`)
    const [count] = await duck.rows(`select count(*)::integer as rows ${rows}`)
    const sha256 = await sha256Of(made)
    const path = `${file.table}/month=${month}/${sha256.slice(0, 20)}.parquet`
    await mkdir(join(folder, dirname(path)), { recursive: true })
    await copyFile(made, join(folder, path))
    if (Number(count?.rows) > 0)
      files.push({ ...file, path, month, sha256, rows: Number(count?.rows), bytes: (await stat(made)).size })
  }
  duck.close()
  return files
}
