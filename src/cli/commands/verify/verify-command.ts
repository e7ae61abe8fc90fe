import { resources } from '../../../resources/index.ts'
import { type Verified, verifyDatabase } from '../../../sync/verify/verify.ts'
import { type Context, tableWidth, withDatabase, writeSummary } from '../../context.ts'
import { exitCode } from '../../exit-codes.ts'
import { formatTable } from '../../output/table.ts'
import { durationText } from '../../output/units.ts'

/** `verify`: proves that what the database holds agrees with itself. Returns the exit code. */
export async function verifyCommand(context: Context): Promise<number> {
  const { app, signal, progress } = context
  const began = app.clock.now()
  progress.begin('verify')
  const onProgress = (records: number, count: number) => progress.seen('verify', { records, count }, 'checks')
  const checks = await withDatabase(
    context,
    'verify',
    (db) => verifyDatabase(db, resources, { signal, onProgress }).finally(() => progress.end()),
    { isInterruptible: true },
  )
  const seconds = Math.round((app.clock.now() - began) / 1000)
  const wrong = checks.reduce((sum, check) => sum + check.wrong, 0)
  writeSummary(context, { wrong, checks, seconds }, textOf(checks, seconds, tableWidth(context)))
  return wrong > 0 ? exitCode.rejected : exitCode.done
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
