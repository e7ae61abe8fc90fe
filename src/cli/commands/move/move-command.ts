import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type App, openDatabase } from '../../../app/app.ts'
import { isConnection, readConnection } from '../../../base/connection-string.ts'
import { messageOf, UsageError } from '../../../base/errors.ts'
import { tableExists } from '../../../db/catalog.ts'
import type { Database } from '../../../db/database.ts'
import { listTables } from '../../../db/move/copied-table.ts'
import { inSnapshot, type Moved, measure, moveDatabase, refuseRows, type TableSize } from '../../../db/move/move.ts'
import { isMoveUnfinished } from '../../../db/move/move-progress.ts'
import { countWrites } from '../../../db/move/table-digest.ts'
import { type ConsentFlags, consent } from '../../ask.ts'
import { type Context, migrateShown, withDatabase, withProgress, writeResult, writeSummary } from '../../context.ts'
import { exitCode } from '../../exit-codes.ts'
import { formatTable } from '../../output/table.ts'
import { bytesText, durationText } from '../../output/units.ts'
import { withoutWriters } from '../../without-writers.ts'

interface MoveFlags extends ConsentFlags {
  readonly to?: string
  readonly merge?: boolean
}

/** Rows a second that two slow cores copy and compare; for the estimate. */
const ROWS_PER_SECOND = 10_000

/** `move --to PLACE`: copies everything into another database. Returns the exit code. */
export async function moveCommand(context: Context, flags: MoveFlags): Promise<number> {
  const { app } = context
  const { to, dryRun = false, merge = false } = flags
  const target = targetOf(to, app)
  return await withDatabase(
    context,
    'move',
    async (source) => {
      const sizes = await inSnapshot(source, measure)
      if (sizes.every(({ rows }) => rows === 0)) throw nothingToMove(source)
      if (dryRun) return await showPlan(context, source, target, { sizes, merge })
      if (merge) {
        const question = `Take the history of ${source.place} into the one that the other database has?`
        await consent(context, flags, { command: 'move --merge', question })
      }
      const other = await openDatabase(target, ['move'], { thread: true, stopWaiting: context.signal })
      try {
        if (other.place === source.place) throw samePlace(source)
        await migrateShown(other, context, { duringMove: !merge })
        if (merge) {
          const { mergeDatabases } = await import('./move-merge.ts')
          if (!(await hasRows(other))) throw nothingToMergeInto(other.place)
          return await withoutWriters(source, () => mergeDatabases(context, source, other))
        }
        return await withoutWriters(source, () => withoutWriters(other, () => run(context, source, other)))
      } finally {
        context.progress.during('closing the other database, which is copied once a day')
        await other.close()
      }
    },
    // A plan reads, also what `start` writes meanwhile.
    dryRun ? {} : { access: 'change', alone: true },
  )
}

async function run(context: Context, source: Database, target: Database): Promise<number> {
  const { app, signal } = context
  const writes = await countWrites(source)
  const onCopied = (table: string, rows: number) => app.log.debug({ table, rows }, 'copied')
  const { done: moved, seconds } = await withProgress(context, 'move', async (onProgress) => {
    const copied = await moveDatabase(source, target, { signal, onProgress, onCopied })
    if (target.kind === 'server') await target.query('analyze')
    return copied
  })
  const missed = (await countWrites(source)) - writes
  if (missed > 0)
    app.log.warn({ rows: missed }, `${source.place} was written to during the move; that is not in ${target.place}`)
  const environment = environmentOf(target)
  const json = { source: source.place, target: target.place, ...moved, seconds, writtenMeanwhile: missed, environment }
  writeSummary(context, json, textOf(moved, { source, target, seconds }))
  return exitCode.done
}

function textOf(
  { tables, rows, resumed }: Moved,
  { source, target, seconds }: { source: Database; target: Database; seconds: number },
): string {
  const filled = tables.filter((table) => table.rows > 0)
  const again = resumed > 0 ? ` (${resumed} tables by an earlier call)` : ''
  const settings = Object.entries(environmentOf(target)).map(([name, value]) =>
    value === null ? `  without ${name}` : `  ${name}=${value}`,
  )
  const key = target.kind === 'server' ? ', with user and password instead of USER:PASSWORD' : ''
  return `${formatTable(['table', 'rows'], filled)}
${rows.toLocaleString('en-US')} rows of ${tables.length} tables copied${again} and compared in ${durationText(seconds)}: ${source.place} -> ${target.place}
Put this into .env${key}:
${settings.join('\n')}
${source.place} is as it was; delete it when you do not need it any more.
`
}

