import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createTransport } from '../../src/api/http/transport.ts'
import { reserve } from '../../src/api/rate-limit/budget.ts'
import { emptyBudget } from '../../src/api/rate-limit/budget-state.ts'
import type { BudgetStore } from '../../src/api/rate-limit/budget-store.ts'
import { systemClock } from '../../src/base/clock.ts'
import { RetryableError } from '../../src/base/errors.ts'
import type { Database } from '../../src/db/database.ts'
import { openEmbedded } from '../../src/db/embedded/embedded.ts'
import { openServer } from '../../src/db/server/server.ts'
import { accountOf, databaseBudget } from '../../src/sync/run/database-budget-store.ts'
import { kindsOfPart, testDatabase, testDatabaseUrl, testDataDir } from '../support/postgres.ts'
import { cuttableWay } from '../support/proxy.ts'

const clock = systemClock
const account = accountOf('https://api.example/v3', null)
const budgetOf = (db: Database, who = account) => databaseBudget(db, { account: who, clock, lockWaitMs: 100 })

/** One more request is noted as sent. */
const add = (store: BudgetStore, id: string, bucket = 'GUILD') =>
  store.change(bucket, (state) => {
    const { reservations } = state ?? emptyBudget
    const one = { id, lane: 'live', sentAt: 1, until: 2 } as const
    return { state: { ...(state ?? emptyBudget), reservations: [...reservations, one] }, result: reservations.length }
  })

const count = (store: BudgetStore, bucket = 'GUILD') =>
  store.change(bucket, (state) => ({ state: state ?? emptyBudget, result: state?.reservations.length ?? null }))

describe.each(kindsOfPart)('the budget in the %s database', (kind) => {
  let db: Database
  beforeAll(async () => {
    db = await testDatabase(kind)
  })
  beforeEach(async () => {
    await db.query('truncate sync.budget, sync.route_bucket')
  })

  test('comes back as it was left, by account and bucket', async () => {
    const store = budgetOf(db)
    const cadences = {
      '/guild/list/territory': { between: [], waiting: [], lastAt: 1_780_000_000_123, everyMs: 10_000 },
    }
    const state = { ...emptyBudget, cadences, blockedUntil: 1_780_000_060_000 }
    await store.change('GUILD', (before) => ({ state, result: before }))
    expect(await budgetOf(db).change('GUILD', (before) => ({ state, result: before }))).toEqual(state)
    expect(await count(store, 'PLAYER')).toBeNull()
    expect(await count(budgetOf(db, accountOf('https://api.example/v3', 'made-up')))).toBeNull()
  })

  test('loses no change when many come at once, each row made by whoever is first', async () => {
    const store = budgetOf(db)
    const seen = await Promise.all(Array.from({ length: 30 }, (_, index) => add(store, `r${index}`)))
    expect([...seen].sort((a, b) => a - b)).toEqual(seen.map((_, index) => index))
  })

  test('remembers the bucket of each route, and forgets it for a new one', async () => {
    const store = budgetOf(db)
    expect(await store.bucketOf('/guild/{name}')).toBeNull()
    await store.learn('/guild/{name}', 'GUILDS')
    await store.learn('/guild/{name}', 'GUILD')
    expect(await budgetOf(db).bucketOf('/guild/{name}')).toBe('GUILD')
    expect(await budgetOf(db, 'somebody else').bucketOf('/guild/{name}')).toBeNull()
    expect(await store.bucketsNear?.('/guild/list/territory')).toEqual(['GUILD'])
    expect(await store.bucketsNear?.('/guilds')).toEqual([])
    expect(await budgetOf(db, 'somebody else').bucketsNear?.('/guild/list/territory')).toEqual([])
  })

  test('takes a state that another version wrote for none', async () => {
    const store = budgetOf(db)
    await add(store, 'r')
    await db.query(`update sync.budget set state = '{"tokens": 3}'`)
    expect(await count(store)).toBeNull()
  })

  test('is one statement where the row is as this process left it, and sees what another one wrote meanwhile', async () => {
    const [store, other] = [budgetOf(db), budgetOf(db)]
    await add(store, 'a')
    const sent = vi.spyOn(db, 'query')
    const begun = vi.spyOn(db, 'transaction')
    expect(await add(store, 'b')).toBe(1)
    expect([sent.mock.calls.length, begun.mock.calls.length]).toEqual([1, 0])
    expect(await add(other, 'c')).toBe(2)
    expect(await add(store, 'd')).toBe(3)
    expect(begun).toHaveBeenCalledTimes(2)
    vi.restoreAllMocks()
    expect(await count(budgetOf(db))).toBe(4)
  })

  test('rolls back a change whose step fails', async () => {
    const store = budgetOf(db)
    const failing = store.change('GUILD', () => {
      throw new RangeError('no')
    })
    await expect(failing).rejects.toThrow(RangeError)
    expect(await count(store)).toBeNull()
  })

  test('costs a few milliseconds per reservation', async () => {
    const store = budgetOf(db)
    const take = (index: number) =>
      store.change('GUILD', (state) =>
        reserve(state ?? emptyBudget, { id: `r${index}`, lane: 'refresh', poll: null }, clock.now()),
      )
    for (let index = 0; index < 50; index++) await take(index)
    const started = performance.now()
    for (let index = 50; index < 250; index++) await take(index)
    expect((performance.now() - started) / 200).toBeLessThan(50)
  })
})

