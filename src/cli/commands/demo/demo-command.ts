import { readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { type App, createApp, migrateDatabase, openDatabase } from '../../../app/app.ts'
import { admissionOf, engineOf, openApi } from '../../../app/app-api.ts'
import { systemClock, virtualClock } from '../../../base/clock.ts'
import { codeOf, FatalError, RetryableError, UsageError } from '../../../base/errors.ts'
import { wholeNumber } from '../../../base/settings.ts'
import type { Database } from '../../../db/database.ts'
import { lockFolder } from '../../../db/embedded/folder-lock.ts'
import { clockTime, count, day, length, moment, number } from '../../../drawing/words.ts'
import { readAsked, rowsOf, statementFor } from '../../../questions/asking/ask.ts'
import { givenWords } from '../../../questions/asking/words.ts'
import { readQuestions } from '../../../questions/questions.ts'
import { resources } from '../../../resources/index.ts'
import { nameFinders } from '../../../resources/key-names.ts'
import { type GameHistory, type Sandbox, startSandbox, storyWorld } from '../../../sandbox/index.ts'
import { isWorklist, type Resource, type Worklist } from '../../../sync/declare/resource.ts'
import { setExpectedInterval } from '../../../sync/ledger/gaps.ts'
import type { Engine } from '../../../sync/run/engine.ts'
import { runResource } from '../../../sync/run/run-resource.ts'
import type { RunResult } from '../../../sync/run/run-result.ts'
import type { Context } from '../../context.ts'
import { refuseIn } from '../../options.ts'
import { formatTable } from '../../output/table.ts'
import { writeReport } from '../report/report-command.ts'

/** A file that only the folders of demos have. */
export const marker = 'wynnsync-demo'

const isLock = (name: string) => /^lock(\.|$)/.test(name)

/**
 * An empty folder for a demo: the given one, or one in the temporary folder of the system. What an earlier demo left is removed.
 * @throws UsageError when it holds something else; RetryableError when a process has it open
 */
async function demoFolder(given: string | undefined): Promise<string> {
  const folder = given === undefined ? join(tmpdir(), `wynnsync-demo-${process.getuid?.() ?? -1}`) : resolve(given)
  const isOwn = (names: readonly string[]) =>
    given === undefined || names.includes(marker) || names.every((name) => isLock(name))
  if (!isOwn(await namesIn(folder)))
    throw new UsageError(`${folder} holds something that is not a demo's; --data-dir must name an empty folder for it`)
  // With its lock, so that a demo that is running, or a command on its database, keeps what it has.
  const unlock = await lockFolder(folder, { clock: systemClock, holds: ['demo'] }).catch((error: unknown) => {
    if (!(error instanceof RetryableError)) throw error
    const { pid, holds } = error.context
    const holder = `process ${pid}${holds ? ` (${holds})` : ''}`
    throw new RetryableError(`${holder} uses ${folder}: stop it, or name another folder for this demo: --data-dir`)
  })
  try {
    for (const name of await namesIn(folder))
      if (!isLock(name)) await rm(join(folder, name), { recursive: true, force: true })
    await writeFile(join(folder, marker), 'What is in this folder is removed by the next demo in it.\n')
  } finally {
    await unlock()
  }
  return folder
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    // What is no folder at all, its lock reports.
    if (/^(ENOENT|ENOTDIR|EACCES)$/.test(String(codeOf(error)))) return []
    throw error
  }
}

/** What a paragraph of the story shows. */
interface Paragraph {
  readonly text: string
  readonly command: readonly string[]
  /** Those of the answer's columns that are shown. */
  readonly columns: readonly string[]
  readonly rows: readonly Record<string, unknown>[]
}

/** What a paragraph is made from: what is in the database, and what truly happened. */
interface Played {
  readonly db: Database
  /** The instant of the simulated world, ms. */
  readonly now: number
  readonly history: GameHistory
}

/** What is to be seen when the first resource has come, and what when the days are over. */
const begin = theMap
const end = [theWar, thePrivacySwitch, thePatch, theTransfer]

async function theMap(played: Played): Promise<Paragraph> {
  const command = ['query', 'guild_territory_count', '2026-05-01', '2026-05-01T01:00Z', '1h']
  const rows = await ask(played, command)
  const [first] = rows
  return {
    text: `The map: ${count(rows.length, 'guild')} share it. ${first?.guild_name} holds most: ${count(Number(first?.territories), 'territory', 'territories')}.`,
    command,
    columns: ['guild_name', 'territories'],
    rows,
  }
}

