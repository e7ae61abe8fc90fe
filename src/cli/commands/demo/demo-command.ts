import { basename, join } from 'node:path'
import { type App, createApp, migrateDatabase, openDatabase } from '../../../app/app.ts'
import { admissionOf, engineOf, openApi } from '../../../app/app-api.ts'
import { virtualClock } from '../../../base/clock.ts'
import { wholeNumber } from '../../../base/config-values.ts'
import { FatalError } from '../../../base/errors.ts'
import type { Database } from '../../../db/database.ts'
import { count, day } from '../../../drawing/words.ts'
import { resources } from '../../../resources/index.ts'
import { type Sandbox, startSandbox, storyWorld } from '../../../sandbox/index.ts'
import { isWorklist, type Resource, type Worklist } from '../../../sync/declare/resource.ts'
import { setExpectedInterval } from '../../../sync/ledger/gaps.ts'
import type { Engine } from '../../../sync/run/engine.ts'
import { runResource } from '../../../sync/run/run-resource.ts'
import type { RunResult } from '../../../sync/run/run-result.ts'
import type { Context } from '../../context.ts'
import { refuseIn } from '../../options.ts'
import { formatTable } from '../../output/table.ts'
import { writeReport } from '../report/report-command.ts'
import { demoFolder } from './demo-folder.ts'
import { begin, end, type Paragraph } from './demo-story.ts'

export interface DemoFlags {
  readonly seed?: string
}

/** What nothing of it depends on: it has an API and a database of its own, and tells a story. */
const idleFlags = ['--database-url', '--base-url', '--json', '--quiet', '--log-level']

/** `demo`: a simulated API, an embedded database in a folder of its own, and three days in five paragraphs, with a report. */
export async function demoCommand(context: Context, { seed: seedText = '1' }: DemoFlags): Promise<void> {
  const { out } = context
  const seed = wholeNumber('--seed', seedText, 2 ** 32 - 1)
  refuseIn('demo', context.flags, idleFlags)
  // Nothing of it is kept, so Ctrl-C may end it anywhere.
  context.restoreSignals?.()
  const folder = await demoFolder(context.flags.dataDir)
  const clock = virtualClock(Date.UTC(2026, 4, 1), { auto: true })
  const sandbox = await startSandbox({ clock, seed, game: storyWorld })
  const own = { baseUrl: sandbox.url, databaseUrl: undefined, dataDir: folder, token: undefined, proxy: {} }
  const config = { ...context.app.config, ...own }
  const app = createApp(config, { clock, logLevel: 'error' })
  out.write(`A simulated API at ${sandbox.url}, an embedded Postgres in ${folder}.`)
  const db = await withDots(context, () => openDatabase(app, ['demo'], { durable: false }))
  let report: string
  try {
    await withDots(context, () => migrateDatabase(db, app))
    out.write('\n')
    let number = 0
    const show = async (paragraph: typeof begin) => {
      const played = { db, now: clock.now(), history: sandbox.history() }
      out.write(paragraphText(++number, await withDots(context, () => paragraph(played)), folder))
    }
    await playDays({ app, db, sandbox, context }, () => show(begin))
    for (const paragraph of end) await show(paragraph)
    report = await withDots(context, () => writeDemoReport(db, app, folder))
  } finally {
    await db.close()
    await sandbox.close()
  }
  out.write(nextSteps(folder, report))
}

/** What happened, the command that shows it, and what it shows. */
function paragraphText(number: number, { text, command, columns, rows }: Paragraph, folder: string): string {
  const words = command.map((word) => (/^[\w:=.-]+$/.test(word) ? word : `"${word}"`)).join(' ')
  const table = formatTable(columns, rows, { readable: true }).replace(/^(?=.)/gm, '   ')
  return `\n${number}. ${text}\n\n   ${programCalled()} ${words} --data-dir ${folder}\n\n${table}`
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

/** How the program was called, and can be called again from the same folder. @param script of the process */
export function programCalled(script = process.argv[1] ?? ''): string {
  if (/[\\/]node_modules[\\/]/.test(script)) return 'npx wynnsync'
  return basename(script) === 'wynnsync' ? 'wynnsync' : 'node dist/main.js'
}

function nextSteps(folder: string, report: string): string {
  const program = programCalled()
  return `\nAll of this with pictures, for a browser:

  ${report}

The database stays where it is, and every command above can be typed. Then:

  ${program} query --list --data-dir ${folder}
  ${program} serve --data-dir ${folder}          the same as pages, with the map
  ${program} sync          the public API, into the database that your settings name
`
}

interface Stage {
  readonly app: App
  readonly db: Database
  readonly sandbox: Sandbox
  readonly context: Context
}

const HOUR = 3_600_000
const DAYS = 3

/** Keys of a worklist in each round. */
const keysEachTime = 6

const isLive = (one: Resource | Worklist) => one.lane === 'live'

/** What is synced every how many hours; a real schedule syncs far more often. */
const schedule = [
  { hours: 1, resources: resources.filter(isLive) },
  { hours: 24, resources: resources.filter((one) => !isLive(one) && !isWorklist(one)) },
  { hours: 8, resources: resources.filter((one) => !isLive(one) && isWorklist(one)) },
]

/** Syncs for three days, and writes what each brought. @param onFirst called when the live resources came for the first time */
async function playDays(stage: Stage, onFirst: () => Promise<void>): Promise<void> {
  const { app, db, sandbox, context } = stage
  const { out } = context
  const api = openApi(app)
  const engine = engineOf(app, db, api, { admission: await admissionOf(app, db) })
  let isFirst = true
  try {
    await expectIntervals(db, app.clock.now())
    for (let nth = 0; nth < DAYS; nth++) {
      const runs: RunResult[] = []
      const today = day(new Date(app.clock.now()))
      for (let hour = 0; hour < 24; hour++) {
        for (const due of schedule.filter(({ hours }) => hour % hours === 0)) {
          for (const resource of due.resources) {
            if (isFirst) out.write(` ${resource.name}`)
            runs.push(await withDots(context, () => syncOnce(resource, engine)))
          }
          if (nth + hour === 0 && due === schedule[0]) {
            await onFirst()
            out.write('\nThe rest arrives:')
          }
        }
        if (isFirst) out.write('\n\nThree days pass.\n')
        if (hour === 0) out.write(`\n${today} `)
        isFirst = false
        out.write('.')
        await sandbox.clock.moveTo(sandbox.clock.now() + HOUR)
      }
      out.write(` ${summary(runs)}`)
    }
    out.write('\n')
  } finally {
    await api.close()
  }
}

/** Sets how often everything is synced, so that coverage knows what is missing. */
async function expectIntervals(db: Database, now: number): Promise<void> {
  const given = { setBy: 'sync', at: new Date(now) } as const
  for (const { hours, resources: due } of schedule)
    for (const { name } of due)
      await setExpectedInterval(db, { resource: name, everySeconds: (hours * HOUR) / 1000, ...given })
}

async function syncOnce(resource: Resource | Worklist, engine: Engine): Promise<RunResult> {
  const run = await runResource(resource, engine, { limit: keysEachTime })
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
  return await work().finally(() => ended.abort())
}

function summary(runs: readonly RunResult[]): string {
  const sum = (name: 'requests' | 'inserted' | 'changed' | 'closed' | 'events') =>
    runs.reduce((total, run) => total + run[name], 0)
  const parts = [count(sum('requests'), 'request'), `${sum('inserted')} new`, `${sum('changed')} changed`]
  return [...parts, `${sum('closed')} gone`, count(sum('events'), 'event')].join(', ')
}
