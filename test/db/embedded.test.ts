import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs, { readlinkSync } from 'node:fs'
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { messageOf, RetryableError } from '../../src/base/errors.ts'
import { openEmbedded } from '../../src/db/embedded/embedded.ts'
import { readHolder } from '../../src/db/embedded/folder-lock.ts'
import { sqlState } from '../../src/db/sql-errors.ts'
import { compileInto } from '../support/compiled.ts'
import { temporaryFolder, testDatabase, testDataDir } from '../support/postgres.ts'

const clock = systemClock

test('the first opening makes a cluster that only its owner can read, and a second one finds what was written', async () => {
  const dataDir = join(await temporaryFolder(), 'data')
  const first = await openEmbedded(dataDir, { clock })
  onTestFinished(() => first.close())
  await first.query('create table t as select 1 as one')
  await first.close()
  expect((await stat(dataDir)).mode & 0o777).toBe(0o700)
  expect((await stat(join(dataDir, 'postgres'))).mode & 0o777).toBe(0o700)
  expect((await readdir(dataDir)).sort()).toEqual(['backups', 'boot', 'postgres'])
  expect((await stat(join(dataDir, 'backups'))).mode & 0o777).toBe(0o700)
  const second = await openEmbedded(dataDir, { clock })
  onTestFinished(() => second.close())
  expect(await second.query('select one from t')).toEqual([{ one: 1 }])
})

test('a cluster whose making was interrupted is made anew', async () => {
  const dataDir = await temporaryFolder()
  await mkdir(join(dataDir, 'postgres.new', 'base'), { recursive: true })
  await writeFile(join(dataDir, 'postgres.new', 'PG_VERSION'), '18\n')
  const db = await openEmbedded(dataDir, { clock })
  onTestFinished(() => db.close())
  expect(await db.query('select 1 as one')).toEqual([{ one: 1 }])
})

test('it is never opened twice, and the lock is given back on closing, also when closed twice', async () => {
  const dataDir = await testDataDir({ migrated: false })
  const db = await openEmbedded(dataDir, { clock, holds: ['sync items'] })
  expect(await readHolder(dataDir)).toMatchObject({ pid: process.pid, holds: ['sync items'] })
  const again = openEmbedded(dataDir, { clock })
  await expect(again).rejects.toThrow(RetryableError)
  await expect(again).rejects.toThrow(`process ${process.pid} (sync items)`)
  await db.close()
  await db.close()
  expect(await readHolder(dataDir)).toBeNull()
})

test('a folder that cannot be opened gives its lock back', async () => {
  const dataDir = await temporaryFolder()
  await mkdir(join(dataDir, 'postgres'))
  await writeFile(join(dataDir, 'postgres', 'PG_VERSION'), '11\n')
  await expect(openEmbedded(dataDir, { clock })).rejects.toThrow()
  expect(await readHolder(dataDir)).toBeNull()
})

const LOG_WRITTEN = `select (pg_current_wal_insert_lsn() - '0/0')::float8 as bytes`

test('timers have their turn during a long transaction', async () => {
  const db = await openEmbedded(await testDataDir(), { clock })
  onTestFinished(() => db.close())
  let fired = 0
  const timer = setInterval(() => fired++, 10)
  const seen = await db.transaction(async (sql) => {
    const until = performance.now() + 2500
    while (performance.now() < until) await sql.query('select count(*) from generate_series(1, 100000)')
    return fired
  })
  clearInterval(timer)
  expect(seen).toBeGreaterThan(2)
})

test('the log does not grow for ever', async () => {
  const dataDir = await testDataDir({ migrated: false })
  const db = await openEmbedded(dataDir, { clock, durable: false })
  onTestFinished(() => db.close())
  await db.query('create table t (a int primary key, b text)')
  // Long values go to the log as they are, which is the quickest way to much of it.
  await db.query('alter table t alter column b set storage external')
  const written = async () => (await db.query<{ bytes: number }>(LOG_WRITTEN))[0]?.bytes ?? Number.NaN
  const before = await written()
  for (let round = 0; round < 30; round++)
    await db.transaction((sql) =>
      sql.query(
        `insert into t select n, repeat('x', 350000) from generate_series(1, 20) n
         on conflict (a) do update set b = excluded.b || '${round}'`,
      ),
    )
  expect((await written()) - before).toBeGreaterThan(200_000_000)
  const log = join(dataDir, 'postgres', 'pg_wal')
  const files = await readdir(log)
  const sizes = await Promise.all(files.map(async (name) => (await stat(join(log, name))).size))
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(90_000_000)
})

