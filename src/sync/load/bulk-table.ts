import { getTableColumns } from 'drizzle-orm'
import { type AnyPgColumn, type AnyPgTable, getTableConfig } from 'drizzle-orm/pg-core'
import type { CopyValue, Sql } from '../../db/database.ts'
import type { Row } from '../resource.ts'

/** A table as bulk SQL sees it. */
export interface BulkTable {
  /** Schema-qualified SQL name. */
  readonly name: string
  /** Columns by the property name that rows use for them. */
  readonly columns: ReadonlyMap<string, AnyPgColumn>
}

export function bulkTable(table: AnyPgTable): BulkTable {
  const { schema, name } = getTableConfig(table)
  return { name: schema ? `${schema}.${name}` : name, columns: new Map(Object.entries(getTableColumns(table))) }
}

/** COPY of rows given by property name. A property that a row lacks is NULL; generated columns are left to Postgres. */
export async function copyRows(sql: Sql, table: BulkTable, rows: Iterable<Row>): Promise<void> {
  const columns = [...table.columns].filter(([, column]) => !column.generatedIdentity)
  const values = function* () {
    for (const row of rows) yield columns.map(([property]) => row[property] as CopyValue)
  }
  await sql.copy(
    table.name,
    columns.map(([, column]) => column.name),
    values(),
  )
}
