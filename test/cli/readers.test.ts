import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { migrate } from '../../src/db/migrations/migrate.ts'
import { openServer } from '../../src/db/server/server.ts'
import { buildProgram, startProgram } from '../support/cli.ts'
import { runInside } from '../support/cli-inside.ts'
import { migrationsBefore } from '../support/migrations-before.ts'
import { temporaryFolder, testDatabaseUrl } from '../support/postgres.ts'
import { servedApi, serveItems } from '../support/served.ts'
import { item } from '../support/world.ts'

beforeAll(buildProgram)

const player = '00000000-0000-4000-8000-00000000000a'

const readers = [
  ['status'],
  ['query', '--list'],
  ['query', 'item'],
  ['report'],
  ['runs', 'list'],
  ['quarantine', 'list'],
  ['dictionary'],
  ['privacy', 'show', player],
  ['web-key', 'list'],
  ['serve', '--port', '0'],
  ['mcp'],
  ['lake', 'export', './lake'],
  ['move', '--to', './moved', '--dry-run'],
]
/** They change what is there, and make nothing that is not. */
const editors = [
  ['privacy', 'purge', player],
  ['web-key', 'add', 'x'],
  ['quarantine', 'retry'],
  ['replay'],
  ['move', '--to', './moved'],
]

describe('a command that reads or changes a history', () => {
  test('says that there is none where there is no embedded database, and makes none', async () => {
    const folder = await temporaryFolder()
    for (const command of [...readers, ...editors, ['serve-db', '--port', '0']]) {
      const { code, out, err } = await runInside([...command, '--data-dir', './wrong'], {}, folder)
      expect([command, code, out, err]).toEqual([
        command,
        2,
        '',
        expect.stringMatching(/there is no history in .*wrong: `wynnsync sync` begins one .*--data-dir/),
      ])
      expect(existsSync(join(folder, 'wrong'))).toBe(false)
    }
    const doctor = await runInside(['doctor', '--data-dir', './wrong', '--base-url', 'http://127.0.0.1:1'], {}, folder)
    expect(doctor.out).toMatch(/^database +warning +there is no history in/m)
    expect(existsSync(join(folder, 'wrong'))).toBe(false)
  })

  test('says the same of a server without tables, and makes none', async () => {
    const [folder, url] = [await temporaryFolder(), await testDatabaseUrl({ migrated: false })]
    for (const command of [...readers, ...editors]) {
      const { code, err } = await runInside(command, { DATABASE_URL: url }, folder)
      expect([command, code, err]).toEqual([command, 2, expect.stringContaining('there is no history in')])
    }
    await runInside(['doctor', '--base-url', 'http://127.0.0.1:1'], { DATABASE_URL: url }, folder)
    const db = await openServer(url)
    const made = await db.values(
      `select nspname::text from pg_namespace where nspname in ('sync', 'game', 'drizzle', 'analytics')`,
    )
    await db.close()
    expect(made).toEqual([])
  })

  test('leaves tables of an earlier version as they are, and says who migrates them', async () => {
    const [folder, url] = [await temporaryFolder(), await testDatabaseUrl({ migrated: false })]
    const db = await openServer(url)
    const applied = async () => Number((await db.values('select count(*) from drizzle.__drizzle_migrations')).flat()[0])
    await migrate(db, { folder: await migrationsBefore(), repeatable: [], clock: systemClock })
    const before = await applied()
    for (const command of [...readers, ['watch', 'list']]) {
      const { code, err } = await runInside(command, { DATABASE_URL: url }, folder)
      expect([command, code, err]).toEqual([
        command,
        2,
        expect.stringMatching(
          /are those of an earlier version .*stop its `wynnsync start`, then run `wynnsync migrate`/,
        ),
      ])
    }
    const doctor = await runInside(['doctor', '--base-url', 'http://127.0.0.1:1'], { DATABASE_URL: url }, folder)
    expect(doctor.out).toMatch(/^database +problem +the tables in .* of an earlier version/m)
    expect(await applied()).toBe(before)
    expect(await runInside(['migrate'], { DATABASE_URL: url })).toMatchObject({ code: 0 })
    expect(await applied()).toBe(before + 1)
    expect(await runInside(['status'], { DATABASE_URL: url })).toMatchObject({ code: 0 })
    await db.close()
  })

  test('asks views of another version as they are, says so, and refuses tables of a newer one', async () => {
    const [folder, DATABASE_URL] = [await temporaryFolder(), await testDatabaseUrl()]
    const db = await openServer(DATABASE_URL)
    await db.query(
      `update sync.installed_sql set sha256 = 'another' where name like '%05-item'; update sync.installed_program set sql_hash = 'another'`,
    )
    const asked = await runInside(['query', 'item'], { DATABASE_URL }, folder)
    expect([asked.code, asked.err]).toEqual([
      0,
      expect.stringContaining('are not those of this version: `wynnsync migrate`'),
    ])
    expect(await db.values(`select sha256 from sync.installed_sql where name like '%05-item'`)).toEqual([['another']])
    await db.query('drop function analytics.counter_top cascade')
    const { child, finished } = startProgram(['serve', '--port', '0', '--json'], { DATABASE_URL }, folder)
    child.stdout?.setEncoding('utf8')
    const [line] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [string]
    const { url } = JSON.parse(line) as { url: string }
    const gained = await fetch(`${url}/gained`)
    expect([gained.status, await gained.text()]).toEqual([
      503,
      expect.stringMatching(/views of another version of wynnsync[\s\S]*`wynnsync migrate` of this version/),
    ])
    expect((await fetch(`${url}/items`)).status).toBe(200)
    child.kill('SIGTERM')
    const served = await finished
    expect([served.code, served.err]).toEqual([
      0,
      expect.stringContaining('are not those of this version: `wynnsync migrate`'),
    ])
    await db.query('create view public.mine as select * from analytics.item')
    const doctor = await runInside(['doctor', '--base-url', 'http://127.0.0.1:1'], { DATABASE_URL }, folder)
    expect(doctor.out).toContain('your own on them: view mine depends on view analytics.item')
    expect(doctor.out).toContain('database: `wynnsync migrate` installs them, or says what is in the way')
    expect(doctor.out).toMatch(/^database +warning .*views are not those of this version/m)
    await db.query(
      `insert into drizzle.__drizzle_migrations (hash, created_at) select 'x', max(created_at) + 1 from drizzle.__drizzle_migrations`,
    )
    for (const command of readers) {
      const { code, err } = await runInside(command, { DATABASE_URL }, folder)
      expect([command, code, err]).toEqual([command, 1, expect.stringContaining('by a newer version of wynnsync')])
    }
    await db.close()
  })
})

