import type { Sql } from '../database.ts'

/**
 * Takes a named lock until the end of the transaction: a row of sync.lock, which a read-only role cannot lock.
 * @param mode `shared`: any number of transactions at once, but none that has it `exclusive`
 */
export async function lockForTransaction(sql: Sql, name: string, mode: 'shared' | 'exclusive'): Promise<void> {
  const lock = `select 1 from sync.lock where name = $1 for ${mode === 'shared' ? 'share' : 'update'}`
  if ((await sql.query(lock, [name])).length > 0) return
  await sql.query('insert into sync.lock (name) values ($1) on conflict do nothing', [name])
  await sql.query(lock, [name])
}
