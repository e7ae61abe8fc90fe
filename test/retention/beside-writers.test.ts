import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import type { Sql } from '../../src/db/database.ts'
import { LockTimeout } from '../../src/db/locks/lock-timeout.ts'
import { openServer } from '../../src/db/server/server.ts'
import { growingTables } from '../../src/resources/index.ts'
import { maintain } from '../../src/sync/retention/maintain.ts'
import { namesOf } from '../../src/sync/retention/partitions.ts'
import { readRetention } from '../../src/sync/retention/retention.ts'
import { testDatabaseUrl } from '../support/postgres.ts'

/*
 * A month whose time is over is locked while what stays of it is copied. A response that removes what a player made private has the whole
 * table by then, and waits for that month: the one of both that ends must be the maintenance.
 */

const insert = `insert into game.world_sample (world, observed_at, online) values ($1, $2, 1)`
const remove = `delete from game.world_sample where world = 'EU1'`

test('a month stays for the next maintenance where a writer of the table waits for it, who loses nothing', async () => {
  const url = await testDatabaseUrl()
  const open = async () => {
    const db = await openServer(url)
    onTestFinished(() => db.close())
    return db
  }
  const [db, other] = [await open(), await open()]
  const tables = growingTables.filter((growing) => namesOf(growing).table === 'game.world_sample')
  const of = (now: string) => ({
    now: new Date(now),
    tables,
    retention: readRetention('world_sample=60d', ['world_sample']),
  })
  await db.query(insert, ['EU1', new Date('2024-01-09Z')])
  await db.query(insert, ['EU2', new Date('2024-01-09Z')])
  await maintain(db, { ...of('2024-05-09Z'), retention: new Map() })
  const due = of('2024-05-10Z')
  const waits = async (sql: Sql) => {
    for (let nth = 0; nth < 500; nth++) {
      const [found] = await sql.query(
        `select from pg_locks where not granted and relation = 'game.world_sample'::regclass`,
      )
      if (found) return
      await systemClock.sleep(20)
    }
    throw new Error('the maintenance waits for no lock of the table')
  }
  let maintained: Promise<unknown> = Promise.resolve()
  await other.transaction(async (sql) => {
    await sql.query(insert, ['EU3', new Date('2024-05-10Z')])
    maintained = maintain(db, due).then(
      () => 'done',
      (error: unknown) => error,
    )
    await waits(sql)
    await sql.query(remove)
  })
  expect(await maintained).toBeInstanceOf(LockTimeout)
  expect(String(await maintained)).toContain(
    'another session uses game.world_sample, and this gave way; try again later',
  )
  const worlds = 'select world from game.world_sample order by 1'
  expect(await db.values(worlds)).toEqual([['EU2'], ['EU3']])
  expect((await maintain(db, due))?.rolledUp).toContain('partitions.world_sample_2024_01')
  expect(await db.values(worlds)).toEqual([['EU2'], ['EU3']])
})
