import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { openServer } from '../../src/db/server/server.ts'
import { resourcesNamed } from '../../src/resources/index.ts'
import { buildProgram, runProgram, startProgram } from '../support/cli.ts'
import { temporaryFolder, testDatabaseUrl } from '../support/postgres.ts'
import { cuttableWay } from '../support/proxy.ts'
import { servedApi } from '../support/served.ts'

beforeAll(buildProgram)

const reason = /^database unreachable from 20\d\d-.*Z to 20\d\d-.*Z: database 127\.0\.0\.1.* cannot be reached: /

test('a sync that a crontab calls leaves for a later one why nothing was observed', async () => {
  const url = await testDatabaseUrl()
  const way = await cuttableWay(url)
  const api = await servedApi({ game: { guilds: 5, players: 10 } })
  const environment = {
    WYNNSYNC_BASE_URL: api.url,
    WYNNSYNC_DATA_DIR: await temporaryFolder(),
    WYNNSYNC_SCHEDULE: 'territories=* * * * * *',
    DATABASE_URL: way.url,
  }
  const sync = () => runProgram(['sync', 'territories', '--json'], environment)
  expect((await sync()).code).toBe(0)
  way.cut()
  for (let tick = 0; tick < 2; tick++) {
    // Longer than a poll that is merely late.
    await systemClock.sleep(1500)
    expect((await sync()).code).toBe(75)
  }
  await way.mend()
  expect((await sync()).code).toBe(0)
  const db = await openServer(url)
  onTestFinished(() => db.close())
  const gaps = await db.query<{ reason: string; missed: number }>('select reason, missed from sync.gap')
  expect(gaps).toEqual([{ reason: expect.stringMatching(reason), missed: expect.any(Number) }])
  expect(await db.values(`select count(*)::int from sync.run where status = 'failed'`)).toEqual([[1]])
  // It is said once.
  await systemClock.sleep(3000)
  expect((await sync()).code).toBe(0)
  expect(await db.values(`select reason from sync.gap order by began_at desc limit 1`)).toEqual([
    ['no request was sent'],
  ])
})

test.each(['territories', 'guilds'])('start says so of %s', async (name) => {
  const url = await testDatabaseUrl()
  const api = await servedApi({ game: { guilds: 5, players: 10 } })
  const way = await cuttableWay(url)
  const off = resourcesNamed([]).flatMap((one) =>
    one.name === name || one.name === 'guild-list' ? [] : [`${one.name}=off`],
  )
  const running = startProgram(['start'], {
    DATABASE_URL: way.url,
    WYNNSYNC_BASE_URL: api.url,
    WYNNSYNC_DATA_DIR: await temporaryFolder(),
    WYNNSYNC_SCHEDULE: [...off, `${name}=*/2 * * * * *`].join('; '),
  })
  onTestFinished(() => void running.child.kill('SIGKILL'))
  const db = await openServer(url)
  onTestFinished(() => db.close())
  const accepted = async () =>
    (await db.query(`select 1 from sync.run where resource = $1 and status in ('ok', 'unchanged')`, [name])).length
  // Of a worklist the gap is found when a key is due, and its reason is looked up in the ledger.
  const [table, column] = name === 'guilds' ? ['run', 'error'] : ['gap', 'reason']
  const reasons = async () =>
    (
      await db.values(`select ${column} from sync.${table} where resource = $1 and ${column} is not null`, [name])
    ).flat()
  while ((await accepted()) === 0) await systemClock.sleep(50)
  way.cut()
  await systemClock.sleep(12_000)
  await way.mend()
  while (!(await reasons()).some((one) => reason.test(String(one)))) await systemClock.sleep(100)
})
