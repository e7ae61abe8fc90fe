import { INSTANT, instantText } from '../../base/text/instants.ts'
import type { Argument, Column, Question } from '../questions.ts'
import { WrongArgument } from './readable.ts'

/*
 * Filters as PostgREST spells them: `level=gte.80`, `tier=in.(mythic,fabled)`, `name=like.*bow*`, `guild_uuid=not.is.null`. A value
 * without an operator is the value that the column has: `tier=mythic`.
 */

const comparisons = {
  eq: '=',
  neq: '<>',
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
  like: 'like',
  ilike: 'ilike',
} as const

/** All operators, for messages and descriptions. */
const operators = [...Object.keys(comparisons), 'in', 'is'] as const

type Operator = keyof typeof comparisons | 'in' | 'is'

/** The condition that the rows of an answer fulfil. */
export interface Filter {
  /** Name of the column. */
  readonly name: string
  readonly type: string
  readonly isNegated: boolean
  readonly operator: Operator
  /** One, but for `in`. Of `is`: `null`, `true`, ... */
  readonly values: readonly string[]
}

/** What filters may cost: values of all together, and characters and wildcards of a pattern. */
export const filterBounds = { values: 200, pattern: 200, wildcards: 10 } as const

const spelling = /^(not\.)?(eq|neq|gte?|lte?|i?like|in|is)\.(.*)$/s

/** Whether a value begins with an operator. Such a value itself is given as `eq.` and the value. */
export function hasOperator(text: string): boolean {
  return spelling.test(text)
}

/**
 * The filter that a column's value in a request is.
 * @throws WrongArgument when the operator cannot be read, or is none for the type of the column
 */
export function filterOf({ name, type }: Pick<Column, 'name' | 'type'>, text: string): Filter {
  const [, negation, operator = 'eq', value = text] = spelling.exec(text) ?? []
  const filter = { name, type, isNegated: negation !== undefined, operator: operator as Operator }
  const wrong = (what: string) => new WrongArgument(`${name} ${what}`, name)
  switch (filter.operator) {
    case 'in':
      return { ...filter, values: listed(value, wrong) }
    case 'is':
      return { ...filter, values: [truthOf(value, type, wrong)] }
    case 'like':
    case 'ilike':
      if (type !== 'text') throw wrong(`is no text: ${operator} does not fit; ${fittingOf(type)} do`)
      return { ...filter, values: [patternOf(value, wrong)] }
    case 'eq':
    case 'neq':
      return { ...filter, values: [value] }
    default:
      if (!isOrdered(type)) throw wrong(`has no order: ${operator} does not fit; ${fittingOf(type)} do`)
      return { ...filter, values: [value] }
  }
}

type Wrong = (what: string) => WrongArgument

/** Whether values of the type come before and after each other in a way that means something. */
export function isOrdered(type: string): boolean {
  return /^(text$|date$|interval$|timestamp|smallint|integer|bigint|numeric|real|double)/.test(type)
}

/** The operators that a column of this type takes. */
export function fittingOf(type: string): string {
  const fitting = operators.filter((one) => {
    if (/like$/.test(one)) return type === 'text'
    return !/^[gl]te?$/.test(one) || isOrdered(type)
  })
  return fitting.join(', ')
}

/** @param text `(a,b,"c,d")`; within quotes, a backslash stands before a quote and a backslash */
function listed(text: string, wrong: Wrong): string[] {
  const form = `must be in.(a,b,"c,d"), with quotes around a value with a comma; eq.in. begins a text that begins with in.`
  if (!/^\(.*\)$/s.test(text)) throw wrong(form)
  const inside = text.slice(1, -1)
  if (inside.trim() === '') throw wrong('has a list without a value')
  const values: string[] = []
  for (let at = 0; at <= inside.length; ) {
    while (inside[at] === ' ') at++
    const isQuoted = inside[at] === '"'
    const one = isQuoted ? /"((?:[^"\\]|\\.)*)" *(?=,|$)/sy : /([^,]*)/y
    one.lastIndex = at
    const [whole, value] = one.exec(inside) ?? []
    if (whole === undefined || value === undefined) throw wrong(form)
    if (values.length === filterBounds.values) throw wrong(`has a list of more than ${filterBounds.values} values`)
    values.push(isQuoted ? value.replace(/\\(.)/gs, '$1') : value.trimEnd())
    at += whole.length + 1
  }
  return values
}

