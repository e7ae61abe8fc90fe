import type { Sql, SqlValue } from '../../src/db/database.ts'

interface Node {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Join Filter'?: number
  readonly Plans?: readonly Node[]
}

/** Runs a statement, and says how many rows the nodes of its plan gave whose table or kind is so called. */
export async function rowsRead(sql: Sql, of: RegExp, text: string, values?: readonly SqlValue[]): Promise<number> {
  return await summed(
    sql,
    of,
    { text, values },
    (node) => node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Join Filter'] ?? 0),
  )
}

/** Runs a statement, and says how often the nodes of its plan were begun whose table or kind is so called. */
export async function scansBegun(sql: Sql, of: RegExp, text: string, values?: readonly SqlValue[]): Promise<number> {
  return await summed(sql, of, { text, values }, () => 1)
}

interface Statement {
  readonly text: string
  readonly values: readonly SqlValue[] | undefined
}

async function summed(sql: Sql, of: RegExp, { text, values }: Statement, each: (node: Node) => number) {
  const [row] = await sql.query<{ 'QUERY PLAN': [{ Plan: Node }] }>(`explain (analyze, format json) ${text}`, values)
  const sum = (node: Node): number => {
    const own = of.test(node['Relation Name'] ?? node['Node Type']) ? each(node) * node['Actual Loops'] : 0
    return (node.Plans ?? []).reduce((total, one) => total + sum(one), own)
  }
  return row ? sum(row['QUERY PLAN'][0].Plan) : 0
}
