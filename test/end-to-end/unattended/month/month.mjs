// `wynnsync start` in simulated time, as compiled, in a process of its own: prints after every so many simulated hours, as a
// line of JSON, what it holds. Run with --expose-gc.
import { setMaxListeners } from 'node:events'
import { readdirSync } from 'node:fs'
import { getHeapCodeStatistics } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { watchRequests, watchStatements } from './activity.mjs'

const HOUR = 3_600_000
const dawn = Date.parse('2026-06-01T10:00:05Z')
const { DATABASE_URL, DATA_DIR, HOURS, EVERY, FAULTS_FROM, FAULTS_UNTIL, SCHEDULE } = process.env
const statements = watchStatements(Number(new URL(DATABASE_URL).port))

const { createApp } = await import('../../../../dist/app/app.js')
const { openOutput } = await import('../../../../dist/cli/output/output.js')
const { noProgress } = await import('../../../../dist/cli/output/progress.js')
const { startCommand } = await import('../../../../dist/cli/commands/start/start-command.js')
const { seededRandom, virtualClock } = await import('../../../../dist/base/clock.js')
const { readConfig } = await import('../../../../dist/base/config.js')

const time = new SharedArrayBuffer(8)
const shared = new Float64Array(time)
shared[0] = dawn
let asleep = 0
const requests = watchRequests(() => {
  shared[0] = clock.now()
})
const busy = () => statements.busy() || requests.underWay() > asleep
const clock = virtualClock(dawn, { auto: true, idleMs: 1, busy })

const sandbox = new Worker(new URL('./sandbox-worker.mjs', import.meta.url), {
  workerData: { time, seed: 1, game: { guilds: 12, players: 40, territories: 60 }, limit: 60 },
})
const url = await new Promise((resolve, reject) => {
  sandbox.once('error', reject)
  sandbox.on('message', ({ url, sleep, ms }) => {
    if (url) resolve(url)
    if (sleep === undefined) return
    asleep += 1
    void clock.sleep(ms).then(() => {
      asleep -= 1
      shared[0] = clock.now()
      sandbox.postMessage({ wake: sleep })
    })
  })
})

const config = readConfig(
  { databaseUrl: DATABASE_URL, baseUrl: url, logLevel: 'error' },
  { WYNNSYNC_DATA_DIR: DATA_DIR, WYNNSYNC_SCHEDULE: SCHEDULE },
)
const app = createApp(config, { clock, random: seededRandom(7) })
const ending = new AbortController()
setMaxListeners(0, ending.signal)
const output = openOutput(process.stderr)
const context = { app, out: output, err: output, signal: ending.signal, flags: { quiet: true }, progress: noProgress }
const ended = startCommand(context, { metricsPort: '0' })
ended.catch((error) => {
  process.stderr.write(`${error.stack}\n`)
  process.exit(1)
})

// Until it runs it reads modules and files, of which the clock knows nothing.
while (requests.all() < 5) await new Promise((resolve) => setTimeout(resolve, 20))
const first = clock.now()
const began = performance.now()
let faulty = false
for (let hour = 1; hour <= Number(HOURS); hour++) {
  await clock.sleep(first + hour * HOUR - clock.now())
  const isFaulty = hour >= Number(FAULTS_FROM) && hour < Number(FAULTS_UNTIL)
  if (isFaulty !== faulty) {
    faulty = isFaulty
    sandbox.postMessage({ faults: faulty ? 'all:0.01' : null })
  }
  if (hour % Number(EVERY) === 0) measure(hour)
}
ending.abort(new Error('the month is over'))
const code = await ended
process.stdout.write(`${JSON.stringify({ code, connections: statements.connections() })}\n`)
sandbox.postMessage({ close: true })

function measure(hour) {
  globalThis.gc()
  globalThis.gc()
  const { heapUsed, external, rss } = process.memoryUsage()
  // V8 goes on compiling what runs often for days: that is no data that the program holds.
  const { code_and_metadata_size: code } = getHeapCodeStatistics()
  process.stdout.write(
    `${JSON.stringify({
      hour,
      heap: heapUsed - code,
      compiled: code,
      external,
      rss,
      descriptors: readdirSync('/proc/self/fd').length,
      connections: statements.connections(),
      requests: requests.all(),
      seconds: Math.round((performance.now() - began) / 1000),
    })}\n`,
  )
}