async function theWar(played: Played): Promise<Paragraph> {
  const command = ['query', 'capture_matrix', '2026-05-02', '2026-05-03']
  const rows = await ask(played, command)
  const [taken, back] = rows
  const captures = played.history.captures.map(({ at }) => Date.parse(at))
  const lasted = ((captures.at(-1) ?? 0) - (captures[0] ?? 0)) / 1000
  return {
    text: `War: on ${moment(new Date(captures[0] ?? 0))}, ${taken?.attacker} attacks ${taken?.defender}, and has ${count(Number(taken?.captures), 'territory', 'territories')} of it before ${number(Number(back?.captures))} are taken back. All is over in ${length(lasted)}.`,
    command,
    columns: ['attacker', 'defender', 'captures'],
    rows,
  }
}

async function thePrivacySwitch(played: Played): Promise<Paragraph> {
  const switched = played.history.privacy.find(({ rule, restricted, at }) => {
    return rule === 'onlineStatus' && restricted && at >= '2026-05-01'
  })
  const player = switched?.player ?? ''
  const name = await nameOf(played.db, player)
  const removals = await played.db.query<{ at: Date; fieldGroup: string }>(
    `select at, field_group as "fieldGroup", rows, reason from sync.privacy_action where player_uuid::text = $1 order by at`,
    [player],
  )
  // What else the player hid before is another row of the table.
  const removed = removals.find(({ fieldGroup }) => fieldGroup === 'onlineStatus')
  return {
    text: `A privacy switch: on ${moment(new Date(switched?.at ?? 0))}, ${name} hides the online status. The second response that shows it removes what was kept of it, at ${clockTime(removed?.at ?? new Date(0))}.`,
    command: ['privacy', 'show', name],
    columns: ['at', 'fieldGroup', 'rows', 'reason'],
    rows: removals,
  }
}

async function thePatch(played: Played): Promise<Paragraph> {
  const [patched] = played.history.itemPatches
  const [item] = await played.db.query<{ name: string; at: Date }>(
    `select display_name as name, changed_at as at from analytics.item_change
      where internal_name = any($1::text[]) and path like '/identifications/%' order by 1 limit 1`,
    [patched?.changed ?? []],
  )
  const command = ['query', 'item_change', item?.name ?? '']
  const rows = await ask(played, command)
  return {
    text: `A patch: on ${moment(item?.at ?? new Date(0))}, ${count(patched?.changed.length ?? 0, 'item')} are not what they were the day before. One of them is ${item?.name}.`,
    command,
    columns: ['path', 'old_value', 'new_value'],
    rows: rows.slice(0, 4),
  }
}

async function theTransfer(played: Played): Promise<Paragraph> {
  const command = ['query', 'membership_event', 'event=transferred']
  const rows = await ask(played, command)
  const [one] = rows
  return {
    text: `Changing sides: after the war, ${one?.username} goes over to ${one?.guild_name}.`,
    command,
    columns: ['at', 'username', 'from_rank', 'guild_name', 'to_rank'],
    rows,
  }
}

/** The rows that `wynnsync query` shows. */
async function ask({ db, now }: Played, [, name, ...given]: readonly string[]): Promise<Record<string, unknown>[]> {
  const question = (await readQuestions(db)).find((one) => one.name === name)
  if (!question) throw new RangeError(`no question is called ${name}`)
  const asked = await readAsked(db, question, givenWords(question, given), { now, finders: nameFinders })
  return await rowsOf(db, statementFor(question, asked, 0), asked)
}

async function nameOf(db: Database, player: string): Promise<string> {
  const [row] = await db.query<{ name: string }>(
    `select username as name from analytics.guild_member where player_uuid::text = $1`,
    [player],
  )
  return row?.name ?? player
}

interface DemoFlags {
  readonly seed?: string
}

/** What nothing of it depends on: it has an API and a database of its own, and tells a story. */
const idleFlags = ['--database-url', '--base-url', '--json', '--quiet', '--log-level']

/** A world whose guilds have colours that differ well on the map. */
const SEED = '28'

/** `demo`: a simulated API, an embedded database in a folder of its own, and three days in five paragraphs, with a report. */
export async function demoCommand(context: Context, { seed: seedText = SEED }: DemoFlags): Promise<void> {
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
const DEMO_DAYS = 3

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
    for (let nth = 0; nth < DEMO_DAYS; nth++) {
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
