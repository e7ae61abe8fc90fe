import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { version } from '../../../app/app.ts'
import { FatalError, messageOf, UsageError, withRoom } from '../../../base/errors.ts'
import type { Database, Sql } from '../../../db/database.ts'
import { composeReport, type Wanted } from '../../../report/report.ts'
import { worklistOf } from '../../../resources/index.ts'
import { type Context, withDatabase, writeResult } from '../../context.ts'
import { keysKnown, notFound } from '../../named-keys.ts'
import { instantFlag } from '../../options.ts'

interface ReportFlags {
  readonly from?: string
  readonly to?: string
  readonly guild?: string
  readonly out?: string
  readonly tables?: boolean
}

/** `report`: what happened in a period as one HTML file, its path on stdout. */
export async function reportCommand(context: Context, flags: ReportFlags): Promise<void> {
  const { app } = context
  const from = instantFlag('--from', flags.from, app)
  const to = instantFlag('--to', flags.to, app)
  if (from && to && from >= to) throw new UsageError('--from must be an instant before --to')
  const write = async (db: Database) => {
    const guild = flags.guild === undefined ? undefined : await guildNamed(db, flags.guild)
    const wanted = {
      ...(from && { from }),
      ...(to && { to }),
      guild,
      tables: flags.tables ?? false,
      writtenAt: new Date(app.clock.now()),
    }
    const report = await writeReport(db, wanted, flags.out ?? 'report.html')
    writeResult(context, report, `${report.path}\n`)
  }
  return await withDatabase(context, 'report', write, { isInterruptible: true })
}

/**
 * Writes a report into a file.
 * @returns the file's absolute path, what the report is about, and its size in bytes
 * @throws FatalError when the file cannot be written
 */
export async function writeReport(sql: Sql, wanted: Omit<Wanted, 'version'>, file: string) {
  const { html, ...about } = await composeReport(sql, { ...wanted, version })
  const path = resolve(file)
  await writeFile(path, html).catch((error: unknown) => {
    throw new FatalError(`the report cannot be written to ${path}: ${messageOf(withRoom(error, path))}`, {
      cause: error,
    })
  })
  return { path, ...about, bytes: Buffer.byteLength(html) }
}

async function guildNamed(db: Sql, name: string): Promise<string> {
  const [guild] = (await keysKnown(worklistOf('guild'), db, [name])).keys
  if (guild === undefined) {
    const said = await notFound(worklistOf('guild'), db, name)
    throw new UsageError(`--guild: ${said}; wynnsync sync ${worklistOf('guild').keySource} fetches all`)
  }
  return guild
}
