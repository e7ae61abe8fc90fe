import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { createApp, migrateDatabase, openDatabase } from '../../../src/app/app.ts'
import { admissionOf, engineOf, openApi } from '../../../src/app/app-api.ts'
import { readConfig } from '../../../src/base/config.ts'
import { resources } from '../../../src/resources/index.ts'
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.ts'
import { isWorklist } from '../../../src/sync/declare/resource.ts'
import { runResource } from '../../../src/sync/run/run-resource.ts'
import { buildProgram, startProgram } from '../../support/cli.ts'
import { effort } from '../../support/effort.ts'
import { freePort } from '../../support/free-port.ts'
import { temporaryFolder } from '../../support/postgres.ts'

beforeAll(buildProgram)

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const minutes = effort.hostileMinutes

/** What the clients counted in a minute. */
interface Counted {
  readonly status: Readonly<Record<string, number>>
  readonly slowestMs: number
  readonly slow: readonly (readonly [path: string, ms: number])[]
  readonly faults: Readonly<Record<string, number>>
}

/** Records two days of a sandbox into an embedded folder; returns names that questions can be about. */
async function recordDays(sandbox: Sandbox, dataDir: string): Promise<string[]> {
  const given = { databaseUrl: 'embedded', dataDir, baseUrl: sandbox.url, logLevel: 'error' } as const
  const app = createApp(readConfig(given, {}), { clock: sandbox.clock })
  const db = await openDatabase(app, ['test'], { durable: false })
  const api = openApi(app)
  try {
    await migrateDatabase(db, app)
    const engine = engineOf(app, db, api, { admission: await admissionOf(app, db) })
    const end = sandbox.clock.now() + 2 * DAY
    for (let nth = 0; sandbox.clock.now() < end; nth++) {
      const due = resources.filter((one) => one.lane === 'live' || (isWorklist(one) ? nth % 3 === 0 : nth % 144 === 0))
      for (const resource of due) await runResource(resource, engine, { limit: 12 })
      await sandbox.clock.moveTo(sandbox.clock.now() + 10 * MINUTE)
    }
    const names = await db.query<{ name: string }>(
      `(select name from game.guild limit 20) union all (select prefix from game.guild limit 20)
       union all (select distinct territory from game.territory_hold limit 20)
       union all (select username from game.player limit 20) union all (select internal_name from game.item limit 20)`,
    )
    return names.map(({ name }) => name)
  } finally {
    await api.close()
    await db.close()
  }
}

/** Resident memory of a process in MB. */
const residentMb = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

test.skipIf(minutes === 0 || process.platform !== 'linux')(
  `twenty hostile clients for ${minutes} minutes delay no poll, get an answer each, and leave memory flat${minutes ? '' : ' (skipped: WYNNSYNC_TEST_HOSTILE_MINUTES is 0)'}`,
  async () => {
    const game = { guilds: 120, players: 600, territories: 120 }
    const limits = { guest: 100_000, token: 100_000 }
    const sandbox = await startSandbox({ startAt: Date.now() - 2 * DAY - 5 * MINUTE, game, limits })
    onTestFinished(() => sandbox.close())
    const dataDir = await temporaryFolder()
    const names = await recordDays(sandbox, dataDir)
    await sandbox.clock.moveTo(Math.max(Date.now(), sandbox.clock.now()))

    const port = await freePort()
    const flags = ['--web-port', String(port), '--rate-limit', '0', '--base-url', sandbox.url]
    const schedule = 'territories=*/10 * * * * *; online-players=*/30 * * * * *'
    const program = startProgram(['start', ...flags], { WYNNSYNC_DATA_DIR: dataDir, WYNNSYNC_SCHEDULE: schedule })
    onTestFinished(() => void program.child.kill('SIGKILL'))
    const pid = program.child.pid ?? 0
    const polls = () => sandbox.requests.filter(({ path }) => path === '/guild/list/territory').map(({ at }) => at)
    /** Milliseconds between the polls from an instant on. */
    const pauses = (from: number) => {
      const at = polls().filter((one) => one >= from)
      return at.slice(1).map((one, nth) => one - (at[nth] ?? 0))
    }
    // The first minute syncs everything once.
    await sleep(1.5 * MINUTE)
    const calmFrom = sandbox.clock.now()
    await sleep(1.5 * MINUTE)
    const calm = Math.max(...pauses(calmFrom))

    const clients = spawn(process.execPath, [fileURLToPath(new URL('hostile/clients.mjs', import.meta.url))], {
      env: {
        PATH: process.env.PATH,
        BASE: `http://127.0.0.1:${port}`,
        CLIENTS: '20',
        SEED: '1',
        NAMES: JSON.stringify(names),
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    onTestFinished(() => void clients.kill('SIGKILL'))
    const counted: Counted[] = []
    const memory: number[] = []
    createInterface(clients.stdout).on('line', (line) => {
      counted.push(JSON.parse(line))
      memory.push(residentMb(pid))
      process.stderr.write(`${counted.length} min, ${memory.at(-1)?.toFixed(0)} MB: ${line.slice(0, 300)}\n`)
    })
    const hostileFrom = sandbox.clock.now()
    await sleep(minutes * MINUTE)
    const late = Math.max(...pauses(hostileFrom)) - calm
    clients.stdin.end()
    await new Promise((resolve) => clients.once('exit', resolve))
    program.child.kill('SIGTERM')
    const { code, err } = await program.finished

    const slowest = Math.max(...counted.map(({ slowestMs }) => slowestMs))
    const statuses = new Map<string, number>()
    for (const { status } of counted)
      for (const [key, count] of Object.entries(status)) statuses.set(key, (statuses.get(key) ?? 0) + count)
    const summary = { late, slowest, calm, statuses: Object.fromEntries(statuses), memory: memory.map(Math.round) }
    process.stderr.write(`${JSON.stringify(summary)}
`)
    expect(code, err.slice(-2000)).toBe(0)
    expect(counted.flatMap(({ faults }) => Object.keys(faults))).toEqual([])
    expect(counted.flatMap(({ slow }) => slow).filter(([, ms]) => ms > 6000)).toEqual([])
    expect(late).toBeLessThan(2000)
    expect(statuses.get('200')).toBeGreaterThan(minutes * 100)
    // What is compiled and cached grows at first.
    const half = memory.slice(Math.floor(memory.length / 2))
    const mean = (list: readonly number[]) => list.reduce((sum, one) => sum + one, 0) / list.length
    const middle = Math.floor(half.length / 2)
    if (minutes >= 20) expect(mean(half.slice(middle))).toBeLessThan(mean(half.slice(0, middle)) * 1.05)
  },
  (minutes + 20) * MINUTE,
)
