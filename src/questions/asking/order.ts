import type { Question } from '../questions.ts'
import { isOrdered } from './filters.ts'
import { WrongArgument } from './readable.ts'

/** A column that rows are sorted by. */
export interface OrderKey {
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
