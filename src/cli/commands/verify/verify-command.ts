import { RetryableError } from '../../../base/errors.ts'
import type { Database } from '../../../db/database.ts'
import { storeSettings } from '../../../lake/lake-store.ts'
import { verifyBackup, verifyConfiguredLake, verifyLake } from '../../../lake/verify-places.ts'
import { resources } from '../../../resources/index.ts'
import { repairable, repairDatabase } from '../../../sync/verify/repair.ts'
import { type Verified, verifyDatabase } from '../../../sync/verify/verify.ts'
import { type ConsentFlags, consent } from '../../ask.ts'
import { type Context, tableWidth, withDatabase, writeSummary } from '../../context.ts'
import { exitCode } from '../../exit-codes.ts'
import { refuseWithout } from '../../options.ts'
import { formatTable } from '../../output/table.ts'
import { durationText } from '../../output/units.ts'
import { withoutWriters } from '../../without-writers.ts'

interface VerifyFlags extends ConsentFlags {
  readonly repair?: boolean
  readonly lake?: string
  readonly backup?: string
}

/** `verify`: proves that what the database holds agrees with itself; `--repair` puts right what follows from it. Returns the exit code. */
export async function verifyCommand(context: Context, flags: VerifyFlags): Promise<number> {
  refuseWithout(flags, '--repair', ['--yes', '--dry-run'])
  const { repair = false, dryRun = false } = flags
  const { clock } = context.app
  const began = clock.now()
  const changes = repair && !dryRun
  const work = async (db: Database) => {
    const checks = await verifyAll(context, db)
    const repaired = repair ? repairable(checks) : []
    if (!changes || repaired.length === 0) return { checks, repaired }
    context.err.write(formatTable(['check', 'table', 'wrong', 'meaning'], repaired, { width: tableWidth(context) }))
    await consent(context, flags, { command: 'verify --repair', question: 'Repair these?' })
    await withoutWriters(db, () => repairDatabase(db, resources, checks, new Date(clock.now())))
    return { checks: await verifyAll(context, db), repaired }
  }
  context.progress.during('verify')
  // A bucket that is away does not take away what is found in the database; a wrong name is said at once.
  const places = await verifyPlaces(context, flags).catch((error: unknown) => {
    if (error instanceof RetryableError) return error
    throw error
  })
  const { checks: ofDatabase, repaired } = await withDatabase(
    context,
    'verify',
    work,
    changes ? { access: 'change', alone: true } : { isInterruptible: true, isLong: true },
  )
  const seconds = Math.round((clock.now() - began) / 1000)
  if (places instanceof RetryableError) {
    context.err.write(textOf(ofDatabase, seconds, tableWidth(context)))
    throw places
  }
  const checks = [...ofDatabase, ...places]
  const wrong = checks.reduce((sum, check) => sum + check.wrong, 0)
  // What cannot be put right is found again.
  const left = ({ check, table }: Verified) =>
    changes ? (ofDatabase.find((one) => one.check === check && one.table === table)?.wrong ?? 0) : 0
  const done = repaired
    .map((one) => ({ check: one.check, table: one.table, rows: one.wrong - left(one) }))
    .filter(({ rows }) => rows > 0)
  const json = { wrong, checks, seconds, ...(repair ? { dryRun, repaired: done } : {}) }
  writeSummary(context, json, textOf(checks, seconds, tableWidth(context)) + repairedText(done, dryRun))
  return wrong > 0 ? exitCode.rejected : exitCode.done
}

/** What lies beside the database: the lake that is named or configured, and a backup. Of a lake that is only configured there may be none yet. */
async function verifyPlaces({ app, signal }: Context, { lake, backup }: VerifyFlags): Promise<Verified[]> {
  const options = { settings: storeSettings(app), signal }
  const { lake: configured } = app.config
  return [
    ...(lake === undefined ? [] : await verifyLake(lake, options)),
    ...(lake !== undefined || configured === undefined ? [] : await verifyConfiguredLake(configured, options)),
    ...(backup === undefined ? [] : await verifyBackup(backup, options)),
  ]
}

async function verifyAll({ signal, progress }: Context, db: Database): Promise<Verified[]> {
  progress.begin('verify')
  const onProgress = (records: number, count: number) => progress.seen('verify', { records, count }, 'checks')
  return await verifyDatabase(db, resources, { signal, onProgress }).finally(() => progress.end())
}

function repairedText(
  repaired: readonly { readonly check: string; readonly table: string; readonly rows: number }[],
  dryRun: boolean,
): string {
  const what = dryRun ? 'would repair' : 'repaired'
  return repaired.map(({ check, table, rows }) => `${what} ${check} ${table}: ${rows}\n`).join('')
}

function textOf(checks: readonly Verified[], seconds: number, width: number | undefined): string {
  const failed = checks.filter(({ wrong }) => wrong > 0)
  const tables = new Set(checks.map(({ table }) => table)).size
  const total = `${checks.length} checks of ${tables} tables in ${durationText(seconds)}`
  if (failed.length === 0) return `${total}: nothing is wrong\n`
  const found = failed.map(({ examples, ...check }) => {
    const columns = [...new Set(examples.flatMap(Object.keys))]
    return `\n${check.check} ${check.table}: ${check.meaning}; of ${check.wrong} rows the first:\n${formatTable(columns, examples, { width })}`
  })
  return `${formatTable(['check', 'table', 'wrong', 'meaning'], failed, { width })}${found.join('')}
${total}: ${failed.length} found what is wrong
`
}
