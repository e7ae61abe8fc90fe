import { instantText } from '../../../analytics/instants.ts'
import {
  type Argument,
  argumentsOf,
  type Question,
  readQuestions,
  shownStatement,
  statementFor,
  usageOf,
} from '../../../analytics/questions.ts'
import { migrateDatabase } from '../../../app/app.ts'
import { UsageError } from '../../../app/errors.ts'
import { wholeNumber } from '../../../app/whole-number.ts'
import type { Database } from '../../../db/database.ts'
import { sqlState } from '../../../db/sql-errors.ts'
import { type Context, exitCode } from '../../context.ts'
import { openInterruptible } from '../../interruptible.ts'
import { formatCsv, formatJson, formatTable } from '../../output/table.ts'
import { listOf } from './query-list.ts'
import { resolveName } from './query-names.ts'

export interface QueryOptions {
  readonly list?: boolean
  readonly csv?: boolean
  /** CSV in which text is exactly as it is. */
  readonly raw?: boolean
  readonly sql?: boolean
  /** Rows at most; 0 for all. Only the table has a limit of its own. */
  readonly limit?: string
}

/** Rows that a table on a screen shows when nobody says how many. */
const screenful = 50

/** `query [question] [args...]`: asks one view or function of schema `analytics`. Returns the exit code. */
export async function queryCommand(
  name: string | undefined,
  given: readonly string[],
  options: QueryOptions,
  context: Context,
): Promise<number> {
  const { app, out, flags } = context
  refuseFlags(given)
  const db = await openInterruptible(context, ['query'])
  try {
    await migrateDatabase(db, app)
    const questions = await readQuestions(db)
    if (options.list || name === undefined) {
      out.write(flags.json ? `${JSON.stringify({ questions })}\n` : listOf(questions))
      return exitCode.done
    }
    const question = questions.find((one) => one.name === name)
    if (!question) {
      throw new UsageError(`no question is called ${name}; there are: ${questions.map((one) => one.name).join(', ')}`)
    }
    await ask(db, question, await readArguments(db, question, given, app.clock.now()), options, context)
    return exitCode.done
  } finally {
    await db.close()
  }
}

/** `-7d` is an argument that looks like a flag, so flags that do not exist come as arguments. */
function refuseFlags(given: readonly string[]): void {
  const flag = given.find((one) => /^-(-|[a-z])/i.test(one) && one !== '-infinity')
  if (flag !== undefined) throw new UsageError(`unknown option '${flag}'\n(add --help for the flags and an example)`)
}

async function readArguments(db: Database, question: Question, given: readonly string[], now: number) {
  const read: Argument[] = []
  for (const argument of argumentsOf(question, given, ['-7d', 'now'])) {
    const isInstant = argument.type === 'timestamp with time zone'
    read.push(isInstant ? { ...argument, value: instantText(argument.value, now) } : await resolveName(db, argument))
  }
  return read
}

async function ask(
  db: Database,
  question: Question,
  given: readonly Argument[],
  options: QueryOptions,
  context: Context,
) {
  const { out, err, flags } = context
  const asTable = !flags.json && !options.csv
  const limit = options.limit === undefined ? (asTable ? screenful : 0) : wholeNumber('--limit', options.limit)
  if (options.sql) {
    out.write(`${shownStatement(statementFor(question, given, limit))}\n`)
    return
  }
  // One row more than is shown tells whether there are more.
  const statement = statementFor(question, given, limit > 0 ? limit + 1 : 0)
  const rows = await db.query(statement.text, statement.values).catch((error: unknown) => {
    // Class 22 is data: an argument that is no instant, no number, ...
    if (!sqlState(error)?.startsWith('22')) throw error
    throw new UsageError(`${error instanceof Error ? error.message : error}\n${usageOf(question)}`)
  })
  const shown = limit > 0 ? rows.slice(0, limit) : rows
  const columns = question.columns.map((one) => one.name)
  if (flags.json) out.write(`${formatJson(shown)}\n`)
  else if (options.csv) out.writeData(formatCsv(columns, shown, options))
  else out.write(formatTable(columns, shown))
  if (flags.quiet) return
  if (rows.length > shown.length) err.write(`the first ${limit} rows; --limit 0 for all\n`)
  if (rows.length === 0 && !(await hasRuns(db))) err.write('nothing was synced into this database yet: wynnsync sync\n')
}

async function hasRuns(db: Database): Promise<boolean> {
  const [row] = await db.query<{ some: boolean }>('select exists (select from sync.run) as some')
  return row?.some === true
}
