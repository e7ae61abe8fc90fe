import postgres from 'postgres'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createClient } from '../../src/api/client.ts'
import { seededRandom, virtualClock } from '../../src/base/clock.ts'
import { jsonSchemas } from '../../src/cli/output/json-schemas.ts'
import { openServer } from '../../src/db/server/server.ts'
import { items } from '../../src/resources/items/index.ts'
import { runResource } from '../../src/sync/run/run-resource.ts'
import { notify } from '../support/notify.ts'
import { kindsOfPart, testDatabase, testDatabaseUrl } from '../support/postgres.ts'
import { servedApi } from '../support/served.ts'
import { instantOf, item } from '../support/world.ts'

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const guards = { plausibleShare: 0.5, absences: 2, zeroShare: 0.25 }
const trees = ['Ash', 'Elm', 'Oak', 'Yew'].map((name) => item(name))
const news = { resource: 'items', runId: 'r', status: 'ok', at: new Date(0), people: 'none' } as const

describe('LISTEN wynnsync', () => {
  test('hears of changes, drift, guards and failures, after they are in the tables, and of nothing else', async () => {
    const url = await testDatabaseUrl()
    const db = await openServer(url)
    onTestFinished(() => db.close())
    const heard: Record<string, unknown>[] = []
    const runsSeen: unknown[] = []
    const listener = postgres(url, { max: 1, onnotice: () => {} })
    onTestFinished(() => listener.end({ timeout: 1 }))
    await listener.listen('wynnsync', (payload) => void heard.push(JSON.parse(payload)))
    const sandbox = await servedApi()
    const clock = virtualClock(instantOf('10:00'), { auto: true })
    const api = createClient({ baseUrl: sandbox.url, clock, random: seededRandom(1) })
    onTestFinished(() => api.close())
    const engine = { db, api, clock, program: 'test', guards, log: quiet, notifies: true }
    const sync = async (at: string, body: object[] | null) => {
      await clock.advanceTo(instantOf(at))
      const [date, expires] = [clock.now(), clock.now() + 60_000].map((instant) => new Date(instant).toUTCString())
      const headers = { Date: date ?? '', 'Cache-Control': 'max-age=60', Expires: expires ?? '' }
      if (body) sandbox.setAnswer('/item/database', () => ({ headers, body }))
      else sandbox.setAnswer('/item/database', () => ({ status: 404, body: {} }))
      const { runId } = await runResource(items, engine)
      runsSeen.push(runId)
    }
    await sync('10:00', trees)
    await sync('11:00', trees)
    await sync('12:00', [...trees.slice(1), item('Ash', { novelty: 1 })])
    await sync('13:00', trees.slice(0, 1))
    await sync('14:00', null)
    // What was sent before this one has been heard when it is.
    await db.query(`select pg_notify('wynnsync', '{"event":"last"}')`)
    while (heard.at(-1)?.event !== 'last') await new Promise((resolve) => setTimeout(resolve, 5))
    for (const one of heard.slice(0, -1)) expect(jsonSchemas.notification.safeParse(one).error).toBeUndefined()
    expect(heard.map(({ event, run }) => [event, runsSeen.indexOf(run)])).toEqual([
      ['change', 0],
      ['change', 2],
      ['drift', 2],
      ['guard', 3],
      ['failure', 4],
      ['last', -1],
    ])
    expect(heard[0]).toMatchObject({
      resource: 'items',
      status: 'ok',
      inserted: 4,
      observedAt: '2026-06-01T10:00:00.000Z',
    })
    expect(heard[2]).toMatchObject({ kind: 'unknown_field', path: '/novelty' })
    const runs = await db.query('select from sync.run')
    expect(runs).toHaveLength(5)
  })
})

describe.each(kindsOfPart)('an announcement on the %s database', (kind) => {
  test('has room in the payload however much there is to say', async () => {
    const db = await testDatabase(kind)
    const long = `\0\ud835${'𝕏'.repeat(5000)}`
    const guarded = Array.from(
      { length: 100 },
      () => ({ guard: 'walk', action: 'rejected', reason: long, key: long }) as const,
    )
    await db.transaction(async (sql) => {
      const drift = [{ kind: long, path: long, member: long }]
      await expect(notify(sql, { ...news, error: long, guarded, drift })).resolves.toBeUndefined()
      await expect(notify(sql, news)).resolves.toBeUndefined()
    })
  })
})
