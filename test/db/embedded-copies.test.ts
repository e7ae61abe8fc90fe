import { execFile, execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { mkdir, open, readdir, readFile, rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { constants, createBrotliCompress } from 'node:zlib'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { virtualClock } from '../../src/base/clock.ts'
import { FatalError } from '../../src/base/errors.ts'
import { type EmbeddedDatabase, openEmbedded } from '../../src/db/embedded/embedded.ts'
import { findBadPage, outdateCopies } from '../../src/db/embedded/embedded-copies.ts'
import { bootId, readHolder } from '../../src/db/embedded/folder-lock.ts'
import { pack, unpack } from '../../src/db/embedded/tar.ts'
import { effort } from '../support/effort.ts'
import { copyFolder, temporaryFolder, testDataDir } from '../support/postgres.ts'

const { BROTLI_PARAM_QUALITY: QUALITY } = constants
const HOUR = 3_600_000
/** Packing takes its time where the machine has other things to do. */
const PATIENT = { timeout: 30_000 }
const NOON = Date.UTC(2026, 5, 1, 12)

/** A data folder and its clock, with what was reported when it was opened. */
function placeAt(dataDir: string, since = NOON) {
  const clock = virtualClock(since)
  const reported: string[] = []
  const report = (message: string) => void reported.push(message)
  /** Opens it for some work and closes it. */
  async function use<T>(work: (db: EmbeddedDatabase) => Promise<T>): Promise<T> {
    const db = await openEmbedded(dataDir, { clock, report })
    try {
      return await work(db)
    } finally {
      await db.close()
    }
  }
  const write = (value: number) =>
    use(async (db) => {
      await db.query('create table if not exists t (a int)')
      await db.query('insert into t values ($1)', [value])
    })
  const read = () => use(async (db) => (await db.values('select a from t order by a')).flat())
  const copies = async () => (await readdir(join(dataDir, 'backups')).catch(() => [])).sort()
  return { dataDir, folder: join(dataDir, 'postgres'), clock, reported, use, write, read, copies }
}

const place = async () => placeAt(await testDataDir({ migrated: false }))

type Place = ReturnType<typeof placeAt>

let written: string
let cutOff: string
let table: string

/** Two data folders: rows 1 and 2 with a copy of the first one; the same as a power cut leaves it, before it was closed. */
beforeAll(async () => {
  const at = placeAt(await testDataDir({ migrated: false }))
  written = at.dataDir
  cutOff = await temporaryFolder()
  await at.write(1)
  await at.clock.advance(HOUR)
  table = await at.use(async (db) => {
    await db.query('insert into t values (2)')
    await db.query('checkpoint')
    await copyFolder(written, cutOff)
    const [[path] = []] = await db.values(`select pg_relation_filepath('t')`)
    return String(path)
  })
  await rm(join(cutOff, 'lock'))
  await writeFile(join(cutOff, 'boot'), 'another start of the machine')
})

async function copyOf(dataDir: string): Promise<Place> {
  const folder = await temporaryFolder()
  await copyFolder(dataDir, folder)
  return placeAt(folder, NOON + HOUR)
}

async function overwrite(path: string, at: number, bytes: Buffer): Promise<void> {
  const handle = await open(path, 'r+')
  await handle.write(bytes, 0, bytes.length, at)
  await handle.close()
}

describe('copies of the embedded database', () => {
  test('are made once a day by processes that write and end, and two are kept', async () => {
    const { dataDir, write, read, clock, copies } = await place()
    await write(1)
    expect(await copies()).toEqual(['000001-20260601T120000Z.tar.gz'])
    await clock.advance(23 * HOUR)
    await write(2)
    expect(await copies()).toHaveLength(1)
    await clock.advance(HOUR)
    await read()
    expect(await copies()).toHaveLength(1)
    await write(3)
    await clock.advance(24 * HOUR)
    await write(4)
    expect(await copies()).toEqual(['000002-20260602T120000Z.tar.gz', '000003-20260603T120000Z.tar.gz'])
    // A clock that was ahead does not end it.
    await placeAt(dataDir).write(5)
    expect(await copies()).toEqual(['000003-20260603T120000Z.tar.gz', '000004-20260601T120000Z.tar.gz'])
  })

  test('are made by a process that stays, without waiting for its end, and tar(1) reads them', async () => {
    const { use, clock, copies, dataDir } = await place()
    await use(async (db) => {
      await db.query('create table t (a int)')
      const transact = () => db.transaction((sql) => sql.query('insert into t values (1)'))
      await transact()
      expect(await copies()).toEqual([])
      await clock.advance(HOUR)
      await transact()
      await expect.poll(copies, PATIENT).toEqual(['000001-20260601T130000Z.tar.gz'])
      await clock.advance(HOUR)
      await transact()
      await clock.advance(23 * HOUR)
      await transact()
      await expect.poll(copies, PATIENT).toEqual(['000001-20260601T130000Z.tar.gz', '000002-20260602T130000Z.tar.gz'])
      expect(await db.values('select count(*) from t')).toEqual([[4]])
    })
    const unpacked = await temporaryFolder()
    const [first = ''] = await copies()
    await promisify(execFile)('tar', ['xzf', join(dataDir, 'backups', first), '-C', unpacked])
    expect(await readFile(join(unpacked, 'PG_VERSION'), 'utf8')).toBe('18\n')
    expect((await readdir(join(unpacked, 'pg_wal'))).filter((name) => /^[0-9A-F]{24}$/.test(name)).length).toBeLessThan(
      10,
    )
  })

  test('are replaced at once when they have what must not come back', async () => {
    const { folder, clock, use, write, read, copies, reported } = await place()
    const remove = async (value: number) =>
      await use(async (db) => {
        await db.query('delete from t where a = $1', [value])
        await db.outdateCopies?.()
      })
    await write(1)
    await clock.advance(24 * HOUR)
    await write(2)
    expect(await copies()).toHaveLength(2)
    await clock.advance(HOUR)
    await remove(1)
    expect(await copies()).toEqual(['000003-20260602T130000Z.tar.gz'])
    await rm(folder, { recursive: true })
    expect(await read()).toEqual([2])
    expect(reported).toEqual([expect.not.stringContaining('purge')])
    // A process that stays makes one after its next transaction, and one that is killed before leaves it to the next.
    await write(3)
    await use(async (db) => {
      await db.query('delete from t where a = 2')
      await db.outdateCopies?.()
      await clock.advance(HOUR)
      await db.transaction((sql) => sql.query('insert into t values (4)'))
      await expect.poll(copies, PATIENT).toEqual(['000004-20260602T140000Z.tar.gz'])
    })
    expect(await copies()).toEqual(['000004-20260602T140000Z.tar.gz'])
  })

  test('that come back before they are replaced are reported with what to do', async () => {
    const { dataDir, folder, write, read, reported } = await place()
    await write(1)
    await outdateCopies(dataDir)
    await rm(folder, { recursive: true })
    await read()
    expect(reported).toEqual([
      expect.stringMatching(/is missing\. Who was purged last may be there again: purge once more\.$/),
    ])
  })

  test.each(['that is due', 'that is under way'])(
    'a copy %s is left for the next process by one that a signal ends',
    async (when) => {
      const { dataDir, clock, copies, reported, write } = await place()
      const ending = new AbortController()
      const report = (message: string) => void reported.push(message)
      const db = await openEmbedded(dataDir, { clock, report, ending: ending.signal })
      await db.transaction((sql) => sql.query('create table t (a int)'))
      if (when === 'that is under way') {
        await clock.advance(HOUR)
        await db.transaction((sql) => sql.query('insert into t values (1)'))
        expect(await copies()).toContain('duplicate')
      }
      ending.abort()
      await db.close()
      expect([await copies(), reported]).toEqual([[], []])
      await write(2)
      expect(await copies()).toEqual([expect.stringMatching(/^000001-/)])
    },
  )

  test('are not made of a database with a damaged page, so that the good ones stay', async () => {
    const { use, write, clock, copies, folder, reported } = await place()
    await write(1)
    const [[path] = []] = await use((db) => db.values(`select pg_relation_filepath('t')`))
    await overwrite(join(folder, String(path)), 8000, Buffer.from('damage'))
    await clock.advance(24 * HOUR)
    await use((db) => db.query('create table other (b int)'))
    expect(await copies()).toEqual(['000001-20260601T120000Z.tar.gz'])
    expect(reported).toEqual([
      expect.stringMatching(/^no copy .* \(the last one: 2026-06-01T12:00:00.000Z\): .* page 0 has a wrong checksum$/),
    ])
  })
})

const damages: Readonly<Record<string, (at: Place) => Promise<void>>> = {
  'the control file is zeros': ({ folder }) => writeFile(join(folder, 'global', 'pg_control'), Buffer.alloc(8192)),
  'the control file is gone': ({ folder }) => rm(join(folder, 'global', 'pg_control')),
  'the version is gone': ({ folder }) => rm(join(folder, 'PG_VERSION')),
  'the folder is gone': ({ folder }) => rm(folder, { recursive: true }),
  'the log is gone': ({ folder }) => rm(join(folder, 'pg_wal'), { recursive: true }),
  'the log is noise': async ({ folder }) => {
    for (const name of await readdir(join(folder, 'pg_wal')))
      if (name.length === 24) await overwrite(join(folder, 'pg_wal', name), 0, Buffer.alloc(1 << 20, 'noise'))
  },
  'the catalog is noise': ({ folder }) => overwrite(join(folder, 'base', '5', '1259'), 0, Buffer.alloc(8192, 'noise')),
  'the state of transactions is gone': ({ folder }) => rm(join(folder, 'pg_xact'), { recursive: true }),
}

/** In CI a few of them. */
const tried = Object.keys(damages).filter((_, index) => effort.everyAnswer || index % 3 === 0)
const tear = ({ folder }: Place) => overwrite(join(folder, table), 4096, Buffer.alloc(4096, 'torn'))
const RESTORED = 'restored the copy of 2026-06-01T12:00:00.000Z: what was recorded after that is missing'

describe('an embedded database that is damaged', () => {
  test.each(tried)('falls back to the latest copy and says so: %s', async (name) => {
    const at = await copyOf(written)
    await damages[name]?.(at)
    expect(await at.read()).toEqual([1])
    const aside = join(at.dataDir, 'postgres.damaged-20260601T130000Z')
    expect(at.reported).toEqual([expect.stringContaining(RESTORED)])
    expect(existsSync(aside)).toBe(name !== 'the folder is gone')
    if (existsSync(aside)) expect(at.reported[0]).toContain(`The damaged folder is kept as ${aside}`)
  })

  test('does so once, and goes on from there', async () => {
    const { folder, read, write, reported } = await copyOf(written)
    await rm(join(folder, 'global', 'pg_control'))
    await write(3)
    expect(await read()).toEqual([1, 3])
    expect(reported).toHaveLength(1)
  })

  test('is checked after a power cut, and opens where nothing is torn', async () => {
    const sound = await copyOf(cutOff)
    expect(await sound.read()).toEqual([1, 2])
    expect(sound.reported).toEqual([])
    const torn = await copyOf(cutOff)
    await tear(torn)
    expect(await torn.read()).toEqual([1])
    expect(torn.reported).toEqual([expect.stringContaining(`(${table}: page 0 has a wrong checksum); ${RESTORED}`)])
  })

  test('is not checked when only the process was killed', async () => {
    const at = await copyOf(cutOff)
    await tear(at)
    await writeFile(join(at.dataDir, 'boot'), (await bootId()) ?? '')
    await at.use((db) => db.query('select 1'))
    expect(at.reported).toEqual([])
  })

  test('falls back to the copy before, where the latest one is damaged too', async () => {
    const { dataDir, folder, clock, write, read, copies, reported } = await copyOf(written)
    await clock.advance(24 * HOUR)
    await write(3)
    const [, latest = ''] = await copies()
    const archive = join(dataDir, 'backups', latest)
    await overwrite(archive, 100_000, Buffer.alloc(1000, 'damage'))
    await rm(join(folder, 'global', 'pg_control'))
    expect(await read()).toEqual([1])
    expect(reported).toEqual([
      expect.stringContaining(`the copy ${archive} cannot be used`),
      expect.stringContaining('restored the copy of 2026-06-01T12:00:00.000Z'),
    ])
  })

  test('stays as it is where there is no copy, and says what to do', async () => {
    const { dataDir, folder, read } = await copyOf(written)
    await rm(join(dataDir, 'backups'), { recursive: true })
    await rm(join(folder, 'PG_VERSION'))
    const files = await readdir(folder)
    await expect(read()).rejects.toThrow(FatalError)
    await expect(read()).rejects.toThrow(/is damaged .* has no copy that can be used; restore the folder/)
    expect(await readdir(folder)).toEqual(files)
    expect(await readHolder(dataDir)).toBeNull()
  })

  test('says where there is no room for its copy, leaves all as it is, and is restored once there is', async (context) => {
    const damaged = await copyOf(written)
    await rm(join(damaged.folder, 'PG_VERSION'))
    const small = await smallDisk(100_000_000)
    if (small === undefined) return context.skip('no file system can be mounted here')
    await copyFolder(damaged.dataDir, small)
    const at = placeAt(small, NOON + HOUR)
    // What is left is enough for a lock.
    const { bavail, bsize } = await statfs(small)
    await writeFile(join(small, 'fill'), Buffer.alloc(bavail * bsize - 1_000_000))
    const names = (await readdir(small)).sort()
    await expect(at.read()).rejects.toThrow(/ENOSPC.*; make room on the disk of /)
    expect((await readdir(small)).sort()).toEqual(names)
    await rm(join(small, 'fill'))
    expect(await at.read()).toEqual([1])
  })

  test('is left alone when it was made by another version', async () => {
    const { dataDir, folder, read } = await copyOf(written)
    await writeFile(join(folder, 'PG_VERSION'), '17\n')
    await expect(read()).rejects.toThrow(/cannot be opened: .*initialized by PostgreSQL version 17/)
    expect((await readdir(dataDir)).filter((name) => name.startsWith('postgres'))).toEqual(['postgres'])
  })
})

/** A file system of so many bytes; undefined where none can be mounted. */
async function smallDisk(bytes: number): Promise<string | undefined> {
  const folder = await temporaryFolder()
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes},mode=0700`, 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    return undefined
  }
  onTestFinished(() => void execFileSync('umount', ['-l', folder]))
  return folder
}

test('an archive is not taken for unpacked where the disk takes a part of its last write alone', async (context) => {
  const [folder, bytes] = [await temporaryFolder(), randomBytes(300_000)]
  await mkdir(join(folder, 'from'))
  await writeFile(join(folder, 'from/file'), bytes)
  await pack(join(folder, 'from'), join(folder, 'archive'))
  // One page less than the file takes.
  const small = await smallDisk(299_008)
  if (small === undefined) return context.skip('no file system can be mounted here')
  const unpacked = () => unpack(createReadStream(join(folder, 'archive')), join(small, 'to'))
  await expect(unpacked()).rejects.toMatchObject({ code: 'ENOSPC' })
})

test('a new database says where there is no room for it, and leaves nothing there', async (context) => {
  const small = await smallDisk(3_000_000)
  if (small === undefined) return context.skip('no file system can be mounted here')
  const archive = join(await temporaryFolder(), 'archive')
  await pack(join(written, 'postgres'), archive, { compress: createBrotliCompress({ params: { [QUALITY]: 1 } }) })
  const opened = openEmbedded(join(small, 'data'), { clock: virtualClock(NOON), template: () => readFile(archive) })
  await expect(opened).rejects.toThrow(/ENOSPC.*; make room on the disk of .*data/)
  expect(await readdir(join(small, 'data'))).toEqual([])
})

test('a page that is ahead of the log is found', async () => {
  const { folder } = await place()
  const catalog = join(folder, 'base', '5', '1259')
  expect(await findBadPage(catalog, 1n << 60n)).toBeUndefined()
  expect(await findBadPage(catalog, 1n)).toBe('page 0 is newer than the log')
})
