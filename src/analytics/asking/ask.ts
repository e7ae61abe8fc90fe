import { UsageError } from '../../app/errors.ts'
import type { Sql } from '../../db/database.ts'
import { sqlState } from '../../db/sql-errors.ts'
import { instantText } from '../instants.ts'
import { type Argument, argumentsOf, type Question, type Statement } from '../questions.ts'
import { type NameFinders, resolveName } from './names.ts'
import { unreadable } from './readable.ts'

export interface Reading {
  /** Milliseconds since the epoch; what `now` and `-7d` count from. */
  readonly now: number
  readonly finders: NameFinders
}

/**
 * The arguments of a question as Postgres takes them: instants without `now` and `-7d`, names resolved to uuids.
 * @param given of a function by position, of a view as `column=value`
 * @throws UsageError when they do not fit; AmbiguousName, UnknownName
 */
export async function readArguments(
  sql: Sql,
  question: Question,
  given: readonly string[],
  { now, finders }: Reading,
): Promise<Argument[]> {
  const read: Argument[] = []
  for (const argument of argumentsOf(question, given, ['-7d', 'now'])) {
    const isInstant = argument.type === 'timestamp with time zone'
    read.push(
      isInstant ? { ...argument, value: instantText(argument.value, now) } : await resolveName(sql, argument, finders),
    )
  }
  return read
}

/** An argument that Postgres cannot read, such as an instant that is none. */
export class WrongArgument extends UsageError {
  /** Its name; undefined when it is not clear which one is wrong. */
  readonly argument: string | undefined

  constructor(message: string, argument?: string) {
    super(message)
    this.argument = argument
  }
}

/**
 * Runs the statement of a question.
 * @param args what its values are, for the message
 * @throws WrongArgument when Postgres cannot read an argument
 */
export async function rowsOf(
  sql: Sql,
  { text, values }: Statement,
  args: readonly Argument[],
): Promise<Record<string, unknown>[]> {
  try {
    return await sql.query(text, values)
  } catch (error) {
    // Class 22, data exception.
    if (!(error instanceof Error) || !sqlState(error)?.startsWith('22')) throw error
    const wrong = unreadable(args)
    if (!wrong) throw new WrongArgument(error.message)
    throw new WrongArgument(`${wrong.name} must be ${wrong.wanted}, got ${wrong.value}`, wrong.name)
  }
}
