import type { Database } from '../../src/db/database.ts'
import { resources } from '../../src/resources/index.ts'
import { verifyDatabase } from '../../src/sync/verify/verify.ts'

/** What `verify` finds wrong: `check table`, how many rows, and the first of them. */
export async function wrongRows(db: Database): Promise<unknown[]> {
  const checks = await verifyDatabase(db, resources)
  return checks
    .filter(({ wrong }) => wrong > 0)
    .map(({ check, table, wrong, examples }) => [`${check} ${table}`, wrong, examples[0]])
}
