import { request } from 'node:http'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { systemClock, virtualClock } from '../../src/base/clock.ts'
import { openServer } from '../../src/db/server/server.ts'
import { counter, createMeter, histogram, metricsText } from '../../src/monitoring/metrics.ts'
import { serveMetrics } from '../../src/monitoring/metrics-server.ts'
import { type RunResult, skippedResult } from '../../src/sync/run/run-result.ts'
import { buildProgram, runProgram, startProgram } from '../support/cli.ts'
import { temporaryFolder, testDatabaseUrl } from '../support/postgres.ts'
import { cuttableWay } from '../support/proxy.ts'
import { openReceiver } from '../support/receiver.ts'
import { servedApi } from '../support/served.ts'

/** The samples of a scrape by their name and labels. */
function samplesOf(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  )
}

describe('the text of metrics', () => {
  test('has help and type before the samples, escapes what must be, and leaves out what has no samples', () => {
    const counts = counter([{ who: 'nobody' }])
    counts.add({ who: 'a "quoted"\\\nname' }, 2)
    counts.add({ who: 'a "quoted"\\\nname' })
    const taken = histogram([1, 10])
    for (const value of [0.5, 10, 60]) taken.observe({}, value)
    expect(
      metricsText([
        { name: 'some_total', type: 'counter', help: 'Some\nhelp.', samples: counts.samples() },
        { name: 'nothing', type: 'gauge', help: 'None.', samples: [] },
        { name: 'taken', type: 'histogram', help: 'Taken.', samples: taken.samples() },
      ]),
    ).toBe(
      [
        '# HELP some_total Some\\nhelp.',
        '# TYPE some_total counter',
        'some_total{who="nobody"} 0',
        'some_total{who="a \\"quoted\\"\\\\\\nname"} 3',
        '# HELP taken Taken.',
        '# TYPE taken histogram',
        'taken_bucket{le="1"} 1',
        'taken_bucket{le="10"} 2',
        'taken_bucket{le="+Inf"} 3',
        'taken_sum 70.5',
        'taken_count 3',
        '',
      ].join('\n'),
    )
  })
})

describe('the server of metrics', () => {
  test('says in its health what is odd, and is healthy all the same', async () => {
    const odd: string[] = []
    const options = { host: '127.0.0.1', port: 0, metrics: async () => '', problems: async () => [] }
    const server = await serveMetrics({ ...options, warnings: async () => odd })
    onTestFinished(() => server.close())
    const health = async () => {
      const answer = await fetch(`${server.url}/healthz`)
      return [answer.status, await answer.json()]
    }
    expect(await health()).toEqual([200, { healthy: true, problems: [] }])
    odd.push('items: the clocks differ')
    expect(await health()).toEqual([200, { healthy: true, problems: [], warnings: odd }])
  })

  test('answers under addresses, localhost and configured names only, whoever points their own name here', async () => {
    const options = {
      host: '127.0.0.1',
      port: 0,
      metrics: async () => 'secret 1\n',
      problems: async () => [],
      warnings: async () => [],
    }
    const server = await serveMetrics({ ...options, hostNames: ['wynnsync', 'Metrics.example'] })
    onTestFinished(() => server.close())
    const port = Number(new URL(server.url).port)
    const ask = (path: string, host: string) =>
      new Promise<[number | undefined, string]>((resolve, reject) => {
        const asked = request({ port, host: '127.0.0.1', path, headers: { host } }, async (answer) => {
          let text = ''
          for await (const piece of answer) text += String(piece)
          resolve([answer.statusCode, text])
        })
        asked.once('error', reject).end()
      })
    const allowed = ['127.0.0.1', '10.1.2.3', '[::1]', '[fe80::1]', 'localhost', 'LOCALHOST.', 'a.localhost']
    for (const host of [...allowed, 'wynnsync', 'metrics.example'])
      for (const name of [host, `${host}:${port}`])
        expect([name, await ask('/metrics', name)]).toEqual([name, [200, 'secret 1\n']])
    const foreign = [
      'evil.example',
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      'wynnsync.evil.example',
      '[::1',
      'a b',
    ]
    for (const host of foreign)
      for (const path of ['/metrics', '/healthz']) {
        const [status, text] = await ask(path, host)
        expect([host, [400, 421].includes(status ?? 0), /secret|healthy/.test(text)]).toEqual([host, true, false])
      }
    expect((await ask('/healthz', 'evil.example'))[0]).toBe(421)
  })
})

