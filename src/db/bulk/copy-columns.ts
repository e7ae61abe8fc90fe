import type { Sql } from '../database.ts'

/** The statement that begins a COPY into `columns` of `table`, reading from `source` (`stdin`, or a quoted file). */
export function copyStatement(table: string, columns: readonly string[], source: string): string {
  return `copy ${quoted(table)} (${columns.map(quoted).join(', ')}) from ${source}`
}

/** How a file for `copyCsv` is read. */
export const CSV = `(format csv, null '\\N')`

/** By database and table. What is an array is one from the migration that creates it on. */
const known = new Map<string, ReadonlySet<string>>()

/**
 * Which columns of `table` are Postgres arrays; COPY must write those differently from jsonb. Looked up once.
 * @param place which database it is
 */
export async function arrayColumns(
  sql: Pick<Sql, 'query'>,
  table: string,
  place: string,
): Promise<ReadonlySet<string>> {
  const found = known.get(`${place} ${table}`)
  if (found) return found
  const rows = await sql.query<{ name: string }>(
    `select attname::text as name from pg_attribute join pg_type on pg_type.oid = atttypid
     where attrelid = $1::regclass and attnum > 0 and typcategory = 'A'`,
    [quoted(table)],
  )
  const arrays = new Set(rows.map((row) => row.name))
  known.set(`${place} ${table}`, arrays)
  return arrays
}

/** The name in SQL of a table, also with its schema, or of a column. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""').replaceAll('.', '"."')}"`
}
