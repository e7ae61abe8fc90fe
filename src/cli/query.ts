import { type Question, readQuestions, statementFor, usageOf } from '../analytics/questions.ts'
import { migrateDatabase, openDatabase } from '../app.ts'
import type { Database } from '../db/database.ts'
import { sqlState } from '../db/sql-errors.ts'
import { UsageError } from '../errors.ts'
import { type Context, exitCode } from './context.ts'
import { wholeNumber } from './numbers.ts'
import { formatCsv, formatTable } from './table.ts'

export interface QueryOptions {
  readonly list?: boolean
  readonly csv?: boolean
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
  const db = await openDatabase(app, ['query'])
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
    await ask(db, question, given, options, context)
    return exitCode.done
  } finally {
    await db.close()
  }
}

async function ask(
  db: Database,
  question: Question,
  given: readonly string[],
  options: QueryOptions,
  context: Context,
) {
  const { out, err, flags } = context
  const asTable = !flags.json && !options.csv
  const limit = options.limit === undefined ? (asTable ? screenful : 0) : wholeNumber('--limit', options.limit)
  // One row more than is shown tells whether there are more.
  const statement = statementFor(question, given, limit > 0 ? limit + 1 : 0)
  if (options.sql) {
    out.write(`${statement.text};\n${statement.values.map((value, index) => `-- $${index + 1} = ${value}\n`).join('')}`)
    return
  }
  const rows = await db.query(statement.text, statement.values).catch((error: unknown) => {
    // Class 22 is data: an argument that is no instant, no number, ...
    if (!sqlState(error)?.startsWith('22')) throw error
    throw new UsageError(`${error instanceof Error ? error.message : error}\n${usageOf(question)}`)
  })
  const shown = limit > 0 ? rows.slice(0, limit) : rows
  const columns = shown[0] ? Object.keys(shown[0]) : question.columns
  if (flags.json) out.write(`${JSON.stringify(shown)}\n`)
  else if (options.csv) out.write(formatCsv(columns, shown))
  else out.write(formatTable(columns, shown))
  if (rows.length > shown.length && !flags.quiet) err.write(`the first ${limit} rows; --limit 0 for all\n`)
}

function listOf(questions: readonly Question[]): string {
  const rows = questions.map(({ name, kind, parameters, comment }) => ({
    question: kind === 'view' ? name : `${name}(${parameters.map((one) => one.name).join(', ')})`,
    meaning: comment?.split(/(?<=\.) /)[0] ?? '',
  }))
  return formatTable(['question', 'meaning'], rows)
}