describe('the scheduler', () => {
  const watched = [
    { resource: 'territories', everySeconds: 10 },
    { resource: 'items', everySeconds: 3600 },
  ]
  const run = (status: RunResult['status']) => ({ ...skippedResult('territories', 'process 7 has it'), status })

  test('counts as stuck when no response of a resource is accepted for longer than its schedule explains', async () => {
    const clock = virtualClock(0)
    const meter = createMeter(watched, clock)
    await clock.advance(1_700_000)
    expect(meter.stuck()).toEqual([])
    await clock.advance(200_000)
    expect(meter.stuck()).toEqual([{ resource: 'territories', since: 0, last: undefined }])
    expect(meter.stuck(new Map([['territories', new Date(1_000_000)]]))).toEqual([])
    meter.run(run('ok'))
    expect(meter.stuck()).toEqual([])
  })

  test('counts as stuck also by a clock that was set back by a day, once its time has passed anew', () => {
    let now = 86_400_000
    const meter = createMeter(watched, { ...systemClock, now: () => now })
    meter.run(run('ok'))
    now = 0
    expect(meter.stuck()).toEqual([])
    now = 2_000_000
    const accepted = new Map([['territories', new Date(86_400_000)]])
    expect(meter.stuck(accepted)).toMatchObject([{ resource: 'territories', since: 0 }])
  })

  test('counts a run that a signal ended by its status, and as no failure', () => {
    const meter = createMeter(watched, virtualClock(0))
    meter.run(run('failed'))
    meter.run(run('interrupted'))
    const samples = samplesOf(metricsText(meter.metrics(null)))
    expect(samples.get('wynnsync_runs_total{resource="territories",status="interrupted"}')).toBe(1)
    expect(samples.get('wynnsync_failures_in_a_row{resource="territories"}')).toBe(1)
    expect(samples.get('wynnsync_run_duration_seconds_count{resource="territories"}')).toBe(1)
  })

  test.each(['skipped', 'stale', 'rejected', 'failed'] as const)('does not count a %s run as life', async (status) => {
    const clock = virtualClock(0)
    const meter = createMeter(watched, clock)
    for (let minute = 1; minute <= 40; minute++) {
      await clock.advance(60_000)
      meter.run(run(status))
    }
    expect(meter.stuck()).toEqual([{ resource: 'territories', since: 0, last: `${status}: process 7 has it` }])
    const samples = samplesOf(metricsText(meter.metrics(null)))
    expect(samples.get('wynnsync_skips_in_a_row{resource="territories"}')).toBe(status === 'skipped' ? 40 : 0)
    meter.run(run('partial'))
    expect(meter.stuck()).toEqual([])
  })
})

