import { getTableColumns } from 'drizzle-orm'
import { type AnyPgColumn, type AnyPgTable, getTableConfig } from 'drizzle-orm/pg-core'

/**
 * How a column can name a player.
 * - `row`: the row is about the player, and goes with the name.
 * - `standing`: the same, but the program needs the row while it syncs the player: only a purge removes it.
 * - `key`: a key or request that may contain the uuid, which is replaced.
 * - `text`: text or JSON that may contain the uuid or the name, which are replaced.
 * - `list`: a list of uuids and names, which the player is taken out of. The row goes where no other is in it, since an empty list would mean all.
 * - `own`: code of its own removes it.
 */
export type Naming = 'row' | 'standing' | 'key' | 'text' | 'list' | 'own'

/** A table with the columns that can name a player, and why the others cannot. */
export interface NamingTable {
  /** Schema-qualified name. */
  readonly table: string
  readonly columns: readonly { readonly name: string; readonly naming: Naming; readonly type: string }[]
  /** Columns that cannot, with the reason. */
  readonly exempt: Readonly<Record<string, string>>
  /** Whether a row has a resource that it is about. */
  readonly hasResource: boolean
}

type ColumnOf<Table extends AnyPgTable> = Extract<keyof Table['_']['columns'], string>

/**
 * Declares beside a table which of its columns can name a player: `privacy purge` and the policy `delete` work from these
 * declarations. A test fails when a uuid, text or JSON column of such a table is neither declared nor exempt.
 * @param exempt columns that cannot, by the reason
 */
export function namesPeople<Table extends AnyPgTable>(
  table: Table,
  columns: Partial<Record<ColumnOf<Table>, Naming>>,
  exempt: Readonly<Record<string, readonly ColumnOf<Table>[]>> = {},
): NamingTable {
  const config = getTableConfig(table)
  const byProperty: Readonly<Record<string, AnyPgColumn>> = getTableColumns(table)
  return {
    table: `${config.schema ?? 'public'}.${config.name}`,
    columns: Object.entries<Naming | undefined>(columns).flatMap(([property, naming]) => {
      const column = byProperty[property]
      return column && naming ? [{ name: column.name, naming, type: column.getSQLType() }] : []
    }),
    exempt: Object.fromEntries(
      Object.entries(exempt).flatMap(([reason, properties]) =>
        properties.map((property) => [byProperty[property]?.name, reason]),
      ),
    ),
    hasResource: config.columns.some(({ name }) => name === 'resource'),
  }
}
