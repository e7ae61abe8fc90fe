import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { systemClock as clock } from '../../src/base/clock.ts'
import { beforeOthers, type Database } from '../../src/db/database.ts'
import { openShared } from '../../src/db/embedded/shared-folder.ts'
import { sqlState } from '../../src/db/sql-errors.ts'
import { buildProgram } from '../support/cli.ts'
import { emptyFolder, openData, thread } from '../support/shared-data.ts'

beforeAll(buildProgram)

describe('processes that wait for each other in one data folder', () => {
  test('ask again what a sync of the holder has ended, and end a question that takes too long', async () => {
    const dataDir = await emptyFolder()
    const holder = await openData(dataDir)
    await holder.query('create table t as select 1 as id')
    const reader = await openData(dataDir, 'reads', 20_000)
    const long = 'select count(*) from generate_series(1, 100000) a, generate_series(1, 100000) b'
    let begun = 0
    const asked = reader.transaction(async (sql) => {
      begun++
      if (begun === 1) await sql.query(long)
      return await sql.values('select count(*) from t')
    })
    await clock.sleep(200)
    const began = performance.now()
    await holder.query('insert into t values (2)')
    expect(performance.now() - began).toBeLessThan(2500)
    expect(await asked).toEqual([[2]])
    expect(begun).toBe(2)
    const late = reader.transaction((sql) => sql.query(long), { limitMs: 500 })
    await expect(late).rejects.toSatisfy((error) => sqlState(error) === '57014')
    expect(await reader.values('select count(*) from t')).toEqual([[2]])
  })

  test('wait longer for a question each time that a sync ended it, so that it ends beside syncs without a pause', async () => {
    const dataDir = await emptyFolder()
    const holder = await openData(dataDir)
    await holder.query(`create function slow() returns int language plpgsql as $$
      declare began timestamptz := clock_timestamp();
      begin while clock_timestamp() < began + interval '2.5 s' loop end loop; return 1; end $$`)
    const said: string[] = []
    const onWait = (message: string) => void said.push(message)
    const reader = await openShared(dataDir, { clock, shares: 'reads', waitMs: 20_000, onWait })
    onTestFinished(() => reader.close())
    let isOver = false
    const syncing = async () => {
      while (!isOver) await holder.query('select count(*) from generate_series(1, 5000)')
    }
    const syncs = [syncing(), syncing()]
    await clock.sleep(100)
    expect(await reader.values('select slow()')).toEqual([[1]])
    isOver = true
    await Promise.all(syncs)
    expect(said.length).toBeLessThanOrEqual(1)
  }, 60_000)

  test('ask a copy what syncs never leave time for, say so once, and go on with the copy', async () => {
    const dataDir = await emptyFolder()
    const holder = await openData(dataDir)
    await holder.query(`create table t (id int); create function slow() returns int language plpgsql as $$
      declare began timestamptz := clock_timestamp();
      begin while clock_timestamp() < began + interval '4.5 s' loop end loop; return count(*) from t; end $$`)
    const said: string[] = []
    const options = { clock, waitMs: 20_000, thread, onWait: (message: string) => void said.push(message) }
    const reader = await openShared(dataDir, { ...options, shares: 'reads', mayCopy: true })
    let [isOver, longest] = [false, 0]
    const syncing = async () => {
      while (!isOver) {
        const began = performance.now()
        await holder.query('select count(*) from generate_series(1, 5000)')
        longest = Math.max(longest, performance.now() - began)
      }
    }
    const syncs = [syncing(), syncing()]
    await clock.sleep(100)
    // Both at once lose the same connection, and one copy is made.
    expect(await Promise.all([reader.values('select slow()'), reader.values('select slow()')])).toEqual([[[0]], [[0]]])
    isOver = true
    await Promise.all(syncs)
    await holder.query('insert into t values (1)')
    expect(await reader.values('select count(*) from t')).toEqual([[0]])
    await reader.close()
    expect(readdirSync(join(dataDir, 'reading'))).toEqual([])
    expect(said.filter((message) => message.includes('asked of a copy'))).toHaveLength(1)
    expect(said.length).toBeLessThanOrEqual(2)
    expect(longest).toBeLessThan(8000)
    expect(await (await openData(dataDir, 'reads')).values('select count(*) from t')).toEqual([[1]])
  }, 240_000)

  /** Has the session until `release`. */
  async function busy(db: Database) {
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    let begun = () => {}
    const hasBegun = new Promise<void>((resolve) => {
      begun = resolve
    })
    const done = db.transaction(async (sql) => {
      await sql.query('select 1')
      begun()
      await held
    })
    await hasBegun
    return async () => {
      release()
      await done
    }
  }

  test('let a poll of one process come before the other work of all', async () => {
    const dataDir = await emptyFolder()
    const holder = await openData(dataDir)
    await holder.query('create table t (id int generated always as identity, who text)')
    const [poller, other] = [await openData(dataDir, 'writes'), await openData(dataDir, 'writes')]
    const write = (db: Database, who: string) => db.query('insert into t (who) values ($1)', [who])
    const release = await busy(holder)
    const all = [write(holder, 'keys'), write(holder, 'other keys'), beforeOthers(() => write(poller, 'poll'))]
    all.push(write(other, 'keys of another'))
    await clock.sleep(300)
    await release()
    await Promise.all(all)
    const order = await holder.values('select who from t order by id')
    expect(order[0]).toEqual(['poll'])
    expect(order).toHaveLength(4)
    // What follows it is work as any other.
    const again = await busy(holder)
    const rest = [write(holder, 'last keys'), write(poller, 'after the poll')]
    await clock.sleep(300)
    await again()
    await Promise.all(rest)
    expect((await holder.values('select who from t order by id')).slice(4)).toEqual([['last keys'], ['after the poll']])
  })

  test('say once for whom a question waits', async () => {
    const dataDir = await emptyFolder()
    const holder = await openData(dataDir)
    const said: string[] = []
    const onWait = (message: string) => void said.push(message)
    const reader = await openShared(dataDir, { clock, shares: 'reads', onWait })
    onTestFinished(() => reader.close())
    for (let nth = 0; nth < 2; nth++) {
      const release = await busy(holder)
      const asked = reader.values('select 1')
      await clock.sleep(2300)
      await release()
      expect(await asked).toEqual([[1]])
    }
    expect(said).toEqual([
      `waiting for an answer of process ${process.pid}, which has the database open and syncs first`,
    ])
  })
})
