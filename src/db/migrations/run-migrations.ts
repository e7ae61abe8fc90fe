import { hash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { tableExists } from '../catalog.ts'
import type { Sql } from '../database.ts'
import { type Migration, naming, readText } from './migration-files.ts'

/**
 * Some migrations had other content before their present one, at another time of the journal; drizzle would run them a
 * second time, and fail. `earlier/<time>_<tag>.sql` adds what the edition of that time lacked, and the database then
 * counts as migrated by the present one.
 */
export async function replaceEarlierEdition(
  sql: Sql,
  folder: string,
  migrations: readonly Migration[],
): Promise<string[]> {
  if (!(await tableExists(sql, 'drizzle.__drizzle_migrations'))) return []
  const [newest] = await sql.query<{ id: number; when: number }>(
    'select id, created_at as "when" from drizzle.__drizzle_migrations order by created_at desc limit 1',
  )
  if (!newest || migrations.some(({ when }) => when === newest.when)) return []
  const earlier = join(folder, 'earlier')
  const files = await readdir(earlier).catch(() => [])
  const file = files.find((name) => name.startsWith(`${newest.when}_`))
  const present = migrations.find(({ tag }) => file === `${newest.when}_${tag}.sql`)
  if (file === undefined || !present) return []
  const text = await readText(join(earlier, file))
  await naming(`migration earlier/${file}`, () => sql.query(text))
  const sha256 = hash('sha256', await readText(join(folder, `${present.tag}.sql`)))
  const replace = 'update drizzle.__drizzle_migrations set created_at = $2, hash = $3 where id = $1'
  await sql.query(replace, [newest.id, present.when, sha256])
  return [`earlier/${file}`]
}

/** Runs the migrations that are due. Returns their files. */
export async function runMigrations(sql: Sql, folder: string, migrations: readonly Migration[]): Promise<string[]> {
  // Loaded only when there is something to migrate: most processes start sooner without drizzle.
  const { migrate: runDrizzle } = await import('drizzle-orm/pg-proxy/migrator')
  const { typed } = await import('../typed.ts')
  const applied: string[] = []
  await runDrizzle(
    typed(sql),
    async (statements) => {
      // drizzle gives one flat list, in which the row that records a migration ends it; so the last ones are due.
      const ends = statements.filter(endsMigration).length
      const due = migrations.slice(migrations.length - ends).map(({ tag }) => `${tag}.sql`)
      for (const statement of statements) {
        const file = due[applied.length] ?? ''
        if (statement.trim() !== '') await naming(`migration ${file}`, () => sql.query(statement))
        if (endsMigration(statement)) applied.push(file)
      }
    },
    { migrationsFolder: folder },
  )
  return applied
}

function endsMigration(statement: string): boolean {
  return statement.startsWith('INSERT INTO "drizzle"."__drizzle_migrations"')
}

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
