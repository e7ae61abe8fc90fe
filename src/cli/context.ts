import { type App, checkReadable, createApp, migrateDatabase, openDatabase } from '../app/app.ts'
import { type ConfigFlags, givenSettings, readConfig, type SettingChecks } from '../base/config.ts'
import { InterruptedError, withRoom } from '../base/errors.ts'
import { wholeNumber } from '../base/settings.ts'
import { tableExists } from '../db/catalog.ts'
import { NothingThere } from '../db/connect.ts'
import { beforeOthers, type Database, type Sql } from '../db/database.ts'
import type { Output, Style } from './output/output.ts'
import { noProgress, type Progress } from './output/progress.ts'

export interface CommonFlags extends ConfigFlags {
  readonly json?: boolean
  readonly quiet?: boolean
  /** Of the commands that have long tables. */
  readonly wide?: boolean
}

/** Streams and signals of the process. */
export interface Terminal {
  readonly out: Output
  readonly err: Output
  readonly signal: AbortSignal
  /** Gives SIGINT, SIGTERM and SIGHUP their default effect again: they end the process. */
  restoreSignals?(): void
}

export interface Context extends Terminal {
  readonly app: App
  readonly progress: Progress
  readonly flags: CommonFlags
}

/** Loads the checks, and with them the resources, only when a setting names resources or tables. */
async function checksFor(flags: CommonFlags): Promise<SettingChecks> {
  const given = givenSettings(flags)
  const always = [given.WYNNSYNC_SCHEDULE, given.WYNNSYNC_RETENTION, given.WYNNSYNC_LAKE_SCHEDULE]
  const byName = [given.WYNNSYNC_RAW_DAYS, given.WYNNSYNC_PLAUSIBLE_SHARE]
  return always.some((text) => text) || byName.some((text) => text?.includes('='))
    ? (await import('./config-checks.ts')).settingChecks
    : {}
}

/** @throws UsageError that lists everything that is wrong with the configuration */
export async function createContext(flags: CommonFlags, terminal: Terminal): Promise<Context> {
  const config = readConfig(flags, undefined, undefined, await checksFor(flags))
  const onTerminal = terminal.err.isTTY
  // On a terminal the progress bar and the closing table are enough.
  const isUsual = givenSettings(flags).WYNNSYNC_LOG_LEVEL === undefined
  const app = createApp(config, {
    logLevel: flags.quiet ? 'error' : onTerminal && isUsual ? 'warn' : config.logLevel,
  })
  return { ...terminal, app, progress: await progressOf(flags, terminal, app), flags }
}

/** A bar on a terminal, or lines of the log. Their code is loaded where something is shown. */
async function progressOf({ quiet }: CommonFlags, { err }: Terminal, { clock, log }: App): Promise<Progress> {
  if (quiet || !(err.isTTY || log.isLevelEnabled('info'))) return noProgress
  const { progressBar, progressLines } = await import('./output/progress-shown.ts')
  return err.isTTY ? await progressBar(clock) : progressLines(clock, log)
}

export function interruption(signal: NodeJS.Signals): InterruptedError {
  return new InterruptedError(`interrupted by ${signal}`)
}

/** Writes the result of a command: one JSON document with `--json`, else the text. */
export function writeResult({ out, flags, progress }: Context, json: unknown, text: string, style?: Style): void {
  progress.stop()
  if (flags.json) out.write(`${JSON.stringify(json)}\n`)
  else out.write(text, style)
}

/** The same for a text that may be longer than the screen: with its colours, and through a pager. */
export async function showResult(context: Context, json: unknown, text: string, style?: Style): Promise<void> {
  if (context.flags.json) writeResult(context, json, text)
  else {
    context.progress.stop()
    await context.out.page(text, { style, chops: context.flags.wide === true })
  }
}

/** The width of tables; undefined when they show everything. */
export function tableWidth({ out, flags }: Context): number | undefined {
  return flags.wide ? undefined : out.width
}

/** Rows of a table on a terminal where no limit is given. */
const tableLimit = 50

/**
 * How many rows a command shows at most, 0 for all: a terminal has a limit of its own, a pipe has none.
 * @param given the value of `--limit`
 * @throws UsageError when it is no number
 */
export function rowLimit({ out }: Context, given: string | undefined, isTable: boolean): number {
  if (given !== undefined) return wholeNumber('--limit', given)
  return isTable && out.isTTY ? tableLimit : 0
}

/** As `writeResult`, but no text with `--quiet`. @param failures lines of text for stderr: what of the work failed */
export function writeSummary(context: Context, json: unknown, text: string, failures = ''): void {
  writeResult(context, json, context.flags.quiet ? '' : text)
  if (!context.flags.json && !context.flags.quiet && failures !== '') context.err.write(failures)
}

