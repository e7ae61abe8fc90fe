import type { Sql } from '../database.ts'

export interface LockHolder {
  readonly name: string
  /** Of the process, on its own machine. */
  readonly pid: number
  readonly host: string
  readonly application: string
  readonly since: Date
}

/**
 * SQL: whether the connection that took the lock in row `held` of sync.lock still exists. It holds an advisory lock whose key
 * is unknown until then; a reader of pg_locks has another backend.
 */
export const isHeld = `exists (
  select from pg_locks
   where locktype = 'advisory' and objsubid = 1 and granted and pid = held.backend_pid
     and database = (select oid from pg_database where datname = current_database())
     and (classid::bigint << 32) | objid::bigint = held.session_key)`

/** The locks that are held now, by name; none on the embedded database, which has one process. */
export async function readHeldLocks(sql: Sql, name: string | null = null): Promise<LockHolder[]> {
  return await sql.query<LockHolder>(
    `select name, process_id as pid, host, application, since from sync.lock held
      where ($1::text is null or name = $1) and ${isHeld} order by name collate "C"`,
    [name],
  )
}

/** The holder of a lock as text for a message. */
export async function holderText(sql: Sql, name: string, does = 'is syncing it'): Promise<string> {
  const [holder] = await readHeldLocks(sql, name)
  if (!holder) return `another run ${does}`
  const { pid, host, application, since } = holder
  return `process ${pid} on ${host} (${application}) ${does} since ${since.toISOString()}`
}

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
