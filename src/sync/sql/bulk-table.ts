import { getTableColumns } from 'drizzle-orm'
import { type AnyPgColumn, type AnyPgTable, getTableConfig } from 'drizzle-orm/pg-core'
import type { CopyValue, Sql } from '../../db/database.ts'
import type { Row } from '../declare/resource.ts'

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
