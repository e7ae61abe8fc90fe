import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import type { Database } from '../../src/db/database.ts'
import { lockFolder } from '../../src/db/embedded/folder-lock.ts'
import { openServer } from '../../src/db/server/server.ts'
import { buildProgram, startProgram } from '../support/cli.ts'
import { temporaryFolder, testDatabaseUrl, testDataDir } from '../support/postgres.ts'

beforeAll(buildProgram)

/** Sessions of commands that wait for a lock, by their application_name. */
async function waiting(db: Database): Promise<unknown[]> {
  return await db.query(
    `select pid from pg_stat_activity
      where datname = current_database() and application_name like 'wynnsync %' and state = 'active' and wait_event_type = 'Lock'`,
  )
}

describe.each([
  ['query', ['query', 'freshness']],
  ['report', ['report', '--out', 'interrupted.html']],
  ['migrate', ['migrate']],
] as const)('wynnsync %s', (_, args) => {
  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'ends at the first %s, and its statement with it',
    async (signal) => {
      const url = await testDatabaseUrl()
      const [owner, watcher] = await Promise.all([openServer(url, { applicationName: 'owner' }), openServer(url)])
      onTestFinished(async () => void (await Promise.all([owner.close(), watcher.close()])))
      await owner.transaction(async (sql) => {
        // What any of them asks first waits behind this.
        await sql.query('lock table sync.run, sync.installed_sql in access exclusive mode')
        const running = startProgram(args, { DATABASE_URL: url })
        onTestFinished(() => void running.child.kill('SIGKILL'))
        while ((await waiting(watcher)).length === 0) await systemClock.sleep(20)
        const began = performance.now()
        running.child.kill(signal)
        const { code, err } = await running.finished
        expect(performance.now() - began).toBeLessThan(5000)
        expect([code, err]).toEqual([75, expect.stringContaining(`interrupted by ${signal}`)])
        expect(await waiting(watcher)).toEqual([])
      })
    },
  )
})

test('a query ends at the first SIGINT while another process has the data folder', async () => {
  const dataDir = await testDataDir()
  const unlock = await lockFolder(dataDir, { clock: systemClock })
  onTestFinished(unlock)
  const running = startProgram(['query', 'freshness'], { WYNNSYNC_DATA_DIR: dataDir })
  onTestFinished(() => void running.child.kill('SIGKILL'))
  // It waits for half a minute, and says nothing of it.
  await systemClock.sleep(4000)
  const began = performance.now()
  running.child.kill('SIGINT')
  await running.finished
  expect(running.child.signalCode).toBe('SIGINT')
  expect(performance.now() - began).toBeLessThan(3000)
})

test('the demo ends at the first SIGINT', async () => {
  const running = startProgram(['demo'], { TMPDIR: await temporaryFolder() })
  onTestFinished(() => void running.child.kill('SIGKILL'))
  await new Promise((resolve) => running.child.stdout?.once('data', resolve))
  await systemClock.sleep(500)
  const began = performance.now()
  running.child.kill('SIGINT')
  await running.finished
  expect(running.child.signalCode).toBe('SIGINT')
  expect(performance.now() - began).toBeLessThan(5000)
})
