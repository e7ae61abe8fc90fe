import { type AnyPgTable, getTableConfig } from 'drizzle-orm/pg-core'
import { longestKey } from '../../api/schemas/form/limits.ts'
import { FatalError } from '../../base/errors.ts'
import { historyShape } from '../../db/history.ts'
import type { History, Row } from '../declare/resource.ts'
import { bulkTable } from '../sql/bulk-table.ts'
import { columnCheck, type ValueCheck } from './column-check.ts'

/** A value that Postgres would refuse. */
export interface BadValue {
  readonly reason: string
  /** Property name of its column. */
  readonly property: string
  readonly value: unknown
}

/** Finds the first value of a row that does not fit its table, so that one bad value never fails the whole response. */
export type RowCheck = (row: Row) => BadValue | undefined

/** What a row check is made of: one check for each column, compiled once for all rows of a table. */
export function rowCheck(table: AnyPgTable): RowCheck {
  const { name, columns } = bulkTable(table)
  const longest = indexedLengths(table)
  const checks = new Map<string, ValueCheck>()
  for (const [property, column] of columns) {
    // Rows do not bring it: the engine fills it in.
    if (column.getSQLType() !== 'bytea') checks.set(property, columnCheck(column, longest.get(column.name)))
  }
  return (row) => {
    for (const property in row) {
      const check = checks.get(property)
      if (!check) throw new FatalError(`table ${name} has no column ${property}`)
      const reason = check(row[property])
      if (reason !== undefined) {
        const column = columns.get(property)?.name ?? property
        return { reason: `${column} ${reason}`, property, value: row[property] }
      }
    }
    return undefined
  }
}

/** How long a text may be in each column that stands in an index: several share the room of one entry. */
function indexedLengths(table: AnyPgTable): Map<string, number> {
  const { indexes, primaryKeys, uniqueConstraints, columns } = getTableConfig(table)
  const texts = new Set(columns.flatMap(({ columnType, name }) => (columnType === 'PgText' ? [name] : [])))
  const entries = [
    ...indexes.map(({ config }) => config.columns.map((column) => ('name' in column ? String(column.name) : ''))),
    ...[...primaryKeys, ...uniqueConstraints].map((constraint) => constraint.columns.map(({ name }) => name)),
  ].map((names) => names.filter((name) => texts.has(name)))
  const lengths = new Map<string, number>()
  for (const names of entries) {
    const share = Math.min(longestKey, Math.floor(roomOfIndex / names.length))
    for (const name of names) lengths.set(name, Math.min(share, lengths.get(name) ?? share))
  }
  return lengths
}

/** In characters of up to three bytes; Postgres takes 2704 bytes in all. */
const roomOfIndex = 800

/** The natural key of a root's row as Postgres prints it, its columns joined by `/`. */
export function keyOfRow(history: History): (root: Row) => string {
  const { columns } = bulkTable(history.root)
  const parts = history.root[historyShape].key.map((property) => {
    const isUuid = columns.get(property)?.columnType === 'PgUUID'
    return (root: Row) => (isUuid ? String(root[property]).toLowerCase() : String(root[property]))
  })
  const [only, ...others] = parts
  if (only && others.length === 0) return only
  return (root) => parts.map((part) => part(root)).join('/')
}
