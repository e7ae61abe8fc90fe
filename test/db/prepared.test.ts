import { PGlite } from '@electric-sql/pglite'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { systemClock as clock } from '../../src/base/clock.ts'
import type { SqlValue } from '../../src/db/database.ts'
import { type EmbeddedDatabase, type EmbeddedOptions, openEmbedded } from '../../src/db/embedded/embedded.ts'
import { prepareRepeated } from '../../src/db/embedded/prepared.ts'
import { exchange, inOrder, RemoteEngine } from '../../src/db/embedded/remote-engine.ts'
import { messageOf } from '../../src/db/pgwire/messages.ts'
import { sqlState } from '../../src/db/sql-errors.ts'
import { buildProgram } from '../support/cli.ts'
import { testDataDir } from '../support/postgres.ts'

const program = new URL('../../dist/program/engine-worker.mjs', import.meta.url)

beforeAll(buildProgram)

async function opened(options: Partial<EmbeddedOptions> = {}): Promise<EmbeddedDatabase> {
  const db = await openEmbedded(await testDataDir({ migrated: false }), { clock, ...options })
  onTestFinished(() => db.close())
  return db
}

async function prepared(db: EmbeddedDatabase, like = '%'): Promise<number> {
  const [row] = await db.query<{ n: number }>(
    `select count(*) as n from pg_prepared_statements where name like 'wynnsync %' and statement like '${like}'`,
  )
  return row?.n ?? 0
}

async function timesOf<T>(times: number, work: () => Promise<T>): Promise<T[]> {
  const results: T[] = []
  for (let time = 0; time < times; time++) results.push(await work())
  return results
}

