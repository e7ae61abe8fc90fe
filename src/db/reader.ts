import { readFile } from 'node:fs/promises'
import type { Database, Sql } from './database.ts'
import { withLockTimeout } from './locks/lock-timeout.ts'
import { lockMigrations } from './migrations/scripts.ts'

/** The group role that may read the analytics schema and nothing else. */
export const READER = 'wynnsync_reader'

export const NO_READER = `there is no role ${READER} for dashboards, and this user may not create roles; a user with CREATEROLE must run: create role ${READER}; then: wynnsync migrate`

export async function hasReader(sql: Sql): Promise<boolean> {
  const [row] = await sql.query<{ there: boolean }>('select to_regrole($1) is not null as there', [READER])
  return row?.there === true
}

/** Grants the role its rights to what is installed. */
export async function admitReader(db: Database, path: string): Promise<void> {
  const grants = await readFile(path, 'utf8')
  await withLockTimeout(db, 'the grant to readers', (sql) => sql.query(grants), lockMigrations)
}
