import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { systemClock, virtualClock } from '../../src/base/clock.ts'
import { openEmbedded } from '../../src/db/embedded/embedded.ts'
import { MessageReader, messageOf } from '../../src/db/pgwire/messages.ts'
import { serveWire } from '../../src/db/pgwire/pgwire-server.ts'
import { buildProgram, runProgram, startCommand, startProgram } from '../support/cli.ts'
import { testDataDir } from '../support/postgres.ts'
import { contentOf } from '../support/world.ts'

const clock = virtualClock(Date.UTC(2026, 5, 1))
let server: Awaited<ReturnType<typeof serveWire>>
let close: () => Promise<void>
let dataDir: string
let before: Record<string, unknown[]>

beforeAll(async () => {
  dataDir = await testDataDir()
  const owned = await openEmbedded(dataDir, { clock: systemClock, durable: false })
  await owned.query(`insert into game.territory_hold (territory, guild_uuid, guild_name, observed_at, valid_from, hash, document)
    select 'Oak ' || n, gen_random_uuid(), 'Elms', '2026-06-01Z', '2026-06-01Z', '\\x00', '{}' from generate_series(1, 500) n`)
  before = await contentOf(owned)
  await owned.close()
  const db = await openEmbedded(dataDir, { clock: systemClock, durable: false, readOnly: true })
  server = await serveWire(db, { host: '127.0.0.1', port: 0, clock, random: Math.random })
  close = async () => {
    await server.close()
    await db.close()
  }
})
afterAll(async () => {
  await close()
  const db = await openEmbedded(dataDir, { clock: systemClock, durable: false })
  expect(await contentOf(db)).toEqual(before)
  expect(
    await db.values(
      `select lomowner from pg_largeobject_metadata union all select setrole from pg_db_role_setting where setrole <> 0`,
    ),
  ).toEqual([])
  await db.close()
})

function client(options: postgres.Options<Record<string, never>> = {}): postgres.Sql {
  const sql = postgres({
    host: '127.0.0.1',
    port: server.port,
    user: 'me',
    max: 1,
    fetch_types: false,
    onnotice: () => {},
    ...options,
  })
  onTestFinished(() => sql.end({ timeout: 1 }))
  return sql
}

/** What a reader may not do, each alone. */
const FORBIDDEN = [
  'select * from game.item',
  'select * from sync.run',
  'select * from pg_authid',
  'select * from pg_shadow',
  'select * from pg_largeobject',
  `select pg_read_file('PG_VERSION')`,
  `select pg_read_binary_file('global/pg_control')`,
  `select pg_ls_dir('.')`,
  `select pg_stat_file('PG_VERSION')`,
  `select current_setting('data_directory')`,
  `insert into game.world (world, valid_from, hash) values ('EU1', now(), '\\x00')`,
  'update game.territory_hold set guild_name = null',
  'delete from analytics.territory_hold',
  'truncate game.territory_hold',
  'create table mine (id int)',
  'create temp table mine (id int)',
  'create schema mine',
  'create view analytics.mine as select 1',
  'create function public.mine() returns int language sql as $$ select 1 $$',
  'begin read write; create schema mine',
  'begin; set transaction read write; create schema mine',
  'set default_transaction_read_only = off; create schema mine',
  'set session characteristics as transaction read write; create schema mine',
  `select set_config('default_transaction_read_only', 'off', false)`,
  `do $$ begin perform set_config('role', 'postgres', false); end $$`,
  `do $$ begin delete from game.territory_hold; end $$`,
  'set session authorization postgres',
  'reset session authorization; delete from game.territory_hold',
  'set role postgres',
  'reset role; delete from game.territory_hold',
  'set local role none; delete from game.territory_hold',
  'discard all',
  'create role mine superuser',
  'alter role wynnsync_reader superuser',
  `alter role wynnsync_reader set search_path = 'mine'`,
  'drop owned by wynnsync_reader',
  'grant postgres to wynnsync_reader',
  'alter system set work_mem = 1',
  'drop view analytics.territory',
  'drop schema analytics cascade',
  'copy game.world from stdin',
  `copy (select 1) to '/tmp/mine'`,
  `copy (select 1) to program 'cat > /tmp/mine'`,
  `copy pg_temp.mine from program 'id'`,
  'create extension plpgsql_check',
  `load 'auto_explain'`,
  'select lo_create(4711)',
  `select lo_from_bytea(0, '\\x00')`,
  `select lo_import('/etc/hostname')`,
  `select lo_export(1, '/tmp/mine')`,
  'select pg_sleep(1000000)',
  `select pg_sleep_for('1 year')`,
  'select pg_terminate_backend(pg_backend_pid())',
  'select pg_reload_conf()',
  'checkpoint',
  'set session_replication_role = replica',
]

