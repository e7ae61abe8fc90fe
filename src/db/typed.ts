import { drizzle, type PgRemoteDatabase } from 'drizzle-orm/pg-proxy'
import type { Sql } from './database.ts'

/**
 * drizzle over a database or a transaction, for queries whose columns the compiler checks.
 * It has no transaction of its own: open one on the Database and wrap what it gives. For bulk rows use `copy`.
 */
export function typed(sql: Sql): PgRemoteDatabase {
  return drizzle(async (text, params, method) => ({
    // drizzle wants arrays in select order, and rows as objects only for its untyped `execute`.
    rows: method === 'execute' ? await sql.query(text, params) : await sql.values(text, params),
  }))
}
