import { createHash } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import type { Database } from '../../src/db/database.ts'
import { backupDatabase } from '../../src/lake/backup/backup.ts'
import { restoreDatabase } from '../../src/lake/backup/restore.ts'
import { exportLake } from '../../src/lake/export.ts'
import { sha256Of } from '../../src/lake/file-hash.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { buildProgram, runProgram } from '../support/cli.ts'
import { place } from '../support/guild-answers.ts'
import { readIndex, transactionsOver } from '../support/lake-folder.ts'
import { bothKinds, copyFolder, temporaryFolder, testDatabase } from '../support/postgres.ts'
import { recordingFolder } from '../support/recording-folder.ts'
import { item, openWorld } from '../support/world.ts'

beforeAll(buildProgram)

const quiet = { clock: systemClock, program: '1.2.3', onProgress: () => {}, onChecked: () => {} }
const write = (db: Database, folder: string) => exportLake(db, folder, { ...quiet, people: true, keepMs: 0 })
const index = async (folder: string) => JSON.parse(await readFile(join(folder, 'index.json'), 'utf8'))

test('a new database in the folder of a lost one leaves the lake of that one whole', async () => {
  const folder = await temporaryFolder()
  const data = join(folder, 'data')
  const run = (...args: string[]) => runProgram([...args, '--data-dir', data], {}, folder)
  const recordings = await recordingFolder([
    { at: '10:00', path: '/item/database?fullResult', body: [item('Ash'), item('Elm')] },
  ])
  expect((await run('backfill', 'items', '--from', recordings)).code).toBe(0)
  expect((await run('lake', 'export', './lake')).code).toBe(0)
  const before = await index(join(folder, 'lake'))
  await rm(data, { recursive: true })
  expect((await run('migrate')).code).toBe(0)
  const refused = await run('lake', 'export', './lake')
  expect(refused.code).toBe(2)
  expect(refused.err).toMatch(/lake is the lake of another database.*name another place, which keeps both; --yes/s)
  expect(await index(join(folder, 'lake'))).toEqual(before)
  for (const { path, sha256 } of (await readIndex(join(folder, 'lake')))?.files ?? [])
    expect(await sha256Of(join(folder, 'lake', path))).toBe(sha256)
  expect((await run('lake', 'export', './lake', '--yes')).code).toBe(0)
  expect(await index(join(folder, 'lake'))).not.toEqual(before)
})

test('a database that came back from its daily copy leaves what was written of it later, and goes on once it has loaded that', async () => {
  const folder = await temporaryFolder()
  const [data, copy] = [join(folder, 'data'), join(folder, 'copy')]
  const run = (...args: string[]) => runProgram([...args, '--data-dir', data], {}, folder)
  const backfill = async (at: string, names: readonly string[]) => {
    const body = names.map((name) => item(name))
    const recordings = await recordingFolder([{ at, path: '/item/database?fullResult', body }])
    expect((await run('backfill', 'items', '--from', recordings)).code).toBe(0)
  }
  await backfill('10:00', ['Ash', 'Elm'])
  await copyFolder(data, copy)
  await backfill('02 10:00', ['Ash', 'Elm', 'Oak'])
  const places = [
    ['lake', 'export', './lake'],
    ['lake', 'export', './history.duckdb'],
    ['backup', './backup'],
  ] as const
  for (const words of places) expect((await run(...words)).code).toBe(0)
  const before = await index(join(folder, 'lake'))
  await rm(data, { recursive: true })
  await rename(copy, data)
  for (const words of places) {
    const { code, err } = await run(...words)
    expect([words, code, err]).toEqual([
      words,
      2,
      expect.stringMatching(/before it came back.*name another place.*--yes/s),
    ])
  }
  expect(await index(join(folder, 'lake'))).toEqual(before)
  for (const { path, sha256 } of (await readIndex(join(folder, 'lake')))?.files ?? [])
    expect(await sha256Of(join(folder, 'lake', path))).toBe(sha256)
  const loaded = await run('backfill', '--from-lake', './lake')
  expect([loaded.err, loaded.out]).toEqual([expect.any(String), expect.stringMatching(/game\.item +3 +1 +0 /)])
  for (const words of places.slice(0, 2)) expect([words, (await run(...words)).code]).toEqual([words, 0])
  // It has what no lake brings back, such as archived responses.
  expect((await run('backup', './backup')).code).toBe(2)
  expect((await run('backup', './backup', '--yes')).code).toBe(0)
  expect(JSON.parse((await run('query', 'item', '--json')).out)).toHaveLength(3)
})

describe.each(bothKinds)('a database (%s)', (kind) => {
  async function scene() {
    const world = await openWorld(await testDatabase(kind))
    const observe = (at: string) => world.sync(territories, { Lutho: place('a', at) }, at)
    await observe('10:00')
    return { db: world.db, observe, lake: join(await temporaryFolder(), 'lake'), backup: await temporaryFolder() }
  }

  test('that was restored goes on with the lake, unless it lacks what the lake has', async () => {
    const { db, observe, lake, backup } = await scene()
    await write(db, lake)
    await backupDatabase(db, backup, quiet)
    const [restored, late] = [await testDatabase(kind), await testDatabase(kind)]
    for (const target of [restored, late]) await restoreDatabase(target, backup, quiet)
    await write(restored, lake)
    // The first one has not seen that.
    await expect(write(db, lake)).rejects.toThrow('is the lake of another database')
    await observe('11:00')
    const other = `${lake}-2`
    await write(db, other)
    await expect(write(late, other)).rejects.toThrow('was written by another since this one was restored from it')
  })

  test('goes on with the lake whose latest run its retention has removed', async () => {
    const { db, lake } = await scene()
    await write(db, lake)
    await db.query('delete from sync.run')
    await expect(write(db, lake)).rejects.toThrow('before it came back from an earlier copy')
    await db.query(
      `insert into sync.coverage_reach (resource, counted_until, thinned_until) values ('territories', '-infinity', now() + interval '1 day')
       on conflict (resource) do update set thinned_until = excluded.thinned_until`,
    )
    await write(db, lake)
  })

  test('goes on with the lake that an earlier version of the program wrote from it', async () => {
    const { db, lake } = await scene()
    await transactionsOver(db)
    const { files } = await write(db, lake)
    const [row] = await db.query<{ cluster: string }>(
      `select system_identifier::text || ' ' || oid::text as cluster
         from pg_control_system(), pg_database where datname = current_database()`,
    )
    const source = createHash('sha256').update(`${db.place} ${row?.cluster}`).digest('hex')
    const { sha256: _, ...written } = await index(lake)
    const text = JSON.stringify({ ...written, source })
    await writeFile(join(lake, 'index.json'), text)
    const again = await write(db, lake)
    expect([again.files, again.written < files]).toEqual([files, true])
    await writeFile(join(lake, 'index.json'), text)
    await db.query('delete from sync.run')
    await expect(write(db, lake)).rejects.toThrow('is the lake of another database')
  })
})