test('the embedded database does not wait for a killed process: nobody else can have it open', async () => {
  const dataDir = await testDataDir()
  const seconds = (after: number) => Date.parse('2026-05-30T12:00:00Z') + after * 1000
  const visit = async (now: number, id: string) => {
    const db = await openEmbedded(dataDir, { clock })
    try {
      const at = { now: () => now, sleep: clock.sleep }
      const stores = [1, 2].map(() => databaseBudget(db, { account, clock: at }))
      const take = (store: BudgetStore, name: string) =>
        store.change('GUILD', (state) => reserve(state ?? emptyBudget, { id: name, lane: 'live', poll: null }, now))
      return await Promise.all(stores.map((store, index) => take(store, `${id} ${index}`)))
    } finally {
      await db.close()
    }
  }
  expect(await visit(seconds(0), 'killed')).toMatchObject([{ id: 'killed 0' }, null])
  expect(await visit(seconds(1), 'next')).toMatchObject([{ id: 'next 0' }, null])
})

describe('the budget of several processes on one server', () => {
  test('loses no change either, and nobody deadlocks', async () => {
    const url = await testDatabaseUrl()
    const dbs = await Promise.all([1, 2, 3].map(() => openServer(url)))
    try {
      const stores = dbs.map((db) => budgetOf(db))
      const buckets = ['GUILD', 'PLAYER', 'ITEMS']
      const added = stores.flatMap((store, process) =>
        buckets.flatMap((bucket) => Array.from({ length: 15 }, (_, n) => add(store, `${process} ${n}`, bucket))),
      )
      await Promise.all(added)
      for (const bucket of buckets) expect(await count(budgetOf(dbs[0] as Database), bucket)).toBe(45)
    } finally {
      await Promise.all(dbs.map((db) => db.close()))
    }
  })

  test('is not held up by a long load of the same process', async () => {
    const db = await testDatabase('server')
    const store = budgetOf(db)
    await add(store, 'r')
    let finish = () => {}
    const load = db.transaction(async (sql) => {
      await sql.query('select 1')
      await new Promise<void>((resolve) => {
        finish = resolve
      })
    })
    await add(store, 's')
    finish()
    await load
    expect(await count(store)).toBe(2)
  })

  test('is given up for now when a frozen process holds the row: the request fails and is not sent', async () => {
    const url = await testDatabaseUrl()
    const [frozen, db] = [await openServer(url), await openServer(url)]
    let thaw = () => {}
    try {
      const store = budgetOf(db)
      await store.learn('/guild/{name}', 'GUILD')
      await add(store, 'r')
      let frozenAt = () => {}
      const isFrozen = new Promise<void>((resolve) => {
        frozenAt = resolve
      })
      const holding = frozen.transaction(async (sql) => {
        await sql.query('select * from sync.budget for update')
        frozenAt()
        await new Promise<void>((resolve) => {
          thaw = resolve
        })
      })
      await isFrozen
      await expectUnsent(store)
      thaw()
      await holding
      expect(await count(store)).toBe(1)
    } finally {
      thaw()
      await Promise.all([frozen.close(), db.close()])
    }
  })

  test('is out of reach while the database is away: the request fails and is not sent', async () => {
    const way = await cuttableWay(await testDatabaseUrl())
    const db = await openServer(way.url)
    const store = budgetOf(db)
    await store.learn('/guild/{name}', 'GUILD')
    way.cut()
    await expectUnsent(store)
    await db.close()
  })
})

/** A request whose budget cannot be reached. */
async function expectUnsent(budget: BudgetStore): Promise<void> {
  const transport = createTransport({ baseUrl: 'http://127.0.0.1:1', clock, budget })
  const sending = transport.send({ method: 'GET', route: '/guild/{name}', path: '/guild/A' })
  await expect(sending).rejects.toBeInstanceOf(RetryableError)
  expect(transport.requestsSent()).toBe(0)
  await transport.close()
}

test('an account names the server and the credential, but never the credential itself', () => {
  expect(accountOf('https://api.example:8443/v3/', undefined)).toBe('https://api.example:8443 guest')
  const named = accountOf('http://127.0.0.1:9/v3', 'made-up-secret')
  expect(named).toMatch(/^http:\/\/127\.0\.0\.1:9 [0-9a-f]{16}$/)
  expect(named).not.toContain('secret')
  expect(accountOf('http://127.0.0.1:9', 'made-up-secret')).toBe(named)
})
