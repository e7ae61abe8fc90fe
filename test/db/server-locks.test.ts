import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { expect, inject, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { RetryableError } from '../../src/base/errors.ts'
import type { Database } from '../../src/db/database.ts'
import { holderText, lockForTransaction, readHeldLocks } from '../../src/db/locks/held-locks.ts'
import { openServer } from '../../src/db/server/server.ts'
import { testDatabaseUrl } from '../support/postgres.ts'
import { cuttableWay } from '../support/proxy.ts'

test('after an outage a lock is had at once, and what was held before is not held any more', async () => {
  const url = await testDatabaseUrl()
  const way = await cuttableWay(url)
  const [db, other] = await Promise.all([openServer(way.url), openServer(url)])
  onTestFinished(async () => {
    await Promise.all([db.close(), other.close()])
    way.cut()
  })
  const lost = await db.tryLock('sync items')
  expect(lost).not.toBeNull()
  way.cut()
  // Until then the lock counts as held.
  await systemClock.sleep(50)
  for (let tried = 0; tried < 6; tried++) await expect(db.tryLock('sync items')).rejects.toThrow(RetryableError)
  await way.mend()

  const began = performance.now()
  const again = await db.tryLock('sync items')
  expect(performance.now() - began).toBeLessThan(300)
  expect(again).not.toBeNull()
  // Giving back what is lost gives back nothing of what is held now.
  await lost?.release()
  expect(await other.tryLock('sync items')).toBeNull()
  await again?.release()
  expect(await other.tryLock('sync items')).not.toBeNull()
})

/** Somebody who may connect and ask the analytics schema, and wishes ill. */
async function readerOf(owner: Database, url: string): Promise<Database> {
  const name = `asker_${randomUUID().replaceAll('-', '')}`
  await owner.query(`create role ${name} login password 'of the asker' in role wynnsync_reader`)
  const own = new URL(url)
  own.username = name
  own.password = 'of the asker'
  const reader = await openServer(own.href)
  onTestFinished(async () => {
    await reader.close()
    const admin = await openServer(inject('serverUrl'))
    await admin.query(`drop role ${name}`)
    await admin.close()
  })
  return reader
}

test('no reader can take a lock, neither one whose name it knows nor one that it sees held', async () => {
  const url = await testDatabaseUrl()
  const [owner, other] = await Promise.all([openServer(url), openServer(url)])
  onTestFinished(async () => void (await Promise.all([owner.close(), other.close()])))
  const reader = await readerOf(owner, url)
  // What the program could be thought to lock, and every other advisory lock that is held.
  const names = ['wynnsync territories', 'wynnsync start', 'wynnsync migrate', 'wynnsync privacy', 'wynnsync averages']
  for (const name of [...names, 'wynnsync maintain', 'wynnsync coverage territories'])
    await reader.query('select pg_advisory_lock(hashtextextended($1, 0))', [name])
  const held = await owner.tryLock('wynnsync territories')
  expect(held).not.toBeNull()
  const seen = await reader.query<{ key: string }>(
    `select ((classid::bigint << 32) | objid::bigint)::text as key from pg_locks
      where locktype = 'advisory' and granted and pid in (
              select pid from pg_stat_activity where datname = current_database() and usename <> current_user)`,
  )
  expect(seen).toHaveLength(1)
  const waiting = seen.map(({ key }) => reader.query('select pg_advisory_lock($1::bigint)', [key]))
  for (const statement of [
    'select * from sync.lock for update',
    'lock table sync.lock in access share mode',
    'lock table drizzle.__drizzle_migrations in access share mode',
    `insert into sync.lock (name) values ('wynnsync items')`,
  ])
    await expect(reader.transaction((sql) => sql.query(statement))).rejects.toThrow(/permission denied/)

  expect(await other.tryLock('wynnsync territories')).toBeNull()
  await owner.close()
  // What it waited for it has now, and it is nothing.
  await Promise.all(waiting)
  expect(await other.tryLock('wynnsync territories')).not.toBeNull()
  await other.transaction(async (sql) => {
    for (const name of ['privacy', 'averages', 'coverage territories']) await lockForTransaction(sql, name, 'exclusive')
  })
})

test('of many that want a lock at once, after its holder is gone, one has it', async () => {
  const url = await testDatabaseUrl()
  const all = await Promise.all(Array.from({ length: 8 }, () => openServer(url)))
  onTestFinished(async () => void (await Promise.all(all.map((db) => db.close()))))
  for (let round = 0; round < 10; round++) {
    const taken = (await Promise.all(all.map((db) => db.tryLock('wynnsync items')))).flatMap((lock) => lock ?? [])
    expect(taken).toHaveLength(1)
    if (round % 2 === 0) await taken[0]?.release()
    else {
      // A row of a holder that was killed, whose backend another one has by now.
      await all[0]?.query('update sync.lock set session_key = 1, backend_pid = pg_backend_pid()')
      await taken[0]?.release()
    }
  }
})

test('a lock names its holder, until the connection ends however it may', async () => {
  const url = await testDatabaseUrl()
  const way = await cuttableWay(url)
  const [db, other] = await Promise.all([openServer(way.url, { applicationName: 'wynnsync start' }), openServer(url)])
  onTestFinished(async () => void (await Promise.all([db.close(), other.close()])))
  await db.tryLock('wynnsync items')
  const [holder] = await readHeldLocks(other)
  expect(holder).toMatchObject({
    name: 'wynnsync items',
    pid: process.pid,
    host: hostname(),
    application: 'wynnsync start',
  })
  expect(Math.abs(Date.now() - (holder?.since.getTime() ?? 0))).toBeLessThan(60_000)
  expect(await holderText(other, 'wynnsync items')).toMatch(
    new RegExp(`^process ${process.pid} on ${hostname()} \\(wynnsync start\\) is syncing it since 20.*Z$`),
  )
  way.cut()
  while ((await readHeldLocks(other)).length > 0) await systemClock.sleep(20)
  expect(await other.tryLock('wynnsync items')).not.toBeNull()
})

test('transactions share a lock or have it alone', async () => {
  const url = await testDatabaseUrl()
  const [one, two] = await Promise.all([openServer(url), openServer(url)])
  onTestFinished(async () => void (await Promise.all([one.close(), two.close()])))
  const order: string[] = []
  const hold = async (db: Database, name: string, mode: 'shared' | 'exclusive', taken?: () => Promise<unknown>) =>
    await db.transaction(async (sql) => {
      await lockForTransaction(sql, 'privacy', mode)
      order.push(`${name} has it`)
      await taken?.()
      order.push(`${name} ends`)
    })
  // Who is first makes the row, and has it alone until then.
  await hold(one, 'maker', 'shared')
  order.splice(0)
  // Both at once: neither could end before the other began otherwise.
  await hold(one, 'first', 'shared', () => hold(two, 'second', 'shared'))
  expect(order.splice(0)).toEqual(['first has it', 'second has it', 'second ends', 'first ends'])
  let alone: Promise<void> | undefined
  await hold(one, 'first', 'shared', async () => {
    alone = hold(two, 'second', 'exclusive')
    await systemClock.sleep(100)
  })
  await alone
  expect(order).toEqual(['first has it', 'first ends', 'second has it', 'second ends'])
})
