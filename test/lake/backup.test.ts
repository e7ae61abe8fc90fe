import { readdirSync } from 'node:fs'
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import type { Database } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrations/migrate.ts'
import { backupDatabase } from '../../src/lake/backup/backup.ts'
import { readManifest } from '../../src/lake/backup/manifest.ts'
import { restoreDatabase } from '../../src/lake/backup/restore.ts'
import { openStore } from '../../src/lake/store.ts'
import { growingTables } from '../../src/resources/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { maintain } from '../../src/sync/retention/maintain.ts'
import { openBucket } from '../support/bucket.ts'
import { contentOf, partitionsOf } from '../support/database-content.ts'
import { place } from '../support/guild-answers.ts'
import { transactionsOver } from '../support/lake-folder.ts'
import { bothKinds, copiesOf, temporaryFolder, testDatabase } from '../support/postgres.ts'
import { wrongRows } from '../support/verified.ts'
import { liveWholeWorld } from '../support/whole-world.ts'
import { openWorld } from '../support/world.ts'

const quiet = { onProgress: () => {}, onChecked: () => {} }
/** Reads no row again only because a transaction of another test runs. */
const write = async (db: Database, folder: string, options: object = {}) => {
  await transactionsOver(db)
  return await backupDatabase(db, folder, { clock: systemClock, program: '1.2.3', ...quiet, ...options })
}

/** A database with something of everything, odd text, and a table of three months. */
const filledDatabase = copiesOf(async (db) => {
  const world = await openWorld(db)
  await maintain(db, { now: new Date(world.clock.now()), tables: growingTables, retention: new Map() })
  await liveWholeWorld(world)
  await world.sync(territories, { Lutho: place('a', '22:00') }, '22:00', { raw: true, notifies: true, accept: true })
  await world.api.close()
  await world.sandbox.close()
  const odd = `tab\t, line\nline\u2028, return\r, back\\slash \\N \\x and an umlaut \u00fc`
  await db.query('update game.item set display_name = $1 where internal_name = $2', [odd, 'axe'])
  await db.query(
    `insert into game.world_sample (world, observed_at, online)
     select 'EU1', timestamptz '2026-03-15' + nth * interval '90 seconds', nth % 50 from generate_series(1, 60000) nth`,
  )
})

const paths = async (folder: string) =>
  (await readManifest(await openStore(folder)))?.files.map(({ path }) => path) ?? []
