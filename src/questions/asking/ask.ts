import { UsageError } from '../../base/errors.ts'
import { instantText } from '../../base/text/instants.ts'
import type { Sql } from '../../db/database.ts'
import { sqlState } from '../../db/sql-errors.ts'
import { type Argument, argumentsOf, type Question } from '../questions.ts'
import { boundArguments, bounds, checkValues } from './bounds.ts'
import { type Filter, filterText, readFilters, valuesOf } from './filters.ts'
import { type NameFinders, resolveName } from './names.ts'
import { readOrder, readSelect } from './order.ts'
import { unreadable, WrongArgument } from './readable.ts'
import type { Asked, Statement } from './statement.ts'

interface Reading {
  /** Milliseconds since the epoch; what `now` and `-7d` count from. */
  readonly now: number
  readonly finders: NameFinders
}

/** What a request asks of a question, before it is read. */
export interface Given {
  /** Of a function, by position. */
  readonly args: readonly string[]
  /** Names and values of filters, of which one name may be there several times. */
  readonly filters: readonly (readonly [name: string, text: string])[]
  readonly order?: string | undefined
  readonly select?: string | undefined
}

/**
 * What is asked, as Postgres takes it: instants without `now` and `-7d`, names resolved to uuids, and a period within its bounds.
 * @throws UsageError when it does not fit; AmbiguousName, UnknownName
 */
export async function readAsked(
  sql: Sql,
  question: Question,
  { args: given, filters, order, select }: Given,
  { now, finders }: Reading,
): Promise<Asked> {
  if (given.length + filters.length > bounds.arguments)
    throw new UsageError(`${question.name} takes at most ${bounds.arguments} arguments`)
  const all = argumentsOf(question, given, ['-7d', 'now']).map((one) =>
    one.type === 'timestamp with time zone' ? { ...one, value: instantText(one.value, now) } : one,
  )
  const asked = await boundAsked(sql, question, {
    args: all,
    filters: readFilters(question, filters, now),
    order: order === undefined ? [] : readOrder(question, order),
    select: select === undefined ? [] : readSelect(question, select),
  })
  const args: Argument[] = []
  for (const argument of asked.args) args.push(await resolveName(sql, argument, finders))
  return { ...asked, args, filters: await withNames(sql, asked.filters, finders) }
}

/**
 * The same, within its bounds.
 * @throws WrongArgument for what Postgres cannot read, or what costs too much
 */
export async function boundAsked(sql: Sql, question: Question, asked: Asked): Promise<Asked> {
  const args = await boundArguments(sql, question, asked.args)
  await checkValues(sql, asked.filters.flatMap(valuesOf))
  return { ...asked, args }
}

/** Names mean something only where one thing is compared with them. */
async function withNames(sql: Sql, filters: readonly Filter[], finders: NameFinders): Promise<Filter[]> {
  const read: Filter[] = []
  for (const filter of filters) {
    const isNamed = /^(n?eq|in)$/.test(filter.operator)
    const values: string[] = []
    for (const one of isNamed ? valuesOf(filter) : []) values.push((await resolveName(sql, one, finders)).value)
    read.push(isNamed ? { ...filter, values } : filter)
  }
  return read
}

/** What was asked, by name, as it was read; a column with several filters has a list. */
export function shownArguments({ args, filters }: Asked): Record<string, string | string[]> {
  const shown: Record<string, string | string[]> = Object.fromEntries(args.map(({ name, value }) => [name, value]))
  for (const filter of filters) {
    const before = shown[filter.name]
    shown[filter.name] = before === undefined ? filterText(filter) : [before, filterText(filter)].flat()
  }
  return shown
}

/** Whether a statement failed because a value in it cannot be read. */
export function isUnreadable(error: unknown): boolean {
  return UNREADABLE.has(sqlState(error) ?? '')
}

/** SQLSTATEs (PostgreSQL manual, appendix A) of a value that cannot be read: no instant, one out of range, another form, too large. */
const UNREADABLE = new Set(['22007', '22008', '22P02', '22003'])

/**
 * Runs the statement of a question.
 * @param asked what its values are, for the message
 * @throws WrongArgument when Postgres cannot read an argument; every other failure is not the fault of an argument
 */
export async function rowsOf(
  sql: Sql,
  { text, values }: Statement,
  { args, filters }: Asked,
): Promise<Record<string, unknown>[]> {
  try {
    return await sql.query(text, values)
  } catch (error) {
    const wrong = isUnreadable(error) ? unreadable([...args, ...filters.flatMap(valuesOf)]) : undefined
    if (!wrong) throw error
    throw new WrongArgument(`${wrong.name} must be ${wrong.wanted}, got ${wrong.value}`, wrong.name)
  }
}
