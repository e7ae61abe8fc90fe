import type { Given } from '../../questions/asking/ask.ts'
import { bounds } from '../../questions/asking/bounds.ts'
import { hasOperator } from '../../questions/asking/filters.ts'
import type { Question } from '../../questions/questions.ts'
import { Problem } from '../http/problems.ts'

/** Parameters of a request that are no arguments of the question. A column of such a name is filtered with an operator. */
export const pagingNames = ['limit', 'cursor', 'order', 'select', 'format'] as const

/** How an answer is written, by the value of `format`. */
export const formats = {
  json: 'application/json',
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
} as const

export type Format = keyof typeof formats

/** Rows of a page when no limit is given, and at most. */
export const limits = { usual: 100, most: 10_000 } as const

/** A request for a question, read but not resolved. */
export interface Requested {
  /** Arguments and filters. */
  readonly given: readonly (readonly [string, string])[]
  readonly limit: number
  readonly order?: string | undefined
  readonly select?: string | undefined
  readonly cursor?: string | undefined
  /** Undefined: as the header `Accept` says. */
  readonly format?: Format | undefined
}

/** @throws Problem when a parameter is given twice, or one of the paging cannot be read */
export function readRequest(question: Question, query: URLSearchParams): Requested {
  if (query.size > bounds.arguments)
    throw new Problem('bad-argument', { detail: `at most ${bounds.arguments} arguments are read` })
  const entries = [...query]
  const isColumn = (name: string) => question.columns.some((one) => one.name === name)
  const isPaging = (name: string, value: string) =>
    pagingNames.some((one) => one === name) && !(isColumn(name) && hasOperator(value))
  const paging = entries.filter((one) => isPaging(...one))
  const given = entries.filter((one) => !isPaging(...one))
  for (const [name, value] of entries) {
    if (value.length > bounds.characters) {
      const detail = `${name} is longer than ${bounds.characters} characters`
      throw new Problem('bad-argument', { detail, argument: name })
    }
    if (value.includes('\0')) throw new Problem('bad-argument', { detail: `${name} has a NUL in it`, argument: name })
  }
  const single = [...paging, ...given.filter(([name]) => question.parameters.some((one) => one.name === name))]
  const twice = single.find(([name], place) => single.findIndex(([one]) => one === name) !== place)
  if (twice) throw new Problem('bad-argument', { detail: `${twice[0]} is given twice`, argument: twice[0] })
  const of = (name: string) => paging.find(([one]) => one === name)?.[1]
  const order = of('order')
  const select = of('select')
  const cursor = of('cursor')
  return { given, limit: readLimit(of('limit')), order, select, cursor, format: readFormat(of('format')) }
}

function readFormat(text: string | undefined): Format | undefined {
  if (text === undefined || Object.hasOwn(formats, text)) return text as Format | undefined
  const detail = `format must be ${Object.keys(formats).join(', ')}`
  throw new Problem('bad-argument', { detail, argument: 'format' })
}

function readLimit(text: string | undefined): number {
  if (text === undefined) return limits.usual
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= limits.most) return limit
  const detail = `limit must be a whole number from 1 to ${limits.most.toLocaleString('en-US')}`
  throw new Problem('bad-argument', { detail, argument: 'limit' })
}

/**
 * The request as `query` takes it: arguments of a function by position, and filters. A name that is an argument and a column is the
 * argument. Without `from_time` and `to_time`, both are left out; without `to_time` alone, or without `at`, it is `now`.
 * @throws Problem for an argument that is missing
 */
export function asGiven({ name, parameters }: Question, { given, order, select }: Requested): Given {
  const names = parameters.map((one) => one.name)
  const filters = given.filter(([one]) => !names.includes(one))
  const values = new Map(given.filter(([one]) => names.includes(one)))
  if (values.has('from_time') && !values.has('to_time') && names.includes('to_time')) values.set('to_time', 'now')
  // Without it, the database would take its own clock.
  if (parameters.some((one) => one.name === 'at' && one.optional) && !values.has('at')) values.set('at', 'now')
  const isOpen = !values.has('from_time') && !values.has('to_time')
  const wanted = parameters.filter((one) => !(isOpen && /^(from|to)_time$/.test(one.name)))
  const last = wanted.findLastIndex((one) => values.has(one.name) || !one.optional)
  const args = wanted.slice(0, last + 1).map((one) => {
    const value = values.get(one.name)
    if (value !== undefined) return value
    throw new Problem('bad-argument', { detail: `${name} needs the argument ${one.name}`, argument: one.name })
  })
  return { args, filters, order, select }
}
