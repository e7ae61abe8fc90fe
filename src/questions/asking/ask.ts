import { UsageError } from '../../base/errors.ts'
import { instantText } from '../../base/text/instants.ts'
import type { Sql } from '../../db/database.ts'
import { sqlState } from '../../db/sql-errors.ts'
import { type Argument, argumentsOf, type Question } from '../questions.ts'
import { boundArguments, bounds, checkValues } from './bounds.ts'
import { conditionOf, type Filter, filterText, isOrdered, readFilters, valuesOf } from './filters.ts'
import { type NameFinders, resolveName } from './names.ts'
import { unreadable, WrongArgument } from './readable.ts'

/** A column that rows are sorted by. */
interface OrderKey {
  readonly name: string
  readonly direction: 'asc' | 'desc'
  readonly nulls: 'first' | 'last'
}

/**
 * What rows are sorted by: `level.desc.nullslast,internal_name`; `asc` or `desc` alone means all columns, from the first. Unknown
 * values come last, in descending order first.
 * @throws WrongArgument for a column that there is none of, or that has no order
 */
export function readOrder({ name: question, columns }: Question, text: string): OrderKey[] {
  const wrong = (what: string) => new WrongArgument(`order ${what}`, 'order')
  if (text === 'asc' || text === 'desc') {
    // Lengths of time go on while rows are read.
    const fixed = columns.filter(({ type }) => type !== 'interval')
    return fixed.map(({ name }) => ({ name, direction: text, nulls: text === 'asc' ? 'last' : 'first' }))
  }
  const keys = parts(text, columns.length, wrong).map((part): OrderKey => {
    const [, name = part, given, nulls] = /^(\w+)(?:\.(asc|desc))?(?:\.nulls(first|last))?$/.exec(part) ?? []
    const column = columns.find((one) => one.name === name)
    const form = 'must be asc, desc, or columns such as level.desc.nullslast,internal_name'
    if (!column) throw wrong(`${form}; ${question} has no column ${name}; there are: ${namesOf(columns)}`)
    if (column.type !== 'boolean' && column.type !== 'uuid' && !isOrdered(column.type))
      throw wrong(`cannot be by ${name}, which is of type ${column.type}`)
    const direction = given === 'desc' ? 'desc' : 'asc'
    const usual = direction === 'asc' ? 'last' : 'first'
    return { name, direction, nulls: nulls === 'first' || nulls === 'last' ? nulls : usual }
  })
  const twice = keys.find(({ name }, place) => keys.findIndex((one) => one.name === name) !== place)
  if (twice) throw wrong(`has ${twice.name} twice`)
  return keys
}

/**
 * The columns to answer: `internal_name,level`.
 * @throws WrongArgument for one that there is none of
 */
export function readSelect({ name: question, columns }: Question, text: string): string[] {
  const wrong = (what: string) => new WrongArgument(`select ${what}`, 'select')
  const names = parts(text, columns.length, wrong)
  const unknown = names.find((one) => !columns.some(({ name }) => name === one))
  if (unknown !== undefined)
    throw wrong(`takes columns; ${question} has no column ${unknown || "''"}; there are: ${namesOf(columns)}`)
  if (new Set(names).size < names.length) throw wrong('has a column twice')
  return names
}

function parts(text: string, most: number, wrong: (what: string) => WrongArgument): string[] {
  const all = text.split(',', most + 1).map((one) => one.trim())
  if (all.length > most) throw wrong('has more columns than there are')
  return all
}

function namesOf(columns: Question['columns']): string {
  return columns.map(({ name }) => name).join(', ')
}

/** What is to be asked, as SQL with parameters. */
interface Statement {
  readonly text: string
  readonly values: readonly string[]
}

/** A question as it is asked: its arguments, and which rows and columns of its answer, in which order. */
export interface Asked {
  /** Of a function, by position. */
  readonly args: readonly Argument[]
  readonly filters: readonly Filter[]
  /** Empty: the question's own order. */
  readonly order: readonly OrderKey[]
  /** Empty: all columns. */
  readonly select: readonly string[]
}

type Named = Pick<Question, 'name' | 'kind'>

/**
 * The statement for a question.
 * @param limit at most that many rows; 0 for all
 */
export function statementFor(question: Named, asked: Partial<Asked>, limit: number): Statement {
  const { select = [], order = [] } = asked
  const { text, values } = rowsStatement(question, asked, select.length === 0 ? '*' : select.join(', '))
  const sorted = order.map((key) => orderSql(key, key.name))
  const by = sorted.length > 0 ? ` order by ${sorted.join(', ')}` : ''
  return { text: `${text}${by}${limit > 0 ? ` limit ${limit}` : ''}`, values }
}

/** All rows that fulfil the filters, in the question's own order. */
function rowsStatement({ name, kind }: Named, { args = [], filters = [] }: Partial<Asked>, columns = '*'): Statement {
  const values: string[] = []
  const parameter = (value: string, type: string) => {
    const place = `$${values.push(value)}::text`
    return type === 'text' ? place : `${place}::${type}`
  }
  const given = kind === 'function' ? `(${args.map(({ value, type }) => parameter(value, type)).join(', ')})` : ''
  const conditions = filters.map((one) => conditionOf(one, one.name, parameter))
  const where = conditions.length > 0 ? ` where ${conditions.join(' and ')}` : ''
  return { text: `select ${columns} from analytics.${name}${given}${where}`, values }
}

/** @param sql the key, in SQL */
export function orderSql({ direction, nulls }: OrderKey, sql: string): string {
  const isUsual = (direction === 'asc') === (nulls === 'last')
  return `${sql} ${direction}${isUsual ? '' : ` nulls ${nulls}`}`
}

