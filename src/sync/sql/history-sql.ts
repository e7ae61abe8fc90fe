import { FatalError } from '../../base/errors.ts'
import { historyShape } from '../../db/history.ts'
import type { History, Row } from '../declare/resource.ts'
import { bulkTable } from './bulk-table.ts'

/** The pieces of SQL that depend on a history's key, for statements that serve every history. */
export function historySql(history: History) {
  const table = bulkTable(history.root)
  const properties = history.root[historyShape].key
  const columns = properties.flatMap((property) => table.columns.get(property) ?? [])
  const [first] = columns
  if (!first) throw new FatalError(`${table.name} has no key`)
  return {
    table,
    /** The first key column, which alone narrows a composite key to a scope. */
    firstKey: { name: first.name, type: first.getSQLType() },
    hasDocument: table.columns.has('document'),
    /** `internal_name`, or `guild_uuid, player_uuid`. */
    keyNames: columns.map(({ name }) => name).join(', '),
    /** `$1::text[]`, one parameter per key column, from `$1` on. */
    keyArrays: columns.map((column, index) => `$${index + 1}::${column.getSQLType()}[]`).join(', '),
    /** Number of the first parameter after the key arrays. */
    nextParameter: columns.length + 1,
    /** The arrays for `keyArrays`. */
    keyValues: (rows: readonly Row[]) => properties.map((property) => rows.map((row) => String(row[property]))),
    /** `left.key = right.key` over all key columns. */
    keyJoin: (left: string, right: string) =>
      columns.map(({ name }) => `${left}.${name} = ${right}.${name}`).join(' and '),
    /** The key of a row as one text, as the ledger and the change log name it. */
    keyText: (row: string) => columns.map(({ name }) => `${row}.${name}::text`).join(` || '/' || `),
  }
}
