import type { Sql } from '../database.ts'

/** A constraint or index: how it is dropped, and made again. */
interface MadeLater {
  readonly drop: string
  readonly make: string
}

/**
 * Runs work that fills tables, of the transaction. Of those that are empty, indexes and constraints are made when it is done: row by row they cost
 * several times as much. Until the transaction ends, no other one reads these.
 * @throws what Postgres says of a constraint that the rows do not fulfil
 */
export async function fillEmpty<T>(sql: Sql, tables: readonly string[], work: () => Promise<T>): Promise<T> {
  const empty: string[] = []
  for (const table of tables) if (await isOwnAndEmpty(sql, table)) empty.push(table)
  const later = empty.length > 0 ? await madeLater(sql, empty) : []
  for (const { drop } of later) await sql.query(drop)
  const result = await work()
  for (const { make } of later.toReversed()) await sql.query(make)
  return result
}

/** Whether this program may change a table, which has no partitions and no rows. */
async function isOwnAndEmpty(sql: Sql, table: string): Promise<boolean> {
  const [one] = await sql.query<{ own: boolean }>(
    `select relkind = 'r' and not relispartition and relreplident <> 'i' and pg_has_role(relowner, 'usage') as own
       from pg_class where oid = $1::regclass`,
    [table],
  )
  if (!one?.own) return false
  const [row] = await sql.query<{ empty: boolean }>(`select not exists (select from ${table}) as empty`)
  return row?.empty === true
}

/** Constraints and indexes of the tables, and what refers to them, in an order in which they can be dropped. */
async function madeLater(sql: Sql, tables: readonly string[]): Promise<MadeLater[]> {
  return await sql.query<MadeLater>(
    `select format('alter table %s drop constraint %I', conrelid::regclass, conname) as drop,
            format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as make,
            case contype when 'f' then 1 else 2 end as nth
       from pg_constraint
      where contype in ('f', 'p', 'u') and conparentid = 0 and (conrelid = any($1::text[]::regclass[]) or confrelid = any($1::text[]::regclass[]))
      union all
     select format('drop index %s', indexrelid::regclass), pg_get_indexdef(indexrelid), 2
       from pg_index
      where indrelid = any($1::text[]::regclass[])
        and not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u'))
      order by nth`,
    [[...tables]],
  )
}