test('statistics can be gathered inside a transaction, which nobody does in the background here', async () => {
  const db = await testDatabase('embedded', { migrated: false })
  await db.query('create table t (a int)')
  const [row] = await db.transaction(async (sql) => {
    await sql.copy(
      't',
      ['a'],
      Array.from({ length: 1000 }, (_, a) => [a]),
    )
    await sql.query('analyze t')
    return sql.query<{ reltuples: number }>(`select reltuples from pg_class where oid = 't'::regclass`)
  })
  expect(row?.reltuples).toBe(1000)
})

/** Commits row after row and says so, until it is killed. */
const WRITE = `
import { systemClock } from './base/clock.js'
import { openEmbedded } from './db/embedded/embedded.js'
const db = await openEmbedded(process.argv[2], { clock: systemClock })
await db.query('create table if not exists rows (a int primary key)')
for (let a = 1; ; a++) {
  await db.transaction((sql) => sql.copy('rows', ['a'], [[-a], [a]]))
  process.stdout.write(a + '\\n')
}
`

test('a killed process loses nothing that it had committed, and keeps nobody out', async () => {
  const folder = await temporaryFolder()
  await compileInto(folder, ['db/embedded/embedded.ts'])
  await writeFile(join(folder, 'write.js'), WRITE)
  const dataDir = await testDataDir({ migrated: false })
  const child = spawn(process.execPath, [join(folder, 'write.js'), dataDir], { stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString()
    if (said.includes('\n100\n')) child.kill('SIGKILL')
  })
  await once(child, 'close')
  const told = said.trim().split('\n').length
  const db = await openEmbedded(dataDir, { clock })
  onTestFinished(() => db.close())
  const [found] = await db.query<{ up: number; down: number }>(
    'select count(*) filter (where a > 0) as up, count(*) filter (where a < 0) as down from rows',
  )
  expect(found?.up).toBe(found?.down)
  expect(found?.up).toBeGreaterThanOrEqual(told)
})

const { fsyncSync, writeSync } = fs

/** What a disk answers that fails, and one that is full when the log must grow. */
const failures = {
  fsyncSync: () => {
    throw Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO' })
  },
  writeSync: (...given: Parameters<typeof writeSync>) => {
    const isLog = readlinkSync(`/proc/self/fd/${given[0]}`).includes('pg_wal')
    if (isLog) throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
    return writeSync(...given)
  },
}

function useFiles(functions: object): void {
  Object.assign(fs, functions)
  syncBuiltinESMExports()
}

test.each([
  ['fsyncSync', 'cannot be written to the disk: EIO'],
  ['writeSync', 'the embedded database failed; is the disk of '],
] as const)(
  'a disk that refuses %s ends the transaction and every later one, and loses nothing',
  async (name, refused) => {
    const dataDir = await testDataDir({ migrated: false })
    const db = await openEmbedded(dataDir, { clock })
    await db.query('create table t (a int)')
    await db.query('insert into t values (1)')
    onTestFinished(() => useFiles({ fsyncSync, writeSync }))
    useFiles({ [name]: failures[name] })
    const error = await db.query('insert into t values (2)').catch((reason) => reason)
    expect([messageOf(error), sqlState(error)]).toEqual([expect.stringContaining(refused), '58000'])
    useFiles({ fsyncSync, writeSync })
    await expect(db.query('insert into t values (3)')).rejects.toThrow(refused)
    await db.close().catch(() => {})
    expect(await readHolder(dataDir)).toBeNull()
    const again = await openEmbedded(dataDir, { clock })
    onTestFinished(() => again.close())
    const rows = (await again.values('select a from t')).flat()
    expect(rows).toContain(1)
    expect(rows).not.toContain(3)
  },
)

test('a statement that overflows the stack of the process is no empty answer, and ends the database as it was', async () => {
  const dataDir = await testDataDir({ migrated: false })
  const db = await openEmbedded(dataDir, { clock })
  await db.query('create table t (a json)')
  const nested = (depth: number) => `insert into t values ((repeat('[', ${depth}) || repeat(']', ${depth}))::json)`
  await db.query(nested(200))
  const error = await db.query(nested(200_000)).catch((reason) => reason)
  expect([messageOf(error), sqlState(error)]).toEqual([expect.stringContaining('nested too deep'), '58000'])
  await expect(db.query('select 1')).rejects.toThrow('nested too deep')
  await db.close().catch(() => {})
  const again = await openEmbedded(dataDir, { clock })
  onTestFinished(() => again.close())
  expect(await again.values('select length(a::text) from t')).toEqual([[400]])
})
