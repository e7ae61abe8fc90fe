import { execFileSync } from 'node:child_process'
import { cp, mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import type { Database } from '../../src/db/database.ts'
import { backupDatabase } from '../../src/lake/backup/backup.ts'
import { restoreDatabase } from '../../src/lake/backup/restore.ts'
import { exportLake } from '../../src/lake/export.ts'
import { importLake } from '../../src/lake/import/import.ts'
import { openPlace } from '../../src/lake/read/place.ts'
import { verifyBackup, verifyLake } from '../../src/lake/verify-places.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { contentOf } from '../support/database-content.ts'
import { guildBody, place, syncGuild } from '../support/guild-answers.ts'
import { linesOf } from '../support/lake-folder.ts'
import { temporaryFolder, testDatabase } from '../support/postgres.ts'
import { instantOf, openWorld } from '../support/world.ts'

const clock = { ...systemClock, now: () => instantOf('12:00') }
const quiet = { clock, program: 'test', onProgress: () => {}, onChecked: () => {} }
const settings = { clock, dataDir: '', s3: {} } as never

const write = {
  lake: (db: Database, folder: string) => exportLake(db, folder, { ...quiet, people: true, keepMs: 0 }),
  backup: (db: Database, folder: string) => backupDatabase(db, folder, quiet),
}
const read = {
  lake: async (db: Database, folder: string) =>
    void (await importLake(db, openPlace(folder), { ...quiet, maxBytes: 1e9 })),
  backup: async (db: Database, folder: string) => void (await restoreDatabase(db, folder, quiet)),
}
const verify = { lake: verifyLake, backup: verifyBackup }
const list = { lake: 'index.json', backup: 'backup.json' }
const kinds = ['lake', 'backup'] as const

let db: Database
const whole: Record<string, string> = {}
beforeAll(async () => {
  const world = await openWorld(await testDatabase('server'))
  await world.sync(territories, { Here: place('a', '07:00'), There: place('b', '07:30') }, '08:00')
  await world.sync(territories, { Here: place('b', '08:30'), There: place('b', '07:30') }, '08:40')
  await syncGuild(world, guildBody('a', { 1: { rank: 'owner' } }), '08:41')
  await syncGuild(world, guildBody('a', { 1: { rank: 'owner' }, 2: {} }), '09:41')
  await world.api.close()
  await world.sandbox.close()
  db = world.db
  for (const kind of kinds) {
    whole[kind] = join(await temporaryFolder(), kind)
    await write[kind](db, whole[kind])
  }
})

async function copyOf(kind: (typeof kinds)[number]) {
  const folder = join(await temporaryFolder(), kind)
  await cp(String(whole[kind]), folder, { recursive: true })
  return { folder, path: join(folder, list[kind]) }
}

const damages: readonly (readonly [what: string, damage: (path: string) => Promise<unknown>, reason: string])[] = [
  ['ends early', async (path) => truncate(path, 700), 'no JSON, or JSON that ended early'],
  ['is a folder', async (path) => rm(path).then(() => mkdir(path)), 'no file but a folder, pipe or device'],
  ['is a pipe', async (path) => rm(path).then(() => execFileSync('mkfifo', [path])), 'no file but a folder, pipe'],
  ['is longer than any', async (path) => truncate(path, 65_000_000), 'it is too long'],
]

describe.each(kinds)('the list of a %s that', (kind) => {
  test.each(damages)(
    '%s is named by what reads and by what writes, and neither changes anything',
    async (_, damage, reason) => {
      const { folder, path } = await copyOf(kind)
      await damage(path)
      const before = (await readdir(folder, { recursive: true })).sort()
      const target = await testDatabase('server')
      const empty = await contentOf(target)
      for (const attempt of [read[kind](target, folder), write[kind](db, folder)]) {
        const error: unknown = await attempt.then(
          () => undefined,
          (thrown: unknown) => thrown,
        )
        expect([String(error), String(error)]).toEqual([
          expect.stringContaining(folder),
          expect.stringContaining(reason),
        ])
      }
      expect(await contentOf(target)).toEqual(empty)
      expect((await readdir(folder, { recursive: true })).sort()).toEqual(before)
      // Without it, all is written anew.
      await rm(path, { recursive: true })
      await write[kind](db, folder)
      const found = await verify[kind](folder, { settings })
      expect(found.filter(({ wrong }) => wrong > 0)).toEqual([])
      await read[kind](target, folder)
    },
  )

  test('names a file with another byte than was written is written anew once that file is removed', async () => {
    const { folder } = await copyOf(kind)
    const files = (await readdir(folder, { recursive: true })).filter((one) =>
      /territory_hold.*\.(gz|parquet)$/.test(one),
    )
    const path = join(folder, String(files[0]))
    const bytes = await readFile(path)
    await writeFile(path, bytes.fill(0, bytes.length >> 1, (bytes.length >> 1) + 1))
    const wrong = async () =>
      (await verify[kind](folder, { settings })).flatMap(({ examples }) => examples.map(({ file }) => String(file)))
    expect(await wrong()).toEqual(files)
    await rm(path)
    if (kind === 'lake') await rm(join(folder, 'game.territory/index.json'))
    await write[kind](db, folder)
    expect(await wrong()).toEqual([])
  })
})

/** A backup whose list says something else than the files hold: every writer can compute its hash. */
async function crafted(change: (list: { files: { table: string; rows: number }[] }) => unknown) {
  const { folder, path } = await copyOf('backup')
  const { sha256: _, ...manifest } = JSON.parse(await readFile(path, 'utf8'))
  change(manifest)
  await writeFile(path, JSON.stringify(manifest))
  return folder
}

test.each([
  [
    'fewer rows',
    (one: { rows: number }) => Object.assign(one, { rows: one.rows + 1 }),
    /it has \d+ rows instead of \d+/,
  ],
  ['more rows', (one: { rows: number }) => Object.assign(one, { rows: one.rows - 1 }), /it has more rows than/],
] as const)(
  'a restore whose file has %s than is listed says what is loaded, and another copy ends it',
  async (_, change, reason) => {
    const folder = await crafted(({ files }) => {
      for (const one of files) if (one.table === 'game.territory_hold') change(one)
    })
    const target = await testDatabase('server')
    const error = String(await read.backup(target, folder).catch((thrown: unknown) => thrown))
    expect(error).toMatch(reason)
    expect(error).toContain(`${folder}: game.territory_hold cannot be restored`)
    expect(error).toContain('the tables before it are loaded, and nothing else opens')
    await read.backup(target, String(whole.backup))
    expect(await contentOf(target)).toEqual(await contentOf(db))
  },
)

test.each(['sync.run', 'sync.observation'])(
  'an import without the %s of a lake counts no time as known, so that one with it adds all',
  async (table) => {
    const calm = await testDatabase('server')
    await read.lake(calm, String(whole.lake))
    const { folder } = await copyOf('lake')
    const [name] = (await readdir(join(folder, table))).filter((one) => one.endsWith('.parquet'))
    const path = join(folder, table, String(name))
    const bytes = await readFile(path)
    await writeFile(path, bytes.subarray(1))
    const target = await testDatabase('server')
    await read.lake(target, folder)
    expect(await target.query('select * from sync.source_span')).toEqual([])
    await writeFile(path, bytes)
    await read.lake(target, folder)
    for (const of of ['sync.run', 'sync.observation', 'sync.source_span', 'game.guild_member'])
      expect([of, await linesOf(target, of)]).toEqual([of, await linesOf(calm, of)])
  },
)
