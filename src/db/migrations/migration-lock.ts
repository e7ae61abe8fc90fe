import { tableExists } from '../catalog.ts'
import type { Sql } from '../database.ts'

/**
 * Lets one process at a time change what is installed, until the end of its transaction. The lock is that of drizzle's own
 * table, which a read-only role cannot take; in an empty database, making the table is.
 * @throws the error of Postgres to the second of two processes that make it at once (23505, 42P06, 42P07)
 */
export async function lockMigrations(sql: Sql): Promise<void> {
  if (!(await tableExists(sql, 'drizzle.__drizzle_migrations'))) {
    await sql.query('create schema if not exists drizzle')
    // As drizzle would make it.
    await sql.query(
      'create table drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint)',
    )
  }
  await sql.query('lock table drizzle.__drizzle_migrations in share row exclusive mode')
}
