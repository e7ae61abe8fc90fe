import { getTableColumns } from 'drizzle-orm'
import { type AnyPgColumn, type AnyPgTable, getTableConfig } from 'drizzle-orm/pg-core'
import { FatalError } from '../../base/errors.ts'
import { quoted } from '../../db/bulk/copy-columns.ts'
import { arrayText } from '../../db/bulk/values.ts'
import type { CopyValue, Sql, SqlValue } from '../../db/database.ts'
import { historyShape } from '../../db/history.ts'
import type { History, Row } from '../declare/resource.ts'

/** SQL condition: a row of `sync.run` or `sync.observation` is of an accepted response. */
export const accepted = `status in ('ok', 'unchanged', 'partial')`

/** SQL: the newest migration of the database, as the time of its journal. */
export const NEWEST_MIGRATION = '(select max(created_at) from drizzle.__drizzle_migrations)'

/** A table as bulk SQL sees it: its schema-qualified name, and its columns by the property name that rows use for them. */
export function bulkTable(table: AnyPgTable) {
  const known = bulkTables.get(table) ?? readTable(table)
  bulkTables.set(table, known)
  return known
}

/** A response asks for dozens, and to read one takes all its indexes and foreign keys: a twentieth of the time of `start`. */
const bulkTables = new WeakMap<AnyPgTable, ReturnType<typeof readTable>>()

function readTable(table: AnyPgTable) {
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

/** Rows of a table by property name, and what the engine adds to each: see `copyRows`. */
export interface TableRows {
  readonly table: ReturnType<typeof bulkTable>
  readonly rows: Iterable<Row>
  readonly filled: Row
}

/** Of so many versions or changes the rows are written by one statement, of more by a COPY for each table. */
const ROWS_OF_STATEMENT = 100

/** Writes rows of several tables, the first ones first. @param count of versions or changes that they are about */
export async function writeRows(sql: Sql, tables: readonly TableRows[], count: number): Promise<void> {
  if (count <= ROWS_OF_STATEMENT) return await insertRows(sql, tables)
  for (const { table, rows, filled } of tables) await copyRows(sql, table, rows, filled)
}

/** The same as `copyRows` of each table, in one statement: for few rows, since each COPY takes a round trip and more. */
export async function insertRows(sql: Sql, tables: readonly TableRows[]): Promise<void> {
  const parameters: SqlValue[] = []
  const inserts: string[] = []
  for (const { table, rows, filled } of tables) {
    const columns = [...table.columns].filter(([, column]) => !column.generatedIdentity)
    const values = columns.map((): unknown[] => [])
    for (const row of rows)
      for (const [nth, [property]] of columns.entries())
        values[nth]?.push((property in filled ? filled : row)[property])
    if (values[0]?.length === 0) continue
    const names = columns.map(([, column]) => quoted(column.name))
    const types = columns.map(([, column]) => column.getSQLType())
    const arrays = types.map((type, nth) => {
      parameters.push((values[nth] ?? []).map((value) => elementOf(value, type)))
      return `$${parameters.length}::${isArray(type) ? 'text' : type}[]`
    })
    const selected = names.map((name, nth) => (isArray(types[nth] ?? '') ? `${name}::${types[nth]}` : name))
    inserts.push(
      `rows_${inserts.length} as (insert into ${table.name} (${names.join(', ')})
         select ${selected.join(', ')} from unnest(${arrays.join(', ')}) as given(${names.join(', ')}))`,
    )
  }
  if (inserts.length > 0) await sql.query(`with ${inserts.join(', ')} select 1`, parameters)
}

const isArray = (type: string) => type.endsWith('[]')

/** A value as an element of an array: one that is an array or JSON itself is a text there. */
function elementOf(value: unknown, type: string): unknown {
  if (typeof value !== 'object' || value === null) return value ?? null
  if (Array.isArray(value) && isArray(type)) return arrayText(value)
  return /^jsonb?$/.test(type) ? JSON.stringify(value) : value
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