describe.each([
  ['in this thread', undefined],
  ['in a thread of its own', program],
])('a database %s', (_where, thread) => {
  const VALUES: readonly (readonly [string, SqlValue | null])[] = [
    ['bytea', Uint8Array.of(0, 255, 10)],
    ['jsonb', { deep: [1, null, 'ü'] }],
    ['text[]', ['a', 'b,"c', '']],
    ['uuid[]', ['00000000-0000-4000-8000-000000000001']],
    ['timestamptz', new Date(1_700_000_000_123)],
    ['timestamptz', 'infinity'],
    ['timestamptz', '-infinity'],
    ['numeric', '12345678901234567890.5'],
    ['numeric', 1.5],
    ['int8', 2 ** 40],
    ['boolean', false],
    ['text', null],
    ['date', '2026-02-28'],
    ['interval', '1 day 02:00:00'],
  ]

  test('returns the same of a statement that comes again, of each type, with and without rows', async () => {
    const db = await opened({ thread })
    for (const [type, value] of VALUES) {
      const text = `select $1::${type} as value, array[$1::${type}] is null as "no list", 1.50 as price where $2::int > 0`
      const rows = await timesOf(8, () => db.query(text, [value, 1]))
      const lists = await timesOf(8, () => db.values(text, [value, 1]))
      expect(rows[0]).toHaveLength(1)
      for (const one of rows) expect({ type, rows: one }).toEqual({ type, rows: rows[0] })
      for (const one of lists) expect({ type, rows: one }).toEqual({ type, rows: lists[0] })
      expect(await timesOf(2, () => db.query(text, [value, 0]))).toEqual([[], []])
    }
    expect(await prepared(db)).toBe(VALUES.length - VALUES.filter(([type], at) => VALUES[at - 1]?.[0] === type).length)
    await db.query('create table written (n int primary key)')
    const write = 'insert into written values ($1) on conflict do nothing'
    expect(await timesOf(4, () => db.query(write, [1]))).toEqual([[], [], [], []])
    expect(await db.query('select n from written')).toEqual([{ n: 1 }])
  })

  test('fails each time with the same error, in a transaction too, and goes on', async () => {
    const db = await opened({ thread })
    const failing: readonly (readonly [string, readonly SqlValue[], readonly SqlValue[], string])[] = [
      ['select 1 / $1::int as n', [1], [0], '22012'],
      ['select $1::int as n', [1], ['x'], '22P02'],
      ['select $1::int as n, nothing(2)', [1], [1], '42883'],
    ]
    for (const [text, good, bad, state] of failing) {
      const isGood = state !== '42883'
      const errorOf = () =>
        db.query(text, bad).then(
          () => undefined,
          (error: unknown) => error,
        )
      const [first, ...others] = await timesOf(8, async () => {
        if (isGood) expect(await db.query(text, good)).toEqual([{ n: 1 }])
        return await errorOf()
      })
      expect(sqlState(first)).toBe(state)
      for (const other of others) expect(other).toEqual(first)
      const inside = db.transaction(async (sql) => {
        await sql.query(text, bad).catch(() => undefined)
        await sql.query(text, good)
      })
      await expect(inside).rejects.toMatchObject({ context: { sqlState: '25P02' } })
      if (isGood) expect(await timesOf(2, () => db.query(text, good))).toEqual([[{ n: 1 }], [{ n: 1 }]])
    }
  })

  test('forgets what it prepared when tables change, also where that is rolled back or another client does it', async () => {
    const db = await opened({ thread })
    const text = 'select * from changed where id = $1'
    const read = () => timesOf(3, () => db.query(text, [1]))
    await db.query('create table changed as select 1 as id')
    await db.transaction(async () => {})
    expect(await read()).toEqual([[{ id: 1 }], [{ id: 1 }], [{ id: 1 }]])
    expect(await prepared(db, text)).toBe(1)

    await db.query(`alter table changed add column name text default 'a'`)
    expect(new Set((await read()).map((rows) => JSON.stringify(rows)))).toEqual(new Set(['[{"id":1,"name":"a"}]']))

    await db.transaction(async () => {})
    await read()
    // The one before is gone.
    expect(await prepared(db, text)).toBe(1)
    const undone = db.transaction(async (sql) => {
      await sql.query('alter table changed alter column id type text')
      await timesOf(3, () => sql.query(text, ['1']))
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    expect((await read()).at(-1)).toEqual([{ id: 1, name: 'a' }])

    for (const columns of ['1 as id', '1 as id, 2 as more'])
      await db.transaction(async (sql) => {
        await sql.query(`create temp table short on commit drop as select ${columns}`)
        const rows = await timesOf(3, () => sql.query('select * from short where id = $1', [1]))
        expect(Object.keys(rows.at(-1)?.[0] ?? {})).toHaveLength(columns.split(',').length)
      })

    await read()
    const none = async () => undefined
    const client = await db.take({
      isWork: true,
      signal: new AbortController().signal,
      onStop: none,
      onWait: none,
      restore: none,
    })
    await client.exchange(messageOf('Q', 'alter table changed drop column name'))
    await client.end()
    expect((await read()).at(-1)).toEqual([{ id: 1 }])

    await db.transaction(async () => {})
    await read()
    await db.query('select 1; alter table changed add column second int')
    expect((await read())[0]).toEqual([{ id: 1, second: null }])
    await db.transaction(async () => {})
    await read()
    await db.query(`do language plpgsql 'begin alter table changed drop column second; end'`)
    expect((await read())[0]).toEqual([{ id: 1 }])
  })

  test('fails once where a function changed the columns, of which no statement told', async () => {
    const db = await opened({ thread })
    await db.query('create table widened as select 1 as id')
    await db.query(
      `create function widen() returns void language plpgsql as 'begin alter table widened add column more int; end'`,
    )
    await db.transaction(async () => {})
    const read = () => db.query('select * from widened where id = $1', [1])
    expect(await timesOf(3, read)).toEqual([[{ id: 1 }], [{ id: 1 }], [{ id: 1 }]])
    await db.query('select widen()')
    await expect(read()).rejects.toThrow('cached plan must not change result type')
    expect(await timesOf(3, read)).toEqual(Array(3).fill([{ id: 1, more: null }]))
  })

  test('keeps a hundred statements, those that were used last', async () => {
    const db = await opened({ thread })
    const used = 'select $1::int as used'
    for (let n = 0; n < 250; n++) {
      await timesOf(2, () => db.query(`select $1::int + ${n} as sum`, [1]))
      if (n % 3 === 0) await db.query(used, [n])
    }
    // Those since it was planned anew for the 48th: it was never closed meanwhile.
    expect(
      await db.values(`select generic_plans + custom_plans from pg_prepared_statements where statement = '${used}'`),
    ).toEqual([[37]])
    await timesOf(2, () => db.query('select $1::int as last', [1]))
    await db.query('select $1::int as last', [1])
    // The name of one that is not kept goes with the next statement that is prepared.
    expect(await prepared(db)).toBeLessThanOrEqual(101)
    expect(await prepared(db)).toBeGreaterThanOrEqual(100)
    expect(await db.query('select $1::int + 3 as sum', [1])).toEqual([{ sum: 4 }])
  })

  test('plans anew after 16 times, then after twice as many up to a hundred', async () => {
    const db = await opened({ thread })
    const text = 'select count(*) as n from pg_class where oid = $1'
    await db.query(text, [1])
    const names = new Set<unknown>()
    for (const uses of [15, 31, 63, 99, 99]) {
      await timesOf(uses, () => db.query(text, [1]))
      const [[name, planned] = [], ...others] = await db.values(
        `select name, generic_plans + custom_plans from pg_prepared_statements where statement = '${text}'`,
      )
      names.add(name)
      expect({ planned, others }).toEqual({ planned: uses, others: [] })
    }
    expect(names.size).toBe(5)
  })

  test('looks into the index of a table that was analyzed without a row, once it has some', async () => {
    const db = await opened({ thread })
    await db.query('create table grown (scope uuid, id uuid, at timestamptz, hash bytea, primary key (scope, id, at))')
    await db.query('analyze grown')
    await db.transaction(async () => {})
    const text = `select count(latest.at) as n from unnest($1::uuid[], $2::uuid[]) as incoming(scope, id)
      left join lateral (select * from grown where grown.scope = incoming.scope and grown.id = incoming.id limit 1) latest on true`
    const read = `select coalesce(sum(seq_tup_read), 0)::int as n from pg_stat_xact_user_tables where relname = 'grown'`
    const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
    const readIn = (use: number) =>
      db.transaction(async (sql) => {
        const scopes = Array(20).fill(uuid(use))
        const ids = Array.from({ length: 20 }, (_, n) => uuid(n))
        const [before] = await sql.query<{ n: number }>(read)
        expect(await sql.query(text, [scopes, ids])).toEqual([{ n: 0 }])
        const [after] = await sql.query<{ n: number }>(read)
        await sql.query(`insert into grown select *, now(), '' from unnest($1::uuid[], $2::uuid[])`, [scopes, ids])
        return (after?.n ?? 0) - (before?.n ?? 0)
      })
    const rows: number[] = []
    for (let use = 0; use < 60; use++) rows.push(await readIn(use))
    expect(rows.slice(40)).toEqual(Array(20).fill(0))
  })

  test('plans anew for much data, and for each question', async () => {
    const db = await opened({ thread })
    const text = 'select count(*) as n from unnest($1::text[]) one'
    const few = ['a', 'b']
    await timesOf(8, () => db.query(text, [few]))
    const plans = async () =>
      await db.values(`select generic_plans, custom_plans from pg_prepared_statements where statement = '${text}'`)
    const before = await plans()
    expect(before).toHaveLength(1)
    const many = Array.from({ length: 20_000 }, (_, n) => `value ${n}`)
    expect(await db.query(text, [many])).toEqual([{ n: 20_000 }])
    expect(await plans()).toEqual(before)
    const question = 'select $1::int as asked'
    await timesOf(3, () =>
      db.transaction(
        async (sql) => {
          await sql.query('set transaction read only')
          expect(await timesOf(3, () => sql.query(question, [1]))).toEqual([
            [{ asked: 1 }],
            [{ asked: 1 }],
            [{ asked: 1 }],
          ])
        },
        { limitMs: 5000 },
      ),
    )
    expect(await prepared(db, question)).toBe(0)
    expect(await db.query(text, [few])).toEqual([{ n: 2 }])
    expect(await plans()).not.toEqual(before)
  })
})

test('a statement that was prepared can be interrupted, and runs again', async () => {
  const db = await opened({ thread: program })
  const text = 'select count(*) as n from generate_series(1, $1::int) a, generate_series(1, $1::int) b'
  expect(await timesOf(3, () => db.query(text, [2]))).toEqual([[{ n: 4 }], [{ n: 4 }], [{ n: 4 }]])
  await expect(db.transaction((sql) => sql.query(text, [200_000]), { limitMs: 300 })).rejects.toMatchObject({
    context: { sqlState: '57014' },
  })
  expect(await db.query(text, [3])).toEqual([{ n: 9 }])
  expect(await prepared(db, text)).toBe(1)
})

test('a session that is lent for reading prepares nothing, whose names clients would see', async () => {
  const db = await opened()
  await db.query('create role wynnsync_reader')
  await db.close()
  const reader = await openEmbedded(db.place, { clock, readOnly: true })
  onTestFinished(() => reader.close())
  await timesOf(4, () => reader.query('select $1::int as one', [1]))
  expect(await prepared(reader)).toBe(0)
})

/** A Postgres that is elsewhere, and how often something was sent there. */
class Elsewhere extends RemoteEngine {
  trips = 0
  readonly #engine: PGlite

  constructor(engine: PGlite) {
    super()
    this.#engine = engine
  }

  override async exchange(messages: readonly Uint8Array[]): Promise<Uint8Array> {
    this.trips++
    return await inOrder(messages, (message) => exchange(this.#engine, message))
  }

  override interrupt(): void {}

  protected override async end(): Promise<void> {}
}

test('what comes the third time is sent in one trip, and errors say where they are, as without names', async () => {
  const pglite = await PGlite.create()
  onTestFinished(() => pglite.close())
  const [plain, named] = [new Elsewhere(pglite), new Elsewhere(pglite)]
  prepareRepeated(named)
  for (const engine of [plain, named]) await engine._initArrayTypes()
  const tripsOf = async (engine: Elsewhere) => {
    const before = engine.trips
    await engine.query('(select $1::int as one) limit 1', [1])
    return engine.trips - before
  }
  expect(await timesOf(3, () => tripsOf(plain))).toEqual([2, 2, 2])
  expect(await timesOf(3, () => tripsOf(named))).toEqual([2, 2, 1])
  for (const [text, values] of [
    ['select nothing($1)', [1]],
    ['select $1::int as one', ['x']],
    ['select 1 / $1::int', [0]],
  ] as const) {
    const errorOf = async (engine: Elsewhere) => {
      const error: unknown = await engine.query(text, [...values]).catch((reason: unknown) => reason)
      const { message, code, position, detail, where } = error as Record<string, unknown>
      return { message, code, position, detail, where }
    }
    const expected = await errorOf(plain)
    expect(expected.code).toMatch(/^\w{5}$/)
    for (const error of await timesOf(3, () => errorOf(named))) expect(error).toEqual(expected)
  }
})
