import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { composeReport, type Wanted } from '../../../analytics/report/report.ts'
import { migrateDatabase, version } from '../../../app/app.ts'
import { FatalError, UsageError } from '../../../app/errors.ts'
import type { Sql } from '../../../db/database.ts'
import { guilds } from '../../../resources/guilds/index.ts'
import { type Context, exitCode } from '../../context.ts'
import { openInterruptible } from '../../interruptible.ts'
import { keysKnown } from '../sync/named-keys.ts'

export interface ReportOptions {
  readonly from?: string
  readonly to?: string
  readonly guild?: string
  readonly out?: string
}

/** `report`: what happened in a period as one HTML file, its path on stdout. Returns the exit code. */
export async function reportCommand(options: ReportOptions, context: Context): Promise<number> {
  const { app, out, flags } = context
  const [from, to] = [instantOf('--from', options.from), instantOf('--to', options.to)]
  if (from && to && from >= to) throw new UsageError('--from wants an instant before --to')
  const db = await openInterruptible(context, ['report'])
  try {
    await migrateDatabase(db, app)
    const guild = options.guild === undefined ? undefined : await guildNamed(db, options.guild)
    const wanted = { ...(from && { from }), ...(to && { to }), guild, writtenAt: new Date(app.clock.now()) }
    const { path, ...report } = await writeReport(db, wanted, options.out ?? 'report.html')
    out.write(flags.json ? `${JSON.stringify({ path, ...report })}\n` : `${path}\n`)
    return exitCode.done
  } finally {
    await db.close()
  }
}

/**
 * Writes a report into a file.
 * @returns the file's absolute path, what the report is about, and its size in bytes
 * @throws FatalError when the file cannot be written
 */
export async function writeReport(sql: Sql, wanted: Omit<Wanted, 'version'>, file: string) {
  const { html, ...about } = await composeReport(sql, { ...wanted, version })
  const path = resolve(file)
  try {
    await writeFile(path, html)
  } catch (error) {
    throw new FatalError(`the report cannot be written to ${path}`, { cause: error })
  }
  return { path, ...about, bytes: Buffer.byteLength(html) }
}

async function guildNamed(db: Sql, name: string): Promise<string> {
  const [guild] = (await keysKnown(guilds, db, [name])).keys
  if (guild === undefined)
    throw new UsageError(`--guild: no guild is known as ${name}; wynnsync sync guild-list brings all`)
  return guild
}

function instantOf(flag: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined
  const instant = Date.parse(text)
  if (Number.isNaN(instant))
    throw new UsageError(`${flag} wants an instant such as 2026-05-01T08:00:00Z, found ${text}`)
  return new Date(instant)
}
