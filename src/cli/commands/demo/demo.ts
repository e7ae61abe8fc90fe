import { rm } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { type App, createApp, migrateDatabase, openDatabase } from '../../../app/app.ts'
import { engineOf, openApi } from '../../../app/app-api.ts'
import { virtualClock } from '../../../app/clock.ts'
import { FatalError } from '../../../app/errors.ts'
import { wholeNumber } from '../../../app/whole-number.ts'
import type { Database } from '../../../db/database.ts'
import { resources, resourcesNamed } from '../../../resources/index.ts'
import { type Sandbox, startSandbox } from '../../../sandbox/index.ts'
import { setExpectedInterval } from '../../../sync/coverage/coverage.ts'
import type { Engine } from '../../../sync/engine.ts'
import { isWorklist } from '../../../sync/resource.ts'
import { runResource } from '../../../sync/run/run.ts'
import type { RunResult } from '../../../sync/run/run-result.ts'
import { runWorklist } from '../../../sync/run/run-worklist.ts'
import { type Context, exitCode } from '../../context.ts'
import { formatTable } from '../../output/table.ts'
import { writeReport } from '../report/report-command.ts'
import { showAnswers } from './demo-answers.ts'

export interface DemoFlags {
  readonly seed?: string
}

const HOUR = 3_600_000
const DAYS = 3

/** What is asked how often in the compressed days; a real schedule asks far more often. */
const often = resources.filter((one) => one.lane === 'live' || isWorklist(one)).map(({ name }) => name)
const daily = resources.map(({ name }) => name).filter((name) => !often.includes(name))
/** Keys of a worklist each time. */
const keysEachTime = 4
/** Hours between two rounds of what is asked often. */
const hoursBetween = 2

/** `demo`: a simulated API, an embedded database in a temporary folder, three days of play, some answers and a report. Returns the exit code. */
export async function demoCommand({ seed: seedText = '1' }: DemoFlags, context: Context): Promise<number> {
  const { out, progress } = context
  const seed = wholeNumber('--seed', seedText, 2 ** 32 - 1)
  const folder = join(tmpdir(), `wynnsync-demo-${userInfo().uid}`)
  await rm(folder, { recursive: true, force: true })
  const clock = virtualClock(Date.UTC(2026, 4, 1), { auto: true })
  const sandbox = await startSandbox({ clock, seed, game: { patches: true } })
  const config = {
    ...context.app.config,
    baseUrl: sandbox.url,
    databaseUrl: undefined,
    dataDir: folder,
    token: undefined,
  }
  const app = createApp(config, { clock, logLevel: 'error' })
  out.write(`A simulated API at ${sandbox.url}, an embedded Postgres in ${folder}.\n`)
  const db = await openDatabase(app, ['demo'], { durable: false })
  let report: string
  try {
    await migrateDatabase(db, app)
    await playDays({ app, db, sandbox, context })
    await showAnswers(db, out)
    report = await drawReport(db, app, folder)
  } finally {
    progress.end()
    await db.close()
    await sandbox.close()
  }
  out.write(whatNext(folder, report))
  return exitCode.done
}

interface Stage {
  readonly app: App
  readonly db: Database
  readonly sandbox: Sandbox
  readonly context: Context
}

/** Syncs every few hours through the days and tells of each day what it brought. */
async function playDays({ app, db, sandbox, context }: Stage): Promise<void> {
  const { out, progress } = context
  const api = openApi(app)
  const engine = engineOf(app, db, api)
  try {
    await tellPace(db, app.clock.now())
    for (let day = 0; day < DAYS; day++) {
      const total = new Map<string, RunResult>()
      for (let hour = 0; hour < 24; hour += hoursBetween) {
        for (const name of hour === 0 ? [...daily, ...often] : often) {
          progress.begin(`day ${day + 1}, ${String(hour).padStart(2, '0')}:00  ${name}`)
          add(total, await syncOnce(name, engine))
        }
        const hours = day * 24 + hour + hoursBetween
        progress.seen(`day ${day + 1}`, { page: 1, pages: 1, records: hours, count: DAYS * 24 }, 'hours')
        await sandbox.clock.moveTo(sandbox.clock.now() + hoursBetween * HOUR)
      }
      progress.end()
      out.write(`\nDay ${day + 1}${day === 0 ? ': everything arrives' : ''}\n\n${summary([...total.values()])}`)
    }
    out.write('\n')
  } finally {
    await api.close()
  }
}

/** Says how often everything is asked for, so that coverage can tell what is missing. */
async function tellPace(db: Database, now: number): Promise<void> {
  const told = { toldBy: 'sync', at: new Date(now) } as const
  for (const resource of daily) await setExpectedInterval(db, { resource, everySeconds: (24 * HOUR) / 1000, ...told })
  for (const resource of often)
    await setExpectedInterval(db, { resource, everySeconds: (hoursBetween * HOUR) / 1000, ...told })
}

async function syncOnce(name: string, engine: Engine): Promise<RunResult> {
  const [resource] = resourcesNamed([name])
  if (!resource) throw new FatalError(`no resource ${name}`)
  const run = isWorklist(resource)
    ? await runWorklist(resource, engine, { limit: keysEachTime, concurrency: 1 })
    : await runResource(resource, engine)
  if (run.status === 'failed') throw new FatalError(`${name}: ${run.error}`)
  return run
}

function add(total: Map<string, RunResult>, run: RunResult): void {
  const before = total.get(run.resource)
  const sum = (count: 'requests' | 'inserted' | 'changed' | 'closed' | 'events') => (before?.[count] ?? 0) + run[count]
  const counts = {
    requests: sum('requests'),
    inserted: sum('inserted'),
    changed: sum('changed'),
    closed: sum('closed'),
  }
  total.set(run.resource, { ...run, ...counts, events: sum('events') })
}

function summary(runs: readonly RunResult[]): string {
  const rows = runs.map((run) => ({ ...run, new: run.inserted, gone: run.closed }))
  return formatTable(['resource', 'requests', 'new', 'changed', 'gone', 'events'], rows).replace(/^(?=.)/gm, '  ')
}

/** Writes the report into the working directory; where that cannot be, into the demo's own folder. Returns its path. */
async function drawReport(db: Database, app: App, folder: string): Promise<string> {
  const wanted = { writtenAt: new Date(app.clock.now()) }
  try {
    return (await writeReport(db, wanted, 'report.html')).path
  } catch (error) {
    if (!(error instanceof FatalError)) throw error
    return (await writeReport(db, wanted, join(folder, 'report.html'))).path
  }
}

function whatNext(folder: string, report: string): string {
  return `All of this with pictures, for a browser:

  ${report}

The database stays where it is. Type next:

  node dist/main.js query --list --data-dir ${folder}
  node dist/main.js query territory_capture --data-dir ${folder}
  node dist/main.js query membership_event event=promoted --data-dir ${folder}
  node dist/main.js sync          the real thing: asks the public API, keeps history in your own folder
`
}