describe('wynnsync start --metrics-port', () => {
  beforeAll(buildProgram)

  const calm = 'territories=11 0 * * *; online-players=11 0 * * *; guilds=off; players=off; recipes=off'

  /** Starts it and waits until it says where it serves. */
  async function started(environment: Record<string, string>) {
    const running = startProgram(['start', '--metrics-port', '0'], { WYNNSYNC_SCHEDULE: calm, ...environment })
    onTestFinished(() => void running.child.kill('SIGKILL'))
    let text = ''
    const url = await new Promise<string>((resolve, reject) => {
      running.child.stderr?.on('data', (piece: Buffer) => {
        text += piece.toString()
        const found = /metrics are served url=(\S+)\/metrics/.exec(text)?.[1]
        if (found) resolve(found)
      })
      running.child.once('close', () => reject(new Error(`it ended: ${text}`)))
    })
    return { ...running, url }
  }

  test('serves what agrees with the ledger and with what the API was asked, and ends with start', async () => {
    const DATABASE_URL = await testDatabaseUrl({ migrated: false })
    const api = await servedApi({ game: { guilds: 20, players: 60 } })
    api.setAnswer('/guild/seasons', () => ({ status: 404, body: {} }))
    const receiver = await openReceiver()
    const { child, finished, url } = await started({
      DATABASE_URL,
      WYNNSYNC_BASE_URL: api.url,
      WYNNSYNC_WEBHOOK_URL: receiver.url,
      WYNNSYNC_DATA_DIR: await temporaryFolder(),
    })
    const scrape = async () => samplesOf(await (await fetch(`${url}/metrics`)).text())
    const db = await openServer(DATABASE_URL)
    onTestFinished(() => db.close())
    const sumOf = (samples: Map<string, number>, begin: string) =>
      [...samples].reduce((sum, [name, value]) => sum + (name.startsWith(begin) ? value : 0), 0)
    const readLedger = () =>
      db.query<Record<string, number | string>>(
        `select resource, status, count(*)::int as runs, sum(inserted)::int as inserted, sum(changed)::int as changed,
                sum(closed)::int as closed, sum(events)::int as events, sum(requests)::int as requests
           from sync.run group by resource, status`,
      )
    /** `[wanted, told]` of every figure of the ledger. They differ for a moment only: the ledger is written first. */
    const figuresOf = (rows: Record<string, number | string>[], samples: Map<string, number>) =>
      rows.flatMap(({ resource, status, runs }) => [
        [runs, samples.get(`wynnsync_runs_total{resource="${resource}",status="${status}"}`)],
        ...['inserted', 'changed', 'closed', 'events'].map((kind) => [
          rows.reduce((sum, row) => sum + (row.resource === resource ? Number(row[kind]) : 0), 0),
          samples.get(`wynnsync_rows_total{resource="${resource}",kind="${kind}"}`),
        ]),
      ])
    // Live polls come first, then one resource after the other; seasons fails, and is tried again. Then comes a moment of peace.
    let [samples, ledger, requests, asked] = [await scrape(), await readLedger(), Number.NaN, Number.NaN]
    const hasRun = (name: string) => ledger.some(({ resource }) => resource === name)
    while (
      !hasRun('items') ||
      !hasRun('seasons') ||
      sumOf(samples, 'wynnsync_run_duration_seconds_count') < 8 ||
      sumOf(samples, 'wynnsync_requests_total') !== requests ||
      requests !== asked ||
      figuresOf(ledger, samples).some(([wanted, told]) => wanted !== told)
    ) {
      await new Promise((resolve) => setTimeout(resolve, 50))
      asked = api.requests.length
      ledger = await readLedger()
      samples = await scrape()
      requests = ledger.reduce((sum, row) => sum + Number(row.requests), 0)
    }
    expect(ledger.map(({ resource }) => resource)).toContain('territories')
    const refused = api.requests.filter(({ status }) => status === 404).length
    expect(samples.get('wynnsync_requests_total{bucket="GUILD",status="404"}')).toBe(refused)
    expect(samples.get('wynnsync_failures_in_a_row{resource="seasons"}')).toBe(refused)
    expect(samples.get('wynnsync_database_up')).toBe(1)
    expect(samples.get('wynnsync_quarantine_records{resource="items"}')).toBe(0)
    expect(samples.get('wynnsync_gap_seconds_total{resource="items"}')).toBe(0)
    expect(samples.get('wynnsync_staleness_seconds{resource="territories"}')).toBeDefined()
    expect(samples.get('wynnsync_staleness_seconds{resource="seasons"}')).toBeUndefined()
    expect(sumOf(samples, 'wynnsync_budget_limit{account=')).toBeGreaterThan(0)
    expect([...samples.keys()].filter((name) => name.startsWith('wynnsync_build_info'))).toHaveLength(1)

    const health = await fetch(`${url}/healthz`)
    expect([health.status, await health.json()]).toEqual([200, { healthy: true, problems: [] }])

    const second = await runProgram(['start', '--json', '--metrics-port', new URL(url).port], { DATABASE_URL })
    expect(JSON.parse(second.out)).toMatchObject({ status: 'skipped', holder: { pid: child.pid } })

    child.kill('SIGTERM')
    const { code, err } = await finished
    expect([code, err.includes('of-a-secret-name')]).toEqual([0, false])
    await expect(fetch(`${url}/metrics`)).rejects.toThrow()
    const told = receiver.got.map(({ event, resource }) => `${event} ${resource}`)
    expect([told[0], told.at(-1)]).toEqual(['start null', 'stop null'])
    expect(told.filter((one) => one === 'failure seasons')).toHaveLength(1)
  })

  test('tells Docker when the database is away, and goes on serving what it counts', async () => {
    const way = await cuttableWay(await testDatabaseUrl())
    onTestFinished(way.cut)
    const api = await servedApi({ game: { guilds: 5, players: 10 } })
    const { child, finished, url } = await started({ DATABASE_URL: way.url, WYNNSYNC_BASE_URL: api.url })
    way.cut()
    const health = await fetch(`${url}/healthz`)
    expect(health.status).toBe(503)
    expect(await health.json()).toMatchObject({ healthy: false, problems: ['the database is unreachable'] })
    const samples = samplesOf(await (await fetch(`${url}/metrics`)).text())
    expect(samples.get('wynnsync_database_up')).toBe(0)
    expect([...samples.keys()].some((key) => key.startsWith('wynnsync_runs_total'))).toBe(true)
    child.kill('SIGKILL')
    await finished
  })

  test('does not call a database unreachable that is busy, and says for how long one has not answered', async () => {
    const way = await cuttableWay(await testDatabaseUrl())
    onTestFinished(way.cut)
    const api = await servedApi({ game: { guilds: 5, players: 10 } })
    const { child, finished, url } = await started({ DATABASE_URL: way.url, WYNNSYNC_BASE_URL: api.url })
    way.freeze()
    const health = async () => {
      const response = await fetch(`${url}/healthz`)
      return [response.status, await response.json()] as const
    }
    expect(await health()).toEqual([200, { healthy: true, problems: [] }])
    const problem = expect.stringMatching(/^the database (has not answered for 1[5-9] s|is unreachable)$/)
    await vi.waitFor(async () => expect(await health()).toEqual([503, { healthy: false, problems: [problem] }]), 40_000)
    expect((await health())[0]).toBe(503)
    await way.mend()
    await vi.waitFor(async () => expect((await health())[0]).toBe(200), 40_000)
    child.kill('SIGKILL')
    await finished
  })

  test('refuses a port that is taken or none', async () => {
    const DATABASE_URL = await testDatabaseUrl()
    const { url } = await openReceiver()
    const taken = await runProgram(['start', '--metrics-port', new URL(url).port], { DATABASE_URL })
    expect([taken.code, taken.err]).toEqual([
      2,
      expect.stringMatching(/--metrics-port \d+: another program listens on it/),
    ])
    const none = await runProgram(['start', '--metrics-port', 'many'], { DATABASE_URL })
    expect([none.code, none.err]).toEqual([2, expect.stringContaining('--metrics-port must be a whole number')])
  })
})
