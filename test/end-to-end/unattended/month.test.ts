import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { openServer } from '../../../src/db/server/server.ts'
import { buildProgram } from '../../support/cli.ts'
import { effort } from '../../support/effort.ts'
import { temporaryFolder, testDatabaseUrl } from '../../support/postgres.ts'

beforeAll(buildProgram)

/** What `start` holds after a forced garbage collection. */
interface Measure {
  readonly hour: number
  /** Bytes of objects. */
  readonly heap: number
  /** Bytes of compiled code. */
  readonly compiled: number
  readonly external: number
  readonly rss: number
  readonly descriptors: number
  readonly connections: number
  readonly requests: number
  readonly seconds: number
}

const hours = effort.monthHours
const isLong = hours >= 240
/** How often it is measured, and from when on it must be flat: the third day; of a short stretch the second hour. */
const every = isLong ? 24 : 1
const steadyFrom = isLong ? 72 : 2
/** All faults are on for two days; of a short stretch for two hours, and the last one is calm. */
const faultsFrom = isLong ? 96 : steadyFrom
const faultsUntil = faultsFrom + 2 * every
/** How much more it may hold than then, at the end and in between. In a few hours some code runs for the first time. */
const tolerance = isLong ? { end: 1.1, between: 1.1 } : { end: 1.12, between: 1.25 }

/** Polls as often as the API has something new in a short stretch; in a month less often, or it would last for hours. */
const schedule = isLong
  ? 'territories=*/5 * * * *; online-players=*/5 * * * *; guilds=7 */3 * * *; players=37 */3 * * *'
  : 'territories=*/2 * * * *; online-players=* * * * *; guilds=7 * * * *; players=*/20 * * * *'
/** Responses an hour that it accepts at the least. */
const lively = isLong ? 25 : 60

/** Lets `start` live for so many simulated hours in a process of its own. */
async function live(environment: Record<string, string>): Promise<{ measures: Measure[]; end: unknown; err: string }> {
  const script = fileURLToPath(new URL('month/month.mjs', import.meta.url))
  // With the default young generation a tenth of a month went into collecting it.
  const child = spawn(process.execPath, ['--expose-gc', '--max-semi-space-size=32', script], {
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const measures: Measure[] = []
  let end: unknown
  let err = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text
  })
  createInterface(child.stdout).on('line', (line) => {
    const measure: Measure | { code: number } = JSON.parse(line)
    if ('code' in measure) end = measure
    else {
      measures.push(measure)
      const { hour, heap, compiled, descriptors, connections, requests, seconds } = measure
      const megabytes = `${(heap / 1e6).toFixed(1)} + ${(compiled / 1e6).toFixed(1)}`
      process.stderr.write(
        `hour ${hour} of ${hours}: heap ${megabytes} MB, ${descriptors} descriptors, ${connections} connections, ${requests} requests, ${seconds} s\n`,
      )
    }
  })
  await new Promise((resolve) => child.once('close', resolve))
  return { measures, end, err }
}

test(
  'start holds no more memory, descriptors and connections after a month than on its third day',
  async () => {
    const url = await testDatabaseUrl()
    const { measures, end, err } = await live({
      DATABASE_URL: url,
      DATA_DIR: await temporaryFolder(),
      SCHEDULE: schedule,
      HOURS: String(hours),
      EVERY: String(every),
      FAULTS_FROM: String(faultsFrom),
      FAULTS_UNTIL: String(faultsUntil),
    })
    expect(end, err).toEqual({ code: 0, connections: 0 })
    const later = measures.filter(({ hour }) => hour >= steadyFrom)
    const of = (count: 'heap' | 'descriptors' | 'connections') => later.map((one) => one[count])
    const whole = later.map(({ heap, compiled }) => heap + compiled)
    expect(later.length).toBeGreaterThanOrEqual(4)
    // Whatever the faults did in between.
    const [first = 0] = of('heap')
    expect(Math.max(...of('heap'))).toBeLessThan(tolerance.between * first)
    expect(of('heap').at(-1)).toBeLessThan(tolerance.end * first)
    expect(Math.max(...whole)).toBeLessThan(tolerance.between * (whole[0] ?? 0))
    expect(whole.at(-1)).toBeLessThan(tolerance.end * (whole[0] ?? 0))
    expect(Math.max(...of('connections')) - Math.min(...of('connections'))).toBeLessThanOrEqual(1)
    // Connections to the API come and go.
    expect(Math.max(...of('descriptors'))).toBeLessThanOrEqual((of('descriptors')[0] ?? 0) + 8)

    const db = await openServer(url)
    const [ledger] = await db.query<{ runs: number; accepted: number }>(
      `select count(*)::int as runs, count(*) filter (where status in ('ok', 'unchanged', 'partial'))::int as accepted from sync.run`,
    )
    await db.close()
    // It did live.
    expect(ledger?.accepted).toBeGreaterThan(hours * lively)
  },
  hours * 60_000 + 120_000,
)
