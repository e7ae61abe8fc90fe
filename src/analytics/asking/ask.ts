import { UsageError } from '../../base/errors.ts'
import { instantText } from '../../base/text/instants.ts'
import type { Sql } from '../../db/database.ts'
import { sqlState } from '../../db/sql-errors.ts'
import { type Argument, argumentsOf, type Question, type Statement } from '../questions.ts'
import { boundArguments, bounds } from './bounds.ts'
import { type NameFinders, resolveName } from './names.ts'
import { unreadable, WrongArgument } from './readable.ts'

interface Reading {
  /** Milliseconds since the epoch; what `now` and `-7d` count from. */
  readonly now: number
  readonly finders: NameFinders
}

/**
 * The arguments of a question as Postgres takes them: instants without `now` and `-7d`, names resolved to uuids, and a period
 * within its bounds.
 * @param given of a function by position, of a view as `column=value`
 * @throws UsageError when they do not fit; AmbiguousName, UnknownName
 */
export async function readArguments(
  sql: Sql,
  question: Question,
  given: readonly string[],
  { now, finders }: Reading,
): Promise<Argument[]> {
  if (given.length > bounds.arguments)
    throw new UsageError(`${question.name} takes at most ${bounds.arguments} arguments`)
  const all = argumentsOf(question, given, ['-7d', 'now']).map((one) =>
    one.type === 'timestamp with time zone' ? { ...one, value: instantText(one.value, now) } : one,
  )
  const read: Argument[] = []
  for (const argument of await boundArguments(sql, question, all)) read.push(await resolveName(sql, argument, finders))
  return read
}

/** Whether a statement failed because a value in it cannot be read. */
export function isUnreadable(error: unknown): boolean {
  return UNREADABLE.has(sqlState(error) ?? '')
}

/** SQLSTATEs (PostgreSQL manual, appendix A) of a value that cannot be read: no instant, one out of range, another form, too large. */
const UNREADABLE = new Set(['22007', '22008', '22P02', '22003'])

/**
 * Runs the statement of a question.
 * @param args what its values are, for the message
 * @throws WrongArgument when Postgres cannot read an argument; every other failure is not the fault of an argument
 */
export async function rowsOf(
  sql: Sql,
  { text, values }: Statement,
  args: readonly Argument[],
): Promise<Record<string, unknown>[]> {
  try {
    return await sql.query(text, values)
  } catch (error) {
    const wrong = isUnreadable(error) ? unreadable(args) : undefined
    if (!wrong) throw error
    throw new WrongArgument(`${wrong.name} must be ${wrong.wanted}, got ${wrong.value}`, wrong.name)
  }
}
