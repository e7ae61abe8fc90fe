import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { openShared } from '../../src/db/embedded/shared-folder.ts'
import { openServer } from '../../src/db/server/server.ts'
import { resources } from '../../src/resources/index.ts'
import { buildProgram, runProgram, startProgram } from '../support/cli.ts'
import { temporaryFolder, testDatabaseUrl, testDataDir } from '../support/postgres.ts'
import { servedApi } from '../support/served.ts'
import { hasTerminals, onTerminal } from '../support/terminal.ts'

beforeAll(buildProgram)

/** A schedule of one resource. */
const only = (name: string) =>
  resources.map((one) => (one.name === name ? `${name}=* * * * *` : `${one.name}=off`)).join(';')

/** Waits until the process has said something on stderr. */
async function said(child: ReturnType<typeof startProgram>['child'], what: RegExp): Promise<string> {
  let text = ''
  return await new Promise((resolve, reject) => {
    child.stderr?.on('data', (piece: Buffer) => {
      text += piece.toString()
      if (what.test(text)) resolve(text)
    })
    child.once('close', () => reject(new Error(`it ended before it said ${what}: ${text}`)))
  })
}

describe('wynnsync start', () => {
  test('syncs everything, is alone, and ends soon after a SIGTERM', async () => {
    const url = await testDatabaseUrl({ migrated: false })
    const api = await servedApi({ game: { guilds: 20, players: 60 } })
    const environment = { DATABASE_URL: url, WYNNSYNC_BASE_URL: api.url, WYNNSYNC_SCHEDULE: 'item-metadata=off' }
    const { child, finished } = startProgram(['start'], environment)
    onTestFinished(() => void child.kill('SIGKILL'))
    await said(child, /territories: ok[\s\S]*online-players: ok|online-players: ok[\s\S]*territories: ok/)

    const second = await runProgram(['start', '--json'], environment)
    const holder = { pid: child.pid, host: hostname(), since: expect.stringMatching(/Z$/) }
    expect(second.code).toBe(75)
    expect(JSON.parse(second.out)).toEqual({ status: 'skipped', holder })
    expect(second.err).toContain('skipped: another `wynnsync start` uses this database')

    const third = startProgram(['start', '--replace'], environment)
    onTestFinished(() => void third.child.kill('SIGKILL'))
    const started = said(third.child, /started/)
    expect(await said(third.child, /waiting/)).toContain(`until process ${child.pid} on ${hostname()} since `)
    const asked = Date.now()
    const { code, err } = await finished
    expect(code).toBe(0)
    expect(Date.now() - asked).toBeLessThan(10_000)
    await started
    third.child.kill('SIGTERM')
    expect((await third.finished).code).toBe(0)
    expect(err).toMatch(/stopped/)
    expect(err).not.toMatch(/Warning|Unhandled/)

    const db = await openServer(url)
    onTestFinished(() => db.close())
    const expected = await db.values(
      `select resource, every_seconds, told_by from sync.expectation where resource in ('territories', 'items', 'item-metadata') order by 1`,
    )
    expect(expected).toEqual([
      ['item-metadata', null, 'start'],
      ['items', 3600, 'start'],
      ['territories', 10, 'start'],
    ])
    const [leased] = await db.values('select count(*) from sync.work_item where leased_until > checked_at')
    expect(leased).toEqual([0])
  })

  test('ends within ten seconds whatever goes on: a request without a response, and the transaction of another process', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1')
    onTestFinished(() => void silent.closeAllConnections())
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo
    const dataDir = await testDataDir()
    const environment = {
      WYNNSYNC_DATA_DIR: dataDir,
      WYNNSYNC_BASE_URL: `http://127.0.0.1:${port}`,
      WYNNSYNC_SCHEDULE: only('seasons'),
    }
    const requested = once(silent, 'request')
    const { child, finished } = startProgram(['start'], environment)
    onTestFinished(() => void child.kill('SIGKILL'))
    await requested
    const other = await openShared(dataDir, { clock: systemClock, shares: 'writes' })
    const never = new AbortController()
    const held = other.transaction(async (sql) => {
      await sql.query('select 1')
      child.kill('SIGTERM')
      await systemClock.sleep(60_000, never.signal)
    })
    await once(child.stderr as NodeJS.ReadableStream, 'data')
    const asked = performance.now()
    expect((await finished).code).toBe(0)
    // Ten, and what a busy machine needs.
    expect(performance.now() - asked).toBeLessThan(14_000)
    never.abort()
    await held.catch(() => undefined)
    await other.close().catch(() => undefined)
  })

  test.runIf(hasTerminals)('shows a line for each run on a terminal, and when the next one is due', async () => {
    const api = await servedApi({ game: { guilds: 20, players: 60 } })
    const environment = {
      DATABASE_URL: await testDatabaseUrl(),
      WYNNSYNC_BASE_URL: api.url,
      WYNNSYNC_SCHEDULE: only('territories'),
    }
    const shown = onTerminal(['start'], environment, await temporaryFolder())
    onTestFinished(() => void shown.child.kill('SIGKILL'))
    await shown.until(/syncing 1 resource into .*; Ctrl-C ends it[\s\S]*:\d\d territories ok, \d+ new.*; next in \d/)
    shown.send('\u0003')
    expect((await shown.finished).out).toContain('; next in ')
  })

  test('replaces one that has the embedded database, and says what to do about one on another machine', async () => {
    const api = await servedApi({ game: false })
    const dataDir = await temporaryFolder()
    const environment = { WYNNSYNC_DATA_DIR: dataDir, WYNNSYNC_BASE_URL: api.url, WYNNSYNC_SCHEDULE: only('seasons') }
    const first = startProgram(['start'], environment)
    onTestFinished(() => void first.child.kill('SIGKILL'))
    await said(first.child, /started/)
    const refused = await runProgram(['start'], environment)
    expect(refused.code).toBe(75)
    expect(refused.err).toContain(`process ${first.child.pid} on ${hostname()} since `)

    const second = startProgram(['start', '--replace'], environment)
    onTestFinished(() => void second.child.kill('SIGKILL'))
    await said(second.child, /started/)
    expect((await first.finished).code).toBe(0)
    second.child.kill('SIGTERM')
    expect((await second.finished).code).toBe(0)

    const lock = {
      pid: 1,
      processStart: null,
      host: 'elsewhere',
      startedAt: '2026-06-01T10:00:00Z',
      holds: ['start'],
      id: 'x',
    }
    await writeFile(join(dataDir, 'lock'), JSON.stringify(lock))
    const elsewhere = await runProgram(['start', '--replace'], environment)
    expect(elsewhere.code).toBe(75)
    expect(elsewhere.err).toContain('it runs on elsewhere')
    expect(elsewhere.err).toContain('stop it there: kill 1')
  })

  test('waits for a database that is not there yet, and says so', async () => {
    const environment = {
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
      WYNNSYNC_BASE_URL: 'http://127.0.0.1:1/v3',
    }
    const { child, finished } = startProgram(['start'], environment)
    await said(child, /trying again in/)
    child.kill('SIGTERM')
    expect((await finished).code).toBe(0)
  })

  test('refuses a schedule that cannot be', async () => {
    const wrong = {
      WYNNSYNC_SCHEDULE: 'territories=61 * * * *; moon=off; players=0 0 29 2 *',
      WYNNSYNC_DATA_DIR: await temporaryFolder(),
    }
    const { code, err } = await runProgram(['start'], wrong)
    expect(code).toBe(2)
    expect(err).toMatch(/territories=61 \* \* \* \*: minute/)
    expect(err).toMatch(/moon=off: no resource is called moon/)
    expect(err).toMatch(/players=0 0 29 2 \*: is not due within a month/)
  })
})

