import { PGlite } from '@electric-sql/pglite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { exchange, inOrder, RemoteEngine } from '../../src/db/embedded/remote-engine.ts'

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

let pglite: PGlite
let engine: Elsewhere

beforeAll(async () => {
  pglite = await PGlite.create()
  engine = new Elsewhere(pglite)
  await engine._initArrayTypes()
})

afterAll(() => pglite.close())

async function tripsOf(work: () => Promise<unknown>): Promise<number> {
  const before = engine.trips
  await work()
  return engine.trips - before
}

test('a statement without parameters is sent in one trip, one with parameters in two', async () => {
  expect(await tripsOf(() => engine.exec('create table t (n int)'))).toBe(1)
  expect(await tripsOf(() => engine.query('insert into t values ($1)', [1]))).toBe(2)
  const transaction = () =>
    engine.transaction(async (sql) => {
      expect((await sql.query('select n + $1::int as sum from t', [1])).rows).toEqual([{ sum: 2 }])
    })
  expect(await tripsOf(transaction)).toBe(4)
})

test.each([
  ['parsed', 'select nothing($1)', [1], '42883'],
  ['bound', 'select $1::int', ['x'], '22P02'],
  ['run', 'select 1 / $1::int', [0], '22012'],
])('what cannot be %s has its error, and the next statement is answered', async (_when, text, values, code) => {
  await expect(engine.query(text, values)).rejects.toMatchObject({ code })
  expect((await engine.query('select $1::int as one', [1])).rows).toEqual([{ one: 1 }])
  const inside = engine.transaction(async (sql) => {
    await sql.query(text, values).catch(() => undefined)
    await sql.query('select 1 where $1::int > 0', [1])
  })
  await expect(inside).rejects.toMatchObject({ code: '25P02' })
  expect((await engine.query('select $1::int as one', [1])).rows).toEqual([{ one: 1 }])
})

test('a statement with parameters returns any number of rows', async () => {
  const { rows } = await engine.query<{ n: number }>('select n from generate_series(1, $1::int) n', [300_000])
  expect([rows.length, rows.at(-1)]).toEqual([300_000, { n: 300_000 }])
  expect((await engine.query('select $1::int as one', [1])).rows).toEqual([{ one: 1 }])
})
