import { describe, expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { FatalError } from '../../src/base/errors.ts'
import { connect } from '../../src/db/connect.ts'
import type { Sql } from '../../src/db/database.ts'
import { bothKinds, temporaryFolder, testDatabase, testDatabaseUrl, testDataDir } from '../support/postgres.ts'

describe.each(bothKinds)('the %s database', (kind) => {
  test('gives back what the transaction resolves with, and keeps what it wrote', async () => {
    const db = await testDatabase(kind, { migrated: false })
    await db.query('create table t (a int)')
    const list = await db.transaction(async (sql) => {
      await sql.query('insert into t values ($1)', [1])
      return [Promise.resolve('not awaited'), 2].length
    })
    expect(list).toBe(2)
    expect(await db.transaction(async () => undefined)).toBeUndefined()
    expect(await db.query('select a from t')).toEqual([{ a: 1 }])
  })

  test('rolls back when the work rejects, and hands its error through untouched', async () => {
    const db = await testDatabase(kind, { migrated: false })
    await db.query('create table t (a int)')
    const reason = new TypeError('mine')
    const failed = db.transaction(async (sql) => {
      await sql.query('insert into t values (1)')
      throw reason
    })
    await expect(failed).rejects.toBe(reason)
    expect(await db.query('select a from t')).toEqual([])
  })

  test('a statement that failed dooms its transaction, even when the work goes on as if nothing were', async () => {
    const db = await testDatabase(kind, { migrated: false })
    await db.query('create table t (a int)')
    const doomed = db.transaction(async (sql) => {
      await sql.query('insert into t values (1)')
      await sql.query('select 1/0').catch(() => {})
      return 'done'
    })
    await expect(doomed).rejects.toThrow('its error was swallowed')
    expect(await db.query('select a from t')).toEqual([])
  })

  test('what a transaction gave is refused when the transaction is over', async () => {
    const db = await testDatabase(kind, { migrated: false })
    let kept: Sql | undefined
    await db.transaction(async (sql) => {
      kept = sql
    })
    await expect(kept?.query('select 1')).rejects.toThrow(/ended|closed/)
  })

  test('a deferred constraint that fails at commit rejects the transaction with its name', async () => {
    const db = await testDatabase(kind, { migrated: false })
    await db.query(`create table t (a int primary key, b int,
      constraint t_chain foreign key (b) references t (a) deferrable initially deferred)`)
    const failed = db.transaction((sql) => sql.query('insert into t values (1, 2)'))
    await expect(failed).rejects.toThrow(FatalError)
    await expect(failed).rejects.toMatchObject({ context: { sqlState: '23503', constraint: 't_chain' } })
  })

  test('a query beside a running transaction never sees half of it', async () => {
    const db = await testDatabase(kind, { migrated: false })
    await db.query('create table t (a int)')
    let begin = () => {}
    const begun = new Promise<void>((resolve) => {
      begin = resolve
    })
    const running = db.transaction(async (sql) => {
      await sql.query('insert into t values (1)')
      begin()
      await systemClock.sleep(20)
      await sql.query('insert into t values (2)')
    })
    await begun
    const beside = db.query<{ n: number }>('select count(*) as n from t').then((rows) => rows[0]?.n)
    await running
    // The server answers at once with the state before, the embedded one after the commit.
    expect([0, 2]).toContain(await beside)
    expect(await db.query('select count(*) as n from t')).toEqual([{ n: 2 }])
  })

  test('an error says what failed by SQLSTATE, constraint and table, and holds no parameter', async () => {
    const db = await testDatabase(kind, { migrated: false })
    await db.query('create table t (a int constraint small check (a < 10), secret text)')
    const failed = db.query('insert into t values ($1, $2)', [12, 'token-of-somebody'])
    await expect(failed).rejects.toThrow(FatalError)
    await expect(failed).rejects.toMatchObject({ context: { sqlState: '23514', constraint: 'small', table: 't' } })
    const error = await db.query('select $1::text::int', ['token-of-somebody']).catch((reason: object) => reason)
    expect(Object.keys(error)).not.toContain('params')
    expect(Reflect.get(error, 'cause')).toBeUndefined()
  })

  test('a lock is held once, also against the one who has it, until it is released', async () => {
    const db = await testDatabase(kind)
    const lock = await db.tryLock('sync items')
    expect(lock).not.toBeNull()
    expect(await db.tryLock('sync items')).toBeNull()
    const other = await db.tryLock('sync territories')
    expect(other).not.toBeNull()
    await lock?.release()
    await lock?.release()
    const again = await db.tryLock('sync items')
    expect(again).not.toBeNull()
  })

  test('holding many locks leaves room for transactions and queries', async () => {
    const db = await testDatabase(kind)
    const locks = await Promise.all(Array.from({ length: 10 }, (_, index) => db.tryLock(`lock ${index}`)))
    expect(locks).not.toContain(null)
    const sums = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        db.transaction(async (sql) => (await sql.query<{ n: number }>('select $1::int as n', [index]))[0]?.n),
      ),
    )
    expect(sums).toEqual([0, 1, 2, 3, 4, 5])
  })

  test('connect opens it from the configuration, and says where it is without the password', async () => {
    const dataDir = kind === 'embedded' ? await testDataDir({ migrated: false }) : await temporaryFolder()
    const databaseUrl = kind === 'server' ? await testDatabaseUrl({ migrated: false }) : undefined
    const db = await connect({ databaseUrl, dataDir, clock: systemClock })
    try {
      expect(db.kind).toBe(kind)
      if (databaseUrl) {
        const { host, pathname, password } = new URL(databaseUrl)
        expect(db.place).toBe(`${host}${pathname}`)
        expect(db.place).not.toContain(password)
      } else expect(db.place).toBe(dataDir)
      expect(await db.query('select 1 as one')).toEqual([{ one: 1 }])
    } finally {
      await db.close()
    }
  })
})

test('two sessions of a server never have one lock together, and closing gives it back', async () => {
  const url = await testDatabaseUrl()
  const open = () => connect({ databaseUrl: url, dataDir: '/nowhere', clock: systemClock })
  const [first, second] = await Promise.all([open(), open()])
  try {
    expect(await first.tryLock('sync items')).not.toBeNull()
    expect(await second.tryLock('sync items')).toBeNull()
    await first.close()
    expect(await second.tryLock('sync items')).not.toBeNull()
  } finally {
    await Promise.all([first.close(), second.close()])
  }
})

test('calling the embedded database from inside its own transaction is refused, not waited for for ever', async () => {
  const db = await testDatabase('embedded', { migrated: false })
  const nested = db.transaction(async () => db.query('select 1'))
  await expect(nested).rejects.toThrow('from inside its own transaction')
  expect(await db.query('select 1 as one')).toEqual([{ one: 1 }])
})
