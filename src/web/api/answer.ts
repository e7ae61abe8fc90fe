import { isUnreadable, readArguments, rowsOf } from '../../analytics/asking/ask.ts'
import { boundArguments } from '../../analytics/asking/bounds.ts'
import { checkNamed, type NameFinders } from '../../analytics/asking/names.ts'
import { KEYS, type Position, pageStatement } from '../../analytics/asking/page.ts'
import { WrongArgument } from '../../analytics/asking/readable.ts'
import { cellOf } from '../../analytics/asking/rows-text.ts'
import type { Argument, Question } from '../../analytics/questions.ts'
import type { Clock } from '../../base/clock.ts'
import type { Reader } from '../reading.ts'
import { asGiven, type Requested } from './arguments.ts'
import { cursorText, readCursor, unreadableCursor } from './cursor.ts'

export interface Answer {
  /** As they were read: names as uuids, `now` and `-7d` as instants. */
  readonly arguments: readonly Argument[]
  readonly rows: readonly Record<string, unknown>[]
  /** Cursor of the next page; null on the last one. */
  readonly next: string | null
}

export interface Asking {
  readonly reader: Reader
  readonly finders: NameFinders
  readonly clock: Clock
}

const MINUTE = 60_000

/**
 * Asks one question. `now` is the last full minute, so that the same request has the same answer within it, and a client that has
 * it gets a 304.
 * @throws Problem, UsageError when the request does not fit
 */
export async function answer(
  { reader, finders, clock }: Asking,
  question: Question,
  request: Requested,
): Promise<Answer> {
  const { given, limit, order, cursor } = request
  const begun = cursor === undefined ? undefined : readCursor(question, given, cursor)
  const reading = { now: Math.floor(clock.now() / MINUTE) * MINUTE, finders }
  const { args, found } = await (async () => {
    const args = await reader.read((sql) =>
      begun
        ? boundArguments(sql, question, begun.arguments)
        : readArguments(sql, question, asGiven(question, given), reading),
    )
    const statement = pageStatement(question, args, { limit, order, after: begun?.after })
    return { args, found: await reader.ask((sql) => rowsOf(sql, statement, args)) }
  })().catch((error: unknown) => {
    // What it holds was read already, when the first page was asked for.
    throw begun && (error instanceof WrongArgument || isUnreadable(error)) ? unreadableCursor() : error
  })
  if (found.length === 0 && !begun) await reader.read((sql) => checkNamed(sql, question, args))
  const rows = found.slice(0, limit)
  const last = rows.at(-1)
  const after = last && found.length > limit ? positionOf(question, last, begun?.after, limit) : undefined
  return {
    arguments: args,
    rows: rows.map((row) => withoutKeys(row)),
    next: after ? cursorText(question, given, { arguments: args, after }) : null,
  }
}

function positionOf({ kind }: Question, last: object, before: Position | undefined, limit: number): Position {
  if (kind === 'view') return { keys: cellOf(last, KEYS) as (string | null)[] }
  return { skip: (before && 'skip' in before ? before.skip : 0) + limit }
}

function withoutKeys({ [KEYS]: _, ...row }: Record<string, unknown>): Record<string, unknown> {
  return row
}