describe('a program whose database another version migrates meanwhile', () => {
  test('start ends, says why, and writes nothing more', async () => {
    const url = await testDatabaseUrl()
    const api = await servedApi()
    const db = await openServer(url)
    const environment = { DATABASE_URL: url, WYNNSYNC_BASE_URL: api.url, WYNNSYNC_DATA_DIR: await temporaryFolder() }
    const { child, finished } = startProgram(['start'], environment)
    const runs = async () => Number((await db.values('select count(*) from sync.run')).flat()[0])
    await expect.poll(runs, { timeout: 60_000 }).toBeGreaterThan(0)
    await db.query(
      `insert into drizzle.__drizzle_migrations (hash, created_at) select 'x', max(created_at) + 1 from drizzle.__drizzle_migrations`,
    )
    const before = Date.now()
    const { code, err } = await finished
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/another version of wynnsync has migrated .* meanwhile: this one ends/),
    ])
    expect(Date.now() - before).toBeLessThan(60_000)
    const [late] = await db.values(`select count(*) from sync.run where finished_at > $1`, [new Date(before + 5000)])
    expect(late).toEqual([0n].map(Number))
    void child
    await db.close()
  })

  test('sync, and a backfill between two keys, end with 1', async () => {
    const DATABASE_URL = await testDatabaseUrl()
    const api = await servedApi()
    const db = await openServer(DATABASE_URL)
    serveItems(api, [item('Ash')])
    const migrated = `insert into drizzle.__drizzle_migrations (hash, created_at) select 'x', max(created_at) + 1 from drizzle.__drizzle_migrations`
    api.setAnswer('/item/database', async () => {
      await db.query(migrated)
      return { body: [item('Ash')] }
    })
    const { code, err } = await runInside(['sync', 'items', 'recipes', '--base-url', api.url], { DATABASE_URL })
    expect([code, err]).toEqual([1, expect.stringContaining('meanwhile: this one ends')])
    expect(await db.values('select count(*)::int from sync.run')).toEqual([[0]])
    await db.close()
  })
})
