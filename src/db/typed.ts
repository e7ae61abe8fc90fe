import { type Column, DrizzleQueryError, type SQL, sql as text } from 'drizzle-orm'
import { PgDialect, type PreparedQueryConfig } from 'drizzle-orm/pg-core'
import { PgRemoteDatabase } from 'drizzle-orm/pg-proxy'
import { PgRemoteSession, type PreparedQuery } from 'drizzle-orm/pg-proxy/session'
import type { Sql } from './database.ts'

type NoSchema = Record<string, never>

const dialect = new PgDialect()

/**
 * drizzle over a database or a transaction, for queries whose columns the compiler checks.
 * It has no transaction of its own: open one on the Database and wrap what it gives. For bulk rows use `copy`.
 * A statement that fails rejects with the database's own error.
 */
export function typed(sql: Sql): PgRemoteDatabase<NoSchema> {
  const session = new PgRemoteSession<NoSchema, NoSchema>(
    async (query, params, method) => ({
      // drizzle wants arrays in select order, and rows as objects only for its untyped `execute`.
      rows: method === 'execute' ? await sql.query(query, params) : await sql.values(query, params),
    }),
    dialect,
    undefined,
  )
  const prepare = session.prepareQuery.bind(session)
  session.prepareQuery = (...query) => unwrapErrors(prepare(...query))
  return new PgRemoteDatabase(dialect, session, undefined)
}

/** drizzle's own error hides the class of the one it wraps, such as RetryableError, and quotes the parameters. */
function unwrapErrors<T extends PreparedQueryConfig>(query: PreparedQuery<T>): PreparedQuery<T> {
  const execute = query.execute.bind(query)
  query.execute = (values) =>
    execute(values).catch((error: unknown) => {
      throw error instanceof DrizzleQueryError && error.cause ? error.cause : error
    })
  return query
}

/**
 * Several statements that write, in one round trip. They see what was there before all of them; one that reads from the name of another
 * reads what that returns.
 * @param last what is selected at the end
 */
export async function together(sql: Sql, parts: Readonly<Record<string, SQL>>, last = text`select 1`): Promise<void> {
  const named = Object.entries(parts).map(([name, part]) => text`${text.identifier(name)} as (${part})`)
  const before = named.length > 0 ? text`with ${text.join(named, text`, `)} ` : text``
  await typed(sql).execute(text`${before}${last}`)
}

/**
 * `column = any($1)`: one parameter however many values, where drizzle's `inArray` sends one for each, of which a statement
 * takes 65,534, and prepares another statement for each number of values.
 */
export function anyOf<C extends Column>(column: C, values: readonly C['_']['data'][]): SQL {
  return text`${column} = any(${text.param(values)})`
}
