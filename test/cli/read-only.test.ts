import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { openServer } from '../../src/db/server/server.ts'
import type { Environment } from '../support/cli.ts'
import { runInside } from '../support/cli-inside.ts'
import { guildId } from '../support/guild-answers.ts'
import { readOnlyUser, temporaryFolder, testDatabaseUrl } from '../support/postgres.ts'
import { startBinaries } from '../support/postgres-binaries.ts'
import { servedApi, serveItems } from '../support/served.ts'
import { item } from '../support/world.ts'

const player = '00000000-0000-4000-8000-00000000000a'

/** A database with something in it, and an API that it came from. */
async function filled(DATABASE_URL: string): Promise<Environment> {
  const api = await servedApi()
  serveItems(api, [item('Ash')])
  const listed = {
    [guildId('a')]: { name: 'Guild a', prefix: 'AAA' },
    [guildId('b')]: { name: 'Guild b', prefix: 'BBB' },
  }
  api.setAnswer('/guild/list/guild', () => ({ body: listed }))
  api.setAnswer('/guild/seasons', () => ({ headers: { Date: new Date().toUTCString() }, body: {} }))
  const environment = { DATABASE_URL, WYNNSYNC_BASE_URL: api.url, WYNNSYNC_DATA_DIR: await temporaryFolder() }
  const { code, err } = await runInside(['sync', 'items', 'guild-list'], environment)
  expect([code, err]).toEqual([0, expect.any(String)])
  return environment
}

async function expectReadable(environment: Environment, reason: RegExp): Promise<void> {
  const report = `${environment.WYNNSYNC_DATA_DIR}/report.html`
  const commands: readonly (readonly string[])[] = [
    ['status'],
    ['status', '--drift'],
    ['query', '--list'],
    ['query', 'item'],
    ['report', '--out', report],
    ['dictionary'],
    ['privacy', 'show', player],
    ['migrate'],
    ['backfill', 'guilds', '--dry-run'],
    ['backfill', 'guilds', '--dry-run', '--only', guildId('a')],
    ['backfill', 'items', '--dry-run'],
    ['move', '--to', `${environment.WYNNSYNC_DATA_DIR}/moved`, '--dry-run'],
  ]
  for (const args of commands) {
    const { code, out, err } = await runInside(args, environment)
    expect([args, code, err]).toEqual([args, 0, ''])
    expect(out.length).toBeGreaterThan(0)
  }
  const doctor = await runInside(['doctor'], environment)
  expect([doctor.code, doctor.err]).toEqual([0, ''])
  expect(doctor.out).toMatch(reason)
  expect(doctor.out).toMatch(/^database +warning +PostgreSQL .*, up to date, read-only/m)
  expect(doctor.out).toMatch(/^api +fine/m)
  expect(doctor.out).toContain('to sync, set DATABASE_URL to the primary')
  const sync = await runInside(['sync', 'items'], environment)
  expect([sync.code, sync.out + sync.err]).toEqual([
    1,
    expect.stringMatching(/read-only database .*; set DATABASE_URL to the primary/),
  ])
}

