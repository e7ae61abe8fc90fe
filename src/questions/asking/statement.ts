import type { Argument, Question } from '../questions.ts'
import { conditionOf, type Filter } from './filters.ts'
import type { OrderKey } from './order.ts'

/** What is to be asked, as SQL with parameters. */
export interface Statement {
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
export function rowsStatement(
  { name, kind }: Named,
  { args = [], filters = [] }: Partial<Asked>,
  columns = '*',
): Statement {
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