/** What the configuration must be for the target. It never has the credentials of a URL. */
function environmentOf({ kind, place }: Database): Record<string, string | null> {
  if (kind === 'embedded') return { DATABASE_URL: null, WYNNSYNC_DATA_DIR: place }
  const [, folder, database] = /^(\/.*)\/([^/]*)$/.exec(place) ?? []
  const named = folder === undefined ? place : `/${database}?host=${folder}`
  return { DATABASE_URL: `postgres://USER:PASSWORD@${named}` }
}

async function showPlan(
  context: Context,
  source: Database,
  target: App,
  { sizes, merge }: { readonly sizes: readonly TableSize[]; readonly merge: boolean },
): Promise<number> {
  const { databaseUrl, dataDir } = target.config
  // An embedded database that is not there need not be made to see that it is empty.
  const isNew = databaseUrl === undefined && !existsSync(join(dataDir, 'postgres'))
  const other = isNew ? undefined : await openDatabase(target, ['move'], { thread: true, stopWaiting: context.signal })
  try {
    if (other?.place === source.place) throw samePlace(source)
    const resumes = other !== undefined && (await isMoveUnfinished(other))
    if (other && !resumes && !merge && (await tableExists(other, 'sync.run')))
      await refuseRows(other, await listTables(other))
    if (merge && !(other && (await hasRows(other)))) throw nothingToMergeInto(other?.place ?? dataDir)
    const rows = sizes.reduce((sum, table) => sum + table.rows, 0)
    const bytes = sizes.reduce((sum, table) => sum + table.bytes, 0)
    const minutes = Math.ceil(rows / ROWS_PER_SECOND / 60)
    const place = other?.place ?? dataDir
    const text = `${formatTable(
      ['table', 'rows', 'bytes'],
      sizes.filter((table) => table.rows > 0),
    )}
${rows.toLocaleString('en-US')} rows, ${bytesText(bytes)}: ${source.place} -> ${place}${resumes ? ' (goes on where an earlier call ended)' : ''}
${merge ? `Of these --merge takes what ${place} has not and did not observe itself` : `It takes about ${durationText(60 * minutes)}`}
`
    writeResult(context, { source: source.place, target: place, tables: sizes, rows, bytes, minutes, resumes }, text)
    return exitCode.done
  } finally {
    await other?.close()
  }
}

async function hasRows(db: Database): Promise<boolean> {
  return (await tableExists(db, 'sync.run')) && (await inSnapshot(db, measure)).some(({ rows }) => rows > 0)
}

/** The same program on the other database. @throws UsageError when there is none */
function targetOf(to: string | undefined, app: App): App {
  if (to === undefined || to === '')
    throw new UsageError('--to must be postgres://user:password@host:5432/database, or a folder')
  const { databaseUrl, ...config } = app.config
  if (isServer(to)) return { ...app, config: { ...config, databaseUrl: to } }
  const dataDir = resolve(to)
  if (databaseUrl === undefined && dataDir === resolve(config.dataDir)) throw samePlace({ place: config.dataDir })
  return { ...app, config: { ...config, databaseUrl: undefined, dataDir } }
}

/** @throws UsageError without the text, which may hold a password, when it is meant as a server and is none */
function isServer(to: string): boolean {
  if (!isConnection(to)) return false
  try {
    readConnection(to)
    return true
  } catch (error) {
    throw new UsageError(`--to ${messageOf(error)}`)
  }
}

function samePlace({ place }: Pick<Database, 'place'>): UsageError {
  return new UsageError(`${place} is the database that is configured; --to must be another one`)
}

function nothingToMove({ place }: Database): UsageError {
  return new UsageError(`${place} is empty: there is nothing to move; see --data-dir and --database-url`)
}

function nothingToMergeInto(place: string): UsageError {
  return new UsageError(`${place} is empty: leave out --merge, and everything is copied`)
}