describe('a database that cannot be written', () => {
  test('answers everything that only reads: a user with default_transaction_read_only', async () => {
    const url = await testDatabaseUrl()
    const environment = await filled(url)
    await expectReadable(
      { ...environment, DATABASE_URL: await readOnlyUser(url) },
      /default_transaction_read_only is on/,
    )
  })

  test('answers everything that only reads: a hot standby', async () => {
    const server = await startBinaries({ keeps: true })
    try {
      const environment = await filled(server.url)
      await server.becomeStandby()
      await expectReadable(environment, /it is a standby/)
    } finally {
      await server.stop()
    }
  })

  test('says what to do where it has no tables yet, or those of another version', async () => {
    const url = await testDatabaseUrl({ migrated: false })
    const environment = { DATABASE_URL: await readOnlyUser(url) }
    for (const args of [['status'], ['migrate'], ['query', 'item']]) {
      const { code, err } = await runInside(args, environment)
      expect([code, err]).toEqual([
        1,
        expect.stringMatching(/is read-only .*run `wynnsync migrate` of this version where/),
      ])
      expect(err).not.toContain('Failed query')
    }
  })

  test('says to whom the reader role belongs, instead of making its logins owners', async () => {
    const url = new URL(await testDatabaseUrl())
    const name = `look_${url.pathname.slice(-12)}`
    const db = await openServer(url.href)
    await db.query(`create role ${name} login password 'of the looker' in role wynnsync_reader`)
    url.username = name
    url.password = 'of the looker'
    for (const args of [['query', 'item'], ['status']]) {
      const { code, err } = await runInside(args, { DATABASE_URL: url.href })
      expect([code, err]).toEqual([
        1,
        expect.stringMatching(
          new RegExp(`${name} is in the role wynnsync_reader, which reads the schema analytics alone, .* the rights of tester
`),
        ),
      ])
    }
    await db.query(`drop role ${name}`)
    await db.close()
  })

  test('hands over no superuser: it says how the tables get another owner', async () => {
    const url = new URL(await testDatabaseUrl())
    const [name, owner] = [`heir_${url.pathname.slice(-12)}`, `old_${url.pathname.slice(-12)}`]
    const db = await openServer(url.href)
    await db.query(`create role ${name} login password 'of the heir'; create role ${owner}`)
    const [row] = await db.query<{ super: boolean }>(
      'select rolsuper as super from pg_roles where rolname = current_user',
    )
    url.username = name
    url.password = 'of the heir'
    const sync = () => runInside(['migrate'], { DATABASE_URL: url.href })
    const first = await sync()
    expect(first.err).not.toContain('grant ')
    expect(first.err).toContain(row?.super ? `alter ... owner to ${name}` : `reassign owned by`)
    await db.query(`alter schema sync owner to ${owner}`)
    const second = await sync()
    expect(second.err).toContain(`reassign owned by ${owner} to ${name}`)
    const sql = /```sql\n(do [\s\S]*?)```/.exec(await readFile('docs/how-to/psql.md', 'utf8'))?.[1] ?? ''
    const database = url.pathname.slice(1)
    await db.query(sql.replaceAll(/\bwynn\b/g, name).replace('database wynnsync', `database ${database}`))
    expect(await sync()).toMatchObject({ code: 0 })
    await db.query(`reassign owned by ${name} to current_user; drop owned by ${name}; drop role ${name}, ${owner}`)
    await db.close()
  })

  test('says which right is missing and what to grant, where the user may create nothing', async () => {
    const url = new URL(await testDatabaseUrl({ migrated: false }))
    const [database, name] = [url.pathname.slice(1), `poor_${url.pathname.slice(-12)}`]
    const db = await openServer(url.href)
    await db.query(`create role ${name} login password 'of the poor'`)
    url.username = name
    url.password = 'of the poor'
    const environment = { DATABASE_URL: url.href, WYNNSYNC_BASE_URL: 'http://127.0.0.1:1' }
    const { code, err } = await runInside(['migrate'], environment)
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(
        new RegExp(`permission denied for database ${database}; .*: grant create on database ${database} to ${name}\n`),
      ),
    ])
    expect(err).not.toContain('Failed query')
    const doctor = await runInside(['doctor'], environment)
    expect(doctor.out).toMatch(/^database +problem .*permission denied for database/m)
    expect(doctor.out).toContain('database: this user lacks a right: grant what the line above shows')
    await db.query(`grant create on database ${database} to ${name}`)
    expect(await runInside(['migrate'], environment)).toMatchObject({ code: 0 })
    await db.query(`reassign owned by ${name} to current_user; drop owned by ${name}; drop role ${name}`)
    await db.close()
  })
})
