import type { Question } from '../questions.ts'
import type { OrderKey } from './order.ts'
import { type Asked, orderSql, rowsStatement, type Statement } from './statement.ts'

/** Where a page of rows begins: after the row with these sort keys, or after so many rows. */
export type Position = { readonly keys: readonly (string | null)[] } | { readonly skip: number }

interface Paging {
  readonly limit: number
  readonly after?: Position | undefined
}

/** The column with the sort keys of a row, as texts; where pages begin after keys. */
export const KEYS = 'sort keys'

/**
 * The statement for one page of the rows of a question, and one row more. Rows of a view are sorted by what the request says and then by
 * all of its columns, and a page begins after the last row of the one before, so that rows that come or go between two pages move no
 * others. Pages of a function count its rows; without an order in the request they stay in the function's own.
 */
export function pageStatement(question: Question, asked: Asked, { after, limit }: Paging): Statement {
  const { text, values } = rowsStatement(question, asked)
  const shown = asked.select.length === 0 ? 'answer.*' : asked.select.map((name) => `answer."${name}"`).join(', ')
  const sorted = question.kind === 'view' || asked.order.length > 0 ? sortKeys(question, asked.order) : []
  const by = sorted.length === 0 ? '' : ` order by ${sorted.map((key) => orderSql(key, key.sql)).join(', ')}`
  if (!hasKeys(question, asked)) {
    const skip = after && 'skip' in after ? after.skip : 0
    return { text: `select ${shown} from (${text}) answer${by} limit ${limit + 1} offset ${skip}`, values }
  }
  const keys = after && 'keys' in after ? after.keys : undefined
  const added: string[] = []
  const parameter = (value: string) => `$${values.length + added.push(value)}::text`
  const where = keys ? ` where ${follows(sorted, keys, parameter)}` : ''
  const texts = sorted.map(({ sql }) => `${sql}::text`).join(', ')
  return {
    text: `select ${shown}, array[${texts}] as "${KEYS}" from (${text}) answer${where}${by} limit ${limit + 1}`,
    values: [...values, ...added],
  }
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

/** What the request sorts by, then all other columns, so that no two rows that differ are equal. */
function sortKeys({ columns }: Question, order: readonly OrderKey[]): SortKey[] {
  const others = columns.filter(({ name, type }) => type !== 'interval' && !order.some((key) => key.name === name))
  const keys = [...order, ...others.map(({ name }) => ({ name, direction: 'asc', nulls: 'last' }) as const)]
  return keys.map((key) => {
    const type = columns.find(({ name }) => name === key.name)?.type ?? 'text'
    const sql = `answer."${key.name}"`
    // Documents may be longer than a URL, and lists of them have no order: their hash stands for them.
    if (/^jsonb?\b|\[\]$/.test(type)) return { ...key, sql: `md5(${sql}::text) collate "C"`, type: 'text' }
    // The order of the database may be any.
    return { ...key, sql: type === 'text' ? `${sql} collate "C"` : sql, type }
  })
}

/** The condition that a row comes after the one with these keys. */
function follows(
  sorted: readonly SortKey[],
  keys: readonly (string | null)[],
  parameter: (value: string) => string,
): string {
  const [[first, ...rest], [key = null, ...others]] = [sorted, keys]
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
