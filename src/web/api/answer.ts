import type { Clock } from '../../base/clock.ts'
import { boundAsked, isUnreadable, readAsked, rowsOf } from '../../questions/asking/ask.ts'
import { checkNamed, type NameFinders } from '../../questions/asking/names.ts'
import { readOrder, readSelect } from '../../questions/asking/order.ts'
import { hasKeys, KEYS, type Position, pageStatement } from '../../questions/asking/page.ts'
import { WrongArgument } from '../../questions/asking/readable.ts'
import { cellOf } from '../../questions/asking/rows-text.ts'
import type { Asked } from '../../questions/asking/statement.ts'
import type { Question } from '../../questions/questions.ts'
import type { Reader } from '../reading.ts'
import { asGiven, type Requested } from './arguments.ts'
import { cursorText, readCursor, unreadableCursor } from './cursor.ts'

export interface Answer {
  /** As it was read: names as uuids, `now` and `-7d` as instants. */
  readonly asked: Asked
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
  const { limit, order, select, cursor } = request
  const shape = {
    order: order === undefined ? [] : readOrder(question, order),
    select: select === undefined ? [] : readSelect(question, select),
  }
  const begun = cursor === undefined ? undefined : readBegun(question, request, cursor)
  const reading = { now: Math.floor(clock.now() / MINUTE) * MINUTE, finders }
  const { asked, found } = await (async () => {
    const asked = await reader.read((sql) =>
      begun
        ? boundAsked(sql, question, { ...begun.asked, ...shape })
        : readAsked(sql, question, asGiven(question, request), reading),
    )
    const statement = pageStatement(question, asked, { limit, after: begun?.after })
    return { asked, found: await reader.ask((sql) => rowsOf(sql, statement, asked)) }
  })().catch((error: unknown) => {
    // What it holds was read already, when the first page was asked for.
    throw begun && (error instanceof WrongArgument || isUnreadable(error)) ? unreadableCursor() : error
  })
  if (found.length === 0 && !begun) await reader.read((sql) => checkNamed(sql, question, asked.filters))
  const rows = found.slice(0, limit)
  const last = rows.at(-1)
  const after =
    last && found.length > limit
      ? hasKeys(question, asked)
        ? { keys: cellOf(last, KEYS) as (string | null)[] }
        : { skip: skipped(begun?.after) + limit }
      : undefined
  return {
    asked,
    rows: rows.map((row) => withoutKeys(row)),
    next: after ? cursorText(question, request, { asked, after }) : null,
  }
}

function readBegun(question: Question, request: Requested, cursor: string) {
  try {
    return readCursor(question, request, cursor)
  } catch (error) {
    throw error instanceof WrongArgument ? unreadableCursor() : error
  }
}

function skipped(before: Position | undefined): number {
  return before && 'skip' in before ? before.skip : 0
}

function withoutKeys({ [KEYS]: _, ...row }: Record<string, unknown>): Record<string, unknown> {
  return row
}
