import type { Sql, SqlValue } from '../../src/db/database.ts'

interface Node {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly Node[]
}

/** Runs a statement, and says how many rows the nodes of its plan gave whose table or kind is so called. */
export async function rowsRead(sql: Sql, of: RegExp, text: string, values?: readonly SqlValue[]): Promise<number> {
  const [row] = await sql.query<{ 'QUERY PLAN': [{ Plan: Node }] }>(`explain (analyze, format json) ${text}`, values)
  const read = (node: Node): number => {
    const given = (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']
    const own = of.test(node['Relation Name'] ?? node['Node Type']) ? given : 0
    return (node.Plans ?? []).reduce((sum, one) => sum + read(one), own)
  }
  return row ? read(row['QUERY PLAN'][0].Plan) : 0
}
