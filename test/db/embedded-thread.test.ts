import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { systemClock as clock } from '../../src/base/clock.ts'
import { FatalError } from '../../src/base/errors.ts'
import { beforeOthers, type Database, type Sql } from '../../src/db/database.ts'
import { openEmbedded } from '../../src/db/embedded/embedded.ts'
import { sqlState } from '../../src/db/sql-errors.ts'
import { buildProgram } from '../support/cli.ts'
import { testDataDir } from '../support/postgres.ts'

const thread = new URL('../../dist/program/engine-worker.mjs', import.meta.url)

/** Statements that run for minutes: in the executor, in a function of SQL, and in PL/pgSQL, which is loaded when it is first used. */
const LONG = [
  'select count(*) from generate_series(1, 100000) a, generate_series(1, 100000) b',
  'select sum(a) from generate_series(1, 2000000000) a',
  'do $$ begin for i in 1..2000000000 loop perform 1; end loop; end $$',
]

beforeAll(buildProgram)

async function opened(dataDir?: string): Promise<Database> {
  const db = await openEmbedded(dataDir ?? (await testDataDir({ migrated: false })), { clock, thread })
  onTestFinished(() => db.close())
  return db
}

async function stopped(asked: Promise<unknown>): Promise<{ state: string | undefined; ms: number }> {
  const began = performance.now()
  const error = await asked.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return { state: sqlState(error), ms: performance.now() - began }
}

const ask = (db: Database, statement: string, limitMs: number) =>
  db.transaction((sql: Sql) => sql.query(statement), { limitMs })

describe('a database in a thread of its own', () => {
  test('has what was written by one in this thread, and the other way round, also by COPY and with every type', async () => {
    const dataDir = await testDataDir({ migrated: false })
    const here = await openEmbedded(dataDir, { clock })
    await here.query('create table t (id int, name text, at timestamptz, words text[], doc jsonb, raw bytea)')
    await here.close()
    const there = await opened(dataDir)
    const row = [1, 'Ünïcode ✓', new Date(0), ['a', 'b,"c'], { deep: [1, null] }, Uint8Array.of(0, 255)] as const
    expect(await there.copy('public.t', ['id', 'name', 'at', 'words', 'doc', 'raw'], [row])).toBe(1)
    await there.query('insert into t values ($1, $2, $3, $4, $5, $6)', [2, ...row.slice(1)])
    expect(await there.values('select * from t order by id')).toEqual([row, [2, ...row.slice(1)]])
    await expect(there.query('select 1 / 0')).rejects.toMatchObject({ context: { sqlState: '22012' } })
    await there.close()
    const again = await openEmbedded(dataDir, { clock })
    onTestFinished(() => again.close())
    expect(await again.values('select count(*) from t')).toEqual([[2]])
  })

  test('lets timers go on during a statement, and stops a question when its time is over, whatever it does', async () => {
    const db = await opened()
    await db.query('create table t as select 1 as one')
    let ticks = 0
    const timer = setInterval(() => ticks++, 20)
    for (const statement of LONG) {
      const { state, ms } = await stopped(ask(db, statement, 500))
      expect({ statement, state }).toEqual({ statement, state: '57014' })
      expect(ms).toBeLessThan(2000)
      expect(await db.query('select one from t')).toEqual([{ one: 1 }])
    }
    clearInterval(timer)
    expect(ticks).toBeGreaterThan(30)
  })

  test('lets work wait for a question for a second only, and asks the question again afterwards', async () => {
    const db = await opened()
    await db.query('create table t (at int)')
    const slow = stopped(ask(db, LONG[0] ?? '', 6000))
    await clock.sleep(100)
    const began = performance.now()
    for (const at of [1, 2, 3]) await db.transaction((sql) => sql.query('insert into t values ($1)', [at]))
    expect(performance.now() - began).toBeLessThan(3 * 2000)
    expect(await db.values('select count(*) from t')).toEqual([[3]])
    const { state, ms } = await slow
    expect(state).toBe('57014')
    expect(ms).toBeGreaterThan(5500)
    expect(ms).toBeLessThan(7500)
    // Two seconds of work come between: it is begun twice, and answered.
    let begun = 0
    const answered = db.transaction(
      async (sql) => {
        begun++
        if (begun === 1) await sql.query(LONG[0] ?? '')
        return await sql.query('select count(*) as kept from t')
      },
      { limitMs: 20_000 },
    )
    await clock.sleep(50)
    await db.query('insert into t values (4)')
    expect(await answered).toEqual([{ kept: 4 }])
    expect(begun).toBe(2)
  })

  test('what runs before others comes before work that waits longer', async () => {
    const db = await opened()
    const order: string[] = []
    const transaction = (name: string, ms: number) =>
      db.transaction(async () => {
        order.push(name)
        await clock.sleep(ms)
      })
    const all = [transaction('running', 300), transaction('waiting', 0), transaction('waiting', 0)]
    const poll = beforeOthers(async () => {
      await db.query('select 1')
      await transaction('poll', 0)
    })
    await Promise.all([...all, poll])
    expect(order).toEqual(['running', 'poll', 'waiting', 'waiting'])
  })

  test('work is never interrupted, also when it takes longer than any question may', async () => {
    const db = await opened()
    await db.query('create table t (at int)')
    const slow = db.transaction((sql) => sql.query('insert into t select generate_series(1, 1500000)'))
    const late = stopped(ask(db, 'select 1', 50))
    expect((await late).state).toBe('57014')
    await slow
    expect(await db.values('select count(*) from t')).toEqual([[1_500_000]])
  })

  test('twenty at once that never end are each answered in time, and leave the session clean', async () => {
    const db = await opened()
    const asked = await Promise.all(Array.from({ length: 20 }, () => stopped(ask(db, LONG[1] ?? '', 1000))))
    for (const { state, ms } of asked) {
      expect(state).toBe('57014')
      expect(ms).toBeLessThan(2500)
    }
    expect(await db.query('select 1 as one')).toEqual([{ one: 1 }])
  })

  test('an error of the cluster is the same as in this thread', async () => {
    const broken = fileURLToPath(new URL('none.js', thread))
    await expect(
      openEmbedded(await testDataDir({ migrated: false }), { clock, thread: new URL(`file://${broken}`) }),
    ).rejects.toThrow(FatalError)
  })
})
