import { bounds } from '../../analytics/asking/bounds.ts'
import type { Question } from '../../analytics/questions.ts'
import { Problem } from '../http/problems.ts'

/** Parameters of a request that are no arguments of the question. */
export const pagingNames = ['limit', 'cursor', 'order'] as const

/** Rows of a page when no limit is given, and at most. */
export const limits = { usual: 100, most: 10_000 } as const

/** A request for a question, read but not resolved. */
export interface Requested {
  readonly given: readonly (readonly [string, string])[]
  readonly limit: number
  readonly order: 'asc' | 'desc'
  readonly cursor?: string | undefined
}

/** @throws Problem when a parameter is given twice, or one of the paging cannot be read */
export function readRequest(question: Question, query: URLSearchParams): Requested {
  if (query.size > bounds.arguments)
    throw new Problem('bad-argument', { detail: `at most ${bounds.arguments} arguments are read` })
  const entries = [...query]
  const of = (name: string) => entries.find(([one]) => one === name)?.[1]
  for (const [name, value] of entries) {
    if (value.length > bounds.characters) {
      const detail = `${name} is longer than ${bounds.characters} characters`
      throw new Problem('bad-argument', { detail, argument: name })
    }
    if (value.includes('\0')) throw new Problem('bad-argument', { detail: `${name} has a NUL in it`, argument: name })
    const isFilter = question.kind === 'view' && !isPaging(name)
    if (!isFilter && entries.filter(([one]) => one === name).length > 1)
      throw new Problem('bad-argument', { detail: `${name} is given twice`, argument: name })
  }
  const order = of('order') ?? 'asc'
  if (order !== 'asc' && order !== 'desc')
    throw new Problem('bad-argument', { detail: 'order must be asc or desc', argument: 'order' })
  if (question.kind === 'function' && of('order') !== undefined)
    throw new Problem('bad-argument', { detail: `${question.name} has an order of its own`, argument: 'order' })
  return {
    given: entries.filter(([name]) => !isPaging(name)),
    limit: readLimit(of('limit')),
    order,
    cursor: of('cursor'),
  }
}

function isPaging(name: string): boolean {
  return pagingNames.some((one) => one === name)
}

function readLimit(text: string | undefined): number {
  if (text === undefined) return limits.usual
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= limits.most) return limit
  const detail = `limit must be a whole number from 1 to ${limits.most.toLocaleString('en-US')}`
  throw new Problem('bad-argument', { detail, argument: 'limit' })
}

/**
 * The arguments as `query` takes them: of a function by position, of a view as `column=value`. Without `from_time` and
 * `to_time`, both are left out; without `to_time` alone, or without `at`, it is `now`.
 * @throws Problem for one that is missing or unknown
 */
export function asGiven(question: Question, given: Requested['given']): string[] {
  const { kind, name, parameters, columns } = question
  const names = (kind === 'view' ? columns : parameters).map((one) => one.name)
  const wrong = given.find(([one]) => !names.includes(one))
  if (wrong) {
    const detail = `${name} has no argument ${wrong[0]}; there are: ${names.join(', ') || 'none'}`
    throw new Problem('bad-argument', { detail, argument: wrong[0] })
  }
  if (kind === 'view') return given.map(([one, value]) => `${one}=${value}`)
  const values = new Map(given)
  if (values.has('from_time') && !values.has('to_time') && names.includes('to_time')) values.set('to_time', 'now')
  // Without it, the database would take its own clock.
  if (parameters.some((one) => one.name === 'at' && one.optional) && !values.has('at')) values.set('at', 'now')
  const isOpen = !values.has('from_time') && !values.has('to_time')
  const wanted = parameters.filter((one) => !(isOpen && /^(from|to)_time$/.test(one.name)))
  const last = wanted.findLastIndex((one) => values.has(one.name) || !one.optional)
  return wanted.slice(0, last + 1).map((one) => {
    const value = values.get(one.name)
    if (value !== undefined) return value
    throw new Problem('bad-argument', { detail: `${name} needs the argument ${one.name}`, argument: one.name })
  })
}