function truthOf(text: string, type: string, wrong: Wrong): string {
  const word = text.toLowerCase()
  const known = type === 'boolean' ? ['null', 'not_null', 'true', 'false', 'unknown'] : ['null', 'not_null']
  if (known.includes(word)) return word
  throw wrong(`must be is.${known.join(', is.')}; eq.is. begins a text that begins with is.`)
}

/** What `*` and `%` stand for any text in; `_` stands for a character, and a backslash before what stands for itself. */
function patternOf(text: string, wrong: Wrong): string {
  const pattern = text.replaceAll('*', '%')
  if (pattern.length > filterBounds.pattern)
    throw wrong(`has a pattern of more than ${filterBounds.pattern} characters`)
  if ((pattern.match(/%+/g) ?? []).length > filterBounds.wildcards)
    throw wrong(`has a pattern with more than ${filterBounds.wildcards} wildcards`)
  if (/^(?:[^\\]|\\.)*\\$/s.test(pattern)) throw wrong('has a pattern that ends with a backslash: write two')
  return pattern
}

/** The filter as a request spells it. */
export function filterText({ isNegated, operator, values }: Filter): string {
  const [value = ''] = values
  if (operator === 'eq' && !isNegated) return hasOperator(value) ? `eq.${value}` : value
  const quoted = (one: string) => (/^$|^[ "]|[,\\]| $/.test(one) ? `"${one.replace(/["\\]/g, '\\$&')}"` : one)
  return `${isNegated ? 'not.' : ''}${operator}.${operator === 'in' ? `(${values.map(quoted).join(',')})` : value}`
}

/** The filters of a request, with instants without `now` and `-7d`. @throws WrongArgument also for too many values */
export function readFilters(question: Question, given: readonly (readonly [string, string])[], now: number): Filter[] {
  const filters = given.map(([name, text]) => {
    const column = question.columns.find((one) => one.name === name)
    if (column) return filterOf(column, text)
    const names = [...new Set([...question.parameters, ...question.columns].map((one) => one.name))]
    const kinds = question.kind === 'view' ? 'column' : 'argument or column'
    throw new WrongArgument(`${question.name} has no ${kinds} ${name}; there are: ${names.join(', ')}`, name)
  })
  const values = filters.reduce((sum, one) => sum + one.values.length, 0)
  if (values > filterBounds.values)
    throw new WrongArgument(`filters have at most ${filterBounds.values} values together`)
  return filters.map((one) =>
    /^(timestamp|date$)/.test(one.type) ? { ...one, values: one.values.map((text) => instantText(text, now)) } : one,
  )
}

/** The values that Postgres reads as the type of the column. */
export function valuesOf({ name, type, operator, values }: Filter): Argument[] {
  return operator === 'is' ? [] : values.map((value) => ({ name, type, value }))
}

/**
 * The condition in SQL.
 * @param column in SQL
 * @param parameter puts a value in as a parameter
 */
export function conditionOf(
  filter: Filter,
  column: string,
  parameter: (value: string, type: string) => string,
): string {
  const { type, operator, values, isNegated } = filter
  const condition = () => {
    if (operator === 'is') return `${column} is ${values.join('').replace('_', ' ')}`
    const given = values.map((value) => parameter(value, type))
    if (operator === 'in') return `${column} in (${given.join(', ')})`
    // The order and the letters of the database may be of any language.
    const compared = type === 'text' && !/eq$/.test(operator) ? `${column} collate "C"` : column
    return `${compared} ${comparisons[operator]} ${given.join('')}`
  }
  return isNegated ? `not (${condition()})` : condition()
}

/** What every filter takes, for people. */
export const filterHelp = `a value, or an operator and a value: ${operators.map((one) => `${one}.`).join(' ')}, not. before each; ${INSTANT} of instants`
