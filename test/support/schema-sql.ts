import type { PgTable } from 'drizzle-orm/pg-core'

/**
 * The statements that drizzle-kit writes into a migration for these tables, with what `npm run db:generate` adds
 * to them: chains are deferred.
 */
export async function migrationSql(tables: Record<string, PgTable | object>): Promise<string> {
  const { generateDrizzleJson, generateMigration } = await import('drizzle-kit/api')
  const statements = await generateMigration(generateDrizzleJson({}), generateDrizzleJson(tables))
  return statements.join('\n').replace(/(ADD CONSTRAINT "\w+_chain" [^;]*);/g, '$1 DEFERRABLE INITIALLY DEFERRED;')
}
