import type { Sql } from './database.ts'

/** The server's version, such as `16.4`. */
export async function serverVersion(sql: Sql): Promise<string> {
  const [row] = await sql.query<{ version: string }>(`select current_setting('server_version') as version`)
  return row?.version ?? 'unknown'
}

export async function databaseSize(sql: Sql): Promise<number | undefined> {
  const [row] = await sql.query<{ bytes: number }>('select pg_database_size(current_database()) as bytes')
  return row?.bytes
}

/** Whether a table exists. @param name schema-qualified */
export async function tableExists(sql: Sql, name: string): Promise<boolean> {
  const [row] = await sql.query<{ exists: boolean }>('select to_regclass($1) is not null as exists', [name])
  return row?.exists === true
}
