import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { openServer } from '../../src/db/server/server.ts'
import { buildProgram, startProgram } from '../support/cli.ts'
import { chosenPart } from '../support/parts.ts'
import { temporaryFolder, testDatabaseUrl } from '../support/postgres.ts'
import { cuttableWay } from '../support/proxy.ts'
import { servedApi } from '../support/served.ts'

beforeAll(buildProgram)

const places = chosenPart() === 'quick' ? [1, 4, 9, 16, 25] : Array.from({ length: 100 }, (_, index) => index + 1)

test('a connection that is reset at any statement of a sync ends it soon, and leaves none behind', async () => {
  const url = await testDatabaseUrl()
  const api = await servedApi({ game: { guilds: 5, players: 10 } })
  const db = await openServer(url, { applicationName: 'looks' })
  onTestFinished(() => db.close())
  const dataDir = await temporaryFolder()
  const environment = { WYNNSYNC_BASE_URL: api.url, WYNNSYNC_DATA_DIR: dataDir }
  await startProgram(['sync', 'territories'], { ...environment, DATABASE_URL: url }).finished
  for (const place of places) {
    const way = await cuttableWay(url)
    way.resetAfter(place)
    const began = performance.now()
    const { child, finished } = startProgram(['sync', 'territories', '--json'], {
      ...environment,
      DATABASE_URL: way.url,
    })
    const late = setTimeout(() => child.kill('SIGKILL'), 10_000)
    const { code, err } = await finished.finally(() => clearTimeout(late))
    // 0: the run had fewer statements, or the budget alone was cut, which may wait.
    expect([place, code, err, performance.now() - began < 10_000]).toEqual([
      place,
      expect.toSatisfy((one) => one === 75 || one === 0),
      err,
      true,
    ])
    const left = `select count(*)::int from pg_stat_activity where datname = current_database() and application_name like 'wynnsync%'`
    for (let tries = 0; tries < 100 && (await db.values(left))[0]?.[0] !== 0; tries++) await systemClock.sleep(20)
    expect(await db.values(left)).toEqual([[0]])
    way.cut()
  }
})

test('the reason that the server gives is shown, and not that the connection was cut', async () => {
  const url = await testDatabaseUrl({ migrated: false })
  const [db, killer] = await Promise.all([openServer(url), openServer(url)])
  onTestFinished(async () => void (await Promise.all([db.close(), killer.close()])))
  const ended = db.transaction(async (sql) => {
    const [row] = await sql.query<{ pid: number }>('select pg_backend_pid() as pid')
    await killer.query('select pg_terminate_backend($1)', [row?.pid ?? 0])
    await systemClock.sleep(100)
    await sql.query('select 1')
  })
  await expect(ended).rejects.toThrow('terminating connection due to administrator command')
  const idle = db.transaction(async (sql) => {
    await sql.query('set local idle_in_transaction_session_timeout = 50')
    await systemClock.sleep(300)
    await sql.query('select 1')
  })
  await expect(idle).rejects.toThrow('terminating connection due to idle-in-transaction timeout')
})
