import { beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { openEmbedded } from '../../src/db/embedded/embedded.ts'
import { openServer } from '../../src/db/server/server.ts'
import { setExpectedInterval as expectEvery } from '../../src/sync/ledger/gaps.ts'
import { buildProgram } from '../support/cli.ts'
import { runInside } from '../support/cli-inside.ts'
import { kindsOfLongTests, testDatabaseUrl, testDataDir } from '../support/postgres.ts'
import { servedApi, serveItems } from '../support/served.ts'
import { item } from '../support/world.ts'

beforeAll(buildProgram)

describe.each(kindsOfLongTests)('what a crontab promises, on the %s database,', (kind) => {
  test('is told by the first sync of a resource, unless a living `start` has told it', async () => {
    const api = await servedApi()
    serveItems(api, [item('Ash')])
    const dataDir = kind === 'embedded' ? await testDataDir() : ''
    const url = kind === 'server' ? await testDatabaseUrl() : undefined
    const environment: Record<string, string> = url ? { DATABASE_URL: url } : { WYNNSYNC_DATA_DIR: dataDir }
    const open = () => (url ? openServer(url) : openEmbedded(dataDir, { clock: systemClock }))
    const sync = async (schedule?: string) => {
      const told = schedule ? { ...environment, WYNNSYNC_SCHEDULE: schedule } : environment
      expect(await runInside(['sync', 'items', '--quiet', '--base-url', api.url], told)).toMatchObject({ code: 0 })
    }
    const expectations = async () => {
      const db = await open()
      const rows = await db.values('select resource, every_seconds, told_by from sync.expectation order by valid_from')
      await db.close()
      return rows
    }
    await sync()
    await sync()
    expect(await expectations()).toEqual([['items', 3600, 'sync']])
    await sync('items=*/5 * * * *')
    expect(await expectations()).toEqual([
      ['items', 3600, 'sync'],
      ['items', 300, 'sync'],
    ])

    const db = await open()
    await expectEvery(db, { resource: 'items', everySeconds: 60, setBy: 'start', at: new Date() })
    if (kind === 'server') {
      const start = await db.tryLock('wynnsync start')
      await sync()
      expect((await expectations()).at(-1)).toEqual(['items', 60, 'start'])
      await start?.release()
    }
    await db.close()
    await sync()
    expect((await expectations()).at(-1)).toEqual(['items', 3600, 'sync'])
  })
})
