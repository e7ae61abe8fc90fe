import { rm } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { type App, createApp, migrateDatabase, openDatabase } from '../../../app/app.ts'
import { engineOf, openApi } from '../../../app/app-api.ts'
import { virtualClock } from '../../../app/clock.ts'
import { FatalError } from '../../../app/errors.ts'
import { wholeNumber } from '../../../app/whole-number.ts'
import type { Database } from '../../../db/database.ts'
import { resources } from '../../../resources/index.ts'
import { type Sandbox, startSandbox } from '../../../sandbox/index.ts'
import { setExpectedInterval } from '../../../sync/coverage/coverage.ts'
import type { Engine } from '../../../sync/engine.ts'
import { isWorklist, type Resource, type Worklist } from '../../../sync/resource.ts'
import { runResource } from '../../../sync/run/run-resource.ts'
import type { RunResult } from '../../../sync/run/run-result.ts'
import type { Context } from '../../context.ts'
import { exitCode } from '../../exit-codes.ts'
import { formatTable } from '../../output/table.ts'
import { writeReport } from '../report/report-command.ts'
import { firstQuestions, lastQuestions, showQuestion } from './demo-questions.ts'

export interface DemoFlags {
  readonly seed?: string
}

const HOUR = 3_600_000
const DAY = 24
const DAYS = 3

/** Keys of a worklist in each round. */
const keysEachTime = 3

const isLive = (one: Resource | Worklist) => one.lane === 'live'

/** What is synced every how many hours in the compressed days; a real schedule syncs far more often. */
const schedule = [
  { hours: 4, resources: resources.filter(isLive) },
  { hours: DAY, resources: resources.filter((one) => !isLive(one) && !isWorklist(one)) },
  { hours: 8, resources: resources.filter((one) => !isLive(one) && isWorklist(one)) },
]
const hoursBetween = Math.min(...schedule.map(({ hours }) => hours))

/** `demo`: a simulated API, an embedded database in a temporary folder, three days of play, some questions and a report. Returns the exit code. */
export async function demoCommand(context: Context, { seed: seedText = '1' }: DemoFlags): Promise<number> {
  const { out } = context
  // Nothing of it is kept, so Ctrl-C may end it anywhere.
  context.restoreSignals?.()
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
  out.write(`A simulated API at ${sandbox.url}, an embedded Postgres in ${folder}.`)
  const db = await withDots(context, () => openDatabase(app, ['demo'], { durable: false }))
  let report: string
  try {
    await withDots(context, () => migrateDatabase(db, app))
    out.write('\n')
    await simulateDays({ app, db, sandbox, context })
    for (const question of lastQuestions) await showQuestion(question, db, out)
    report = await withDots(context, () => writeDemoReport(db, app, folder))
  } finally {
    await db.close()
    await sandbox.close()
  }
  out.write(nextSteps(folder, report))
  return exitCode.done
}

interface Stage {
  readonly app: App
  readonly db: Database
  readonly sandbox: Sandbox
  readonly context: Context
}

/** Syncs every few hours of each day, and prints what the day brought. */
async function simulateDays(stage: Stage): Promise<void> {
  const { app, db, sandbox, context } = stage
  const { out } = context
  const api = openApi(app)
  const engine = engineOf(app, db, api)
  try {
    await expectIntervals(db, app.clock.now())
    for (let day = 0; day < DAYS; day++) {
      const total = new Map<string, RunResult>()
      for (let hour = 0; hour < DAY; hour += hoursBetween) {
        out.write(`day ${day + 1}, ${String(hour).padStart(2, '0')}:00 `)
        for (const [nth, due] of schedule.entries()) {
          if (hour % due.hours !== 0) continue
          for (const resource of due.resources) add(total, await syncOnce(resource, engine, context))
          const question = day + hour === 0 ? firstQuestions[nth] : undefined
          if (question) await showQuestion(question, db, out)
        }
        out.write('\n')
        await sandbox.clock.moveTo(sandbox.clock.now() + hoursBetween * HOUR)
      }
      out.write(`\nDay ${day + 1}${day === 0 ? ': everything arrives' : ''}\n\n${summary([...total.values()])}\n`)
    }
  } finally {
    await api.close()
  }
}

/** Sets how often everything is synced, so that coverage knows what is missing. */
async function expectIntervals(db: Database, now: number): Promise<void> {
  const given = { setBy: 'sync', at: new Date(now) } as const
  for (const { hours, resources } of schedule)
    for (const { name } of resources)
      await setExpectedInterval(db, { resource: name, everySeconds: (hours * HOUR) / 1000, ...given })
}

async function syncOnce(resource: Resource | Worklist, engine: Engine, context: Context): Promise<RunResult> {
  context.out.write(` ${resource.name}`)
  const run = await withDots(context, () => runResource(resource, engine, { limit: keysEachTime }))
  if (run.status === 'failed') throw new FatalError(`${resource.name}: ${run.error}`)
  return run
}

/** A dot for each second that it takes, in a file and a pipe too. */
async function withDots<T>({ out, app }: Context, work: () => Promise<T>): Promise<T> {
  const ended = new AbortController()
  const dot = async (): Promise<void> => {
    await app.clock.sleep(1000, ended.signal)
    out.write('.')
    await dot()
  }
  dot().catch(() => {})
  try {
    return await work()
  } finally {
    ended.abort()
  }
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

/** Writes the report into the working directory; where that fails, into the demo's own folder. Returns its path. */
async function writeDemoReport(db: Database, app: App, folder: string): Promise<string> {
  const wanted = { writtenAt: new Date(app.clock.now()) }
  try {
    return (await writeReport(db, wanted, 'report.html')).path
  } catch (error) {
    if (!(error instanceof FatalError)) throw error
    return (await writeReport(db, wanted, join(folder, 'report.html'))).path
  }
}

function nextSteps(folder: string, report: string): string {
  return `\nAll of this with pictures, for a browser:

  ${report}

The database stays where it is. Type next:

  node dist/main.js query --list --data-dir ${folder}
  node dist/main.js query territory_capture --data-dir ${folder}
  node dist/main.js query membership_event event=promoted --data-dir ${folder}
  node dist/main.js sync          the public API, with history in your own folder
`
}
