import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { UsageError } from '../../src/base/errors.ts'
import { openServer } from '../../src/db/server/server.ts'
import { freePort } from '../support/free-port.ts'
import { temporaryFolder, testDatabaseUrl } from '../support/postgres.ts'

/** Debian's package has it; elsewhere these tests are skipped. */
const program = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/usr/local/bin/pgbouncer'].find(existsSync)

/** Starts PgBouncer in front of a database; returns the URL through it. */
async function bouncer(databaseUrl: string, settings: Readonly<Record<string, string>>): Promise<string> {
  const target = new URL(databaseUrl)
  const [user, password] = [target.username, target.password].map(decodeURIComponent)
  const folder = await temporaryFolder()
  const port = await freePort()
  const file = join(folder, 'pgbouncer.ini')
  const lines = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'trust',
    auth_file: join(folder, 'users'),
    query_wait_timeout: 3,
    max_client_conn: 100,
    ...settings,
  }
  await writeFile(join(folder, 'users'), `"${user}" "${password}"\n`)
  await writeFile(
    file,
    `[databases]\n${target.pathname.slice(1)} = host=${target.hostname} port=${target.port} \n[pgbouncer]\n${Object.entries(
      lines,
    )
      .map(([name, value]) => `${name} = ${value}\n`)
      .join('')}`,
  )
  // It refuses to run as root.
  const as = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  const child: ChildProcess = spawn(program ?? '', ['-q', ...as, file], { stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  for (let isUp = false; !isUp; ) {
    await systemClock.sleep(50)
    if (child.exitCode !== null) throw new Error(`pgbouncer ended with ${child.exitCode}`)
    isUp = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false))
      socket.on('close', () => undefined).setTimeout(200, () => socket.destroy())
    })
  }
  const url = new URL(databaseUrl)
  url.host = `127.0.0.1:${port}`
  return url.href
}

test
  .skipIf(!program)
  .each([
    { pool_mode: 'transaction' },
    { pool_mode: 'transaction', default_pool_size: '1' },
    { pool_mode: 'transaction', server_round_robin: '1', min_pool_size: '2' },
    { pool_mode: 'transaction', server_reset_query_always: '1' },
    { pool_mode: 'statement' },
  ])('PgBouncer with %o is refused, with the URL to use', async (settings) => {
  const direct = await testDatabaseUrl()
  const pooled = await bouncer(direct, settings as unknown as Record<string, string>)
  const refused = await openServer(pooled).then(
    (db) => db.close().then(() => 'opened'),
    (error: unknown) => error,
  )
  expect(refused).toBeInstanceOf(UsageError)
  expect((refused as Error).message).toContain('pool_mode=session')
})

test.skipIf(!program)('PgBouncer in session mode is as good as the server', async () => {
  const direct = await testDatabaseUrl()
  const pooled = await bouncer(direct, { pool_mode: 'session', server_lifetime: '1' })
  const [db, other] = await Promise.all([openServer(pooled), openServer(direct)])
  onTestFinished(async () => void (await Promise.all([db.close(), other.close()])))
  const lock = await db.tryLock('wynnsync items')
  expect(lock).not.toBeNull()
  // Longer than a session that is not in use lives.
  await systemClock.sleep(1500)
  expect(await other.tryLock('wynnsync items')).toBeNull()
  await db.close()
  while ((await other.tryLock('wynnsync items')) === null) await systemClock.sleep(50)
})

test('values look the same whatever the database and the role have set', async () => {
  const url = await testDatabaseUrl({ migrated: false })
  const admin = await openServer(url)
  onTestFinished(() => admin.close())
  const [row] = await admin.query<{ name: string }>('select quote_ident(current_database()) as name')
  for (const setting of [
    `bytea_output = 'escape'`,
    `intervalstyle = 'iso_8601'`,
    'extra_float_digits = -3',
    `datestyle = 'SQL, DMY'`,
    `timezone = 'Asia/Tokyo'`,
    'search_path = pg_catalog',
    `default_transaction_isolation = 'serializable'`,
    'transform_null_equals = on',
  ])
    await admin.query(`alter database ${row?.name} set ${setting}`)
  const db = await openServer(url)
  onTestFinished(() => db.close())
  const values = `select '\\x00ff41'::bytea as bytes, (interval '1 day 02:03:04')::text as text, 0.1::float8 + 0.2::float8 as float,
    '2026-05-01T12:00:00Z'::timestamptz as at, '2026-05-01T12:00:00Z'::timestamptz::text as "atText", (null = null) is null as unknown`
  expect(await db.query(values)).toEqual([
    {
      bytes: new Uint8Array([0, 255, 65]),
      text: '1 day 02:03:04',
      float: 0.300_000_000_000_000_04,
      at: new Date('2026-05-01T12:00:00Z'),
      atText: '2026-05-01 12:00:00+00',
      unknown: true,
    },
  ])
  expect(await db.values(`select current_setting('transaction_isolation'), current_setting('search_path')`)).toEqual([
    ['read committed', 'public'],
  ])
})

test('a database that is not UTF-8 is refused, with what to do', async () => {
  const url = new URL(await testDatabaseUrl({ migrated: false }))
  const admin = await openServer(url.href)
  const name = `ascii_${process.pid}`
  await admin.query(`create database ${name} encoding 'SQL_ASCII' locale 'C' template template0`)
  onTestFinished(async () => {
    await admin.query(`drop database ${name} with (force)`)
    await admin.close()
  })
  url.pathname = `/${name}`
  const refused = openServer(url.href)
  await expect(refused).rejects.toThrow(UsageError)
  await expect(refused).rejects.toThrow(/SQL_ASCII.*createdb --encoding=UTF8/)
})
