import { createHash } from 'node:crypto'
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
  const hash = createHash('sha256').update(await readText(join(folder, `${present.tag}.sql`)))
  await sql.query('update drizzle.__drizzle_migrations set created_at = $2, hash = $3 where id = $1', [
    newest.id,
    present.when,
    hash.digest('hex'),
  ])
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