/** No right, read only, no such schema or file, a value that is not accepted, a view that cannot be written. */
const REFUSED = /^(42501|25006|3F000|58P01|22023|55000)$/
/** Where only one statement may be, several are none. */
const REFUSED_OR_SEVERAL = /^(42501|25006|3F000|58P01|22023|55000|42601)$/

/** Statements of which one prepares what the next one does. */
const ESCAPES = [
  ['set default_transaction_read_only = off', 'set role postgres'],
  ['reset all', 'reset role', 'reset session authorization'],
  ['begin', 'set transaction read write', 'select lo_create(0)', 'commit'],
  ['begin', 'selct 1', 'rollback', 'set role postgres'],
  ['begin', 'savepoint a', 'set local role postgres', 'rollback to a', 'set role postgres', 'commit'],
  ['start transaction read write', 'set session authorization default', 'commit'],
  [`set "default_transaction_read_only" to false`, `select set_config('session_authorization', 'postgres', false)`],
]

const NOTHING = new Uint8Array(2)
const SYNC = messageOf('S')

/** Sends messages as they are, and tells the letters of the answer, with the first value of each row. */
async function plainClient(): Promise<(...messages: Buffer[]) => Promise<string>> {
  const socket = connect(server.port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  const reader = new MessageReader()
  let heard = ''
  socket.on('data', (chunk) => {
    reader.push(chunk)
    for (let message = reader.message(); message; message = reader.message()) {
      const letter = String.fromCharCode(message[0] ?? 0)
      heard += letter === 'D' ? `D:${message.toString('utf8', 11)}:` : letter
    }
  })
  const answer = async () => {
    await expect.poll(() => heard).toMatch(/Z$/)
    const all = heard
    heard = ''
    return all
  }
  const start = Buffer.from([0, 0, 0, 17, 0, 3, 0, 0, ...Buffer.from('user\0me\0\0')])
  socket.write(start)
  await answer()
  return (...messages) => {
    socket.write(Buffer.concat(messages))
    return answer()
  }
}

describe('the embedded database as a server', () => {
  test('answers with rows, types and parameters, and large answers whole', async () => {
    const sql = client()
    const [row] = await sql`select * from analytics.territory_owner_at(${'Oak 7'}, ${new Date('2026-06-02T00:00Z')})`
    expect(row).toMatchObject({ guild_name: 'Elms', held_from: new Date('2026-06-01T00:00Z'), held_until: null })
    expect(
      await sql`select repeat('x', 1000) as x, t.* from analytics.territory_hold t, generate_series(1, 5)`,
    ).toHaveLength(2500)
  })

  test('says what is wrong, and goes on', async () => {
    const sql = client()
    await expect(sql`select * from analytics.nothing`).rejects.toMatchObject({ code: '42P01' })
    await expect(sql.unsafe('select 1; selct 2')).rejects.toMatchObject({ code: '42601' })
    expect(await sql`select 1 as one`).toEqual([{ one: 1 }])
  })

  test.each([
    ['simple', REFUSED, (sql: postgres.Sql, text: string) => sql.unsafe(text)],
    ['extended', REFUSED_OR_SEVERAL, (sql: postgres.Sql, text: string) => sql.unsafe(text, [], { prepare: true })],
  ])('lets nobody write, or see what is not for readers, by the %s protocol', async (_, refused, run) => {
    const sql = client()
    for (const statement of FORBIDDEN) {
      const done = await run(sql, statement).then(
        () => 'done',
        (error: { code: string }) => error.code,
      )
      expect(done, statement).toMatch(refused)
      await sql.unsafe('rollback')
    }
    const [identity] = await sql`select current_user::text as one, session_user::text as other`
    expect(identity).toEqual({ one: 'wynnsync_reader', other: 'wynnsync_reader' })
  })

  test('leaves no way around it to one statement after the other', async () => {
    const sql = client({ connection: { default_transaction_read_only: false, role: 'postgres' } })
    for (const attempt of ESCAPES) {
      for (const statement of attempt) await sql.unsafe(statement).catch(() => {})
      await sql.unsafe('rollback').catch(() => {})
      await expect(sql`select count(*) from game.territory_hold`, attempt.join('; ')).rejects.toMatchObject({
        code: '42501',
      })
      await expect(sql.unsafe('create table public.mine ()'), attempt.join('; ')).rejects.toMatchObject({
        code: '25006',
      })
    }
  })

  test.runIf(existsSync('/usr/bin/psql'))('lets nobody write through psql either', async () => {
    const url = `postgres://me@127.0.0.1:${server.port}/wynnsync`
    const statements = [...FORBIDDEN, ...ESCAPES.map((attempt) => attempt.join('; '))]
    const args = statements.flatMap((statement) => ['-c', statement])
    const { err } = await startCommand('psql', [url, '-At', ...args, '-c', '\\lo_import /etc/hostname'], {}).finished
    expect(err.match(/^ERROR/gm)?.length).toBeGreaterThanOrEqual(statements.length)
  })

  test('serves two clients at once: each has its own prepared statements and settings', async () => {
    const [one, two] = [client({ connection: { TimeZone: 'Europe/Berlin' } }), client()]
    const ask = (sql: postgres.Sql, n: number) =>
      sql.unsafe<{ n: number; zone: string }[]>(
        `select $1::int + ${sql === one ? 0 : 100} as n, current_setting('TimeZone') as zone`,
        [n],
        {
          prepare: true,
        },
      )
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => [ask(one, n), ask(two, n)]).flat())
    expect(answers.map(([row]) => row)).toEqual(
      Array.from({ length: 20 }, (_, n) => [
        { n, zone: 'Europe/Berlin' },
        { n: 100 + n, zone: 'UTC' },
      ]).flat(),
    )
    await one.unsafe(`set statement_timeout = '7s'`)
    expect(await two`show statement_timeout`).toEqual([{ statement_timeout: '0' }])
    expect(await one`show statement_timeout`).toEqual([{ statement_timeout: '7s' }])
  })

  test('forgets the prepared statements of clients that went away', async () => {
    for (let nth = 0; nth < 3; nth++) {
      const one = client()
      await one.unsafe('select $1::int + 0 as forgotten', [nth], { prepare: true })
      await one.end()
    }
    // The statement of one that has just gone may go with the next turn.
    const kept = () =>
      client().unsafe(`select name from pg_prepared_statements where statement like '%forgotten' and name <> ''`)
    await expect.poll(async () => (await kept()).length).toBe(0)
  })

  test('keeps statements apart that two clients call the same', async () => {
    const [one, two] = await Promise.all([plainClient(), plainClient()])
    const prepare = (answer: string) => [messageOf('P', 's', `select '${answer}'`, NOTHING), SYNC]
    const execute = [messageOf('B', '', 's', NOTHING, NOTHING, NOTHING), messageOf('E', '', 0), SYNC]
    expect(await one(...prepare('mine'))).toBe('1Z')
    expect(await two(...prepare('yours'))).toBe('1Z')
    expect(await one(...execute)).toBe('2D:mine:CZ')
    expect(await two(...execute)).toBe('2D:yours:CZ')
    // One without a name is forgotten when somebody else is served, and never taken for another's.
    expect(await one(messageOf('P', '', `select 'unnamed'`, NOTHING), SYNC)).toBe('1Z')
    expect(await two(messageOf('P', '', `select 'other'`, NOTHING), SYNC)).toBe('1Z')
    expect(await one(messageOf('B', '', '', NOTHING, NOTHING, NOTHING), messageOf('E', '', 0), SYNC)).toBe('EZ')
  })

  test('lets others wait for the end of a transaction, also of one whose client went away', async () => {
    const [one, two] = [client(), client()]
    const told: string[] = []
    await one.begin(async (sql) => {
      await sql`select 1`
      const waiting = two`select 2`.then(() => told.push('other'))
      await new Promise((resolve) => setTimeout(resolve, 100))
      await sql`select 3`
      told.push('first')
      return [waiting]
    })
    await two`select 4`
    expect(told).toEqual(['first', 'other'])
    const gone = postgres({ host: '127.0.0.1', port: server.port, user: 'me', max: 1, fetch_types: false })
    await gone.unsafe('begin')
    const after = two`select 5 as five`
    await gone.end({ timeout: 0 })
    expect(await after).toEqual([{ five: 5 }])
  })

  test('ends a transaction that rests while others wait, and no other', async () => {
    let isClosed = false
    const [one, two] = [client({ onclose: () => (isClosed = true) }), client()]
    await one.unsafe('begin')
    await clock.advance(60_000)
    expect(await one`select 1 as one`).toEqual([{ one: 1 }])
    expect(isClosed).toBe(false)
    const waiting = two`select 2 as two`.execute()
    await new Promise((resolve) => setTimeout(resolve, 100))
    await clock.advance(31_000)
    expect(await waiting).toEqual([{ two: 2 }])
    await expect.poll(() => isClosed).toBe(true)
  })

  test('ends what waits when it is cancelled', async () => {
    const [one, two] = [client(), client()]
    await two`select 1`
    await one.begin(async (sql) => {
      await sql`select 1`
      const query = two`select 2`
      const refused = expect(query).rejects.toMatchObject({ code: '57014' })
      await new Promise((resolve) => setTimeout(resolve, 100))
      query.cancel()
      await refused
    })
    expect(await two`select 3 as three`).toEqual([{ three: 3 }])
  })

  test('shows who is no client the door', async () => {
    const socket = connect(server.port, '127.0.0.1')
    socket.write('GET / HTTP/1.1\r\n\r\n')
    await new Promise((resolve) => socket.once('close', resolve))
    expect(await client()`select 1 as one`).toEqual([{ one: 1 }])
  })
})