const present = async (folder: string) =>
  (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.copy.gz')).sort()

describe.each(bothKinds)('a backup of a database (%s)', (kind) => {
  test.each(bothKinds)('restores everything into an empty one (%s), which is whole', async (other) => {
    const db = await filledDatabase(kind)
    const folder = await temporaryFolder()
    await write(db, folder)
    const target = await testDatabase(other)
    const restored = await restoreDatabase(target, folder, quiet)
    expect(restored).toMatchObject({ program: '1.2.3', resumed: 0 })
    expect(await contentOf(target)).toEqual(await contentOf(db))
    expect(await partitionsOf(target)).toEqual(await partitionsOf(db))
    expect(await wrongRows(target)).toEqual([])
    // Numbers go on after those that were given.
    const numbers = `select nextval('sync.raw_answer_number')::int as next`
    expect(await target.query(numbers)).toEqual(await db.query(numbers))
    await expect(restoreDatabase(target, folder, quiet)).rejects.toThrow(
      /has data of its own, in .*needs an empty database/,
    )
  })

  test('writes only the months that changed, and deletes what was removed', async () => {
    const db = await filledDatabase(kind)
    const folder = await temporaryFolder()
    const all = await write(db, folder)
    expect(all.written).toBe(all.files)
    const first = await paths(folder)
    const months = first.filter((path) => path.startsWith('game.world_sample/'))
    expect(months.map((path) => path.split('/')[1])).toEqual([
      'month=2026-03',
      'month=2026-04',
      'month=2026-05',
      'month=2026-06',
    ])
    expect(await write(db, folder)).toMatchObject({ written: 0, dropped: 0, files: all.files, rows: all.rows })
    await db.query(`delete from game.world_sample where observed_at < '2026-03-16'`)
    await db.query(`update game.world_sample set online = 51 where observed_at = '2026-05-01T00:00Z'`)
    expect(await write(db, folder, { dryRun: true })).toMatchObject({ written: 2, dropped: 0 })
    expect(await write(db, folder)).toMatchObject({ written: 2, dropped: 2 })
    const second = await paths(folder)
    expect(second.filter((path) => !first.includes(path)).map((path) => path.split('/')[1])).toEqual([
      'month=2026-03',
      'month=2026-05',
    ])
    expect(await present(folder)).toEqual([...second].sort())
  })

  test('is whole wherever the next one is interrupted', async () => {
    const db = await filledDatabase(kind)
    const world = await openWorld(db)
    const folder = await temporaryFolder()
    await write(db, folder)
    const before = await contentOf(db)
    await world.sync(territories, { Lutho: place('b', '22:10') }, '22:10', { raw: true, notifies: true })
    const kill = new Error('killed')
    for (const step of [0, 1, 3]) {
      let steps = 0
      const onProgress = () => {
        if (steps++ === step) throw kill
      }
      await expect(write(db, folder, { onProgress })).rejects.toThrow(kill)
      const target = await testDatabase('server')
      await restoreDatabase(target, folder, quiet)
      expect(await contentOf(target)).toEqual(before)
    }
    await write(db, folder)
    expect(await present(folder)).toEqual([...(await paths(folder))].sort())
    const target = await testDatabase('server')
    await restoreDatabase(target, folder, quiet)
    expect(await contentOf(target)).toEqual(await contentOf(db))
  })
})

/** A bucket with the settings that reach it. */
async function bucket() {
  const opened = await openBucket()
  const s3 = { keyId: 'key', secret: 'secret', sessionToken: undefined, region: 'us-east-1', endpoint: opened.endpoint }
  return { opened, objects: opened.objects, settings: { s3, clock: systemClock, dataDir: await temporaryFolder() } }
}

test('a backup lies in a bucket as in a folder', async () => {
  const db = await filledDatabase('server')
  const { objects, settings } = await bucket()
  const place = 's3://bucket/of/wynn'
  const first = await write(db, place, { settings })
  expect([...objects.keys()].every((key) => key.startsWith('of/wynn/'))).toBe(true)
  expect(objects.size).toBe(first.files + 1)
  expect(await write(db, place, { settings })).toMatchObject({ written: 0, dropped: 0 })
  const target = await testDatabase('server')
  await restoreDatabase(target, place, { ...quiet, settings })
  expect(await contentOf(target)).toEqual(await contentOf(db))
})

describe('a restore', () => {
  test('names the file with one flipped bit, or that is missing, and loads nothing', async () => {
    const db = await filledDatabase('server')
    const folder = await temporaryFolder()
    await write(db, folder)
    const target = await testDatabase('server')
    const empty = await contentOf(target)
    const files = await paths(folder)
    for (const path of [files[0], files.at(-1)].map(String)) {
      const whole = await readFile(join(folder, path))
      const flipped = Buffer.from(whole)
      flipped[flipped.length >> 1] = Number(flipped[flipped.length >> 1]) ^ 4
      await writeFile(join(folder, path), flipped)
      await expect(restoreDatabase(target, folder, quiet)).rejects.toThrow(
        `${path} cannot be restored, and nothing was loaded`,
      )
      expect(await contentOf(target)).toEqual(empty)
      await writeFile(join(folder, path), whole)
    }
    await restoreDatabase(target, folder, quiet)
    expect(await contentOf(target)).toEqual(await contentOf(db))
  })

  test.each(bothKinds)('goes on where it was interrupted (%s)', async (kind) => {
    const db = await filledDatabase('server')
    const folder = await temporaryFolder()
    await write(db, folder)
    const target = await testDatabase(kind)
    const kill = new Error('killed')
    let steps = 0
    // A restore that was killed left rows in its folder; this process has the number that it had.
    const name = `wynnsync-lake-${process.pid}-`
    const killed = await mkdtemp(join(tmpdir(), name))
    const folders = async () => (await readdir(tmpdir())).filter((one) => one.startsWith(name))
    let during: string[] = []
    const onProgress = () => {
      during = readdirSync(tmpdir()).filter((one) => one.startsWith(name))
      if (++steps === 8) throw kill
    }
    await expect(restoreDatabase(target, folder, { ...quiet, onProgress })).rejects.toThrow(kill)
    expect([during.length, during.includes(basename(killed)), await folders()]).toEqual([1, false, []])
    await expect(migrate(target, { folder: 'migrations', repeatable: [], clock: systemClock })).rejects.toThrow(
      'a move or a restore into this database is unfinished: run the same `wynnsync move` again, or the same `wynnsync restore`',
    )
    const { resumed } = await restoreDatabase(target, folder, quiet)
    expect(resumed).toBeGreaterThan(0)
    expect(await contentOf(target)).toEqual(await contentOf(db))
  })

  test('starts a history that goes on at the same place, as long as no other has done so', async () => {
    const db = await filledDatabase('server')
    const { settings } = await bucket()
    for (const [place, options] of [
      [await temporaryFolder(), {}],
      ['s3://bucket/of/wynn', { settings }],
    ] as const) {
      const first = await write(db, place, options)
      const [one, other] = [await testDatabase('server'), await testDatabase('server')]
      for (const target of [one, other]) await restoreDatabase(target, place, { ...quiet, ...options })
      await one.query(`update game.item set display_name = 'another' where internal_name = 'axe'`)
      // Of what is as it was, no file is sent again.
      const next = await write(one, place, options)
      expect(next.dropped).toBeGreaterThan(0)
      expect(next.dropped).toBeLessThan(first.files / 2)
      expect(await write(one, place, options)).toMatchObject({ written: 0, dropped: 0 })
      await expect(write(other, place, options)).rejects.toThrow(
        'was written by another since this one was restored from it',
      )
      await expect(write(db, place, options)).rejects.toThrow('is the backup of another database')
      const last = await testDatabase('server')
      await restoreDatabase(last, place, { ...quiet, ...options })
      expect(await contentOf(last)).toEqual(await contentOf(one))
    }
  })
})

describe('two backups of what was restored from one', () => {
  async function restoredTwice() {
    const db = await filledDatabase('server')
    const { opened, objects, settings } = await bucket()
    const place = 's3://bucket/of/wynn'
    await write(db, place, { settings })
    const [one, other] = [await testDatabase('server'), await testDatabase('server')]
    for (const target of [one, other]) {
      await restoreDatabase(target, place, { ...quiet, settings })
      await target.query(`update game.item set display_name = $1 where internal_name = 'axe'`, [target.place])
    }
    const elsewhere = { ...settings, dataDir: await temporaryFolder() }
    const restored = async () => {
      const target = await testDatabase('server')
      await restoreDatabase(target, place, { ...quiet, settings })
      return await contentOf(target)
    }
    return { one, other, opened, objects, settings, elsewhere, place, restored }
  }

  test('at the same time leave that of the first, whole', async () => {
    const { one, other, settings, elsewhere, place, restored } = await restoredTwice()
    const ends = await Promise.allSettled([
      write(one, place, { settings }),
      write(other, place, { settings: elsewhere }),
    ])
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const winner = ends[0].status === 'fulfilled' ? one : other
    expect(await restored()).toEqual(await contentOf(winner))
  })

  test('leave that of the other, where it comes between the look at the list and its replacement', async () => {
    const { one, other, opened, settings, elsewhere, place, restored } = await restoredTwice()
    let refusals = 1
    opened.before = (_method, _key, { headers }) => (headers['if-match'] && refusals-- > 0 ? 503 : undefined)
    // It is away once. Before it is asked again, the other is there.
    const sleep = async () => void (await write(other, place, { settings: elsewhere }))
    const late = { ...settings, clock: { ...systemClock, sleep } }
    await expect(write(one, place, { settings: late })).rejects.toThrow(
      'another process has put its backup into s3://bucket/of/wynn meanwhile, which stays',
    )
    expect(await restored()).toEqual(await contentOf(other))
  })

  test('need no conditions of the service for one after the other', async () => {
    const { one, opened, settings, place, restored } = await restoredTwice()
    opened.before = (_method, _key, { headers }) => (headers['if-match'] ? 501 : undefined)
    await write(one, place, { settings })
    expect(await restored()).toEqual(await contentOf(one))
  })
})
