import { FatalError } from '../../app/errors.ts'
import { historyShape } from '../../db/history.ts'
import type { History, Row } from '../resource.ts'
import { type BulkTable, bulkTable } from './bulk-table.ts'

/** The pieces of SQL that depend on a history's key, for statements that serve every history. */
export interface HistorySql {
  readonly table: BulkTable
  readonly hasDocument: boolean
  /** The first key column, which alone narrows a composite key to a scope. */
  readonly firstKey: { readonly name: string; readonly type: string }
  /** `internal_name`, or `guild_uuid, player_uuid`. */
  readonly keyNames: string
  /** `$1::text[]`, one parameter per key column, from `$1` on. */
  readonly keyArrays: string
  /** Number of the first parameter after the key arrays. */
  readonly nextParameter: number
  /** The arrays for `keyArrays`. */
  keyValues(rows: readonly Row[]): string[][]
  /** `left.key = right.key` over all key columns. */
  keyJoin(left: string, right: string): string
  /** The key of a row as one text, as the ledger and the change log name it. */
  keyText(row: string): string
}

export function historySql(history: History): HistorySql {
  const table = bulkTable(history.root)
  const properties = history.root[historyShape].key
  const columns = properties.flatMap((property) => table.columns.get(property) ?? [])
  const [first] = columns
  if (!first) throw new FatalError(`${table.name} has no key`)
  return {
    table,
    firstKey: { name: first.name, type: first.getSQLType() },
    hasDocument: table.columns.has('document'),
    keyNames: columns.map(({ name }) => name).join(', '),
    keyArrays: columns.map((column, index) => `$${index + 1}::${column.getSQLType()}[]`).join(', '),
    nextParameter: columns.length + 1,
    keyValues: (rows) => properties.map((property) => rows.map((row) => String(row[property]))),
    keyJoin: (left, right) => columns.map(({ name }) => `${left}.${name} = ${right}.${name}`).join(' and '),
    keyText: (row) => columns.map(({ name }) => `${row}.${name}::text`).join(` || '/' || `),
  }
}
