import type { Sql } from '../database.ts'

export interface CopiedTable {
  /** Schema-qualified SQL name. */
  readonly name: string
  /** In their order; those that Postgres computes are left out. */
  readonly columns: readonly string[]
}

/** Which tables a move has copied; in its target, until it is whole. */
export const MOVE_PROGRESS = 'sync.move_progress'

/** Of a database that was restored: which backup it was restored from. */
export const RESTORED_FROM = 'sync.restored_from'

/** What belongs to one installation: who holds locks there, which SQL is installed, and where its history comes from. */
const NOT_COPIED = ['sync.lock', 'sync.installed_sql', 'sync.installed_program', MOVE_PROGRESS, RESTORED_FROM]

interface CatalogueTable extends CopiedTable {
  /** Tables that foreign keys of this one name. */
  readonly needs: readonly string[]
}

/** Every table of schemas `game` and `sync`; one that others refer to comes before them. Partitions are part of theirs. */
export async function listTables(sql: Sql): Promise<CopiedTable[]> {
  const tables = await sql.query<CatalogueTable>(
    `select nspname || '.' || relname as name,
            array(select attname::text from pg_attribute
                   where attrelid = pg_class.oid and attnum > 0 and not attisdropped and attgenerated = ''
                   order by attnum) as columns,
            array(select distinct referred.relnamespace::regnamespace::text || '.' || referred.relname
                    from pg_constraint join pg_class referred on referred.oid = confrelid
                   where conrelid = pg_class.oid and contype = 'f' and confrelid <> conrelid) as needs
       from pg_class join pg_namespace on pg_namespace.oid = relnamespace
      where nspname in ('game', 'sync') and relkind in ('r', 'p') and not relispartition
        and nspname || '.' || relname <> all($1::text[])
      order by 1`,
    [NOT_COPIED],
  )
  return inOrder(tables)
}

function inOrder(tables: readonly CatalogueTable[]): CopiedTable[] {
  const byName = new Map(tables.map((table) => [table.name, table]))
  const ordered = new Set<CatalogueTable>()
  const add = (table: CatalogueTable): void => {
    if (ordered.has(table)) return
    for (const name of table.needs) {
      const needed = byName.get(name)
      if (needed) add(needed)
    }
    ordered.add(table)
  }
  for (const table of tables) add(table)
  return [...ordered].map(({ name, columns }) => ({ name, columns }))
}

/** The tables with all that refer to them. */
export async function withReferring(sql: Sql, names: readonly string[]): Promise<string[]> {
  const rows = await sql.query<{ name: string }>(
    `with recursive referring (oid) as (
       select to_regclass(name)::oid from unnest($1::text[]) name
       union select conrelid from pg_constraint join referring on confrelid = referring.oid where contype = 'f')
     select relnamespace::regnamespace::text || '.' || relname as name
       from referring join pg_class using (oid) where not relispartition`,
    [[...names]],
  )
  return rows.map(({ name }) => name)
}