/**
 * Runs work that counts rows of tables; shows its progress, and says how many seconds it took.
 * @param place what the work writes to besides a database and copies of its own, for the message when its disk is full
 */
export async function withProgress<T>(
  { app, progress }: Context,
  name: string,
  work: (
    onProgress: (table: string, rows: number, of: number) => void,
    onLooked: (tables: number, of: number) => void,
  ) => Promise<T>,
  place?: string,
): Promise<{ readonly done: T; readonly seconds: number }> {
  const began = app.clock.now()
  progress.begin(name)
  const onLooked = (records: number, count: number) => progress.seen(name, { records, count }, 'tables')
  const done = await work((table, records, count) => progress.seen(table, { records, count }, 'rows'), onLooked)
    .catch((error: unknown) => {
      throw place === undefined ? error : withRoom(error, place)
    })
    .finally(() => progress.end())
  return { done, seconds: Math.round((app.clock.now() - began) / 1000) }
}

/** Resolves when the command is to end. */
export async function untilAborted({ signal }: Terminal): Promise<void> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
}

/**
 * Runs work with an open database, and closes it. By default it is a reader's: made and migrated by another command.
 * @param holds what the command does, shown to a process that finds the embedded database in use
 * @param options.isInterruptible whether the first SIGINT or SIGTERM ends the command; for commands that only read
 * @param options.access `change`: what is there is brought up to date first; `create`: what is not there is made, too; `migrate`:
 * made, and work itself brings it up to date
 * @param options.alone whether it waits for the end of another process that has the embedded database open, and works not through that one
 * @param options.isLong whether it reads for long: beside another process that has the embedded database open, a copy of its files
 * @param options.stays whether it reads until a signal ends it, what is there at each moment; else what syncs leave no time for is read from such a copy
 * @param options.lowMemory whether an embedded database takes less memory and more time: for what does not end soon, and has hardly any sorting to do
 * @param options.isShort whether it is some statements for which a person waits: they come before what syncs beside it
 * @throws UsageError where there is nothing to read or to change, or what is to be read has tables of an earlier version
 */
export async function withDatabase<T>(
  context: Context,
  holds: string,
  work: (db: Database) => Promise<T>,
  {
    isInterruptible = false,
    access = 'read' as 'read' | 'change' | 'create' | 'migrate',
    alone = false,
    isLong = false,
    stays = false,
    isShort = false,
    lowMemory = false,
  } = {},
): Promise<T> {
  const { app, signal, progress, restoreSignals } = context
  // A server cancels the statement; of the embedded database nothing needs to be ended in order.
  if (isInterruptible && app.config.databaseUrl === undefined) restoreSignals?.()
  const creates = access === 'create' || access === 'migrate'
  const shares = isLong ? 'copy' : access === 'read' ? 'reads' : 'writes'
  const use = {
    creates,
    stopWaiting: signal,
    ending: signal,
    ...(alone ? {} : { shares: shares as 'reads' | 'writes' | 'copy', mayCopy: shares === 'reads' && !stays }),
  }
  const open = async () => {
    const db = await openDatabase(app, [holds], {
      ...use,
      thread: true,
      lowMemory,
      ...(isInterruptible ? { signal, isBrief: true } : {}),
    })
    try {
      if (access !== 'migrate') await prepare(db, context, access)
      return db
    } catch (error) {
      await db.close()
      throw error
    }
  }
  progress.during(holds)
  try {
    const db = await beforeOthers(open)
    try {
      return await (isShort ? beforeOthers(() => work(db)) : work(db))
    } finally {
      progress.during('closing the database, which is copied once a day')
      await db.close()
    }
  } finally {
    progress.stop()
  }
}

async function prepare(db: Database, context: Context, access: 'read' | 'change' | 'create'): Promise<void> {
  if (access === 'read') {
    await checkReadable(db, context.app)
    return
  }
  if (access === 'change' && !(await tableExists(db, 'sync.run'))) throw new NothingThere(db.place)
  await migrateShown(db, context)
}

/** Brings the database up to date, and shows how much of that is done. */
export async function migrateShown(
  db: Database,
  { app, progress }: Pick<Context, 'app' | 'progress'>,
  options: { readonly again?: boolean; readonly duringMove?: boolean } = {},
) {
  const onProgress = (records: number, count: number) => progress.seen('migrate', { records, count }, 'files')
  return await migrateDatabase(db, app, { ...options, onProgress }).finally(() => progress.end())
}

/** Runs work in a transaction that is rolled back, and returns its result. */
export async function rolledBack<T>(db: Database, work: (sql: Sql) => Promise<T>): Promise<T> {
  const rollback = new Error('rolled back')
  const done: { result?: T } = {}
  await db
    .transaction(async (sql) => {
      done.result = await work(sql)
      throw rollback
    })
    .catch((error: unknown) => {
      if (error !== rollback) throw error
    })
  return done.result as T
}
