import { join } from 'node:path'
import { type App, createApp, migrateDatabase, openDatabase } from '../../../app/app.ts'
import { virtualClock } from '../../../base/clock.ts'
import { wholeNumber } from '../../../base/config-values.ts'
import { FatalError } from '../../../base/errors.ts'
import type { Database } from '../../../db/database.ts'
import { startSandbox, storyWorld } from '../../../sandbox/index.ts'
import type { Context } from '../../context.ts'
import { refuseIn } from '../../options.ts'
import { formatTable } from '../../output/table.ts'
import { writeReport } from '../report/report-command.ts'
import { playDays, withDots } from './demo-days.ts'
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
  return `\n${number}. ${text}\n\n   node dist/main.js ${words} --data-dir ${folder}\n\n${table}`
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

The database stays where it is, and every command above can be typed. Then:

  node dist/main.js query --list --data-dir ${folder}
  node dist/main.js serve --data-dir ${folder}          the same as pages, with the map
  node dist/main.js sync          the public API, into the database that your settings name
`
}
