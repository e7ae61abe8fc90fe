import { getTableColumns } from 'drizzle-orm'
import { type AnyPgColumn, type AnyPgTable, getTableConfig } from 'drizzle-orm/pg-core'
import { FatalError } from '../../base/errors.ts'
import type { CopyValue, Sql } from '../../db/database.ts'
import { historyShape } from '../../db/history.ts'
import type { History, Row } from '../declare/resource.ts'

/** SQL condition: a row of `sync.run` or `sync.observation` is of an accepted response. */
export const accepted = `status in ('ok', 'unchanged', 'partial')`

/** SQL: the newest migration of the database, as the time of its journal. */
export const NEWEST_MIGRATION = '(select max(created_at) from drizzle.__drizzle_migrations)'

/** A table as bulk SQL sees it: its schema-qualified name, and its columns by the property name that rows use for them. */
export function bulkTable(table: AnyPgTable) {
  const { schema, name } = getTableConfig(table)
  const columns: ReadonlyMap<string, AnyPgColumn> = new Map(Object.entries(getTableColumns(table)))
  return { name: schema ? `${schema}.${name}` : name, columns }
}

/**
 * COPY of rows given by property name. A property that a row lacks is NULL; generated columns are left to Postgres.
 * @param filled values that the engine adds to the row which `rows` has just given; it may change them with each
 */
export async function copyRows(
  sql: Sql,
  table: ReturnType<typeof bulkTable>,
  rows: Iterable<Row>,
  filled: Row = {},
): Promise<void> {
  const columns = [...table.columns].filter(([, column]) => !column.generatedIdentity)
  const properties = columns.map(([property]) => ({ property, isFilled: property in filled }))
  const values = function* () {
    // Rows are not merged first: to copy each one costs as much as all the rest of it.
    for (const row of rows)
      yield properties.map(({ property, isFilled }) => (isFilled ? filled : row)[property] as CopyValue)
  }
  const names = columns.map(([, column]) => column.name)
  await sql.copy(table.name, names, values())
}

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
