import { type Argument, type Column, type Question, type Statement, statementFor } from '../questions.ts'

/** Where a page of rows begins: of a view after the row with these sort keys, of a function after so many rows. */
export type Position = { readonly keys: readonly (string | null)[] } | { readonly skip: number }

interface Paging {
  readonly limit: number
  readonly order: 'asc' | 'desc'
  readonly after?: Position | undefined
}

/** The column with the sort keys of a row, as texts; of views only. */
export const KEYS = 'sort keys'

/**
 * The statement for one page of the rows of a question, and one row more. Rows of a view are sorted by its columns, and a page
 * begins after the last row of the one before, so that rows that come or go between two pages move no others. Rows of a
 * function stay in its own order.
 */
export function pageStatement(question: Question, given: readonly Argument[], paging: Paging): Statement {
  const { text, values } = statementFor(question, given, 0)
  const { after, limit, order } = paging
  if (question.kind === 'function') {
    const skip = after && 'skip' in after ? after.skip : 0
    return { text: `select * from (${text}) answer limit ${limit + 1} offset ${skip}`, values }
  }
  // Lengths of time go on while pages are read.
  const sorted = question.columns.filter(({ type }) => type !== 'interval').map(sortKey)
  const keys = after && 'keys' in after ? after.keys : undefined
  const added: string[] = []
  const parameter = (value: string) => `$${values.length + added.push(value)}::text`
  const where = keys ? ` where ${follows(sorted, keys, order, parameter)}` : ''
  const end = `order by ${sorted.map(({ sql }) => `${sql} ${order}`).join(', ')} limit ${limit + 1}`
  const texts = sorted.map(({ sql }) => `${sql}::text`).join(', ')
  return {
    text: `select answer.*, array[${texts}] as "${KEYS}" from (${text}) answer${where} ${end}`,
    values: [...values, ...added],
  }
}

interface SortKey {
  readonly sql: string
  readonly type: string
}

/** Documents may be longer than a URL, and lists of them have no order: their hash stands for them. */
function sortKey({ name, type }: Column): SortKey {
  const sql = `answer."${name}"`
  if (/^jsonb?\b|\[\]$/.test(type)) return { sql: `md5(${sql}::text) collate "C"`, type: 'text' }
  // The order of the database may be any.
  return { sql: type === 'text' ? `${sql} collate "C"` : sql, type }
}

/** The condition that a row comes after the one with these keys. NULL comes last, in descending order first. */
function follows(
  sorted: readonly SortKey[],
  keys: readonly (string | null)[],
  order: 'asc' | 'desc',
  parameter: (value: string) => string,
): string {
  const [[first, ...rest], [key = null, ...others]] = [sorted, keys]
  if (!first) return 'false'
  const { sql, type } = first
  if (key === null) {
    const later = order === 'asc' ? 'false' : `${sql} is not null`
    return `(${later} or ${sql} is null and ${follows(rest, others, order, parameter)})`
  }
  const value = `${parameter(key)}::${type}`
  const later = order === 'asc' ? `(${sql} > ${value} or ${sql} is null)` : `${sql} < ${value}`
  return `(${later} or ${sql} = ${value} and ${follows(rest, others, order, parameter)})`
}
