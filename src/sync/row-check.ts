import type { AnyPgColumn } from 'drizzle-orm/pg-core'
import { FatalError, RecordError } from '../errors.ts'
import { type BulkTable, bulkTable } from './bulk-table.ts'
import type { Entity, History, Row } from './resource.ts'

/** Throws RecordError when a row would not fit its table, so that one bad value never fails the whole COPY. */
export type RowCheck = (entity: Pick<Entity, 'key' | 'root' | 'parts'>) => void

/** The check of every row of a history. */
export function rowCheck(history: History): RowCheck {
  const root = bulkTable(history.root)
  const parts = new Map(Object.entries(history.parts).map(([part, table]) => [part, bulkTable(table)]))
  return (entity) => {
    checkRow(entity.root, root, entity.key)
    for (const [part, rows] of Object.entries(entity.parts)) {
      const table = parts.get(part)
      if (!table) throw new FatalError(`no part table is called ${part}`)
      for (const row of rows) checkRow(row, table, entity.key)
    }
  }
}

function checkRow(row: Row, table: BulkTable, key: string): void {
  for (const property in row) {
    const column = table.columns.get(property)
    if (!column) throw new FatalError(`table ${table.name} has no column ${property}`)
    const wrong = misfit(row[property], column)
    if (wrong)
      throw new RecordError(`${column.name} ${wrong}`, { context: { key, table: table.name, column: column.name } })
  }
}

/** Why a value does not fit a column, or undefined when it does. */
function misfit(value: unknown, column: AnyPgColumn): string | undefined {
  if (value === null || value === undefined) return column.notNull && !column.hasDefault ? 'is missing' : undefined
  switch (column.columnType) {
    case 'PgInteger':
      return Number.isInteger(value) && Math.abs(Number(value)) < 2 ** 31
        ? undefined
        : wants('a whole number of 32 bits', value)
    case 'PgBigInt53':
      return Number.isSafeInteger(value) ? undefined : wants('a whole number below 2^53', value)
    case 'PgDoublePrecision':
      return Number.isFinite(value) ? undefined : wants('a number', value)
    case 'PgText':
      return typeof value === 'string' ? undefined : wants('text', value)
    case 'PgBoolean':
      return typeof value === 'boolean' ? undefined : wants('true or false', value)
    default:
      return undefined
  }
}

function wants(what: string, value: unknown): string {
  return `wants ${what}, found ${JSON.stringify(value)}`
}
