import { describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { FatalError, RetryableError, UsageError } from '../../src/base/errors.ts'
import { openServer } from '../../src/db/server/server.ts'
import { sqlState } from '../../src/db/sql-errors.ts'
import { fakePostgres, type Reception } from '../support/fake-postgres.ts'
import { testDatabase, testDatabaseUrl } from '../support/postgres.ts'
import { cuttableWay } from '../support/proxy.ts'

async function opening(reception: Reception): Promise<unknown> {
  const { port, close } = await fakePostgres(reception)
  onTestFinished(close)
  return openServer(`postgres://someone:s3cret@127.0.0.1:${port}/things`).then(
    () => 'opened',
    (error: unknown) => error,
  )
}

function expectNoPassword(error: unknown): void {
  const { message, stack, context, cause } = error as FatalError
  expect(JSON.stringify({ message, stack, context, cause })).not.toContain('s3cret')
}

describe('a server that cannot be used now', () => {
  test.each([
    ['57P03', 'the database system is starting up'],
    ['53300', 'sorry, too many clients already'],
    ['57P01', 'terminating connection due to administrator command'],
  ])('and says %s is worth another try', async (code, message) => {
    const error = await opening({ refuse: { code, message } })
    expect(error).toBeInstanceOf(RetryableError)
    expect(error).toHaveProperty('message', expect.stringContaining(message))
    expect(sqlState(error)).toBe(code)
    expectNoPassword(error)
  })

  test('because nothing listens there is worth another try', async () => {
    const { port, close } = await fakePostgres({ version: '17.1' })
    await close()
    const error = await openServer(`postgres://someone:s3cret@127.0.0.1:${port}/things`).catch((reason) => reason)
    expect(error).toBeInstanceOf(RetryableError)
    expect(error.message).toBe(`database 127.0.0.1:${port}/things cannot be reached: nothing listens there`)
    expectNoPassword(error)
  })
})

describe('a server that will never let us in', () => {
  test.each([
    ['28P01', 'password authentication failed for user "someone"', 'check the user and the password'],
    ['28000', 'no pg_hba.conf entry for host "127.0.0.1", no encryption', 'sslmode=require'],
    ['3D000', 'database "things" does not exist', 'create it first'],
  ])('and says %s is reported with what to do', async (code, message, advice) => {
    const error = await opening({ refuse: { code, message } })
    expect(error).toBeInstanceOf(FatalError)
    expect(error).toHaveProperty('message', expect.stringContaining(message))
    expect(error).toHaveProperty('message', expect.stringContaining(advice))
    expectNoPassword(error)
  })

  test('because it is older than 15 is told from one that is not', async () => {
    const error = await opening({ version: '14.12 (Debian 14.12-1)' })
    expect(error).toBeInstanceOf(FatalError)
    expect(error).toHaveProperty('message', expect.stringContaining('wynnsync needs 15 or newer'))
    expect(await opening({ version: '15.0' })).toBe('opened')
  })
})

test('a real server without the database asked for says so', async () => {
  const url = new URL(await testDatabaseUrl({ migrated: false }))
  url.pathname = '/nobody_made_this'
  const failed = openServer(url.href)
  await expect(failed).rejects.toThrow(FatalError)
  await expect(failed).rejects.toThrow('"nobody_made_this" does not exist')
})

test.each(['not a url', 'mysql://u:s3cret@h/d', 'postgres://u:s3cret@h:port/d', ''])(
  'the database URL %j is a usage error that shows how to write it, not what was written',
  async (url) => {
    const error = await openServer(url).catch((reason) => reason)
    expect(error).toBeInstanceOf(UsageError)
    expect(error.message).toContain('postgres://user:password@host:5432/database')
    expectNoPassword(error)
  },
)

test.each([0, 30])(
  'a connection cut in a transaction, noticed after %d ms, is worth another try, and the pool recovers',
  async (ms) => {
    const url = await testDatabaseUrl({ migrated: false })
    const [db, killer] = await Promise.all([openServer(url), openServer(url)])
    onTestFinished(async () => {
      await Promise.all([db.close(), killer.close()])
    })
    const cut = db.transaction(async (sql) => {
      const [row] = await sql.query<{ pid: number }>('select pg_backend_pid() as pid')
      await killer.query('select pg_terminate_backend($1)', [row?.pid ?? 0])
      await systemClock.sleep(ms)
      await sql.query('select 1')
    })
    await expect(cut).rejects.toThrow(RetryableError)
    expect(await db.query('select 1 as one')).toEqual([{ one: 1 }])
  },
)

test('connections that are reset while statements wait leave nobody waiting, and the pool recovers', async () => {
  const way = await cuttableWay(await testDatabaseUrl({ migrated: false }))
  const db = await openServer(way.url)
  onTestFinished(async () => {
    await db.close()
    way.cut()
  })
  // As many as there are sessions; what follows the error of the first statement is given to a connection that is ending.
  const cut = [1, 2, 3].map(() => db.transaction((sql) => sql.query('select pg_sleep(60)')).catch((error) => error))
  await systemClock.sleep(300)
  way.reset()
  const told = await Promise.race([Promise.all(cut), systemClock.sleep(5000).then(() => 'they still wait')])
  expect(told).toEqual(Array(3).fill(expect.any(RetryableError)))
  expect(await db.query('select 1 as one')).toEqual([{ one: 1 }])
})

test('a connection that is cut in the middle of a COPY is worth another try', async () => {
  const db = await testDatabase('server', { migrated: false })
  await db.query('create table words (word text)')
  const killer = await openServer(await testDatabaseUrl({ migrated: false }))
  onTestFinished(() => killer.close())
  const cut = db.transaction(async (sql) => {
    const [row] = await sql.query<{ pid: number }>('select pg_backend_pid() as pid')
    let ended = 0
    function* rows() {
      // However slow the machine is, more rows follow after the end of the session than any buffer holds.
      for (let count = 0; count < 4_000_000 && (ended === 0 || count < ended + 200_000); count++) {
        if (count === 1000)
          void killer.query('select pg_terminate_backend($1)', [row?.pid ?? 0]).then(() => {
            ended = count
          })
        yield ['x'.repeat(200)]
      }
    }
    await sql.copy('words', ['word'], rows())
  })
  await expect(cut).rejects.toThrow(RetryableError)
  expect(await db.query('select count(*) as n from words')).toEqual([{ n: 0 }])
})
