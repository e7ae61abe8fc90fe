import { execFileSync } from 'node:child_process'
import { chownSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import type { Database } from '../../src/db/database.ts'
import { openServer } from '../../src/db/server/server.ts'
import { startServer } from '../api/server.ts'
import { buildProgram, runProgram } from '../support/cli.ts'
import { testDatabaseUrl } from '../support/postgres.ts'

interface Findings {
  readonly findings: readonly {
    readonly check: string
    readonly verdict: string
    readonly seen: string
    readonly todo?: string
  }[]
}

/** An API that answers at once, and whose headers say that `remaining` requests are left of this window. */
async function api(
  remaining: () => number,
  resetSeconds: number,
  { ahead = 0, lives = 60_000 }: { readonly ahead?: number; readonly lives?: number } = {},
): Promise<string> {
  const server = await startServer(() => ({
    headers: {
      Date: new Date(Date.now() + ahead).toUTCString(),
      'Cache-Control': 'max-age=60',
      Expires: new Date(Date.now() + ahead + lives).toUTCString(),
      'RateLimit-Bucket': 'GUILD',
      'RateLimit-Limit': '50',
      'RateLimit-Remaining': String(remaining()),
      'RateLimit-Reset': String(resetSeconds),
    },
    body: {},
  }))
  onTestFinished(server.close)
  return server.url
}

async function doctor(environment: Record<string, string>) {
  const { code, out, err } = await runProgram(['doctor', '--json'], environment)
  const { findings } = JSON.parse(out) as Findings
  return { code, err, of: (check: string) => findings.find((one) => one.check === check) }
}

describe('wynnsync doctor', () => {
  beforeAll(buildProgram, 120_000)

  test('measures the exchange alone, and names the wait for the rate limit apart from it', async () => {
    let requests = 0
    const url = await api(() => (requests++ === 0 ? 0 : 49), 12)
    const environment = { DATABASE_URL: await testDatabaseUrl(), WYNNSYNC_BASE_URL: url }
    await runProgram(['sync', 'seasons'], environment)
    const { of } = await doctor(environment)
    const [, took, waited] =
      /responded in (\d+) ms, after (\d+) s of waiting for a free/.exec(of('api')?.seen ?? '') ?? []
    expect(Number(waited)).toBeGreaterThanOrEqual(2)
    expect(Number(took)).toBeLessThan(1000)
  })

  const minute = 60_000
  test.each([
    [0, 'fine', 'agrees with the API to within some seconds', ''],
    [60 * 1000, 'warning', "behind the API's", "history takes its times from the API's, the schedule from this clock"],
    [-15 * minute, 'warning', "ahead of the API's", 'history takes its times from this clock'],
    [61 * minute, 'problem', "behind the API's", 'nothing is loaded'],
  ])(
    'says what history takes its times from where Date is %d ms ahead: %s',
    async (ahead, verdict, seen, todo) => {
      const url = await api(() => 49, 60, { ahead })
      const DATABASE_URL = await testDatabaseUrl()
      const { of, code } = await doctor({ DATABASE_URL, WYNNSYNC_BASE_URL: url, WYNNSYNC_CLOCK: 'both' })
      const found = of('clock')
      expect(found).toMatchObject({ verdict })
      expect([found?.seen, found?.todo ?? '', code]).toEqual([
        expect.stringContaining(seen),
        expect.stringContaining(todo),
        verdict === 'problem' ? 1 : 0,
      ])
    },
    60_000,
  )

  test('and status name clocks and headers that disagreed in the last day', async () => {
    const url = await api(() => 49, 60, { ahead: 15 * minute, lives: -30 * minute })
    const environment = { DATABASE_URL: await testDatabaseUrl(), WYNNSYNC_BASE_URL: url, WYNNSYNC_CLOCK: 'both' }
    await runProgram(['sync', 'seasons'], environment)
    const { of } = await doctor(environment)
    const status = await runProgram(['status', '--json'], environment)
    const { clocks } = JSON.parse(status.out) as { clocks: { guard: string; action: string }[] }
    // No season came: the response is rejected for that, and dated all the same.
    expect(clocks.map(({ guard, action }) => [guard, action])).toEqual([
      ['clock', 'accepted'],
      ['header', 'ignored'],
    ])
    expect(of('dating')).toMatchObject({ verdict: 'warning', seen: expect.stringContaining('seasons: the API') })
    expect((await runProgram(['status'], environment)).out).toContain('Clocks and headers that disagree')
    const decided = await doctor({ ...environment, WYNNSYNC_CLOCK: 'machine' })
    expect(decided.of('clock')).toMatchObject({
      verdict: 'fine',
      seen: expect.stringContaining('WYNNSYNC_CLOCK=machine'),
    })
  })

  test('does not blame the API when the disk of the database is full, and says what to do', async () => {
    const { url, cause } = await fullDatabase()
    const { code, of } = await doctor({ DATABASE_URL: url, WYNNSYNC_BASE_URL: await api(() => 49, 60) })
    expect(code).toBe(1)
    expect([cause, of('database')]).toEqual([
      cause,
      expect.objectContaining({
        verdict: 'problem',
        seen: expect.stringMatching(/no space left|disk full/i),
        todo: expect.stringContaining('make room on the disk'),
      }),
    ])
    expect(of('api')).toMatchObject({ verdict: 'fine' })
    expect(of('disk')).toMatchObject({ verdict: 'unknown' })
  })

  test.each([
    ['disk_full', 'could not extend file: No space left on device'],
    // What PostgreSQL says where the first file of a session has no room.
    ['internal_error', 'could not write init file'],
  ])('tries a write, because a server whose disk is full answers every question (%s)', async (state, message) => {
    const url = await testDatabaseUrl()
    const db = await openServer(url)
    await db.query(`
      create function public.full_disk() returns event_trigger language plpgsql as
        $$ begin raise exception '${message}' using errcode = '${state}'; end $$;
      create event trigger full_disk on ddl_command_start when tag in ('CREATE TABLE AS') execute function public.full_disk()`)
    onTestFinished(() => db.close())
    const { code, of } = await doctor({ DATABASE_URL: url, WYNNSYNC_BASE_URL: await api(() => 49, 60) })
    expect(code).toBe(1)
    expect(of('database')).toMatchObject({ verdict: 'problem', todo: expect.stringContaining('make room on the disk') })
    await db.query('drop event trigger full_disk')
    expect(await db.values(`select to_regclass('sync.tried')`)).toEqual([[null]])
  })

  test('says that it could not look where it could not, and gives advice that fits the cause', async () => {
    const url = new URL(await testDatabaseUrl())
    const [password, missing, port, host] = [new URL(url), new URL(url), new URL(url), new URL(url)]
    password.password = 'wrong'
    missing.pathname = '/nobody_made_this'
    port.port = '1'
    host.hostname = 'no-such-host.invalid'
    const base = { WYNNSYNC_BASE_URL: await api(() => 49, 60) }
    for (const [place, code, todo] of [
      [password, 1, /check user and password in DATABASE_URL, or PGPASSWORD/],
      [missing, 1, /createdb/],
      [port, 75, /is the server running, and are host and port/],
      [host, 75, /host name/],
    ] as const) {
      const found = await doctor({ ...base, DATABASE_URL: place.href })
      expect([place.host, found.code]).toEqual([place.host, code])
      expect(found.of('database')).toMatchObject({ verdict: 'problem', todo: expect.stringMatching(todo) })
      expect(found.of('disk')).toMatchObject({ verdict: 'unknown' })
      expect(found.of('api')).toMatchObject({ verdict: 'fine' })
    }
  })
})

/**
 * An empty database without room for the tables: in a tablespace on a small file system of its own, where this machine
 * lets the test mount one for a Postgres of its own; otherwise every statement that makes a schema fails with the SQLSTATE of a full disk.
 */
async function fullDatabase(): Promise<{ readonly url: string; readonly cause: string }> {
  const url = new URL(await testDatabaseUrl({ migrated: false }))
  const admin = await openServer(inject('serverUrl'))
  onTestFinished(() => admin.close())
  const folder = await smallFileSystem(admin)
  if (folder === null) {
    const db = await openServer(url.href)
    await db.query(`
      create function public.full_disk() returns event_trigger language plpgsql as
        $$ begin raise exception 'could not extend file: No space left on device' using errcode = 'disk_full'; end $$;
      create event trigger full_disk on ddl_command_start when tag in ('CREATE SCHEMA') execute function public.full_disk()`)
    await db.close()
    return { url: url.href, cause: 'an event trigger' }
  }
  const name = `full_${url.pathname.slice(-12)}`
  await admin.query(`create tablespace ${name} location '${folder}'`)
  await admin.query(`create database ${name} template template0 strategy file_copy tablespace ${name}`)
  onTestFinished(async () => {
    await admin.query(`drop database ${name} with (force)`)
    await admin.query(`drop tablespace ${name}`)
  })
  url.pathname = `/${name}`
  return { url: url.href, cause: 'a full file system' }
}

/** A file system with 1 MB more than an empty database takes, for the server; null where none can be mounted. */
async function smallFileSystem(admin: Database): Promise<string | null> {
  const [row] = await admin.query<{ folder: string; host: string | null; bytes: number }>(
    `select current_setting('data_directory') as folder, host(inet_server_addr()) as host,
            pg_database_size('template0') + 1000000 as bytes`,
  )
  const folder = mkdtempSync(join(tmpdir(), 'wynnsync-full-'))
  const isLocal = row?.host === '127.0.0.1' && process.getuid?.() === 0
  try {
    if (!isLocal) throw new Error('the server is not of this machine')
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${row?.bytes},mode=0755`, 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    rmSync(folder, { recursive: true })
    return null
  }
  onTestFinished(() => {
    execFileSync('umount', ['-l', folder])
    rmSync(folder, { recursive: true })
  })
  const place = join(folder, 'space')
  mkdirSync(place)
  const { uid, gid } = statSync(row?.folder ?? '/')
  chownSync(place, uid, gid)
  return place
}