describe('wynnsync doctor', () => {
  test('finds nothing wrong with what is right, and says what there is', async () => {
    const api = await servedApi({ game: false })
    api.setAnswer('/guild/seasons', () => ({ headers: { Date: new Date().toUTCString() }, body: {} }))
    const environment = { WYNNSYNC_BASE_URL: api.url, WYNNSYNC_DATA_DIR: await testDataDir() }
    const { code, out } = await runProgram(['doctor', '--json'], environment)
    const { findings } = JSON.parse(out) as { findings: { check: string; verdict: string }[] }
    expect(findings.map(({ check, verdict }) => `${check} ${verdict}`)).toEqual(
      ['database', 'freshness', 'disk', 'api', 'clock', 'headers', 'credential'].map((check) => `${check} fine`),
    )
    expect(code).toBe(0)
  })

  test('tells a service that is away from one that is wrong', async () => {
    const environment = { WYNNSYNC_BASE_URL: 'http://127.0.0.1:1/v3', DATABASE_URL: await testDatabaseUrl() }
    const { code, out } = await runProgram(['doctor'], environment)
    expect(code).toBe(75)
    expect(out).toMatch(/^api +problem/m)
    expect(out).toMatch(/^database +fine/m)
  })

  test('sees a clock that is off, headers that are missing, and a token that is refused', async () => {
    const api = await servedApi({ game: { guilds: 5, players: 10 } })
    api.setAnswer('/guild/seasons', () => ({
      headers: { Date: new Date(Date.now() - 600_000).toUTCString(), 'RateLimit-Remaining': null },
      body: {},
    }))
    const environment = {
      WYNNSYNC_BASE_URL: api.url,
      DATABASE_URL: await testDatabaseUrl(),
      WYNNSYNC_TOKEN: 'not-a-token',
      WYNNSYNC_CLOCK: 'both',
    }
    const { code, out, err } = await runProgram(['doctor'], environment)
    expect(out).toMatch(/^clock +warning +this machine's clock is (599|600|601) s ahead/m)
    expect(out).toMatch(/^headers +warning/m)
    expect(out).toMatch(/^credential +problem/m)
    expect(code).toBe(1)
    expect(out + err).not.toContain('not-a-token')
  })
})