/** The statement with its values in their places, for people to take elsewhere. Never to be run by this program. */
export function shownStatement({ text, values }: Statement): string {
  const whole = text.replace(/\$(\d+)(?:::text(?!::text))?/g, (_, index: string) =>
    literal(values[Number(index) - 1] ?? ''),
  )
  return `${whole};`
}

/** As a server reads it, also one with the setting of old for backslashes. */
function literal(value: string): string {
  const quoted = `'${value.replaceAll("'", "''")}'`
  return quoted.includes('\\') ? `E${quoted.replaceAll('\\', '\\\\')}` : quoted
}

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

/** Where a page of rows begins: after the row with these sort keys, or after so many rows. */
export type Position = { readonly keys: readonly (string | null)[] } | { readonly skip: number }

interface Paging {
  readonly limit: number
  readonly after?: Position | undefined
}

/** The column with the sort keys of a row, as texts; where pages begin after keys. */
export const KEYS = 'sort keys'

/**
 * The statements for one page of the rows of a question, and one row more: a later one is for what the ones before it leave over. Rows of a view
 * are sorted by what the request says and then by all of its columns, and a page begins after the last row of the one before, so that rows that
 * come or go between two pages move no others. Pages of a function count its rows; without an order in the request they stay in the function's own.
 */
export function pageStatements(question: Question, asked: Asked, { after, limit }: Paging): Statement[] {
  const { text, values } = rowsStatement(question, asked)
  const shown = asked.select.length === 0 ? 'answer.*' : asked.select.map((name) => `answer."${name}"`).join(', ')
  const sorted = question.kind === 'view' || asked.order.length > 0 ? sortKeys(question, asked.order) : []
  const by = sorted.length === 0 ? '' : ` order by ${sorted.map((key) => orderSql(key, key.sql)).join(', ')}`
  if (!hasKeys(question, asked)) {
    const skip = after && 'skip' in after ? after.skip : 0
    return [{ text: `select ${shown} from (${text}) answer${by} limit ${limit + 1} offset ${skip}`, values }]
  }
  const texts = sorted.map(({ sql }) => `${sql}::text`).join(', ')
  const page = (where: string, added: readonly string[] = []): Statement => ({
    text: `select ${shown}, array[${texts}] as "${KEYS}" from (${text}) answer${where}${by} limit ${limit + 1}`,
    values: [...values, ...added],
  })
  const keys = after && 'keys' in after ? after.keys : undefined
  const [first] = sorted
  if (!keys || !first) return [page('')]
  const added: string[] = []
  const where = follows(sorted, keys, (value) => `$${values.length + added.push(value)}::text`)
  const [key = null] = keys
  if (key === null) return [page(` where ${where}`, added)]
  // So that an index leads to where the page begins, what has no value in the first column is asked for by itself.
  const from = ` where ${first.sql} ${first.direction === 'asc' ? '>=' : '<='} $${values.length + added.push(key)}::text::${first.type} and ${where}`
  const unknown = ` where ${first.sql} is null`
  return [page(from, added), ...(first.nulls === 'last' ? [page(unknown)] : [])]
}

/** Whether pages begin after the keys of a row. Lengths of time go on while pages are read: a row is not found by them again. */
export function hasKeys({ kind, columns }: Question, { order }: Pick<Asked, 'order'>): boolean {
  const isLength = (key: OrderKey) => columns.some(({ name, type }) => name === key.name && type === 'interval')
  return kind === 'view' && !order.some(isLength)
}

interface SortKey extends OrderKey {
  readonly sql: string
  readonly type: string
}

/** What the request sorts by, then all other columns, so that no two rows that differ are equal. Texts that it sorts by are in the order of their bytes. */
function sortKeys({ columns }: Question, order: readonly OrderKey[]): SortKey[] {
  const others = columns.filter(({ name, type }) => type !== 'interval' && !order.some((key) => key.name === name))
  const keys = [...order, ...others.map(({ name }) => ({ name, direction: 'asc', nulls: 'last' }) as const)]
  return keys.map((key, place) => {
    const type = columns.find(({ name }) => name === key.name)?.type ?? 'text'
    const sql = `answer."${key.name}"`
    // Documents may be longer than a URL, and lists of them have no order: their hash stands for them.
    if (/^jsonb?\b|\[\]$/.test(type)) return { ...key, sql: `md5(${sql}::text) collate "C"`, type: 'text' }
    // Texts that a request sorts by come in the order of their bytes, the same in every database. Unasked, the first column keeps the order of
    // the database: that of its indexes, from one of which a page of a long history is read.
    const isIndexed = order.length === 0 && place === 0
    return { ...key, sql: type === 'text' && !isIndexed ? `${sql} collate "C"` : sql, type }
  })
}

/** The condition that a row comes after the one with these keys. */
function follows(
  sorted: readonly SortKey[],
  keys: readonly (string | null)[],
  parameter: (value: string) => string,
): string {
  const [first, ...rest] = sorted
  const [key = null, ...others] = keys
  if (!first) return 'false'
  const { sql, type, direction, nulls } = first
  if (key === null) {
    const later = nulls === 'last' ? 'false' : `${sql} is not null`
    return `(${later} or ${sql} is null and ${follows(rest, others, parameter)})`
  }
  const value = `${parameter(key)}::${type}`
  const beyond = `${sql} ${direction === 'asc' ? '>' : '<'} ${value}`
  const later = nulls === 'last' ? `(${beyond} or ${sql} is null)` : beyond
  return `(${later} or ${sql} = ${value} and ${follows(rest, others, parameter)})`
}