describe('wynnsync serve-db', () => {
  beforeAll(buildProgram)

  test('says how to connect, keeps others out, and stops when it is told to', async () => {
    const environment = { WYNNSYNC_DATA_DIR: await testDataDir() }
    const { child, finished } = startProgram(['serve-db', '--port', '0', '--json'], environment)
    const url = await new Promise<string>((resolve, reject) => {
      child.stdout?.on('data', (text: string) => resolve(JSON.parse(text).url))
      void finished.then(({ err }) => reject(new Error(err)))
    })
    const sql = postgres(url, { max: 1, fetch_types: false })
    expect(await sql`select count(*)::int as n from analytics.freshness`).toEqual([{ n: 0 }])
    if (existsSync('/usr/bin/psql')) {
      const asked = startCommand('psql', [url, '-Atc', 'select 1', '-c', '\\d analytics.patch'], {})
      expect(await asked.finished).toMatchObject({ code: 0, out: expect.stringMatching(/^1\npatch\|integer/), err: '' })
    }
    child.kill('SIGTERM')
    expect(await finished).toMatchObject({ code: 0 })
    await sql.end({ timeout: 1 })
  })

  test('ends with the reason when Postgres fails, as it does for a value that is nested too deep', async () => {
    const { child, finished } = startProgram(['serve-db', '--port', '0', '--json'], {
      WYNNSYNC_DATA_DIR: await testDataDir(),
    })
    const url = await new Promise<string>((resolve, reject) => {
      child.stdout?.on('data', (text: string) => resolve(JSON.parse(text).url))
      void finished.then(({ err }) => reject(new Error(err)))
    })
    const sql = postgres(url, { max: 1, fetch_types: false })
    const nested = `select (repeat('[', 2000000) || repeat(']', 2000000))::json`
    await expect(sql.unsafe(nested)).rejects.toThrow()
    expect(await finished).toMatchObject({ code: 1, err: expect.stringContaining('nested too deep') })
    await sql.end({ timeout: 1 })
  })

  test('is for this machine alone unless clients need a password, which works as on a server', async () => {
    const open = await runProgram(['serve-db', '--host', '0.0.0.0'], { WYNNSYNC_DATA_DIR: await testDataDir() })
    expect([open.code, open.err]).toEqual([2, expect.stringContaining('--host 0.0.0.0 lets other machines connect')])
    const environment = { WYNNSYNC_DATA_DIR: await testDataDir() }
    const args = ['serve-db', '--port', '0', '--host', '0.0.0.0', '--password', 'of the Ünit', '--json']
    const { child, finished } = startProgram(args, environment)
    const url = await new Promise<string>((resolve, reject) => {
      child.stdout?.on('data', (text: string) => resolve(JSON.parse(text).url.replace('0.0.0.0', '127.0.0.1')))
      void finished.then(({ err }) => reject(new Error(err)))
    })
    const ask = async (password?: string) => {
      const sql = postgres(url, { max: 1, fetch_types: false, ...(password === undefined ? {} : { password }) })
      const answer = await sql`select 1 as one`.then(
        (rows) => rows.length,
        (error: { code: string }) => error.code,
      )
      await sql.end({ timeout: 1 })
      return answer
    }
    expect([await ask('of the Ünit'), await ask('of another'), await ask()]).toEqual([1, '28P01', '28P01'])
    if (existsSync('/usr/bin/psql')) {
      const asked = (password: string) =>
        startCommand('psql', [url, '-Atwc', 'select 1'], { PGPASSWORD: password }).finished
      expect(await asked('of the Ünit')).toMatchObject({ code: 0, out: '1\n' })
      expect(await asked('of another')).toMatchObject({ code: 2, err: expect.stringContaining('password') })
    }
    child.kill('SIGTERM')
    expect(await finished).toMatchObject({ code: 0 })
  })

  test('is not for servers', async () => {
    const { code, err } = await runProgram(['serve-db'], { DATABASE_URL: 'postgres://me@127.0.0.1:1/x' })
    expect([code, err]).toEqual([2, expect.stringContaining('speaks the protocol itself')])
  })
})
