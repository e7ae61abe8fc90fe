import type { Sql } from '../database.ts'

/** A replication slot, which keeps the log for a reader until it has read it. */
export interface Slot {
  readonly name: string
  readonly active: boolean
  /** Log that is kept for it, in bytes. */
  readonly bytes: number
  /** `lost`: what it needs is gone, and its reader must begin anew. */
  readonly state: string | null
}

interface Replication {
  readonly walLevel: string
  readonly slots: readonly Slot[]
  /** Tables whose rows logical replication cannot name: a publication makes their updates and deletes fail. */
  readonly unnamed: readonly string[]
}

export async function readReplication(sql: Sql): Promise<Replication> {
  const [level] = await sql.query<{ walLevel: string }>(`select current_setting('wal_level') as "walLevel"`)
  // On a standby, the end of the log is what it has replayed.
  const slots = await sql.query<Slot>(
    `select slot_name::text as name, active, wal_status as state,
            coalesce(pg_wal_lsn_diff(case when pg_is_in_recovery() then pg_last_wal_replay_lsn()
                                          else pg_current_wal_lsn() end, restart_lsn), 0)::float8 as bytes
       from pg_replication_slots where database is null or database = current_database() order by 1`,
  )
  const unnamed = await sql.query<{ name: string }>(
    `select nspname || '.' || relname as name from pg_class join pg_namespace on pg_namespace.oid = relnamespace
      where nspname in ('game', 'sync', 'partitions') and relkind in ('r', 'p') and relpersistence = 'p'
        and (relreplident = 'n' or relreplident in ('d', 'i') and not exists (
              select from pg_index where indrelid = pg_class.oid
                 and case relreplident when 'd' then indisprimary else indisreplident end))
      order by 1`,
  )
  return { walLevel: level?.walLevel ?? 'unknown', slots, unnamed: unnamed.map(({ name }) => name) }
}
