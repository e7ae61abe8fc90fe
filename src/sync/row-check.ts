import type { AnyPgColumn } from 'drizzle-orm/pg-core'
import { FatalError, RecordError } from '../errors.ts'
import { type BulkTable, bulkTable } from './bulk-table.ts'
import type { Entity, History, Recorded, Row } from './resource.ts'

/** Throws RecordError when a row would not fit its table, so that one bad value never fails the whole COPY. */
export type RowCheck = (entity: Pick<Entity, 'key' | 'root' | 'parts' | 'samples'>) => void

/** The check of every row that entities of a history bring, their samples included. */
export function rowCheck(history: History, samples: Recorded['samples'] = {}): RowCheck {
  const root = bulkTable(history.root)
  const named = [
    ...Object.entries(history.parts),
    ...Object.entries(samples).map(([name, { table }]) => [name, table] as const),
  ]
  const tables = new Map(named.map(([name, table]) => [name, bulkTable(table)]))
  return (entity) => {
    checkRow(entity.root, root, entity.key)
    for (const [name, rows] of [...Object.entries(entity.parts), ...Object.entries(entity.samples ?? {})]) {
      const table = tables.get(name)
      if (!table) throw new FatalError(`no part or sample table is called ${name}`)
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
    case 'PgUUID':
      return typeof value === 'string' && uuidForm.test(value) ? undefined : wants('a uuid', value)
    case 'PgCustomColumn':
      // The only custom column that rows bring along is an instant.
      return isInstant(value) ? undefined : wants('an instant (ISO 8601)', value)
    default:
      return undefined
  }
}

const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Postgres knows years up to 294276, ISO 8601 with four digits is what the API sends. */
function isInstant(value: unknown): boolean {
  return (
    value instanceof Date ||
    (typeof value === 'string' && /^\d{4}-\d{2}-\d{2}T/.test(value) && !Number.isNaN(Date.parse(value)))
  )
}

function wants(what: string, value: unknown): string {
  return `wants ${what}, found ${JSON.stringify(value)}`
}
